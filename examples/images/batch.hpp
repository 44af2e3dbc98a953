// images: the input of a network: the middle square of each photograph, scaled to one size, several in
// one batch. Nothing here depends on weir.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_IMAGES_BATCH_HPP
#define WEIR_EXAMPLES_IMAGES_BATCH_HPP

#include "decode.hpp"

#include <algorithm>  // for std::clamp, std::min
#include <cstddef>    // for std::size_t
#include <span>       // for std::span
#include <vector>     // for std::vector

namespace images {

/// How many values an image of this size has.
[[nodiscard]] constexpr std::size_t values_of(std::size_t side) noexcept { return 3 * side * side; }

/// The two pixels beside a position, and the weight of the second.
struct place {
    std::size_t first = 0;
    std::size_t second = 0;
    float share = 0;
};

/// \returns the middles of `count` equal parts of [begin, begin + length).
[[nodiscard]] inline std::vector<place> places(int begin, int length, int count) {
    std::vector<place> result;
    const auto step = static_cast<float>(length) / static_cast<float>(count);
    for (int i = 0; i < count; ++i) {
        const float middle = (static_cast<float>(i) + 0.5F) * step - 0.5F;
        const float at = std::clamp(middle, 0.0F, static_cast<float>(length - 1));
        const int first = static_cast<int>(at);
        result.push_back({static_cast<std::size_t>(begin + first),
                          static_cast<std::size_t>(begin + std::min(first + 1, length - 1)),
                          at - static_cast<float>(first)});
    }
    return result;
}

/// Writes the largest square in the middle, scaled to `side` pixels (bilinear interpolation): values from 0 to 1,
/// all red ones row by row, then the green, then the blue. So several images in a row are in the order NCHW.
/// \param to  `values_of(side)` values.
inline void write_square(const image& from, int side, std::span<float> to) {
    const int length = std::min(from.width, from.height);
    const std::vector<place> columns = places((from.width - length) / 2, length, side);
    const std::vector<place> rows = places((from.height - length) / 2, length, side);
    const std::size_t pitch = std::size_t{3} * static_cast<std::size_t>(from.width);
    const std::size_t plane = rows.size() * columns.size();
    const auto between = [](float a, float b, float share) { return a + (b - a) * share; };
    float* value = to.data();
    for (const place& y : rows) {
        const unsigned char* const upper = from.pixels.data() + y.first * pitch;
        const unsigned char* const lower = from.pixels.data() + y.second * pitch;
        for (const place& x : columns) {
            for (std::size_t colour = 0; colour < 3; ++colour) {
                const std::size_t left = 3 * x.first + colour;
                const std::size_t right = 3 * x.second + colour;
                value[colour * plane] = between(between(upper[left], upper[right], x.share),
                                                between(lower[left], lower[right], x.share), y.share) /
                                        255.0F;
            }
            ++value;
        }
    }
}

}  // namespace images

#endif
