// weir report, internal: bodies of the functions of report/table.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TABLE_IPP
#define WEIR_REPORT_TABLE_IPP

#include <weir/report/table.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::max, std::min, std::ranges::any_of
#include <optional>   // for std::optional
#include <utility>    // for std::exchange

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

WEIR_INLINE std::string in_lines(const std::string& text, std::size_t max_width) {
    std::string lines;
    std::size_t begin = 0;
    while (text.size() - begin > max_width) {
        std::size_t end = text.rfind(' ', begin + max_width);
        if (end == std::string::npos || end <= begin) end = text.find(' ', begin);  // a long word
        if (end == std::string::npos) break;
        lines += text.substr(begin, end - begin) + '\n';
        begin = end + 1;
    }
    return lines + text.substr(begin);
}

WEIR_INLINE std::string verdict_lines(const verdict& v, std::size_t max_width) {
    return in_lines(ascii_only("verdict: " + v.sentence + "."), max_width) + "\n";
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

WEIR_INLINE void text_table::append_to(std::string& text) const {
    std::vector<std::size_t> widths(rows_[0].size(), 0);
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = (std::max)(widths[i], row[i].size());
    }
    for (const group& g : groups_) {  // the shared heading needs room, too
        widths[g.first] += g.name.size() + 2 - (std::min)(g.width(widths, 1), g.name.size() + 2);
    }
    std::size_t total = widths.size() - 1;
    for (const std::size_t w : widths) total += w;
    const std::string gap(total + widths.size() - 1 > max_width ? 1 : 2, ' ');
    const std::size_t spare = widths[0] - (std::min)(widths[0], min_name);
    widths[0] -= (std::min)(spare, total - (std::min)(total, max_width));
    append_heads(text, widths, gap.size());
    for (const auto& row : rows_) {
        text += units::left(name(row[0], widths[0]), widths[0]);
        for (std::size_t i = 1; i < row.size(); ++i) text += gap + units::right(row[i], widths[i]);
        text += '\n';
    }
}

WEIR_INLINE void text_table::append_heads(std::string& text, const std::vector<std::size_t>& widths,
                                          std::size_t gap) const {
    std::string line;
    for (const group& g : groups_) {
        std::size_t begin = 0;
        for (std::size_t i = 0; i < g.first; ++i) begin += widths[i] + gap;
        const std::size_t dashes = g.width(widths, gap) - g.name.size() - 2;
        line = units::left(line, begin) + std::string(dashes / 2, '-') + " " + g.name + " " +
               std::string(dashes - dashes / 2, '-');
    }
    text += line + '\n';
}

WEIR_INLINE std::string text_table::name(std::string s, std::size_t width) {
    s = ascii_only(std::move(s));
    return s.size() > width ? s.substr(0, width - 1) + '~' : s;
}

// \returns the states in which at least one slot (a worker of a stage) spent time.
inline std::vector<state_in_reports> states_of(const std::vector<stage_stats>& stages) {
    slot_times all;
    for (const stage_stats& s : stages) all += s.times();
    std::vector<state_in_reports> some;
    for (const auto& state : states_in_reports) {
        if (all.*state.time > duration(0)) some.push_back(state);
    }
    return some;
}

inline text_table table_of(const std::vector<stage_stats>& stages) {
    const std::vector<state_in_reports> states = states_of(stages);
    std::vector<std::string> headings = {"stage", "slots", "tasks", "failed", "rate", "ave", "p50", "p99"};
    for (const auto& state : states) headings.emplace_back(state.name);
    text_table table(std::move(headings));
    table.add_group(5, 7, "time of a task");
    if (!states.empty()) table.add_group(8, 7 + states.size(), "% of the slots' time");
    for (const stage_stats& s : stages) {
        std::vector<std::string> row = {s.name,
                                        std::to_string(s.concurrency),
                                        units::count(s.num_tasks, 8),
                                        units::count(s.num_failures, 6),
                                        units::rate(s.rate()),
                                        time_cell(s.ave_time(), since(s.num_failures, s.num_tasks)),
                                        quantile_cell(s.task_times, 0.50),
                                        quantile_cell(s.task_times, 0.99)};
        const slot_times t = s.times();
        for (const auto& state : states) {
            row.push_back(
                t.total() <= duration(0) ? "-" : units::whole_percent(share_of(t.*state.time, t.total())));
        }
        table.add(std::move(row));
    }
    return table;
}

