// weir report, internal: sections of a page: time per stage, percentiles, copies, failures and settings
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_SECTIONS_HPP
#define WEIR_REPORT_HTML_SECTIONS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/report/escape.hpp>
#include <weir/report/html_markup.hpp>
#include <weir/report/run_view.hpp>
#include <weir/report/table.hpp>
#include <weir/run/stage_options.hpp>

#include <algorithm>  // for std::max, std::min
#include <cmath>      // for std::log10, std::lround
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <string>     // for std::string
#include <vector>     // for std::vector

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
                chief_text(t));
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

// A table with a distribution of durations in each row: percentiles as figures, and as a bar on a logarithmic
// scale from 1 us to 100 s.
class percentile_table {
  public:
    // `of`: the heading of the first column, such as "stage".
    explicit percentile_table(std::string caption, std::string of);

    void add(const std::string& name, const histogram& h);
    void append_to(std::string& out) const;

  private:
    // The x coordinate of a duration in a bar.
    static double place(duration d);
    // \returns the bar of a row: a thin line from p90 to p99, a thick line from p50 to p90, a mark for the
    //          longest duration.
    static markup range(const histogram& h);

    html_table table_;
    bool all_known_ = true;  // every row has percentiles; else a note explains the dashes
};

inline percentile_table::percentile_table(std::string caption, std::string of)
    : table_(std::move(caption), {{std::move(of)},
                                  {"times"},
                                  {"average"},
                                  {"p50"},
                                  {"p90"},
                                  {"p99"},
                                  {"longest"},
                                  {"1 µs … 100 s"}}) {}

inline void percentile_table::add(const std::string& name, const histogram& h) {
    if (h.empty()) return;
    const bool known = h.has_quantiles();
    const auto quantile = [&](double q) { return known ? time_markup(h.quantile(q)) : std::string("–"); };
    table_.add({name, units::count(h.count()), time_markup(h.mean()), quantile(0.5), quantile(0.9),
                quantile(0.99), time_markup((h.max)())});
    table_.add_markup(known ? range(h) : markup{"–"});
    all_known_ = all_known_ && known;
}

inline void percentile_table::append_to(std::string& out) const {
    if (table_.empty()) return;
    table_.append_to(out);
    if (all_known_) return;
    out +=
        "<p class=\"note\">Where there is no percentile (–), only the count, the sum and the longest "
        "were "
        "recorded: the run's statistics are <code>summed</code>.</p>\n";
}

inline double percentile_table::place(duration d) {
    const double decades = std::log10((std::max)(static_cast<double>(d.count()), 1.0)) - 3;
    return (std::min)((std::max)(decades / 8 * 160, 0.0), 157.0);
}

inline markup percentile_table::range(const histogram& h) {
    const auto line = [](double from, double to) {
        return filled("<path d=\"M{} 8h{}\"/>", std::lround(from), std::lround((std::max)(to - from, 3.0)));
    };
    return filled("<svg class=\"range\">{}{}{}</svg>", line(place(h.p90()), place(h.p99())),
                  line(place(h.p50()), place(h.p90())), line(place((h.max)()), 0));
}

inline void append_percentiles(std::string& out, const run_view& view) {
    const pipeline_stats& all = view.run().total;
    percentile_table tasks("Time of a task, of those that succeeded", "stage");
    percentile_table gets("Wait to get an item, of each get: slots that wait at the same time count each",
                          "queue behind");
    percentile_table puts("Wait to put an item, of each put", "queue behind");
    for (std::size_t i = 0; i < view.num_stages(); ++i) tasks.add(view.stage(i), all.stages[i].task_times);
    for (std::size_t i = 0; i < view.num_channels(); ++i) {
        gets.add(view.channel(i), all.channels[i].get_waits);
        puts.add(view.channel(i), all.channels[i].put_waits);
    }
    out +=
        "<p>p90 is what 9 of 10 do not exceed. The bar reaches from p50 to p90, thinner to p99; the mark "
        "behind it is "
        "the longest. The scale is logarithmic. A percentile is at most 3 % too great.</p>\n";
    tasks.append_to(out);
    gets.append_to(out);
    puts.append_to(out);
}

// Appends nothing if no stage copies to a device.
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

// Appends nothing if no items were discarded.
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
    if (run.num_failures == 0) {
        out += "<p>No item failed.</p>\n";
        return;
    }
    html_table counts("Failed tasks of each stage",
                      {{"stage"}, {"failed"}, {"of tasks"}, {"share"}, {"on average"}, {"of the work"}});
    for (std::size_t i = 0; i < view.num_stages(); ++i) {
        const stage_stats& s = run.total.stages[i];
        if (s.num_failures == 0) continue;
        counts.add({view.stage(i), units::count(s.num_failures), units::count(s.num_tasks),
                    s.num_tasks == 0 ? "–"
                                     : units::percent(static_cast<double>(s.num_failures) /
                                                      static_cast<double>(s.num_tasks)),
                    time_markup(s.ave_failure_time()),
                    s.busy <= duration(0) ? "–" : units::percent(share_of(s.failure_time, s.busy))});
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
    fill_in(out, "<p>{} {} failed.", units::count(run.num_failures),
            run.num_failures == 1 ? "item" : "items");
    if (run.num_failures > shown) fill_in(out, " Shown are the first {}.", shown);
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
