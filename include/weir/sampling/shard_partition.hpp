// weir sampling, internal: which positions of an endless sequence of epochs are dealt to one rank
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_SHARD_PARTITION_HPP
#define WEIR_SAMPLING_SHARD_PARTITION_HPP

#include <weir/platform/requirements.hpp>

#include <algorithm>  // for std::binary_search, std::lower_bound, std::max
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <utility>    // for std::move
#include <vector>     // for std::vector

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
    u64 remaining(u64 epoch) const noexcept {
        const part p = of(epoch);
        return p.end <= p.begin ? 0 : p.end - p.begin - (p.last - p.first);
    }

    // How many of these are dealt to this rank, and whether one more fills up the last round.
    u64 share(u64 epoch) const noexcept { return share_of(remaining(epoch)); }
    bool lacks(u64 epoch) const noexcept {
        const u64 rest = remaining(epoch) % world_;
        return rest != 0 && rank_ >= rest;
    }

    // The position of this rank's number j of an epoch; j < share(epoch).
    u64 at(u64 epoch, u64 j) const noexcept { return select(of(epoch), j * world_ + rank_); }

    // What fills this rank's last round, if it lacks something: the epoch repeats from its front.
    u64 repeated(u64 epoch) const noexcept {
        return epoch * size_ + (rank_ - remaining(epoch) % world_) % size_;
    }

    // Whether a position is dealt to this rank.
    bool owns(u64 position) const noexcept {
        const u64 epoch = epoch_of(position);
        if (size_ == 0 || position < base_ || !has(epoch)) return false;
        if (std::binary_search(taken_.begin(), taken_.end(), position)) return false;
        const u64 k = before(of(epoch), position);
        return k % world_ == rank_ && k / world_ < share(epoch);
    }

    // The first one from `position` on that is dealt to this rank; `none` if nothing more is.
    u64 next_own(u64 position) const noexcept {
        if (size_ == 0 || position == none) return none;
        position = (std::max)(position, base_);
        u64 epoch = epoch_of(position);
        for (; has(epoch); position = ++epoch * size_) {
            const part p = of(epoch);
            const u64 k = before(p, position);
            const u64 j = k <= rank_ ? 0 : (k - rank_ - 1) / world_ + 1;
            if (j < share(epoch)) return select(p, j * world_ + rank_);
            // Behind all that was taken the epochs are alike.
            if (p.last == taken_.size() && share_of(size_) == 0) return none;
        }
        return none;
    }

  private:
    // What is left of an epoch: the positions from begin to end but taken_[first] to taken_[last - 1].
    struct part {
        u64 begin, end;
        std::size_t first, last;
    };
    part of(u64 epoch) const noexcept {
        const u64 begin = (std::max)(epoch * size_, base_);
        const u64 end = epoch * size_ + size_;
        return {begin, end, index_of(begin), index_of(end)};
    }
    std::size_t index_of(u64 position) const noexcept {
        const auto found = std::lower_bound(taken_.begin(), taken_.end(), position);
        return static_cast<std::size_t>(found - taken_.begin());
    }

    // How many remain of a part before a position.
    u64 before(const part& p, u64 position) const noexcept {
        return position - p.begin - (index_of(position) - p.first);
    }

    // The one of number k that remains: as many taken ones are before it as leave k or fewer.
    u64 select(const part& p, u64 k) const noexcept {
        std::size_t low = p.first, high = p.last;
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (taken_[middle] - p.begin - (middle - p.first) <= k) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return p.begin + k + (low - p.first);
    }

    u64 share_of(u64 remaining) const noexcept {
        return remaining / world_ + (!drop_ && rank_ < remaining % world_ ? 1 : 0);
    }

    u64 size_, base_, rank_, world_;
    std::vector<u64> taken_;
    bool drop_;
};

}  // namespace weir::detail

#endif
