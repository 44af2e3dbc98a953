// weir sampling, internal: which positions of an endless sequence of epochs are dealt to one rank
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_SHARD_PARTITION_HPP
#define WEIR_SAMPLING_SHARD_PARTITION_HPP

#include <weir/platform/requirements.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir::detail {

// Epoch e has the positions e * size to (e + 1) * size - 1. Those below `base`, and some above it, were
// taken in an earlier run; of what remains of each epoch, number k (from 0) is dealt to rank k % world.
// With `drop`, an incomplete last round is not dealt.
//
// Cost: each question O(log t), where t are taken above base.
class shard_partition {
    using u64 = std::uint64_t;

  public:
    // No position: greater than all.
    static constexpr u64 none = UINT64_MAX;

    // `taken`: ascending, from base on. rank < world.
    shard_partition(u64 size, u64 base, std::vector<u64> taken, u64 rank, u64 world, bool drop)
        : size_(size), base_(base), rank_(rank), world_(world), taken_(std::move(taken)), drop_(drop) {}

    u64 epoch_of(u64 position) const noexcept { return size_ == 0 ? 0 : position / size_; }
    u64 first_epoch() const noexcept { return epoch_of(base_); }

    // Whether all positions of the epoch can be counted. (All of them are below `none`.)
    bool has(u64 epoch) const noexcept { return size_ == 0 || epoch < UINT64_MAX / size_; }

    // The rest is about epochs that it has.

    // How many of an epoch remain, for all ranks together.
    u64 remaining(u64 epoch) const noexcept;

    // How many of these are dealt to this rank, and whether one more fills up the last round.
    u64 share(u64 epoch) const noexcept { return share_of(remaining(epoch)); }
    bool lacks(u64 epoch) const noexcept;

    // The position of this rank's number j of an epoch; j < share(epoch).
    u64 at(u64 epoch, u64 j) const noexcept { return select(of(epoch), j * world_ + rank_); }

    // What fills this rank's last round, if it lacks something: the epoch repeats from its front.
    u64 repeated(u64 epoch) const noexcept;

    // Whether a position is dealt to this rank.
    bool owns(u64 position) const noexcept;

    // The first one from `position` on that is dealt to this rank; `none` if nothing more is.
    u64 next_own(u64 position) const noexcept;

  private:
    // What is left of an epoch: the positions from begin to end but taken_[first] to taken_[last - 1].
    struct part {
        u64 begin, end;
        std::size_t first, last;
    };
    part of(u64 epoch) const noexcept;
    std::size_t index_of(u64 position) const noexcept;

    // How many remain of a part before a position.
    u64 before(const part& p, u64 position) const noexcept;

    // The one of number k that remains: as many taken ones are before it as leave k or fewer.
    u64 select(const part& p, u64 k) const noexcept;

    u64 share_of(u64 remaining) const noexcept;

    u64 size_, base_, rank_, world_;
    std::vector<u64> taken_;
    bool drop_;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/sampling/shard_partition.ipp>
#endif

#endif
