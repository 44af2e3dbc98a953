// weir report, internal: sections of a page: time per stage, ranks, copies, failures and settings
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_SECTIONS_HPP
#define WEIR_REPORT_HTML_SECTIONS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/html_markup.hpp>
#include <weir/report/rank_table.hpp>
#include <weir/report/run_record.hpp>
#include <weir/report/run_view.hpp>
#include <weir/report/table.hpp>
#include <weir/run/stage_options.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <string>   // for std::string
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir::detail {

// The width to which `shortened` cuts a long text, in columns of characters.
inline constexpr std::size_t long_text = 300;

// Appends the legend of the bars: the states of a stage's slots (its workers), with colours and meanings.
inline void append_states(std::string& out) {
    out += "<ul class=\"states soft\" aria-label=\"The states of a stage's slots\">\n";
    for (const state_in_reports& s : states_in_reports) {
        fill_in(out, "<li><span class=\"swatch st-{}\"></span><b>{}</b>: {}</li>\n", s.name, s.is, s.meaning);
    }
    out += "</ul>\n";
}

// Appends a bar for each stage, which shows the time of its slots by state; and a table of these times.
inline void append_bars(std::string& out, const run_view& view) {
    out += "<div class=\"bars\">\n";
    std::vector<html_table::column> columns = {{"stage"}, {"slots"}};
    for (const state_in_reports& s : states_in_reports)
        columns.push_back({std::string(s.is) + " (" + s.name + ")"});
    html_table table("Time of the slots of each stage, by state, summed over slots", columns);
    for (std::size_t i = 0; i < view.num_stages(); ++i) {
        const stage_stats& s = view.run().total.stages[i];
        const slot_times t = s.times();
        fill_in(out, R"(<div><div class="row"><b><bdi>{}</bdi></b> <span>{}</span></div>)", view.stage(i),
                longest_state_text(t));
        out += R"(<svg role="img" viewBox="0 0 1000 20" preserveAspectRatio="none" )";
        fill_in(
            out,
            R"(aria-labelledby="bar{}" xmlns="http://www.w3.org/2000/svg"><title id="bar{}">{}: {}</title>)"
            "{}</svg></div>\n",
            i, i, view.stage(i), states_text(t), state_bar(t, 0, 10, 1000));
        std::vector<std::string> row = {view.stage(i), std::to_string(s.concurrency)};
        for (const state_in_reports& state : states_in_reports) row.push_back(time_markup(t.*(state.time)));
        table.add(row);
    }
    out += R"(<div class="scale" aria-hidden="true"><span>0 %</span><span>25 %</span><span>50 %</span>)"
           R"(<span>75 %</span><span>100 %</span></div></div>
<details class="data"><summary>Time per stage as a table</summary>
)";
    table.append_to(out);
    out += "</details>\n";
}

// Appends a table of the first `most` rows, each of which compares the ranks (the processes of a job) in a
// stage or queue; nothing without rows.
inline void append_rank_table(std::string& out, const char* caption, std::vector<html_table::column> columns,
                              spread_rows rows, std::size_t most) {
    html_table table(caption, std::move(columns));
    for (std::size_t i = 0; i < smaller(rows.size(), most); ++i) {
        rows[i][0] = shortened(rows[i][0], 40);
        table.add(rows[i]);
    }
    if (!table.empty()) table.append_to(out);
}

// Appends the section that compares ranks; nothing if the record has no ranks, as that of a single process.
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
                       {"least run + await of a task"},
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

// Appends a section with a table of the copies to a device; nothing if no stage has `transfer_stats`.
inline void append_transfers(std::string& out, const run_view& view) {
    html_table table("Copies to a device", {{"stage"},
                                            {"batches"},
                                            {"bytes"},
                                            {"bytes a second"},
                                            {"hidden behind work"},
                                            {"waits for memory"},
                                            {"on average"}});
    for (std::size_t i = 0; i < view.num_stages(); ++i) {
        const auto& t = view.run().total.stages[i].transfers;
        if (!t) continue;
        const std::uint64_t waits = t->num_block_waits + t->num_memory_waits;
        table.add(
            {view.stage(i), units::count(t->num_copies), units::bytes(t->bytes),
             t->copying <= duration(0) ? "–" : units::bytes(static_cast<std::uint64_t>(t->rate())) + "/s",
             t->handed_over <= duration(0) ? "–" : units::percent(t->hidden()), units::count(waits),
             waits == 0 ? "–" : time_markup(average(t->block_wait + t->memory_wait, waits))});
    }
    if (table.empty()) return;
    out += "<section aria-labelledby=\"transfers\"><h2 id=\"transfers\">Transfers</h2>\n";
    table.append_to(out);
    out += "</section>\n";
}

// Appends a table of the items that were destroyed in their queues; nothing if there are none.
inline void append_discards(std::string& out, const run_view& view) {
    html_table table("Items destroyed in their queue, as the run was stopped, or failed",
                     {{"queue behind"}, {"destroyed"}, {"put"}, {"taken"}, {"inside"}});
    for (std::size_t i = 0; i < view.num_channels(); ++i) {
        const channel_stats& c = view.run().total.channels[i];
        if (c.num_discarded == 0) continue;
        table.add({view.channel(i), units::count(c.num_discarded), units::count(c.num_put),
                   units::count(c.num_get), units::count(c.size)});
    }
    if (!table.empty()) table.append_to(out);
}

