// loaders: what all contestants do with a file, as C functions, so that Python can call them from a library.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_BENCH_LOADERS_WORK_HPP
#define WEIR_BENCH_LOADERS_WORK_HPP

#include <cstddef>  // for std::size_t

namespace loaders {

inline constexpr int side = 224;
inline constexpr std::size_t bytes_of_image = std::size_t{3} * side * side;
inline constexpr std::size_t images_of_batch = 64;

}  // namespace loaders

/// Reads a JPEG, decodes it at the nearest scale, and writes the middle square: red, green, blue of each pixel.
/// \returns 0, or another number if the file can't be read or decoded. Threads: any, at the same time.
extern "C" int loaders_decode(const char* path, unsigned char* to) noexcept;

/// Writes a JPEG of 500 x 375 pixels, some 70 KB: smooth shapes and noise, another one for each number.
/// \returns 0, or another number if that fails.
extern "C" int loaders_make_photo(const char* path, unsigned number) noexcept;

#endif
