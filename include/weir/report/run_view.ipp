// weir report, internal: bodies of the functions of report/run_view.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RUN_VIEW_IPP
#define WEIR_REPORT_RUN_VIEW_IPP

#include <weir/report/run_view.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::ranges::find
#include <cmath>      // for std::lround
#include <cstdint>    // for std::uint64_t
#include <utility>    // for std::move

namespace weir::detail {

inline fraction per(duration sum, std::uint64_t count) {
    return {static_cast<double>(sum.count()), static_cast<double>(count)};
}

WEIR_INLINE const std::vector<quantity>& quantities() {
    static const std::vector<quantity> all = {
        {"ave_time",
         "Average time",
         "average time of a task",
         figure_kind::time,
         true,
         true,
         [](const stage_stats& s) { return per(s.task_time, since(s.num_failures, s.num_tasks)); },
         nullptr,
         "How long a stage's function takes for one item, on average over those that succeeded.",
         {"Downloads usually take longest, then decoding or preprocessing, then collation and transfer. "
          "Where decoding is light and the data large, as with long audio, collation and transfer can take "
          "longer than preprocessing.",
          "A time that changes over the run, or has spikes, has a cause outside (the network, a disk) or "
          "inside (the size of what is asked for). A flat line is a stage that behaves the same all the "
          "time.",
          "A slow function is no bottleneck by itself: with enough slots the stage may still be fast enough. "
          "Data readiness tells."}},
        {"num_tasks",
         "Tasks executed",
         "tasks in a lap",
         figure_kind::count,
         false,
         true,
         [](const stage_stats& s) {
             return fraction{static_cast<double>(s.num_tasks), s.kind == "sink" ? 0.0 : 1.0};
         },
         nullptr,
         "How many invocations of a stage's function were completed in a lap, failed ones included.",
         {"Subtract the failed ones (under Failures) to get those that succeeded.",
          "Stages behind an aggregate do as many tasks fewer as its batches have items, those behind a "
          "disaggregate as many more.",
          "A dip that all stages have at once is a time in which the whole pipeline waited for one of them. "
          "The last lap may be shorter than the others, and has fewer tasks then."}},
        {"rate",
         "Rate",
         "items taken a second",
         figure_kind::rate,
         false,
         true,
         nullptr,
         [](const channel_stats& c) {
             return fraction{static_cast<double>(c.num_get) * 1e9, static_cast<double>(c.elapsed.count())};
         },
         "How many items went through the queue behind a stage, a second: those that the next stage took.",
         {"Each queue has few places, so that a stage that is too fast is held back, and one that is too "
          "slow starves those behind it. So the rate is about the same everywhere: that of the slowest.",
          "Aggregate and disaggregate change what an item is. Divided by the size of the batches, the rates "
          "match again."}},
        {"readiness",
         "Data readiness",
         "time with data ready",
         figure_kind::share,
         false,
         false,
         nullptr,
         [](const channel_stats& c) {
             return fraction{static_cast<double>(since(c.empty, c.elapsed).count()),
                             static_cast<double>(c.elapsed.count())};
         },
         "The share of the time in which the queue behind a stage was not empty: 1 − empty / elapsed.",
         {"Close to 100 %: data is there whenever the next stage, or your loop, asks for it. What comes "
          "before is faster than the demand.",
          "Close to 0 %: what comes behind is starving. It takes each item as soon as there is one; what "
          "comes before is not fast enough.",
          "A value speaks only of the stages just before and just behind that queue. Those of different "
          "queues are not to be compared.",
          "Where it drops from one queue to the next, the stage behind the second one takes faster than the "
          "stage before it gives. Where it recovers, the stage behind it is slower than the one before it."}},
        {"get_time",
         "Get time",
         "wait for an item",
         figure_kind::time,
         true,
         false,
         nullptr,
         [](const channel_stats& c) { return per(c.get_blocked, c.num_get); },
         "How long the stage behind the queue had nothing to take, for each item.",
         {"With data ready close to 100 % of the time nobody waits to get, and this is close to 0.",
          "Where the stages before are not fast enough, the stage behind is blocked here.",
          "The sink's is the most important figure of all: it is what your loop waits for each item. Slots "
          "that wait at the same time count once; summed over slots, it is in the percentiles."}},
        {"put_time",
         "Put time",
         "wait for room",
         figure_kind::time,
         true,
         false,
         nullptr,
         [](const channel_stats& c) { return per(c.put_wait, c.num_put); },
         "How long a stage waited until the queue behind it had room, for each item.",
         {"The opposite of the get time: where data is ready close to 100 % of the time queues are full, and "
          "who has a result waits until there is room.",
          "It grows with the number of slots, as several of them wait to put at once.",
          "Close to 0: each item is taken at once, since the stages behind wait for it. A stage that waits "
          "long is faster than what comes behind it."}},
    };
    return all;
}

WEIR_INLINE void lap_figures::add(const pipeline_stats& lap) {
    std::vector<std::vector<fraction>> all;
    for (const quantity& q : quantities()) {
        std::vector<fraction>& each = all.emplace_back();
        for (std::size_t i = 0; q.of_stage != nullptr && i < smaller(lap.stages.size(), most_each_); ++i)
            each.push_back(q.of_stage(lap.stages[i]));
        for (std::size_t i = 0; q.of_queue != nullptr && i < smaller(lap.channels.size(), most_each_); ++i)
            each.push_back(q.of_queue(lap.channels[i]));
    }
    laps_.push_back(std::move(all));
    starts_.push_back(sum(starts_.back(), lap.elapsed));
}

WEIR_INLINE double lap_figures::value(std::size_t which, std::size_t index, std::size_t begin,
                                      std::size_t end) const {
    fraction all;
    for (std::size_t i = begin; i < end; ++i) {
        if (index < laps_[i][which].size()) all += laps_[i][which][index];
    }
    return all.value();
}

WEIR_INLINE std::string states_text(const slot_times& t) {
    std::string text;
    for (const state_in_reports& s : states_in_reports) {
        if (t.*(s.time) <= duration(0)) continue;
        text += (text.empty() ? "" : ", ") + units::percent(share_of(t.*(s.time), t.total())) + " " + s.is;
    }
    return text.empty() ? "no time has passed" : text;
}

WEIR_INLINE markup state_bar(const slot_times& t, long x, long y, long width) {
    markup bar;
    double begin = 0;
    for (const state_in_reports& s : states_in_reports) {
        const auto edge = [&](double at) { return x + std::lround(at * static_cast<double>(width)); };
        const long from = edge(begin);
        begin += share_of(t.*(s.time), t.total());
        if (edge(begin) == from) continue;
        fill_in(bar.text, R"(<path class="st-{}" d="M{} {}h{}"/>)", s.name, from, y, edge(begin) - from);
    }
    return bar;
}

WEIR_INLINE std::vector<std::string> labels_of(const std::vector<std::string>& names) {
    std::vector<std::string> labels;
    labels.reserve(names.size());
    for (const std::string& name : names) {
        const std::string label = name.empty() ? "(no name)" : shortened(name, 24);
        std::string unique = label;
        for (std::size_t n = 2; std::ranges::find(labels, unique) != labels.end(); ++n) {
            unique = label + " (" + std::to_string(n) + ")";
        }
        labels.push_back(std::move(unique));
    }
    return labels;
}

WEIR_INLINE run_view::run_view(const run_record& run, const lap_figures& laps, std::size_t most)
    : run_(run), limit_(most), laps_(laps) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < num_stages(); ++i) names.push_back(run.total.stages[i].name);
    stages_ = labels_of(names);
    names.clear();
    for (std::size_t i = 0; i < num_channels(); ++i) names.push_back(run.total.channels[i].name);
    channels_ = labels_of(names);
    find_queues();
    if (laps_.size() == 0) laps_.add(run.total);
}

WEIR_INLINE void run_view::find_queues() {
    const auto& stages = run_.total.stages;
    std::vector<bool> taken(run_.total.channels.size(), false);
    for (const stage_stats& s : stages) {
        for (const std::size_t c : s.inputs) {
            if (c < taken.size()) taken[c] = true;
        }
    }
    for (const stage_stats& s : stages) {
        for (const std::size_t c : s.outputs) {
            if (c < taken.size() && !taken[c]) last_ = &run_.total.channels[c];
        }
    }
    const auto add = [this](shown_queue q) {
        if (queues_.size() < most_queues) queues_.push_back(std::move(q));
    };
    for (std::size_t from = 0; from < num_stages(); ++from) {
        for (const std::size_t c : stages[from].outputs) {
            if (c >= num_channels()) continue;
            for (std::size_t to = 0; to < stages.size(); ++to) {
                for (const std::size_t input : stages[to].inputs) {
                    if (input == c && to > from && to < num_stages()) add({c, from, to, branch_of(from, to)});
                }
            }
            if (!taken[c]) add({c, from, std::nullopt, {}});
        }
    }
}

}  // namespace weir::detail

#endif
