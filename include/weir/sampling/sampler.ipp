// weir sampling, internal: bodies of the functions of sampling/sampler.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_SAMPLER_IPP
#define WEIR_SAMPLING_SAMPLER_IPP

#include <weir/sampling/sampler.hpp>

#include <weir/platform/config.hpp>

#include <stdexcept>  // for std::invalid_argument

namespace weir::detail {

WEIR_INLINE void permuted_order::enter(std::uint64_t epoch) noexcept {
    epoch_seed_ = subseed(seed_, epoch);
    if (shuffle_) places_ = permutation(size_, epoch_seed_);
}

WEIR_INLINE std::uint64_t permuted_order::operator[](std::uint64_t place) const noexcept {
    if (place < size_) return shuffle_ ? places_[place] : place;
    const std::uint64_t again = place / size_;  // how often each index has come before
    return shuffle_ ? permutation(size_, subseed(epoch_seed_, again))[place % size_] : place % size_;
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE sampler::sampler(const sampler_options& options)
    : basic_sampler(detail::permuted_order(options.size, options.seed, options.shuffle),
                    {options.shuffle ? draw_order::permuted : draw_order::sequential, checksum_of(options),
                     options.draws != 0 ? options.draws : options.size, options.shuffle ? options.seed : 0},
                    options.shard, options.tail, options.resume) {}

WEIR_INLINE std::uint32_t sampler::checksum_of(const sampler_options& options) {
    if (options.draws == 0 || options.draws == options.size) return 0;
    if (options.size == 0) {
        throw std::invalid_argument(
            "weir: a sampler is to make draws, and has nothing to draw from; give it a .size of 1 or "
            "more");
    }
    const std::uint32_t sum = detail::digest().add(options.size).value();
    return sum != 0 ? sum : 1;
}

}  // namespace weir

#endif
