// weir sampling: a sampler that draws indices at random by weight, with repetition
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_WEIGHTED_SAMPLER_HPP
#define WEIR_SAMPLING_WEIGHTED_SAMPLER_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/random_bits.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/sampling/shard.hpp>

#include <bit>       // for std::bit_width
#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t
#include <limits>    // for std::numeric_limits
#include <memory>    // for std::shared_ptr
#include <optional>  // for std::optional
#include <span>      // for std::span
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace weir::detail {

// Picks an index at random by weight, in constant time.
//
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

namespace weir {

/// Options of a `weighted_sampler`.
struct weighted_sampler_options {
    /// The number of draws of all ranks together in an epoch; 0: as many as there are weights.
    std::uint64_t draws = 0;

    /// The seed of the draws. Has to be the same on all ranks.
    std::uint64_t seed = 0;

    /// The rank whose draws are returned. Under torchrun, mpirun or srun: `weir::shard::from_environment()`.
    weir::shard shard = {};

    /// What happens at the end of an epoch if the ranks can't get equally many draws.
    weir::tail tail = weir::tail::exact;

    /// The complete checkpoint to continue from, of a run with any number of ranks.
    std::optional<checkpoint> resume = std::nullopt;
};

namespace detail {

// The index at each place of an epoch of a `weighted_sampler`.
class weighted_order {
  public:
    weighted_order(std::shared_ptr<const alias_table> table, std::uint64_t seed) noexcept
        : table_(std::move(table)), seed_(seed) {}

    void enter(std::uint64_t epoch) noexcept { key_ = subseed(seed_, epoch); }
    std::uint64_t operator[](std::uint64_t place) const noexcept {
        return table_->pick(splitmix64(key_, 2 * place), splitmix64(key_, 2 * place + 1));
    }

  private:
    std::shared_ptr<const alias_table> table_;
    std::uint64_t seed_;
    std::uint64_t key_ = 0;
};

}  // namespace detail

/// Draws indices at random, with repetition. The probability of an index is its weight divided by the sum of
/// all weights. Weights, seed and position determine the index at a position. So ranks and resumptions work
/// as for a `sampler`: each draw is given exactly once, though its index may come again.
///
///     weir::weighted_sampler mine(weights, {.draws = 10'000, .seed = 7, .shard = {2, 8}});
///
/// Cost, beyond that of `basic_sampler`: 16 bytes per weight, shared by all copies; O(1) time for a draw.
/// Source: the alias method of Walker and Vose.
class weighted_sampler : public basic_sampler<detail::weighted_order> {
  public:
    /// \param weights  the weight of each index, from 0 on, in any unit. With a million weights, a weight
    ///                 below 2^-42 times the greatest may count as 0; with more weights, a greater one, too.
    /// Errors: `std::invalid_argument` if a weight is negative or not finite, or none is positive; and those
    ///         of `sampler`.
    explicit weighted_sampler(std::span<const double> weights, const weighted_sampler_options& options = {})
        : weighted_sampler(std::make_shared<const detail::alias_table>(weights), options) {}

  private:
    weighted_sampler(const std::shared_ptr<const detail::alias_table>& table,
                     const weighted_sampler_options& options)
        : basic_sampler(detail::weighted_order(table, options.seed),
                        {draw_order::weighted, table->checksum(),
                         options.draws != 0 ? options.draws : table->size(), options.seed},
                        options.shard, options.tail, options.resume) {}
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/sampling/weighted_sampler.ipp>
#endif

#endif
