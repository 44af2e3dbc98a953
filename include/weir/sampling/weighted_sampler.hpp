// weir sampling: a sampler that draws indices at random by weight, with repetition
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_WEIGHTED_SAMPLER_HPP
#define WEIR_SAMPLING_WEIGHTED_SAMPLER_HPP

#include <weir/platform/numbers.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/sampling/shard.hpp>

#include <algorithm>  // for std::max
#include <bit>        // for std::bit_cast, std::bit_width
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <limits>     // for std::numeric_limits
#include <memory>     // for std::shared_ptr
#include <optional>   // for std::optional
#include <span>       // for std::span
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::to_string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::detail {

// Picks an index at random by weight, in constant time.
//
// Each of the n indices has a column of the table. All columns have the same height. Each column is divided
// between its own index and at most one other index. The weights are converted to integers first, so that the
// table is the same on every platform, and no rounding error is left over. If n has k bits, the greatest
// weight becomes an integer of 63 - k bits. The other weights are scaled by the same factor and rounded down,
// perhaps to 0.
//
// Cost: 16 bytes per index; O(n) to build, O(1) to pick.
// Source: A. Walker, "New fast method for generating discrete random numbers with arbitrary frequency
// distributions" (1974); the construction: M. Vose, "A linear algorithm for generating random numbers
// with a given distribution" (1991).
class alias_table {
    using u64 = std::uint64_t;

  public:
    // Errors: std::invalid_argument unless all weights are finite, none is negative and one is positive.
    explicit alias_table(std::span<const double> weights) : columns_(weights.size()) {
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

    std::size_t size() const noexcept { return columns_.size(); }

    // A checksum of the weights; never 0, which stands for equal weights in checkpoints.
    std::uint32_t checksum() const noexcept { return checksum_; }

    // Returns an index. The parameters are two random numbers: they choose a column, and a height in it.
    u64 pick(u64 which, u64 how_high) const noexcept {
        const u64 i = high_product(which, columns_.size());
        const column& c = columns_[place_in(i)];
        return high_product(how_high, height_) < c.own ? i : c.other;
    }

  private:
    // A weight as an integer times a power of two. <cmath> has functions for this, but takes longer to
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

        // The smallest k for which the weight is less than 2^k.
        int magnitude() const noexcept { return number_as<int>(std::bit_width(significand_)) + exponent_; }

        // The weight times 2^power, rounded down.
        u64 scaled(int power) const noexcept {
            const int shift = exponent_ + power;
            if (shift >= 0) return significand_ << shift;
            return shift > -64 ? significand_ >> -shift : 0;
        }
    };

    struct column {
        u64 own = 0;    // the part of the height that belongs to the column's own index
        u64 other = 0;  // the index to which the rest belongs; without a rest, the column's own index
    };

    // The number of a column as an index. It fits in 32 bits on a 32-bit system, as all columns are in
    // memory.
    static std::size_t place_in(u64 column) noexcept { return number_as<std::size_t>(column); }

    // Fills up each column that is too low from a column that is too high, until all have the same height.
    // The unit of heights is 1 / n of the unit of the integer weights: so the height of a column is the sum
    // of these weights.
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

namespace weir {

/// Options of a `weighted_sampler`.
struct weighted_sampler_options {
    /// The number of draws of all ranks (processes) in an epoch (pass over the data); 0: as many as weights.
    std::uint64_t draws = 0;

    /// The seed of the draws. Has to be the same on all ranks.
    std::uint64_t seed = 0;

    /// The rank whose draws are returned. Under torchrun, mpirun or srun: `weir::shard::from_environment()`.
    weir::shard shard = {};

    /// What happens at the end of an epoch if the ranks can't get equally many draws.
    weir::tail tail = weir::tail::exact;

    /// The checkpoint to continue from: complete (merged from those of all ranks), of a run with any number
    /// of ranks. Empty: the first draw of epoch 0 comes first.
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
/// all weights. Weights, seed and position determine the index at a position. So ranks, tails and resumptions
/// work as for a `sampler`; but an index may come several times in an epoch, or not at all.
///
///     weir::weighted_sampler mine(weights, {.draws = 10'000, .seed = 7, .shard = {2, 8}});
///
/// Cost, beyond that of `basic_sampler`: 16 bytes per weight, shared by all copies; O(1) time for a draw.
/// Source: the alias method of Walker and Vose.
class weighted_sampler : public basic_sampler<detail::weighted_order> {
  public:
    /// \param weights  the weight of each index, from 0 on, in any unit. With a million weights, a weight
    ///                 below 2^-42 times the greatest may count as 0. This limit is about proportional to
    ///                 the number of weights.
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

#endif
