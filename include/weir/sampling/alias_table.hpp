// weir sampling, internal: picks an index at random by weight, in constant time
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

// n columns of equal height, each divided between its own index and at most one other index. The weights are
// converted to integers first, so that the table is the same on every platform, and no rounding error is
// left over. If n has k bits, the greatest weight becomes an integer of 63 - k bits. The other weights are
// scaled by the same factor and rounded down, perhaps to 0.
//
// Cost: 16 bytes per index; O(n) to build, O(1) to pick.
// Source: A. Walker, "New fast method for generating discrete random numbers with arbitrary frequency
// distributions" (1974); the construction: M. Vose, "A linear algorithm for generating random numbers
// with a given distribution" (1991).
class alias_table {
    using u64 = std::uint64_t;

  public:
    // Errors: std::invalid_argument unless all weights are finite, none is negative and one is positive.
    explicit alias_table(std::span<const double> weights);

    std::size_t size() const noexcept { return columns_.size(); }

    // A checksum of the weights; never 0.
    std::uint32_t checksum() const noexcept { return checksum_; }

    // Returns an index. The parameters are two random numbers: they choose a column, and a height in it.
    u64 pick(u64 which, u64 how_high) const noexcept;

  private:
    // A weight as an integer times a power of two. <cmath> has functions for this, but takes longer to
    // compile than all of weir's samplers.
    class number {
        static_assert(std::numeric_limits<double>::is_iec559 && sizeof(double) == sizeof(u64));
        u64 significand_;
        int exponent_;

      public:
        explicit number(double weight) noexcept;

        // The smallest k for which the weight is less than 2^k.
        int magnitude() const noexcept { return number_as<int>(std::bit_width(significand_)) + exponent_; }

        // The weight times 2^power, rounded down.
        u64 scaled(int power) const noexcept;
    };

    struct column {
        u64 own = 0;    // the part of the height that belongs to the column's own index
        u64 other = 0;  // the index that the rest belongs to
    };

    // The number of a column as an index. It fits in 32 bits on a 32-bit system, as all columns are in
    // memory.
    static std::size_t place_in(u64 column) noexcept { return number_as<std::size_t>(column); }

    // Fills up each column that is too low from one that is too high, until all have the same height. The
    // unit is 1 / n of the unit of the weights, so that the height of a column is the sum of the weights.
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
