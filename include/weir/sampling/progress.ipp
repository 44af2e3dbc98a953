// weir sampling, internal: bodies of the functions of sampling/progress.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_PROGRESS_IPP
#define WEIR_SAMPLING_PROGRESS_IPP

#include <weir/sampling/progress.hpp>

#include <weir/platform/config.hpp>

#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir {

WEIR_INLINE progress::progress(weir::checkpoint start)
    : start_(std::move(start)), partition_(start_.partition()), watermark_(start_.watermark()),
      ahead_(start_.ahead().begin(), start_.ahead().end()) {}

WEIR_INLINE void progress::took(const draw& d) {
    if (!d.padded) took(d.position);
}

WEIR_INLINE void progress::took(std::uint64_t position) {
    if (position != watermark_) {
        if (!partition_.owns(position)) refuse(position, "it is not dealt to this rank in this run");
        if (position < watermark_ || !ahead_.insert(position).second) {
            refuse(position, "it was taken before");
        }
        return;
    }
    if (position == detail::shard_partition::none) refuse(position, "there is no such position");
    watermark_ = partition_.next_own(position + 1);
    while (!ahead_.empty() && *ahead_.begin() == watermark_) {
        ahead_.erase(ahead_.begin());
        watermark_ = partition_.next_own(watermark_ + 1);
    }
}

WEIR_INLINE weir::checkpoint progress::checkpoint() const {
    return start_.at(watermark_, std::vector<std::uint64_t>(ahead_.begin(), ahead_.end()));
}

WEIR_INLINE void progress::refuse(std::uint64_t position, const char* why) const {
    throw std::invalid_argument("weir: rank " + std::to_string(start_.shard().rank()) + " of " +
                                std::to_string(start_.shard().world()) + " can't take position " +
                                std::to_string(position) + ": " + why);
}

}  // namespace weir

#endif
