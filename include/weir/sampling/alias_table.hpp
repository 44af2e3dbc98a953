// weir sampling, internal: picks one of many by weight in constant time
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_ALIAS_TABLE_HPP
#define WEIR_SAMPLING_ALIAS_TABLE_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/random_bits.hpp>

#include <algorithm>  // for std::max
#include <bit>        // for std::bit_cast, std::bit_width
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <limits>     // for std::numeric_limits
#include <span>       // for std::span
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::to_string
#include <vector>     // for std::vector

namespace weir::detail {

// n columns of equal height, each divided between its own index and at most one other. The weights
// become integers first, so that the table is the same on every platform and nothing is left over by
// rounding: if n has k bits, the greatest weight becomes a number of 63 - k bits, and the others are
// in proportion; what is less than 1 then counts as 0.
//
// Cost: 16 bytes an index; O(n) to build, O(1) a pick.
// Source: A. Walker, "New fast method for generating discrete random numbers with arbitrary frequency
// distributions" (1974); the construction: M. Vose, "A linear algorithm for generating random numbers
// with a given distribution" (1991).
class alias_table {
    using u64 = std::uint64_t;

  public:
    // Errors: std::invalid_argument unless all are finite, none is negative and one is positive.
    explicit alias_table(std::span<const double> weights) : columns_(weights.size()) {
        const int exponent = exponent_of_greatest(weights);
        const u64 n = weights.size();
        const int bits = 63 - number_as<int>(std::bit_width(n));
        digest d;
        for (std::size_t i = 0; i < n; ++i) {
            // Below 2^bits, so that n of them are below 2^63.
            const u64 parts = number(weights[i]).scaled(bits - exponent);
            columns_[i].own = parts;
            height_ += parts;
            d.add(parts);
        }
        checksum_ = (std::max)(d.value(), std::uint32_t{1});
        build();
    }

    std::size_t size() const noexcept { return columns_.size(); }

    // Not 0.
    std::uint32_t checksum() const noexcept { return checksum_; }

    // By two random numbers.
    u64 pick(u64 which, u64 how_high) const noexcept {
        const u64 i = high_product(which, columns_.size());
        const column& c = columns_[place_in(i)];
        return high_product(how_high, height_) < c.own ? i : c.other;
    }

  private:
    // A weight as a whole number times a power of two. <cmath> can do it as well, but takes longer to
    // compile than all of weir's samplers.
    class number {
        static_assert(std::numeric_limits<double>::is_iec559 && sizeof(double) == sizeof(u64));
        u64 significand_;
        int exponent_;

      public:
        explicit number(double weight) noexcept {
            const auto bits = std::bit_cast<u64>(weight);
            const int field = static_cast<int>(bits >> 52 & 0x7ff);
            const u64 hidden = field == 0 ? 0 : u64{1} << 52;
            significand_ = (bits & ((u64{1} << 52) - 1)) | hidden;
            exponent_ = (field == 0 ? 1 : field) - 1075;
        }

        // The least power of two, by its exponent, that is greater.
        int magnitude() const noexcept { return number_as<int>(std::bit_width(significand_)) + exponent_; }

        // Times that power of two, rounded down.
        u64 scaled(int power) const noexcept {
            const int shift = exponent_ + power;
            if (shift >= 0) return significand_ << shift;
            return shift > -64 ? significand_ >> -shift : 0;
        }
    };

    struct column {
        u64 own = 0;  // how much of the height is the column's own index
        u64 other = 0;
    };

    // Of a column: what there is of those fits into memory, also where that is addressed by 32 bits.
    static std::size_t place_in(u64 column) noexcept { return number_as<std::size_t>(column); }

    // Pairs a column that is too low with one that is too high, which fills it up, until all are even.
    // In units of 1 / n of a weight's: then the height of a column is the sum of the weights.
    void build() {
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

    static int exponent_of_greatest(std::span<const double> weights) {
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

    std::vector<column> columns_;
    u64 height_ = 0;
    std::uint32_t checksum_ = 1;
};

}  // namespace weir::detail

#endif
