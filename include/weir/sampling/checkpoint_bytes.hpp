// weir sampling, internal: converts checkpoints to bytes in a binary format, and back
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_CHECKPOINT_BYTES_HPP
#define WEIR_SAMPLING_CHECKPOINT_BYTES_HPP

#include <weir/platform/numbers.hpp>

#include <algorithm>  // for std::max
#include <array>      // for std::array
#include <bit>        // for std::bit_width
#include <cstddef>    // for std::byte
#include <cstdint>    // for std::uint64_t
#include <span>       // for std::span
#include <stdexcept>  // for std::invalid_argument, std::length_error
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir::detail {

// The contents of a `checkpoint`, under the names that its members have, and their format as bytes. The rank
// (process `rank` of `world`) has taken its positions (numbers of samples) below `watermark`, and those in
// `ahead`. The positions below `base`, and those in `before`, were taken by earlier runs, or belong to epochs
// that are over. All numbers are little-endian. The number of positions in `ahead` follows from the number of
// all bytes.
//
// | at | bytes | what                                                                        |
// |----|-------|-----------------------------------------------------------------------------|
// |  0 | 4     | "weir"                                                                      |
// |  4 | 1     | the version of this format: 1                                               |
// |  5 | 1     | order in the lower four bits, tail in the upper                             |
// |  6 | 1     | bytes of a distance: `before` in the lower four bits, `ahead` in the upper  |
// |  7 | 4 + 4 | rank, world                                                                 |
// | 15 | 4 + 4 | weights, run (both are checksums)                                           |
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
    std::vector<u64> before, ahead;  // both ascending; `before` from base on, `ahead` above watermark

    static constexpr std::size_t head = 59;         // bytes before the lists
    static constexpr std::size_t least = head + 4;  // bytes of a checkpoint with empty lists
    static constexpr std::array<char, 4> magic = {'w', 'e', 'i', 'r'};

    std::vector<std::byte> to_bytes() const {
        if (before.size() > UINT32_MAX || ahead.size() > UINT32_MAX) {
            throw std::length_error("weir: a checkpoint holds less than 2^32 positions out of order");
        }
        const std::size_t wide_before = width(before, base), wide_ahead = width(ahead, watermark);
        std::vector<std::byte> out;
        out.reserve(least + before.size() * wide_before + ahead.size() * wide_ahead);
        for (const char c : magic) out.push_back(static_cast<std::byte>(c));
        put(out, 1, 1);
        put(out, order | u64{tail} << 4, 1);
        put(out, wide_before | u64{wide_ahead} << 4, 1);
        for (const std::uint32_t x : {rank, world, weights, run}) put(out, x, 4);
        for (const u64 x : {size, seed, base, watermark}) put(out, x, 8);
        put(out, before.size(), 4);
        put_list(out, before, base, wide_before);
        put_list(out, ahead, watermark, wide_ahead);
        put(out, checksum(out), 4);
        return out;
    }

    // Whether the bytes begin as those of a checkpoint.
    static bool begins(bytes_in in) noexcept {
        bool ours = in.size() >= magic.size();
        for (std::size_t i = 0; ours && i < magic.size(); ++i) {
            ours = in[i] == static_cast<std::byte>(magic[i]);
        }
        return ours;
    }

    // Errors: std::invalid_argument unless begin, version, checksum and lists are as in the table.
    static checkpoint_fields from_bytes(bytes_in in) {
        if (!begins(in)) refuse("they don't begin with \"weir\"");
        if (in.size() < least) refuse("they are cut short");
        if (in[4] != std::byte{1}) {
            refuse("they are of version " + std::to_string(std::to_integer<int>(in[4])) +
                   ", and this library knows version 1 only");
        }
        const bytes_in sealed = in.first(in.size() - 4);
        if (get(in.last(4)) != checksum(sealed)) refuse("they are cut short or were changed");
        checkpoint_fields f;
        std::size_t at = 5;
        const auto next = [&](std::size_t bytes) {
            const u64 x = get(sealed.subspan(at, bytes));
            at += bytes;
            return x;
        };
        const u64 kinds = next(1), widths = next(1);
        f.order = static_cast<std::uint8_t>(kinds & 15);
        f.tail = static_cast<std::uint8_t>(kinds >> 4);
        for (std::uint32_t* x : {&f.rank, &f.world, &f.weights, &f.run}) {
            *x = static_cast<std::uint32_t>(next(4));
        }
        for (u64* x : {&f.size, &f.seed, &f.base, &f.watermark}) *x = next(8);
        const u64 num_before = next(4);
        const auto wide_before = number_as<std::size_t>(widths & 15);
        const auto wide_ahead = number_as<std::size_t>(widths >> 4);
        const u64 left = sealed.size() - at;
        if (wide_before > 8 || wide_ahead > 8 || (wide_before == 0) != (num_before == 0) ||
            num_before > left || num_before * wide_before > left) {
            refuse_lists();
        }
        const auto split = static_cast<std::size_t>(num_before) * wide_before;
        f.before = get_list(sealed.subspan(at, split), f.base, wide_before, false);
        f.ahead = get_list(sealed.subspan(at + split), f.watermark, wide_ahead, true);
        return f;
    }

    // The checksum of these bytes.
    static std::uint32_t checksum(bytes_in in) noexcept {
        digest d;
        d.add(in.size());
        for (; in.size() > 8; in = in.subspan(8)) d.add(get(in.first(8)));
        return d.add(get(in)).value();
    }

  private:
    [[noreturn]] static void refuse(const std::string& why) {
        throw std::invalid_argument("weir: these bytes are no checkpoint: " + why);
    }
    [[noreturn]] static void refuse_lists() { refuse("their lists of positions are broken"); }

    static void put(std::vector<std::byte>& out, u64 x, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i) out.push_back(static_cast<std::byte>(x >> (8 * i)));
    }
    static u64 get(bytes_in in) noexcept {
        u64 x = 0;
        for (std::size_t i = in.size(); i-- != 0;) x = x << 8 | std::to_integer<u64>(in[i]);
        return x;
    }

    // A list is stored as distances: of the first position from `from`, of each other position from the
    // position before it. Returns the number of bytes that the greatest distance needs, at least 1; 0 for an
    // empty list.
    static std::size_t width(const std::vector<u64>& list, u64 from) noexcept {
        std::size_t most = 0;
        for (const u64 p : list) {
            const auto bits = number_as<std::size_t>(std::bit_width(p - from));
            most = (std::max)({most, std::size_t{1}, (bits + 7) / 8});
            from = p;
        }
        return most;
    }
    static void put_list(std::vector<std::byte>& out, const std::vector<u64>& list, u64 from,
                         std::size_t bytes) {
        for (const u64 p : list) {
            put(out, p - from, bytes);
            from = p;
        }
    }
    // Reads a list. `above`: whether the first position must be greater than `from`; else it may be equal.
    // Each other position must be greater than the position before it.
    static std::vector<u64> get_list(bytes_in in, u64 from, std::size_t bytes, bool above) {
        if (bytes == 0 ? !in.empty() : in.size() % bytes != 0 || (above && in.empty())) refuse_lists();
        std::vector<u64> list;
        if (bytes != 0) list.reserve(in.size() / bytes);
        for (; !in.empty(); in = in.subspan(bytes)) {
            const u64 distance = get(in.first(bytes));
            if ((above && distance == 0) || distance > UINT64_MAX - from) refuse_lists();
            list.push_back(from += distance);
            above = true;
        }
        return list;
    }
};

}  // namespace weir::detail

#endif