inline void append_failures(std::string& out, const run_view& view) {
    const run_record& run = view.run();
    if (view.num_failures() == 0) {
        out += "<p>No item failed.</p>\n";
        return;
    }
    html_table counts("Failed tasks of each stage",
                      {{"stage"}, {"failed"}, {"of tasks"}, {"share"}, {"on average"}, {"of the work"}});
    for (std::size_t i = 0; i < view.num_stages(); ++i) {
        const stage_stats& s = run.total.stages[i];
        if (s.num_failures == 0) continue;
        counts.add(
            {view.stage(i), units::count(s.num_failures), units::count(s.num_tasks),
             s.num_tasks == 0
                 ? "–"
                 : units::percent(static_cast<double>(s.num_failures) / static_cast<double>(s.num_tasks)),
             time_markup(s.ave_failure_time()),
             s.busy <= duration(0) ? "–" : units::percent(share_of(s.failure_time, time_of_invocations(s)))});
    }
    using align = html_table::align;
    html_table table("What failed, in that order", {{"stage"},
                                                    {"item"},
                                                    {"in the lap from"},
                                                    {"what it said", align::long_text},
                                                    {"composed at", align::left}});
    constexpr std::size_t most = 100;
    const std::size_t shown = smaller(run.failures.size(), most);
    for (std::size_t i = 0; i < shown; ++i) {
        const recorded_failure& f = run.failures[i];
        table.add({f.stage.empty() ? "(no name)" : shortened(f.stage, 40), std::to_string(f.item),
                   view.has_laps() ? time_markup(view.laps().start_of(f.lap)) : "–",
                   shortened(f.message, long_text), shortened(f.where, 60)});
    }
    fill_in(out, "<p>{} {} failed.", units::count(view.num_failures()),
            view.num_failures() == 1 ? "item" : "items");
    if (view.num_failures() > shown && shown != 0) fill_in(out, " Shown are the first {}.", shown);
    out += "</p>\n";
    if (!counts.empty()) counts.append_to(out);
    if (!table.empty()) table.append_to(out);
}

inline void append_settings(std::string& out, const run_view& view) {
    const run_record& run = view.run();
    using align = html_table::align;
    html_table settings("Settings, and where it ran", {{"what"}, {"value", align::text}});
    const auto add = [&](const std::string& name, const std::string& value) {
        if (!value.empty()) settings.add({name, shortened(value, long_text)});
    };
    constexpr std::size_t most = 100;
    for (std::size_t i = 0; i < smaller(run.settings.size(), most); ++i)
        add(run.settings[i].name.empty() ? "(no name)" : shortened(run.settings[i].name, 40),
            run.settings[i].value);
    if (run.settings.size() > most)
        add("more settings", std::to_string(run.settings.size() - most) + ", in the stored run");
    add("started", run.started);
    add("host", run.machine.host);
    add("system", run.machine.system);
    add("processor",
        run.machine.processor +
            (run.machine.processors == 0 ? "" : ", " + std::to_string(run.machine.processors) + " usable"));
    add("memory", run.machine.memory == 0 ? "" : units::bytes(run.machine.memory));
    add("weir", run.build.weir);
    add("compiler", run.build.compiler.empty()
                        ? ""
                        : run.build.compiler + (run.build.optimised ? ", optimised" : ", not optimised") +
                              (run.build.assertions ? ", with assertions" : ""));
    add("standard library", run.build.library);
    if (run.total.process) add("process", line_text(*run.total.process));
    settings.append_to(out);

    html_table stages("The stages, as they were composed", {{"stage"},
                                                            {"kind", align::left},
                                                            {"slots"},
                                                            {"queue"},
                                                            {"executor", align::left},
                                                            {"takes → gives", align::text},
                                                            {"composed at", align::left}});
    for (std::size_t i = 0; i < view.num_stages(); ++i) {
        const stage_stats& s = run.total.stages[i];
        const described_stage* const d = view.described(i);
        std::string queue = "–";
        for (const std::size_t c : s.outputs) {
            if (c < run.total.channels.size()) queue = std::to_string(run.total.channels[c].capacity);
        }
        const std::string name = s.name.empty() ? view.stage(i) : shortened(s.name, long_text);
        if (d == nullptr) {
            stages.add({name, s.kind, std::to_string(s.concurrency), queue, "–", "–", "–"});
            continue;
        }
        std::string items = shortened(d->takes, 120);
        if (!d->gives.empty()) items += (items.empty() ? "→ " : " → ") + shortened(d->gives, 120);
        if (d->output_order == output_order::input) items += ", in order";
        if (d->time_limit > duration(0)) items += ", at most " + time_markup(d->time_limit);
        if (d->max_bytes != 0) queue += ", " + units::bytes(d->max_bytes);
        stages.add(
            {name,
             d->remark.empty() ? shortened(d->kind, 40) : shortened(d->kind + " (" + d->remark + ")", 60),
             std::to_string(s.concurrency), queue,
             d->executor.empty() ? "where it was started" : shortened(d->executor, 60), items,
             shortened(d->where, 60)});
    }
    if (!stages.empty()) stages.append_to(out);
}

}  // namespace weir::detail

#endif
