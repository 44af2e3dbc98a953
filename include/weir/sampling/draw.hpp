// weir sampling: what a sampler gives: an index, and its position in the sequence of all of them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_DRAW_HPP
#define WEIR_SAMPLING_DRAW_HPP

#include <weir/platform/requirements.hpp>

#include <cstdint>  // for std::uint64_t

namespace weir {

/// One index that a sampler gave.
struct draw {
    /// Its number among all draws of all ranks and epochs: epoch * size + place in the epoch. It says
    /// what was taken: a checkpoint is a set of positions. That of a padded draw is the one repeated.
    std::uint64_t position = 0;
    std::uint64_t index = 0;  ///< what to load
    std::uint64_t epoch = 0;  ///< from 0
    bool padded = false;      ///< only there to fill up a round; it is given once more as itself

    constexpr draw() noexcept = default;
    /// Of all four, in the order in which they stand above.
    constexpr draw(std::uint64_t at, std::uint64_t what, std::uint64_t in_epoch, bool extra) noexcept
        : position(at), index{what}, epoch(in_epoch), padded(extra) {}

    [[nodiscard]] friend constexpr bool operator==(const draw&, const draw&) = default;
};

/// How the indices of an epoch are chosen.
enum class draw_order : std::uint8_t {
    sequential,  ///< 0, 1, 2, ...
    permuted,    ///< each once, in an order of its own in each epoch
    weighted     ///< by weights, with repetition
};

/// All that decides which index is at which position: two samplers of equal sequences, of whatever
/// rank and world, mean the same by a position.
struct draw_sequence {
    draw_order order = draw_order::permuted;  ///< of the indices in an epoch
    /// A checksum of them; without weights, of how many indices there are, if that isn't `size`, else 0.
    std::uint32_t weights = 0;
    std::uint64_t size = 0;  ///< positions an epoch
    std::uint64_t seed = 0;  ///< of all that is random in it; 0 is one as any other

    [[nodiscard]] friend constexpr bool operator==(const draw_sequence&, const draw_sequence&) = default;
};

}  // namespace weir

#endif