WEIR_INLINE std::string notes_of(const std::vector<stage_stats>& stages) {
    std::string text;
    std::string line;
    for (const auto& state : states_of(stages)) {
        if (*state.note == '\0') continue;
        const std::string note = std::string(state.name) + ": " + state.note;
        if (line.size() + note.size() + 3 > text_table::max_width) text += std::exchange(line, "") + ";\n";
        line += (line.empty() ? "" : "; ") + note;
    }
    return line.empty() ? text : "\n" + text + line + ".\n";
}

inline text_table table_of(const std::vector<channel_stats>& channels) {
    const bool discarded =
        std::ranges::any_of(channels, [](const channel_stats& c) { return c.num_discarded != 0; });
    std::vector<std::string> heads = {"queue", "size", "items", "rate",     "ave",
                                      "p99",   "ave",  "p99",   "readiness"};
    if (discarded) heads.emplace_back("discarded");
    text_table table(std::move(heads));
    table.add_group(4, 5, "put wait");
    table.add_group(6, 7, "get wait");
    for (const channel_stats& c : channels) {
        std::vector<std::string> row = {c.name,
                                        std::to_string(c.size) + "/" + std::to_string(c.capacity),
                                        units::count(c.num_get, 8),
                                        units::rate(c.rate()),
                                        time_cell(c.ave_put_wait(), c.num_put),
                                        quantile_cell(c.put_waits, 0.99),
                                        time_cell(c.ave_get_gap(), c.num_get),
                                        quantile_cell(c.get_waits, 0.99),
                                        percent_cell(c.readiness(), c.elapsed)};
        if (discarded) row.push_back(units::count(c.num_discarded, 8));
        table.add(std::move(row));
    }
    return table;
}

inline text_table failures_table(const std::vector<stage_stats>& stages) {
    text_table table({"failures", "tasks", "ave", "in all", "of the work"});
    table.add_group(2, 4, "time of failed tasks");
    for (const stage_stats& s : stages) {
        if (s.num_failures == 0) continue;
        table.add({s.name, units::count(s.num_failures, 8), units::time(s.ave_failure_time()),
                   units::time(s.failure_time),
                   percent_cell(share_of(s.failure_time, time_of_invocations(s)), s.busy)});
    }
    return table;
}

inline text_table copies_table(const std::vector<stage_stats>& stages) {
    text_table table({"copies", "batches", "bytes", "bytes/s", "hidden", "waits", "ave"});
    table.add_group(5, 6, "for memory");
    for (const stage_stats& s : stages) {
        if (!s.transfers) continue;
        const transfer_stats& t = *s.transfers;
        const std::uint64_t waits = t.num_block_waits + t.num_memory_waits;
        table.add({s.name, units::count(t.num_copies, 8), units::bytes(t.bytes),
                   t.copying <= duration(0) ? "-" : units::bytes(static_cast<std::uint64_t>(t.rate())) + "/s",
                   percent_cell(t.hidden(), t.handed_over), units::count(waits, 8),
                   time_cell(average(t.block_wait + t.memory_wait, waits), waits)});
    }
    return table;
}

inline text_table added_table(const std::vector<stage_stats>& stages) {
    text_table table({"added", "items", "pending", "at most", "discarded"});
    for (const stage_stats& s : stages) {
        if (!s.added) continue;
        table.add({s.name, units::count(s.added->num_added, 8), units::count(s.added->num_waiting, 8),
                   units::count(s.added->most_waiting, 8), units::count(s.added->num_discarded, 8)});
    }
    return table;
}

WEIR_INLINE void append_tables(std::string& text, const pipeline_stats& stats) {
    for (const text_table& each :
         {table_of(stats.stages), table_of(stats.channels), failures_table(stats.stages),
          added_table(stats.stages), copies_table(stats.stages)}) {
        if (each.empty()) continue;
        text += '\n';
        each.append_to(text);
    }
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE std::string table_text(const pipeline_stats& stats) {
    std::string text =
        "pipeline, " + (stats.elapsed == duration(0) ? "0 s" : units::time(stats.elapsed)) + " elapsed";
    if (!stats.stages.empty()) text += "; " + detail::first_item_text(stats);
    if (std::string idle = detail::idle_text(stats.idle); !idle.empty()) {
        idle += ": a weir::watchdog names who can't go on";
        text += (text.size() + idle.size() + 2 > detail::text_table::max_width ? ";\n" : "; ") + idle;
    }
    text += '\n';
    detail::append_tables(text, stats);
    text += detail::notes_of(stats.stages);
    if (stats.process) text += "process: " + line_text(*stats.process) + ".\n";
    if (const std::optional<verdict> v = brief_verdict(stats))
        text += detail::verdict_lines(*v, detail::text_table::max_width);
    return text;
}

}  // namespace weir

#endif
