// weir sampling: a sampler that draws indices at random by weight, with repetition
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_WEIGHTED_SAMPLER_HPP
#define WEIR_SAMPLING_WEIGHTED_SAMPLER_HPP

#include <weir/platform/random_bits.hpp>
#include <weir/sampling/alias_table.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/draw.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/sampling/shard.hpp>

#include <cstdint>   // for std::uint64_t
#include <memory>    // for std::shared_ptr
#include <optional>  // for std::optional
#include <span>      // for std::span
#include <utility>   // for std::move

namespace weir {

/// Options of a `weighted_sampler`.
struct weighted_sampler_options {
    /// The number of draws of all ranks together in an epoch; 0: as many as there are weights.
    std::uint64_t draws = 0;

    /// The seed of the draws. Has to be the same on all ranks.
    std::uint64_t seed = 0;

    /// The rank whose draws are returned. In a launched process: `weir::shard::from_environment()`.
    weir::shard shard = {};

    /// What happens at the end of an epoch if the ranks can't get equally many draws.
    weir::tail tail = weir::tail::exact;

    /// The complete checkpoint to continue from, of a run with any number of ranks.
    std::optional<checkpoint> resume = std::nullopt;
};

namespace detail {

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
/// Source: the alias method of Walker and Vose (sampling/alias_table.hpp).
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

#endif
