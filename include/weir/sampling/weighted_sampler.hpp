// weir sampling: draws indices at random by weight, with repetition, for a rank, epoch after epoch
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

/// Of a `weighted_sampler`.
struct weighted_sampler_options {
    /// How many draws all ranks together make in an epoch; 0: as many as there are weights.
    std::uint64_t draws = 0;

    /// Decides the draws; the same on all ranks.
    std::uint64_t seed = 0;

    /// Which part is given here. In a launched process: `weir::shard::from_environment()`.
    weir::shard shard = {};

    /// What happens where the ranks can't get equally many.
    weir::tail tail = weir::tail::exact;

    /// Where to go on: a complete checkpoint, of a run with any number of ranks.
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

/// Draws each index as often, on average, as its weight is of the sum of all. What is at a position is
/// decided by weights, seed and position alone, so ranks and resumptions work as for a `sampler`: what
/// is given once and no more is the draw, not the index.
///
///     weir::weighted_sampler mine(weights, {.draws = 10'000, .seed = 7, .shard = {2, 8}});
///
/// Cost, but for that of `basic_sampler`: 16 bytes a weight, which copies share; O(1) a draw.
/// Source: the alias method of Walker and Vose (sampling/alias_table.hpp).
class weighted_sampler : public basic_sampler<detail::weighted_order> {
  public:
    /// \param weights  one of each index from 0 on, in any unit. One that is less than a 2^42nd of the
    ///                 greatest may count as 0 (of a million weights; of more, accordingly).
    /// Errors: `std::invalid_argument` if a weight is negative or no finite number, or none is positive;
    ///         and as for a `sampler`.
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
