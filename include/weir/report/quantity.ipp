// weir report, internal: bodies of the functions of report/quantity.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_QUANTITY_IPP
#define WEIR_REPORT_QUANTITY_IPP

#include <weir/report/quantity.hpp>

#include <weir/platform/config.hpp>

#include <utility>  // for std::move

namespace weir::detail {

WEIR_INLINE fraction& fraction::operator+=(const fraction& more) noexcept {
    numerator += more.numerator;
    denominator += more.denominator;
    return *this;
}

WEIR_INLINE double fraction::value() const noexcept {
    return denominator > 0 ? numerator / denominator : no_value;
}

WEIR_INLINE fraction per(duration sum, std::uint64_t count) {
    return {static_cast<double>(sum.count()), static_cast<double>(count)};
}

WEIR_INLINE std::vector<quantity> quantities() {
    return {
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
          "Where decoding is light and the data large, as with long audio, collation and transfer can "
          "take longer than preprocessing.",
          "A time that changes over the run, or has spikes, has a cause outside (the network, a disk) "
          "or inside (the size of what is asked for). A flat line is a stage that behaves the same all "
          "the time.",
          "A slow function is no bottleneck by itself: with enough slots the stage may still be fast "
          "enough. Data readiness tells."}},
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
          "A dip that all stages have at once is a time in which the whole pipeline waited for one of "
          "them. The last lap may be shorter than the others, and has fewer tasks then."}},
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
         {"Each queue has few places, so that a stage that is too fast is held back, and one that is "
          "too slow starves those behind it. So the rate is about the same everywhere: that of the "
          "slowest.",
          "Aggregate and disaggregate change what an item is. Divided by the size of the batches, the "
          "rates match again."}},
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
          "Close to 0 %: what comes behind is starving. It takes each item as soon as there is one; "
          "what comes before is not fast enough.",
          "A value speaks only of the stages just before and just behind that queue. Those of different "
          "queues are not to be compared.",
          "Where it drops from one queue to the next, the stage behind the second one takes faster than "
          "the stage before it gives. Where it recovers, the stage behind it is slower than the one "
          "before it."}},
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
          "The sink's is the most important figure of all: it is what your loop waits for each item. "
          "Slots that wait at the same time count once; summed over slots, it is in the percentiles."}},
        {"put_time",
         "Put time",
         "wait for room",
         figure_kind::time,
         true,
         false,
         nullptr,
         [](const channel_stats& c) { return per(c.put_wait, c.num_put); },
         "How long a stage waited until the queue behind it had room, for each item.",
         {"The opposite of the get time: where data is ready close to 100 % of the time queues are "
          "full, and who has a result waits until there is room.",
          "It grows with the number of slots, as several of them wait to put at once.",
          "Close to 0: each item is taken at once, since the stages behind wait for it. A stage that "
          "waits long is faster than what comes behind it."}},
    };
}

WEIR_INLINE void lap_figures::add(const pipeline_stats& lap) {
    std::vector<std::vector<fraction>> all;
    for (const quantity& q : quantities_) {
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

}  // namespace weir::detail

#endif
