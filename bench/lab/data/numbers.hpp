// lab data: numbers as text, independent of the locale
#ifndef LAB_DATA_NUMBERS_HPP
#define LAB_DATA_NUMBERS_HPP

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace lab {

// The number if the whole text is a finite number, otherwise empty: "1", "-2.5", "+3", "6.1e-05". No blanks, no
// comma, no NaN.
inline std::optional<double> number_in(std::string_view text) {
    if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

// For programs: the shortest text that gives the same number again, without an exponent between 1e-5 and 1e15.
inline std::string exact_text(double value) {
    char text[64];
    const double size = std::abs(value);
    const auto [end, error] = size >= 1e-5 && size < 1e15
                                  ? std::to_chars(text, text + sizeof text, value, std::chars_format::fixed)
                                  : std::to_chars(text, text + sizeof text, value);
    return error == std::errc{} ? std::string(text, end) : std::string("nan");
}

// For people: `digits` significant digits, no exponent between 1e-4 and 1e15.
inline std::string short_text(double value, int digits = 5) {
    if (value == 0) return "0";  // not "-0"
    char text[64];
    const double size = std::abs(value);
    const bool plain = size >= 1e-4 && size < 1e15;
    const int before = plain ? static_cast<int>(std::floor(std::log10(size))) + 1 : 0;
    const auto [end, error] =
        plain ? std::to_chars(text, text + sizeof text, value, std::chars_format::fixed,
                              before < digits ? digits - before : 0)
              : std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits);
    if (error != std::errc{}) return "nan";
    std::string_view shown(text, static_cast<std::size_t>(end - text));
    if (plain && shown.find('.') != std::string_view::npos) {
        while (shown.ends_with('0')) shown.remove_suffix(1);
        if (shown.ends_with('.')) shown.remove_suffix(1);
    }
    return std::string(shown);
}

}  // namespace lab

#endif
