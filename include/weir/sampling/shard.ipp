// weir sampling, internal: bodies of the functions of sampling/shard.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_SHARD_IPP
#define WEIR_SAMPLING_SHARD_IPP

#include <weir/sampling/shard.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::binary_search, std::lower_bound, std::max

namespace weir::detail {

WEIR_INLINE auto shard_partition::remaining(u64 epoch) const noexcept -> u64 {
    const part p = of(epoch);
    return p.end <= p.begin ? 0 : p.end - p.begin - (p.last - p.first);
}

WEIR_INLINE bool shard_partition::lacks(u64 epoch) const noexcept {
    const u64 rest = remaining(epoch) % world_;
    return rest != 0 && rank_ >= rest;
}

WEIR_INLINE auto shard_partition::repeated(u64 epoch) const noexcept -> u64 {
    return epoch * size_ + (rank_ - remaining(epoch) % world_) % size_;
}

WEIR_INLINE bool shard_partition::owns(u64 position) const noexcept {
    const u64 epoch = epoch_of(position);
    if (size_ == 0 || position < base_ || !has(epoch)) return false;
    if (std::binary_search(taken_.begin(), taken_.end(), position)) return false;
    const u64 k = before(of(epoch), position);
    return k % world_ == rank_ && k / world_ < share(epoch);
}

WEIR_INLINE auto shard_partition::next_own(u64 position) const noexcept -> u64 {
    if (size_ == 0 || position == none) return none;
    position = (std::max)(position, base_);
    u64 epoch = epoch_of(position);
    for (; has(epoch); position = ++epoch * size_) {
        const part p = of(epoch);
        const u64 k = before(p, position);
        const u64 j = k <= rank_ ? 0 : (k - rank_ - 1) / world_ + 1;
        if (j < share(epoch)) return select(p, j * world_ + rank_);
        // All epochs after the last taken position are alike.
        if (p.last == taken_.size() && share_of(size_) == 0) return none;
    }
    return none;
}

WEIR_INLINE auto shard_partition::of(u64 epoch) const noexcept -> part {
    const u64 begin = (std::max)(epoch * size_, base_);
    const u64 end = epoch * size_ + size_;
    return {begin, end, index_of(begin), index_of(end)};
}

WEIR_INLINE std::size_t shard_partition::index_of(u64 position) const noexcept {
    const auto found = std::lower_bound(taken_.begin(), taken_.end(), position);
    return static_cast<std::size_t>(found - taken_.begin());
}

WEIR_INLINE auto shard_partition::before(const part& p, u64 position) const noexcept -> u64 {
    return position - p.begin - (index_of(position) - p.first);
}

WEIR_INLINE auto shard_partition::select(const part& p, u64 k) const noexcept -> u64 {
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

WEIR_INLINE auto shard_partition::share_of(u64 remaining) const noexcept -> u64 {
    return remaining / world_ + (!drop_ && rank_ < remaining % world_ ? 1 : 0);
}

}  // namespace weir::detail

#endif
