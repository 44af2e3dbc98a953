// weir report, internal: the lines of one family of metrics
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_METRIC_SAMPLES_HPP
#define WEIR_REPORT_METRIC_SAMPLES_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/report/metrics_format.hpp>
#include <weir/report/utf8.hpp>

#include <concepts>     // for std::unsigned_integral
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move

namespace weir::detail {

enum class metric_type { gauge, counter, histogram };

struct metric_family {
    std::string_view name;  // in OpenTelemetry
    std::string_view unit;  // the same, in UCUM's notation: s, By, {item}
    metric_type type;
    std::string_view help;
};

[[nodiscard]] inline std::string_view type_text(metric_type type) noexcept {
    return type == metric_type::gauge ? "gauge" : type == metric_type::counter ? "counter" : "histogram";
}
[[nodiscard]] inline std::string_view unit_text(const metric_family& f) noexcept {
    return f.unit == "s" ? "seconds" : f.unit == "By" ? "bytes" : "";
}

// In Prometheus, by the rules of OpenTelemetry's specification ("Prometheus and OpenMetrics Compatibility"),
// but without a counter's `_total`.
[[nodiscard]] inline std::string family_name(const metric_family& f) {
    std::string name(f.name);
    for (char& c : name) {
        if (c == '.') c = '_';
    }
    if (const auto unit = unit_text(f); !unit.empty()) (name += '_') += unit;
    return name;
}
[[nodiscard]] inline std::string sample_name(const metric_family& f) {
    return family_name(f) + (f.type == metric_type::counter ? "_total" : "");
}

// Both formats escape these three and nothing else. Neither has other bytes than UTF-8; a 0 ends the text for
// parsers that are written in C's way.
[[nodiscard]] inline std::string label_text(std::string_view name, std::string_view value) {
    std::string text(name);
    text += "=\"";
    while (!value.empty()) {
        const char c = value.front();
        const std::size_t n = utf8_length(value);
        if (n == 0 || c == '\0') {
            text += no_character;
        } else if (c == '"' || c == '\\') {
            (text += '\\') += c;
        } else if (c == '\n') {
            text += "\\n";
        } else {
            text += value.substr(0, n);
        }
        value.remove_prefix(n == 0 ? 1 : n);
    }
    return text += '"';
}

// Every nanosecond of it, without an exponent.
[[nodiscard]] inline std::string seconds_text(duration d) {
    constexpr std::int64_t second = 1'000'000'000;
    std::string digits = std::to_string(second + d.count() % second);  // a 1 before all nine of them
    digits.erase(digits.find_last_not_of('0') + 1);
    const std::string whole = std::to_string(d.count() / second);
    return digits.size() == 1 ? whole : whole + "." + digits.substr(1);
}

// Writes what is added, under a head that comes before the first of it: a family of nothing isn't mentioned.
class metric_samples {
    std::string& text_;
    const metric_family& family_;
    const metrics_format format_;
    const std::string name_;
    std::string labels_;
    bool has_head_ = false;

  public:
    metric_samples(std::string& text, const metric_family& family, metrics_format format)
        : text_(text), family_(family), format_(format), name_(sample_name(family)) {}

    // What comes next has these, as `label_text` gives them, with commas between.
    void begin(std::string labels) { labels_ = std::move(labels); }

    void add(std::unsigned_integral auto value) { line("", "", std::to_string(value)); }
    void add(duration value) { line("", "", seconds_text(value)); }
    void add(const histogram& h) {
        const auto count = std::to_string(h.count());
        if (h.has_quantiles()) add_buckets(h);
        line("_bucket", "le=\"+Inf\"", count);
        line("_sum", "", seconds_text(h.sum()));
        line("_count", "", count);
    }
    // Of several samples of the same, told apart by a label.
    void add(std::string_view label, std::string_view is, std::unsigned_integral auto value) {
        line("", label_text(label, is), std::to_string(value));
    }
    void add(std::string_view label, std::string_view is, duration value) {
        line("", label_text(label, is), seconds_text(value));
    }
    template <class T>
    void add(const std::optional<T>& value) {
        if (value) add(*value);
    }
    template <class T>
    void add(std::string_view label, std::string_view is, const std::optional<T>& value) {
        if (value) add(label, is, *value);
    }

  private:
    // The bounds are the last nanosecond before a power of two, as that of 32 of a histogram's buckets is the
    // last one's: no bucket lies on both sides of one.
    void add_buckets(const histogram& h) {
        const auto buckets = h.buckets();
        auto next = buckets.begin();
        std::uint64_t below = 0;
        for (int power = 10; power <= 40; ++power) {
            const duration bound((std::int64_t{1} << power) - 1);
            for (; next != buckets.end() && next->greatest <= bound; ++next) below += next->count;
            line("_bucket", label_text("le", seconds_text(bound)), std::to_string(below));
        }
    }

    void line(std::string_view suffix, const std::string& label, const std::string& value) {
        if (!has_head_) head();
        (text_ += name_) += suffix;
        if (!labels_.empty() || !label.empty()) {
            (text_ += '{') += labels_;
            if (!labels_.empty() && !label.empty()) text_ += ',';
            (text_ += label) += '}';
        }
        ((text_ += ' ') += value) += '\n';
    }
    void head() {
        has_head_ = true;
        const bool open = format_ == metrics_format::openmetrics;
        const std::string name = open ? family_name(family_) : name_;
        ((((text_ += "# HELP ") += name) += ' ') += family_.help) += '\n';
        ((((text_ += "# TYPE ") += name) += ' ') += type_text(family_.type)) += '\n';
        const auto unit = unit_text(family_);
        if (open && !unit.empty()) ((((text_ += "# UNIT ") += name) += ' ') += unit) += '\n';
    }
};

}  // namespace weir::detail

#endif
