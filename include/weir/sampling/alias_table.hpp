// weir sampling, internal: picks one of many by weight in constant time
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_ALIAS_TABLE_HPP
#define WEIR_SAMPLING_ALIAS_TABLE_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/random_bits.hpp>

#include <bit>      // for std::bit_width
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <limits>   // for std::numeric_limits
#include <span>     // for std::span
#include <vector>   // for std::vector

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
    explicit alias_table(std::span<const double> weights);

    std::size_t size() const noexcept { return columns_.size(); }

    // Not 0.
    std::uint32_t checksum() const noexcept { return checksum_; }

    // By two random numbers.
    u64 pick(u64 which, u64 how_high) const noexcept;

  private:
    // A weight as a whole number times a power of two. <cmath> can do it as well, but takes longer to
    // compile than all of weir's samplers.
    class number {
        static_assert(std::numeric_limits<double>::is_iec559 && sizeof(double) == sizeof(u64));
        u64 significand_;
        int exponent_;

      public:
        explicit number(double weight) noexcept;

        // The least power of two, by its exponent, that is greater.
        int magnitude() const noexcept { return number_as<int>(std::bit_width(significand_)) + exponent_; }

        // Times that power of two, rounded down.
        u64 scaled(int power) const noexcept;
    };

    struct column {
        u64 own = 0;  // how much of the height is the column's own index
        u64 other = 0;
    };

    // Of a column: what there is of those fits into memory, also where that is addressed by 32 bits.
    static std::size_t place_in(u64 column) noexcept { return number_as<std::size_t>(column); }

    // Pairs a column that is too low with one that is too high, which fills it up, until all are even.
    // In units of 1 / n of a weight's: then the height of a column is the sum of the weights.
    void build();

    static int exponent_of_greatest(std::span<const double> weights);

    std::vector<column> columns_;
    u64 height_ = 0;
    std::uint32_t checksum_ = 1;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/sampling/alias_table.ipp>
#endif

#endif
