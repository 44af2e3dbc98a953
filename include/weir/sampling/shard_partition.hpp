// weir sampling, internal: the positions of an endless sequence of epochs that are dealt to one rank
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_SHARD_PARTITION_HPP
#define WEIR_SAMPLING_SHARD_PARTITION_HPP

#include <weir/platform/requirements.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir::detail {

// Epoch e has the positions e * size to (e + 1) * size - 1. Positions below `base`, and those in `taken`,
// were taken in an earlier run. Of the remaining positions of each epoch, number k (from 0) is dealt to rank
// k % world. With `drop`, an incomplete last round is not dealt.
//
// Cost: each function O(log t), for t positions in `taken`.
class shard_partition {
    using u64 = std::uint64_t;

  public:
    // Not a position; greater than all positions.
    static constexpr u64 none = UINT64_MAX;

    // `taken`: ascending, none below `base`. Requires rank < world.
    shard_partition(u64 size, u64 base, std::vector<u64> taken, u64 rank, u64 world, bool drop)
        : size_(size), base_(base), rank_(rank), world_(world), taken_(std::move(taken)), drop_(drop) {}

    u64 epoch_of(u64 position) const noexcept { return size_ == 0 ? 0 : position / size_; }
    u64 first_epoch() const noexcept { return epoch_of(base_); }

    // Whether all positions of the epoch are less than `none`. All functions below require this of an epoch.
    bool has(u64 epoch) const noexcept { return size_ == 0 || epoch < UINT64_MAX / size_; }

    // The number of positions of an epoch that remain, for all ranks together.
    u64 remaining(u64 epoch) const noexcept;

    // The number of these that are dealt to this rank.
    u64 share(u64 epoch) const noexcept { return share_of(remaining(epoch)); }
    // Whether this rank gets a padded draw, as the last round has none for it.
    bool lacks(u64 epoch) const noexcept;

    // Position number j of those that are dealt to this rank in an epoch. Requires j < share(epoch).
    u64 at(u64 epoch, u64 j) const noexcept { return select(of(epoch), j * world_ + rank_); }

    // The position of this rank's padded draw, if `lacks(epoch)`: the epoch repeats from its front.
    u64 repeated(u64 epoch) const noexcept;

    // Whether a position is dealt to this rank.
    bool owns(u64 position) const noexcept;

    // The first position from `position` on that is dealt to this rank; `none` if there is no other.
    u64 next_own(u64 position) const noexcept;

  private:
    // The remaining positions of an epoch: [begin, end) without taken_[first] to taken_[last - 1].
    struct part {
        u64 begin, end;
        std::size_t first, last;
    };
    part of(u64 epoch) const noexcept;
    // The number of taken positions before `position`.
    std::size_t index_of(u64 position) const noexcept;

    // The number of remaining positions of a part before `position`.
    u64 before(const part& p, u64 position) const noexcept;

    // Remaining position number k of a part. Before it are the taken positions that have at most k remaining
    // positions before them.
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
