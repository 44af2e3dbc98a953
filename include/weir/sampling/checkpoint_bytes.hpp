// weir sampling, internal: converts checkpoints to bytes in a binary format, and back
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_CHECKPOINT_BYTES_HPP
#define WEIR_SAMPLING_CHECKPOINT_BYTES_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/random_bits.hpp>

#include <array>    // for std::array
#include <cstddef>  // for std::byte
#include <cstdint>  // for std::uint64_t
#include <span>     // for std::span
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir::detail {

// The members of a `checkpoint`, under the same names, and their format as bytes. All numbers are
// little-endian.
//
// | at | bytes | what                                                                        |
// |----|-------|-----------------------------------------------------------------------------|
// |  0 | 4     | "weir"                                                                      |
// |  4 | 1     | the version of this format: 1                                               |
// |  5 | 1     | order in the lower four bits, tail in the upper                             |
// |  6 | 1     | bytes of a distance: `before` in the lower four bits, `ahead` in the upper  |
// |  7 | 4 + 4 | rank, world                                                                 |
// | 15 | 4 + 4 | checksum of the weights, run                                                |
// | 23 | 8 + 8 | size, seed                                                                  |
// | 39 | 8 + 8 | base, watermark                                                             |
// | 55 | 4     | the number of positions in `before`                                         |
// | 59 |       | `before`: distances from base on; `ahead`: distances from the watermark on  |
// |    | 4     | checksum of all bytes before it                                             |
struct checkpoint_fields {
    using u64 = std::uint64_t;
    using bytes_in = std::span<const std::byte>;

    std::uint8_t order = 0, tail = 0;
    std::uint32_t rank = 0, world = 0, weights = 0, run = 0;
    u64 size = 0, seed = 0, base = 0, watermark = 0;
    std::vector<u64> before, ahead;  // ascending, from base on and above watermark

    static constexpr std::size_t head = 59;         // bytes before the lists
    static constexpr std::size_t least = head + 4;  // bytes of a checkpoint with empty lists
    static constexpr std::array<char, 4> magic = {'w', 'e', 'i', 'r'};

    std::vector<std::byte> to_bytes() const;

    // Errors: std::invalid_argument.
    static checkpoint_fields from_bytes(bytes_in in);

    // The checksum of these bytes.
    static std::uint32_t checksum(bytes_in in) noexcept;

  private:
    [[noreturn]] static void refuse(const std::string& why);
    [[noreturn]] static void refuse_lists() { refuse("their lists of positions are broken"); }

    static void put(std::vector<std::byte>& out, u64 x, std::size_t bytes);
    static u64 get(bytes_in in) noexcept;

    // A list is stored as the distances of each position from the one before it; of the first, from `from`.
    // Returns the number of bytes that the greatest distance needs; 0 for an empty list.
    static std::size_t width(const std::vector<u64>& list, u64 from) noexcept;
    static void put_list(std::vector<std::byte>& out, const std::vector<u64>& list, u64 from,
                         std::size_t bytes);
    // `above`: the first position must be greater than `from`, not equal. Each other position must be greater
    // than the one before it.
    static std::vector<u64> get_list(bytes_in in, u64 from, std::size_t bytes, bool above);
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/sampling/checkpoint_bytes.ipp>
#endif

#endif
