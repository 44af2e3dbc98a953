// weir report, internal: the section of a page that says how the ranks of a job differ
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_RANKS_HPP
#define WEIR_REPORT_HTML_RANKS_HPP

#include <weir/platform/bounds.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/html_markup.hpp>
#include <weir/report/rank_table.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/run_view.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir::detail {

// Appends a table of the first `most` rows: the least, median and greatest figure over the ranks (the
// processes of a job) of each stage or queue.
inline void append_rank_table(std::string& out, const char* caption, std::vector<html_table::column> columns,
                              const std::vector<spread_row>& rows, std::size_t most) {
    html_table table(caption, std::move(columns));
    for (std::size_t i = 0; i < smaller(rows.size(), most); ++i) {
        std::vector<std::string> cells = {shortened(rows[i].name, 40), std::to_string(rows[i].num_ranks)};
        cells.insert(cells.end(), rows[i].cells.begin(), rows[i].cells.end());
        table.add(cells);
    }
    if (!table.empty()) table.append_to(out);
}

// Appends the section; nothing if the record has no figures of ranks, because the run is of one process.
inline void append_ranks(std::string& out, const run_view& view) {
    const run_record& run = view.run();
    if (run.ranks.empty()) return;
    const rank_stats stats{.all = run.total, .ranks = run.ranks};
    fill_in(out,
            "<section aria-labelledby=\"ranks\"><h2 id=\"ranks\">Ranks</h2>\n<p>All figures of this page are "
            "of {} ranks together. A number in brackets is the rank that has the value.</p>\n",
            run.ranks.size());
    for (const rank_record& each : run.ranks) {
        if (is_of_job(each, run.total)) continue;
        out += "<p>A rank has figures of other stages or queues: the ranks are not compared.</p></section>\n";
        return;
    }
    constexpr std::size_t most_lines = 20;
    std::vector<std::string> lines = straggler_lines(stats);
    if (lines.size() > most_lines) lines.resize(most_lines);
    if (std::string differences = differences_text(stats); !differences.empty())
        lines.push_back(std::move(differences));
    for (const std::string& line : lines) fill_in(out, "<p>{}.</p>\n", shortened(line, 1000));
    append_rank_table(out, "Stages over ranks",
                      {{"stage"},
                       {"ranks"},
                       {"least time at work of a task"},
                       {"median"},
                       {"most"},
                       {"least rate"},
                       {"median"},
                       {"most"},
                       {"least % waiting"},
                       {"most"}},
                      stage_spreads(stats), view.num_stages());
    append_rank_table(out, "Readiness of queues over ranks",
                      {{"queue"}, {"ranks"}, {"least"}, {"median"}, {"most"}}, queue_spreads(stats),
                      view.num_channels());
    out += "</section>\n";
}

}  // namespace weir::detail

#endif
