// weir report: one line of text about a stage, a queue, a histogram, the times of a slot, or the process
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_LINE_HPP
#define WEIR_REPORT_LINE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>

#include <ostream>  // for std::ostream
#include <string>   // for std::string

namespace weir {

/// \returns count and durations: `200 times, ave 2.7 ms, p50 2.6 ms, p99 4.1 ms, max 4.3 ms`. Unknown values
///          are left out.
[[nodiscard]] inline std::string line_text(const histogram& h) {
    std::string text = units::count(h.count()) + (h.count() == 1 ? " time" : " times");
    if (h.empty()) return text;
    text += ", ave " + units::time(h.mean());
    if (h.has_quantiles()) text += ", p50 " + units::time(h.p50()) + ", p99 " + units::time(h.p99());
    return text + ", max " + units::time((h.max)());
}

/// \returns all states with their times, by the names of `slot_times`: `run 1.2 s, await 0, ...`.
[[nodiscard]] inline std::string line_text(const slot_times& t) {
    std::string text;
    for (const auto& state : detail::states_in_reports) {
        text += (text.empty() ? "" : ", ") + std::string(state.name) + " " + units::time(t.*state.time);
    }
    return text;
}

/// \returns `download[12]: 200 tasks, 3 failed after 80.0 ms, 33.3 /s, ave 2.7 ms; run 1.2 s, ...`. The time
///          after which tasks failed is the average; it is left out if none failed.
[[nodiscard]] inline std::string line_text(const stage_stats& s) {
    std::string text = s.name;
    if (s.concurrency > 1) text += "[" + std::to_string(s.concurrency) + "]";
    return text + ": " + units::count(s.num_tasks) + (s.num_tasks == 1 ? " task, " : " tasks, ") +
           units::count(s.num_failures) + " failed" +
           (s.num_failures != 0 ? " after " + units::time(s.ave_failure_time()) : "") + ", " +
           units::rate(s.rate()) + ", ave " + units::time(s.ave_time()) + "; " + line_text(s.times());
}

/// \returns `load_queue: 2 of 8 in it, 200 taken, 33.3 /s, put wait 2.7 ms, get wait 0, readiness 98.2 %`.
///          If items were discarded, the line says so: `3 discarded`.
[[nodiscard]] inline std::string line_text(const channel_stats& c) {
    return c.name + "_queue: " + std::to_string(c.size) + " of " + std::to_string(c.capacity) + " in it, " +
           units::count(c.num_get) + " taken, " +
           (c.num_discarded != 0 ? units::count(c.num_discarded) + " discarded, " : "") +
           units::rate(c.rate()) + ", put wait " + units::time(c.ave_put_wait()) + ", get wait " +
           units::time(c.ave_get_gap()) + ", readiness " + units::percent(c.readiness());
}

/// \returns `1.8 of 2 processors busy, 0.1 in the system; 212 MB resident; 12.0 k context switches, 3.1 k of
///          them forced; read 1.2 GB, written 0 B`. If there were major page faults, the line has them, too.
///          Unknown values are left out.
[[nodiscard]] inline std::string line_text(const process_stats& p) {
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

namespace detail {

[[nodiscard]] inline double share_of(duration part, duration all) {
    return all <= duration(0) ? 0 : static_cast<double>(part.count()) / static_cast<double>(all.count());
}

// \returns the text with `?` for each byte that is not printable ASCII.
[[nodiscard]] inline std::string ascii_only(std::string text) {
    for (char& c : text) {
        if (c < ' ' || c > '~') c = '?';
    }
    return text;
}

// Writes the text in one call, without any formatting of the stream.
inline std::ostream& write_text(std::ostream& out, const std::string& text) {
    return out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

// \returns what all reports say about a run in which nothing has moved for 10 s or longer; else nothing.
[[nodiscard]] inline std::string idle_text(duration idle) {
    constexpr duration is_long(10'000'000'000);
    return idle < is_long ? std::string() : "nothing has moved for " + units::time(idle);
}

// \returns when the first item came to the consumer, the rate since then, and the rate of the whole time.
//          For a lap that begins after the first item, and without statistics, only the rate.
[[nodiscard]] inline std::string first_item_text(const pipeline_stats& p) {
    const auto rate = [](double items) { return items > 0 ? units::rate(items) : std::string("0 /s"); };
    if (p.num_items == 0 && !p.first_item) return "no item yet";
    if (!p.first_item || p.first_item->num_items == p.num_items) return rate(p.rate());
    const first_item_stats& first = *p.first_item;
    std::string text = "first item after " + (first.after == duration(0) ? "0 s" : units::time(first.after));
    if (first.since <= duration(0)) return text;
    return text + ", " + rate(first.rate()) + " since, " + rate(p.rate()) + " in all";
}

template <class T>
concept has_line = requires(const T& value) { weir::line_text(value); };

}  // namespace detail

/// Writes `line_text(value)` in one call, without a line break. The stream's locale and format flags do not
/// matter.
template <detail::has_line T>
std::ostream& operator<<(std::ostream& out, const T& value) {
    return detail::write_text(out, weir::line_text(value));
}

}  // namespace weir

#endif
