// weir sampling, internal: bodies of the functions of sampling/checkpoint_bytes.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_CHECKPOINT_BYTES_IPP
#define WEIR_SAMPLING_CHECKPOINT_BYTES_IPP

#include <weir/sampling/checkpoint_bytes.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::max
#include <bit>        // for std::bit_width
#include <stdexcept>  // for std::invalid_argument

namespace weir::detail {

WEIR_INLINE std::vector<std::byte> checkpoint_fields::to_bytes() const {
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

WEIR_INLINE checkpoint_fields checkpoint_fields::from_bytes(bytes_in in) {
    bool ours = in.size() >= magic.size();
    for (std::size_t i = 0; ours && i < magic.size(); ++i) {
        ours = in[i] == static_cast<std::byte>(magic[i]);
    }
    if (!ours) refuse("they don't begin with \"weir\"");
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
    if (wide_before > 8 || wide_ahead > 8 || (wide_before == 0) != (num_before == 0) || num_before > left ||
        num_before * wide_before > left) {
        refuse_lists();
    }
    const auto split = static_cast<std::size_t>(num_before) * wide_before;
    f.before = get_list(sealed.subspan(at, split), f.base, wide_before, false);
    f.ahead = get_list(sealed.subspan(at + split), f.watermark, wide_ahead, true);
    return f;
}

WEIR_INLINE std::uint32_t checkpoint_fields::checksum(bytes_in in) noexcept {
    digest d;
    d.add(in.size());
    for (; in.size() > 8; in = in.subspan(8)) d.add(get(in.first(8)));
    return d.add(get(in)).value();
}

WEIR_INLINE void checkpoint_fields::refuse(const std::string& why) {
    throw std::invalid_argument("weir: these bytes are no checkpoint: " + why);
}

WEIR_INLINE void checkpoint_fields::put(std::vector<std::byte>& out, u64 x, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) out.push_back(static_cast<std::byte>(x >> (8 * i)));
}

WEIR_INLINE auto checkpoint_fields::get(bytes_in in) noexcept -> u64 {
    u64 x = 0;
    for (std::size_t i = in.size(); i-- != 0;) x = x << 8 | std::to_integer<u64>(in[i]);
    return x;
}

WEIR_INLINE std::size_t checkpoint_fields::width(const std::vector<u64>& list, u64 from) noexcept {
    std::size_t most = 0;
    for (const u64 p : list) {
        const auto bits = number_as<std::size_t>(std::bit_width(p - from));
        most = (std::max)({most, std::size_t{1}, (bits + 7) / 8});
        from = p;
    }
    return most;
}

WEIR_INLINE void checkpoint_fields::put_list(std::vector<std::byte>& out, const std::vector<u64>& list,
                                             u64 from, std::size_t bytes) {
    for (const u64 p : list) {
        put(out, p - from, bytes);
        from = p;
    }
}

WEIR_INLINE auto checkpoint_fields::get_list(bytes_in in, u64 from, std::size_t bytes, bool above)
    -> std::vector<u64> {
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

}  // namespace weir::detail

#endif
