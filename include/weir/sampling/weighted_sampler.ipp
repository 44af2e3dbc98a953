// weir sampling, internal: bodies of the functions of sampling/weighted_sampler.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_WEIGHTED_SAMPLER_IPP
#define WEIR_SAMPLING_WEIGHTED_SAMPLER_IPP

#include <weir/sampling/weighted_sampler.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::max
#include <bit>        // for std::bit_cast
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::to_string

namespace weir::detail {

WEIR_INLINE alias_table::alias_table(std::span<const double> weights) : columns_(weights.size()) {
    const int exponent = exponent_of_greatest(weights);
    const u64 n = weights.size();
    const int bits = 63 - number_as<int>(std::bit_width(n));
    digest d;
    for (std::size_t i = 0; i < n; ++i) {
        // Less than 2^bits, so that the sum of all n is less than 2^63.
        const u64 parts = number(weights[i]).scaled(bits - exponent);
        columns_[i].own = parts;
        height_ += parts;
        d.add(parts);
    }
    checksum_ = (std::max)(d.value(), std::uint32_t{1});
    build();
}

WEIR_INLINE auto alias_table::pick(u64 which, u64 how_high) const noexcept -> u64 {
    const u64 i = high_product(which, columns_.size());
    const column& c = columns_[place_in(i)];
    return high_product(how_high, height_) < c.own ? i : c.other;
}

WEIR_INLINE alias_table::number::number(double weight) noexcept {
    const auto bits = std::bit_cast<u64>(weight);
    const int field = static_cast<int>(bits >> 52 & 0x7ff);
    const u64 hidden = field == 0 ? 0 : u64{1} << 52;
    significand_ = (bits & ((u64{1} << 52) - 1)) | hidden;
    exponent_ = (field == 0 ? 1 : field) - 1075;
}

WEIR_INLINE auto alias_table::number::scaled(int power) const noexcept -> u64 {
    const int shift = exponent_ + power;
    if (shift >= 0) return significand_ << shift;
    return shift > -64 ? significand_ >> -shift : 0;
}

WEIR_INLINE void alias_table::build() {
    const u64 n = columns_.size();
    std::vector<u64> low, high;
    for (u64 i = 0; i < n; ++i) {
        column& c = columns_[place_in(i)];
        c.own *= n;
        c.other = i;
        (c.own < height_ ? low : high).push_back(i);
    }
    while (!low.empty()) {
        const u64 poor = low.back(), rich = high.back();
        low.pop_back();
        column& filled = columns_[place_in(poor)];
        column& giver = columns_[place_in(rich)];
        filled.other = rich;
        giver.own -= height_ - filled.own;
        if (giver.own < height_) {
            high.pop_back();
            low.push_back(rich);
        }
    }
}

WEIR_INLINE int alias_table::exponent_of_greatest(std::span<const double> weights) {
    double greatest = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double w = weights[i];
        if (!detail::is_finite(w) || w < 0) {
            throw std::invalid_argument("weir: weight number " + std::to_string(i) + " is " +
                                        std::to_string(w) + "; weights are finite and not negative");
        }
        greatest = (std::max)(greatest, w);
    }
    if (greatest <= 0) {
        throw std::invalid_argument(weights.empty()
                                        ? "weir: there are no weights; at least one is needed"
                                        : "weir: all weights are 0; at least one has to be positive");
    }
    return number(greatest).magnitude();
}

}  // namespace weir::detail

#endif
