// weir report, internal: bodies of the functions of report/line.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_LINE_IPP
#define WEIR_REPORT_LINE_IPP

#include <weir/report/line.hpp>

#include <weir/platform/config.hpp>

namespace weir {

WEIR_INLINE std::string line_text(const histogram& h) {
    std::string text = units::count(h.count()) + (h.count() == 1 ? " time" : " times");
    if (h.empty()) return text;
    text += ", ave " + units::time(h.mean());
    if (h.has_quantiles()) text += ", p50 " + units::time(h.p50()) + ", p99 " + units::time(h.p99());
    return text + ", max " + units::time((h.max)());
}

WEIR_INLINE std::string line_text(const slot_times& t) {
    std::string text;
    for (const auto& state : detail::states_in_reports) {
        text += (text.empty() ? "" : ", ") + std::string(state.name) + " " + units::time(t.*state.time);
    }
    return text;
}

WEIR_INLINE std::string line_text(const stage_stats& s) {
    std::string text = s.name;
    if (s.concurrency > 1) text += "[" + std::to_string(s.concurrency) + "]";
    return text + ": " + units::count(s.num_tasks) + (s.num_tasks == 1 ? " task, " : " tasks, ") +
           units::count(s.num_failures) + " failed" +
           (s.num_failures != 0 ? " after " + units::time(s.ave_failure_time()) : "") + ", " +
           units::rate(s.rate()) + ", ave " + units::time(s.ave_time()) + "; " + line_text(s.times());
}

WEIR_INLINE std::string line_text(const channel_stats& c) {
    return c.name + "_queue: " + std::to_string(c.size) + " of " + std::to_string(c.capacity) + " in it, " +
           units::count(c.num_get) + " taken, " +
           (c.num_discarded != 0 ? units::count(c.num_discarded) + " discarded, " : "") +
           units::rate(c.rate()) + ", put wait " + units::time(c.ave_put_wait()) + ", get wait " +
           units::time(c.ave_get_gap()) + ", readiness " + units::percent(c.readiness());
}

WEIR_INLINE std::string line_text(const process_stats& p) {
    std::string text;
    const auto part = [&text](const std::string& what, const char* between = "; ") {
        text += (text.empty() ? "" : between) + what;
    };
    if (p.user_time && p.elapsed > duration(0)) {
        const std::string all = p.processors ? " of " + std::to_string(*p.processors) : "";
        part(units::fixed(p.busy(), 1) + all + " processors busy");
        if (p.system_time) part(units::fixed(p.busy_in_system(), 1) + " in the system", ", ");
    }
    if (p.resident) part(units::bytes(*p.resident) + " resident");
    if (p.voluntary_switches && p.involuntary_switches) {
        part(units::count(*p.voluntary_switches + *p.involuntary_switches, 4) + " context switches, " +
             units::count(*p.involuntary_switches, 4) + " of them forced");
    }
    if (p.major_faults && *p.major_faults != 0)
        part(units::count(*p.major_faults, 4) + " page faults from storage");
    if (p.bytes_read) part("read " + units::bytes(*p.bytes_read));
    if (p.bytes_written) part("written " + units::bytes(*p.bytes_written), p.bytes_read ? ", " : "; ");
    return text;
}

}  // namespace weir

namespace weir::detail {

WEIR_INLINE double share_of(duration part, duration all) {
    return all <= duration(0) ? 0 : static_cast<double>(part.count()) / static_cast<double>(all.count());
}

WEIR_INLINE std::string ascii_only(std::string text) {
    for (char& c : text) {
        if (c < ' ' || c > '~') c = '?';
    }
    return text;
}

WEIR_INLINE std::ostream& write_text(std::ostream& out, const std::string& text) {
    return out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

WEIR_INLINE std::string idle_text(duration idle) {
    constexpr duration is_long(10'000'000'000);
    return idle < is_long ? std::string() : "nothing has moved for " + units::time(idle);
}

WEIR_INLINE std::string first_item_text(const pipeline_stats& p) {
    const auto rate = [](double items) { return items > 0 ? units::rate(items) : std::string("0 /s"); };
    if (p.num_items == 0 && !p.first_item) return "no item yet";
    if (!p.first_item || p.first_item->num_items == p.num_items) return rate(p.rate());
    const first_item_stats& first = *p.first_item;
    std::string text = "first item after " + (first.after == duration(0) ? "0 s" : units::time(first.after));
    if (first.since <= duration(0)) return text;
    return text + ", " + rate(first.rate()) + " since, " + rate(p.rate()) + " in all";
}

}  // namespace weir::detail

#endif
