// weir report, internal: bodies of the functions of report/rank_table.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RANK_TABLE_IPP
#define WEIR_REPORT_RANK_TABLE_IPP

#include <weir/report/rank_table.hpp>

#include <weir/measure/clock.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/config.hpp>

#include <optional>  // for std::optional
#include <utility>   // for std::move

namespace weir::detail {

inline std::string work_text(double ns) { return units::time(duration(nearest<std::int64_t>(ns))); }
// Appends a cell for the least value, a cell for the median if `with_median`, and a cell for the greatest
// value. The ranks are added to the least and greatest value unless both are the same text.
template <class Text>
void add_spread(std::vector<std::string>& cells, const rank_spread& s, bool with_median, Text&& text) {
    std::string least = text(s.least);
    std::string greatest = text(s.greatest);
    if (least != greatest) {
        least += " (" + std::to_string(s.least_rank) + ")";
        greatest += " (" + std::to_string(s.greatest_rank) + ")";
    }
    cells.push_back(std::move(least));
    if (with_median) cells.push_back(text(s.median));
    cells.push_back(std::move(greatest));
}

WEIR_INLINE std::vector<std::string> stage_spread_heads() {
    return {"over ranks", "ranks", "least", "median", "most", "least", "median", "most", "least", "most"};
}

WEIR_INLINE std::vector<spread_row> stage_spreads(const rank_stats& stats) {
    std::vector<spread_row> rows;
    for (std::size_t i = 0; i < stats.all.stages.size(); ++i) {
        const auto over = [&](auto figure) {
            return spread(stats, [&](const rank_record& r) -> std::optional<double> {
                const stage_on_rank& s = r.stages[i];
                return s.exists ? std::optional<double>(figure(s)) : std::nullopt;
            });
        };
        const rank_spread work = over([](const stage_on_rank& s) { return s.work(); });
        spread_row row{stats.all.stages[i].name, work.num_ranks, {}};
        add_spread(row.cells, work, true, work_text);
        add_spread(row.cells, over([](const stage_on_rank& s) { return per_second(s.num_tasks, s.elapsed); }),
                   true, units::rate);
        const rank_spread waits = over([](const stage_on_rank& s) {
            return share_of(s.times.wait_get + s.times.wait_put + s.times.wait_turn, s.times.total());
        });
        add_spread(row.cells, waits, false, units::whole_percent);
        rows.push_back(std::move(row));
    }
    return rows;
}

WEIR_INLINE std::vector<std::string> queue_spread_heads() {
    return {"over ranks", "ranks", "least", "median", "most"};
}

WEIR_INLINE std::vector<spread_row> queue_spreads(const rank_stats& stats) {
    std::vector<spread_row> rows;
    for (std::size_t i = 0; i < stats.all.channels.size(); ++i) {
        const rank_spread ready = spread(stats, [i](const rank_record& r) -> std::optional<double> {
            return r.queues[i].exists ? std::optional(r.queues[i].readiness()) : std::nullopt;
        });
        spread_row row{stats.all.channels[i].name, ready.num_ranks, {}};
        add_spread(row.cells, ready, true, [](double share) { return units::whole_percent(share) + " %"; });
        rows.push_back(std::move(row));
    }
    return rows;
}

WEIR_INLINE std::vector<std::string> straggler_lines(const rank_stats& stats) {
    std::vector<std::string> lines;
    for (const straggler& s : stragglers(stats)) {
        lines.push_back(line_text(s) + ", which costs it " + units::percent(s.lost) + " of its slots' time");
    }
    if (lines.empty()) lines.emplace_back("no rank is slower in a stage than the others");
    return lines;
}

inline void append_spreads(std::string& text, text_table table, const std::vector<spread_row>& rows) {
    if (rows.empty()) return;
    for (const spread_row& row : rows) {
        std::vector<std::string> cells = {row.name, std::to_string(row.num_ranks)};
        cells.insert(cells.end(), row.cells.begin(), row.cells.end());
        table.add(std::move(cells));
    }
    text += '\n';
    table.append_to(text);
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE std::string table_text(const rank_stats& stats) {
    std::string text = std::to_string(stats.ranks.size()) + (stats.ranks.size() == 1 ? " rank" : " ranks");
    text += ", " + units::time(stats.all.elapsed) + " elapsed";
    const std::string differences = differences_text(stats);
    // If ranks have different pipelines, an item may pass several, and would count several times.
    if (differences.empty()) text += "; " + detail::first_item_text(stats.all);
    text += '\n';
    detail::append_tables(text, stats.all);
    detail::text_table stages(detail::stage_spread_heads());
    stages.add_group(2, 4, "time at work of a task");
    stages.add_group(5, 7, "rate");
    stages.add_group(8, 9, "% waiting");
    detail::append_spreads(text, std::move(stages), detail::stage_spreads(stats));
    detail::text_table queues(detail::queue_spread_heads());
    queues.add_group(2, 4, "readiness");
    detail::append_spreads(text, std::move(queues), detail::queue_spreads(stats));
    text += detail::notes_of(stats.all.stages);
    std::vector<std::string> lines = detail::straggler_lines(stats);
    if (!differences.empty()) lines.insert(lines.begin(), differences);
    for (const std::string& line : lines)
        text += detail::in_lines(detail::ascii_only(line + "."), detail::text_table::max_width) + "\n";
    return text;
}

WEIR_INLINE std::string metrics_text(const rank_stats& stats, const metrics_options& options) {
    std::vector<labelled_run> runs;
    for (std::size_t r = 0; r < stats.ranks.size(); ++r) {
        if (!stats.ranks[r].reported) continue;
        std::vector<metric_label> labels = options.labels;
        labels.push_back({"rank", std::to_string(r)});
        runs.push_back({std::move(labels), weir::of_rank(stats, r)});
    }
    return weir::metrics_text(runs, options.format);
}

}  // namespace weir

#endif
