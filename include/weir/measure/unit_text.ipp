// weir measure, internal: bodies of the functions of measure/unit_text.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_UNIT_TEXT_IPP
#define WEIR_MEASURE_UNIT_TEXT_IPP

#include <weir/measure/unit_text.hpp>

#include <weir/platform/config.hpp>
#include <weir/platform/message_text.hpp>

#include <charconv>  // for std::to_chars

namespace weir::units {

WEIR_INLINE std::string fixed(double value, int decimals) {
    char text[350];  // the longest double has 309 digits before the point
    decimals = detail::larger(0, detail::smaller(decimals, 30));
    const auto end = std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, decimals);
    return std::string(text, end.ptr);
}

WEIR_INLINE std::string right(const std::string& text, std::size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

WEIR_INLINE std::string left(const std::string& text, std::size_t width) {
    return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

WEIR_INLINE std::string time(duration d) {
    static constexpr unit units[] = {{1, "ns"},  {1e3, "us"},   {1e6, "ms"},
                                     {1e9, "s"}, {6e10, "min"}, {3.6e12, "h"}};
    if (d == duration(0)) return "0";
    return scaled(static_cast<double>(d.count()), units, 0);
}

WEIR_INLINE std::string rate(double per_second) {
    static constexpr unit units[] = {{1, "/s"}, {1e3, "k/s"}, {1e6, "M/s"}, {1e9, "G/s"}};
    if (detail::are_equal(per_second, 0)) return "0";
    return scaled(per_second, units, std::abs(per_second) < 0.995 ? 2 : 1);
}

WEIR_INLINE std::string bytes(std::uint64_t n) {
    static constexpr unit units[] = {{1, "B"},    {1e3, "kB"},  {1e6, "MB"},
                                     {1e9, "GB"}, {1e12, "TB"}, {1e15, "PB"}};
    return scaled(static_cast<double>(n), units, 0);
}

WEIR_INLINE std::string count(std::uint64_t n, std::size_t digits) {
    static constexpr unit units[] = {{1, ""},     {1e3, "k"},  {1e6, "M"}, {1e9, "G"},
                                     {1e12, "T"}, {1e15, "P"}, {1e18, "E"}};
    std::string full = std::to_string(n);
    return full.size() <= digits ? full : scaled(static_cast<double>(n), units, 0);
}

WEIR_INLINE std::string whole_percent(double share) {
    if (share > 0 && share < 0.005) return "<1";
    return fixed(share * 100, 0);
}

WEIR_INLINE std::string percent(double share) {
    const double value = share * 100;
    return fixed(value, detail::are_equal(value, 0) || value >= 99.95 ? 0 : 1) + " %";
}

WEIR_INLINE std::string log_time(duration d) {
    const std::int64_t ns = d.count();
    static constexpr unit units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "sec"}};
    const unit& u = units[ns >= 1'000'000'000 ? 3 : ns >= 100'000 ? 2 : ns >= 100 || ns <= 0 ? 1 : 0];
    return right(fixed(static_cast<double>(ns) / u.scale, 1), 6) + " [" + right(u.name, 3) + "]";
}

}  // namespace weir::units

WEIR_INLINE std::string weir::detail::concat(std::initializer_list<std::string_view> texts) {
    std::string all;
    for (const std::string_view each : texts) all += each;
    for (char& c : all) c = is_control(c) ? '?' : c;
    return all;
}

#endif
