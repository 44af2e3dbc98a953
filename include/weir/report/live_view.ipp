// weir report, internal: bodies of the functions of report/live_view.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_LIVE_VIEW_IPP
#define WEIR_REPORT_LIVE_VIEW_IPP

#include <weir/report/live_view.hpp>

#include <weir/measure/histogram.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/report/table.hpp>

#include <algorithm>    // for std::max, std::min, std::ranges::replace, std::ranges::sort
#include <array>        // for std::array
#include <cmath>        // for std::round
#include <cstdint>      // for SIZE_MAX
#include <string_view>  // for std::string_view

namespace weir::detail {

// \returns minutes and seconds: `12:07`; from an hour on, with the hours: `1:02:07`.
inline std::string clock_text(duration d) {
    const std::int64_t s = d.count() / 1'000'000'000;
    const auto two = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
    if (s < 3600) return two(s / 60) + ":" + two(s % 60);
    return std::to_string(s / 3600) + ":" + two(s / 60 % 60) + ":" + two(s % 60);
}

// In the first second, the estimated time left is not shown: few items have passed all stages until then.
WEIR_INLINE std::string progress_text(const live_progress& p, std::size_t columns) {
    constexpr duration second(1'000'000'000);
    std::string text;
    const auto part = [&](const std::string& what, std::string_view gap = "  ") {
        if (text.size() + gap.size() + what.size() <= columns) (text += gap) += what;
    };
    part(clock_text(p.elapsed), "");
    const double total = p.total ? static_cast<double>(*p.total) : 0;
    part(std::to_string(p.done) + (p.total ? " of " + std::to_string(*p.total) : ""));
    if (total > 0 && !p.ended)
        part("(" + units::whole_percent(static_cast<double>(p.done) / total) + " %)", " ");
    if (p.elapsed > duration(0)) part(p.rate > 0 ? units::rate(p.rate) : "0 /s");
    const bool was_stopped = p.how == run_outcome::stopped || p.how == run_outcome::stopped_by_token;
    // Fewer items than `total` may come out of a run that ends by itself, as a filter drops some.
    const bool is_complete = !was_stopped || (p.total && p.done >= *p.total);
    if (p.ended && p.how == run_outcome::failed) {
        part("failed");
        if (!p.failed_stage.empty()) part("in '" + for_terminal(p.failed_stage).text + "'", " ");
    } else if (p.ended) {
        part(is_complete ? "done" : "stopped");
    } else if (p.total && *p.total > p.done && p.rate > 0 && p.elapsed >= second) {
        const double left = (std::max)(1.0, std::round(static_cast<double>(*p.total - p.done) / p.rate));
        // A time of about a year or more is not shown.
        if (left < 3e7) part("left " + clock_text(duration(static_cast<std::int64_t>(left * 1e9))));
    }
    if (p.failures != 0) part("failed " + std::to_string(p.failures));
    if (const std::string idle = idle_text(p.idle); !idle.empty()) part(idle);
    return text;
}

// \returns the share of time in which the slots (workers) worked or awaited; 0 if they were always off. The
//          time in which slots are off does not count.
inline double busy_share(const stage_stats& s) {
    const slot_times t = s.times();
    const auto there = static_cast<double>((t.total() - t.off).count());
    return there > 0 ? static_cast<double>(t.busy().count()) / there : 0;
}

WEIR_INLINE std::string live_bar(const slot_times& t, std::size_t width, bool colour) {
    const auto all = static_cast<double>(t.total().count());
    std::array<std::size_t, states_in_reports.size()> counts{};
    std::array<double, states_in_reports.size()> remainders{};
    std::size_t used = 0;
    for (std::size_t i = 0; i < counts.size() && all > 0; ++i) {
        const double share = static_cast<double>((t.*states_in_reports[i].time).count()) / all;
        const double exact = share * static_cast<double>(width);
        counts[i] = static_cast<std::size_t>(exact);
        remainders[i] = exact - static_cast<double>(counts[i]);
        used += counts[i];
    }
    for (; used < width && all > 0; ++used) {
        std::size_t most = 0;
        for (std::size_t i = 1; i < remainders.size(); ++i)
            most = remainders[i] > remainders[most] ? i : most;
        ++counts[most];
        remainders[most] = -1;
    }
    std::string bar;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const state_in_reports& s = states_in_reports[i];
        const bool painted = colour && counts[i] != 0;
        if (painted) (bar += "\x1b[") += std::string(s.ansi) + "m";
        bar.append(counts[i], s.sign);
        if (painted) bar += "\x1b[0m";
    }
    if (all <= 0) bar.append(width, ' ');
    return bar;
}

// A column to the right of the bar. The picture shows as many of these columns as fit, in this order.
// `behind`: the queue behind the stage; null: there is none.
struct live_column {
    const char* head;
    std::size_t width;
    std::string (*text)(const stage_stats&, const channel_stats* behind);
};
inline constexpr std::array<live_column, 6> live_columns = {{
    {"rate", 9,
     [](const stage_stats& s, const channel_stats* q) {  // a sink calls no function: the rate of its queue
         return units::rate(s.kind == "sink" && q != nullptr ? q->rate() : s.rate());
     }},
    {"ready", 5,
     [](const stage_stats&, const channel_stats* q) {
         return q == nullptr ? std::string("-") : units::whole_percent(q->readiness()) + "%";
     }},
    {"queue", 7,
     [](const stage_stats&, const channel_stats* q) {
         return q == nullptr ? std::string("-")
                             : units::count(q->size, 3) + "/" + units::count(q->capacity, 3);
     }},
    {"failed", 6, [](const stage_stats& s, const channel_stats*) { return units::count(s.num_failures, 6); }},
    {"p50", 7, [](const stage_stats& s, const channel_stats*) { return quantile_cell(s.task_times, 0.5); }},
    {"p99", 7, [](const stage_stats& s, const channel_stats*) { return quantile_cell(s.task_times, 0.99); }},
}};

// \returns the stages to show if there is room for `most`: the busiest ones, in the order of the pipeline.
inline std::vector<std::size_t> busiest(const pipeline_stats& stats, std::size_t most) {
    std::vector<std::size_t> shown(stats.stages.size());
    for (std::size_t i = 0; i < shown.size(); ++i) shown[i] = i;
    if (shown.size() <= most) return shown;
    // Of two equally busy stages, the earlier one comes first. std::stable_sort would do the same, but clang
    // 19 warns about the memory that std::stable_sort allocates.
    std::ranges::sort(shown, [&stats](std::size_t a, std::size_t b) {
        const double first = busy_share(stats.stages[a]);
        const double second = busy_share(stats.stages[b]);
        return first > second || (first >= second && a < b);
    });
    shown.resize(most);
    std::ranges::sort(shown);
    return shown;
}

// The parts of a line: the width of the name, the width of the bar, and the number of columns: as many as
// leave at least 11 characters for the bar. The bar takes the rest of the line, up to 60 characters.
struct live_layout {
    std::size_t name = 5;
    std::size_t bar = 0;
    std::size_t columns = 0;

