// weir sampling: a draw: the index of a sample and its position; and the parameters of a sequence of draws
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_DRAW_HPP
#define WEIR_SAMPLING_DRAW_HPP

#include <weir/platform/requirements.hpp>

#include <cstdint>  // for std::uint64_t

namespace weir {

/// One sample, chosen by a sampler.
struct draw {
    /// The number of the draw among those of all ranks and epochs: epoch * size + place in the epoch. A
    /// checkpoint is a set of positions. A padded draw has the position of the draw that it repeats.
    std::uint64_t position = 0;
    std::uint64_t index = 0;  ///< the index of the sample
    std::uint64_t epoch = 0;  ///< from 0
    bool padded = false;      ///< repeats another draw to fill up a round: see `tail::pad`

    constexpr draw() noexcept = default;
    /// The members in their order: position, index, epoch and `padded`.
    constexpr draw(std::uint64_t at, std::uint64_t what, std::uint64_t in_epoch, bool extra) noexcept
        : position(at), index{what}, epoch(in_epoch), padded(extra) {}

    [[nodiscard]] friend constexpr bool operator==(const draw&, const draw&) = default;
};

/// How the indices of an epoch are chosen.
enum class draw_order : std::uint8_t {
    sequential,  ///< 0, 1, 2, ...
    permuted,    ///< each index once, in another order in each epoch
    weighted     ///< at random by weight, with repetition
};

/// The parameters of a sequence of draws. They determine the index at each position: samplers with equal
/// sequences agree on it, whatever their ranks.
struct draw_sequence {
    draw_order order = draw_order::permuted;  ///< of the indices in an epoch
    /// A checksum of the weights. Without weights: a checksum of the number of indices if it isn't `size`,
    /// else 0.
    std::uint32_t weights = 0;
    std::uint64_t size = 0;  ///< positions in an epoch
    std::uint64_t seed = 0;  ///< of all random choices; 0 is a seed like any other

    [[nodiscard]] friend constexpr bool operator==(const draw_sequence&, const draw_sequence&) = default;
};

}  // namespace weir

#endif
