// weir report, internal: bodies of the functions of report/metric_families.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_METRIC_FAMILIES_IPP
#define WEIR_REPORT_METRIC_FAMILIES_IPP

#include <weir/report/metric_families.hpp>

#include <weir/platform/config.hpp>

#include <cstdint>  // for std::int64_t

namespace weir::detail {

WEIR_INLINE std::string_view type_text(metric_type type) noexcept {
    return type == metric_type::gauge ? "gauge" : type == metric_type::counter ? "counter" : "histogram";
}

WEIR_INLINE std::string_view unit_text(const metric_family& f) noexcept {
    return f.unit == "s" ? "seconds" : f.unit == "By" ? "bytes" : "";
}

WEIR_INLINE std::string family_name(const metric_family& f) {
    std::string name(f.name);
    for (char& c : name) {
        if (c == '.') c = '_';
    }
    if (const auto unit = unit_text(f); !unit.empty()) (name += '_') += unit;
    return name;
}

WEIR_INLINE std::string sample_name(const metric_family& f) {
    return family_name(f) + (f.type == metric_type::counter ? "_total" : "");
}

WEIR_INLINE std::string seconds_text(duration d) {
    constexpr std::int64_t second = 1'000'000'000;
    std::string fraction = std::to_string(second + d.count() % second);  // 1 and nine digits
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return std::to_string(d.count() / second) + fraction.replace(0, 1, fraction.size() == 1 ? "" : ".");
}

WEIR_INLINE void metric_samples::add(const histogram& h) {
    const auto count = std::to_string(h.count());
    if (h.has_quantiles()) add_buckets(h);
    line("_bucket", "le=\"+Inf\"", count);
    line("_sum", "", seconds_text(h.sum()));
    line("_count", "", count);
}

WEIR_INLINE void metric_samples::add_buckets(const histogram& h) {
    const auto buckets = h.buckets();
    auto next = buckets.begin();
    std::uint64_t below = 0;
    for (int power = 10; power <= 40; ++power) {
        const duration bound((std::int64_t{1} << power) - 1);
        for (; next != buckets.end() && next->greatest <= bound; ++next) below += next->count;
        line("_bucket", label_text("le", seconds_text(bound)), std::to_string(below));
    }
}

WEIR_INLINE void metric_samples::line(std::string_view suffix, const std::string& label,
                                      const std::string& value) {
    if (!has_head_) head();
    (text_ += name_) += suffix;
    if (!labels_.empty() || !label.empty()) {
        (text_ += '{') += labels_;
        if (!labels_.empty() && !label.empty()) text_ += ',';
        (text_ += label) += '}';
    }
    ((text_ += ' ') += value) += '\n';
}

WEIR_INLINE void metric_samples::head() {
    has_head_ = true;
    const std::string name = openmetrics_ ? family_name(family_) : name_;
    ((((text_ += "# HELP ") += name) += ' ') += family_.help) += '\n';
    ((((text_ += "# TYPE ") += name) += ' ') += type_text(family_.type)) += '\n';
    const auto unit = unit_text(family_);
    if (openmetrics_ && !unit.empty()) ((((text_ += "# UNIT ") += name) += ' ') += unit) += '\n';
}

}  // namespace weir::detail

#endif