    live_layout(const pipeline_stats& lap, std::size_t width);
};

inline live_layout::live_layout(const pipeline_stats& lap, std::size_t width) {
    for (const stage_stats& s : lap.stages) name = (std::max)(name, for_terminal(s.name).width);
    name = (std::min)({name, std::size_t{20}, width / 4});
    std::size_t taken = name + 1;
    while (columns < live_columns.size() && taken + 11 + live_columns[columns].width + 1 <= width)
        taken += live_columns[columns++].width + 1;
    bar = (std::min<std::size_t>)(width > taken ? width - taken : 0, 60);
}

inline std::string live_head(const live_layout& at, std::size_t width) {
    std::string head = cell_of("stage", at.name) + " " + std::string(at.bar, ' ');
    for (std::size_t i = 0; i < at.columns; ++i)
        head += " " + units::right(live_columns[i].head, live_columns[i].width);
    return head.substr(0, width);
}

inline std::string live_row(const stage_stats& s, const pipeline_stats& lap, const live_layout& at,
                            const live_frame& frame) {
    const channel_stats* const queue =
        s.outputs.empty() || s.outputs[0] >= lap.channels.size() ? nullptr : &lap.channels[s.outputs[0]];
    if (frame.columns == 1) return live_bar(s.times(), 1, frame.colour);
    std::string line = cell_of(s.name, at.name) + " " + live_bar(s.times(), at.bar, frame.colour);
    for (std::size_t i = 0; i < at.columns; ++i) {
        const std::size_t width = live_columns[i].width;
        line += " " + units::right(live_columns[i].text(s, queue).substr(0, width), width);
    }
    return line;
}

// \returns the verdict (what limits the rate) in up to three lines if all stages remain visible, else in one
//          line; no line if there is no verdict, or if the picture has fewer than six rows.
inline std::vector<std::string> live_verdict(const live_progress& progress, const live_frame& frame,
                                             std::size_t stages) {
    std::vector<std::string> lines;
    if (progress.verdict.empty() || frame.rows < 6) return lines;
    const std::size_t most = stages + 6 <= frame.rows ? 3 : 1;
    std::string rest = in_lines(for_terminal(progress.verdict).text, frame.columns);
    while (!rest.empty()) {
        const bool is_last = lines.size() + 1 == most;
        if (is_last) std::ranges::replace(rest, '\n', ' ');
        const std::size_t end = (std::min)(rest.find('\n'), rest.size());
        lines.push_back(for_terminal(rest.substr(0, end), frame.columns).text);
        rest.erase(0, is_last ? end : end + 1);
    }
    return lines;
}

inline std::string live_legend(const live_frame& frame) {
    std::string legend;
    std::size_t width = 0;
    for (const state_in_reports& s : states_in_reports) {
        const std::string gap = width == 0 ? "" : "  ";
        const std::string text = std::string(1, s.sign) + " " + std::string(s.short_name());
        width += gap.size() + text.size();
        if (width > frame.columns) break;
        legend += gap + (frame.colour ? "\x1b[" + std::string(s.ansi) + "m" + text + "\x1b[0m" : text);
    }
    return legend;
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE std::vector<std::string> live_lines(const pipeline_stats& lap, const live_progress& progress,
                                                const live_frame& frame) {
    using namespace detail;
    const live_layout at(lap, frame.columns);
    const bool is_framed = frame.rows >= 5;
    std::size_t room = frame.rows - (is_framed ? 3 : (std::min<std::size_t>)(frame.rows, 1));
    const std::vector<std::string> why = live_verdict(progress, frame, lap.stages.size());
    room -= why.size();
    const bool says_how_many = is_framed && lap.stages.size() > room;
    if (says_how_many) --room;

    std::vector<std::string> lines;
    if (frame.rows != 0) lines.push_back(progress_text(progress, frame.columns));
    lines.insert(lines.end(), why.begin(), why.end());
    if (is_framed) lines.push_back(live_head(at, frame.columns));
    for (const std::size_t i : busiest(lap, room)) lines.push_back(live_row(lap.stages[i], lap, at, frame));
    if (says_how_many) {
        const std::string more = "... " + std::to_string(lap.stages.size() - room) + " more";
        const std::string full = more + ", which are less busy";
        lines.push_back((full.size() <= frame.columns ? full : more).substr(0, frame.columns));
    }
    if (is_framed) lines.push_back(live_legend(frame));
    return lines;
}

WEIR_INLINE std::string live_line(const pipeline_stats& lap, const live_progress& progress) {
    std::string text = detail::progress_text(progress);
    if (!lap.stages.empty() && lap.elapsed > duration(0) && !progress.ended) {
        const stage_stats& s = lap.stages[detail::busiest(lap, 1).front()];
        text += "  " + detail::for_terminal(s.name).text + " " + units::whole_percent(detail::busy_share(s)) +
                " % busy";
    }
    if (!progress.verdict.empty()) text += "; " + detail::for_terminal(progress.verdict).text;
    return text;
}

}  // namespace weir

#endif
