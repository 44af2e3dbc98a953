// weir report, internal: bodies of the functions of report/rank_table.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RANK_TABLE_IPP
#define WEIR_REPORT_RANK_TABLE_IPP

#include <weir/report/rank_table.hpp>

#include <weir/measure/clock.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <algorithm>  // for std::ranges::equal, std::ranges::sort
#include <cmath>      // for std::sqrt
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <optional>   // for std::optional
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::detail {

// A rank (a process of the job) is slow in a stage if its invocations take at least `slow_factor` times as
// long as those of the median rank.
inline constexpr double slow_factor = 1.25;

// The number of invocations by which a rank's time at work is divided; 1 if none has ended.
inline double calls_of(const stage_on_rank& s) {
    return static_cast<double>(larger<std::uint64_t>(s.num_tasks, 1));
}

// Whether an invocation of the stage may await other ranks or threads, so that its time awaiting does not
// show how fast the rank is. If the statistics don't tell, true for each source and each `sink_to`.
inline bool awaits_others(const stage_stats& s) {
    return s.awaits_others.value_or(s.kind == "source" || s.kind == "sink_to");
}

// The time awaiting of an invocation on this rank, in nanoseconds; 0 if it may await other ranks or threads.
inline double awaited_by(const rank_stats& stats, const stage_on_rank& s, std::size_t place) {
    return awaits_others(stats.all.stages[place]) ? 0
                                                  : static_cast<double>(s.times.await.count()) / calls_of(s);
}

// The work of an invocation on this rank, in nanoseconds: its time at work, plus awaited_by(). None if the
// rank lacks the stage, or if no time has passed for the stage's slots (workers).
inline std::optional<double> work_of(const rank_stats& stats, const rank_record& rank, std::size_t place) {
    const stage_on_rank& s = rank.stages[place];
    if (!s.exists || s.times.total() <= duration(0)) return std::nullopt;
    return static_cast<double>(s.times.run.count()) / calls_of(s) + awaited_by(stats, s, place);
}

// The variance of the time of an invocation, over all ranks. If the histogram has no buckets, the times are
// taken to have an exponential distribution.
inline double variance_of(const histogram& times) {
    const auto count = static_cast<double>(larger<std::uint64_t>(times.count(), 1));
    const double mean = static_cast<double>(times.sum().count()) / count;
    if (!times.has_quantiles()) return mean * mean;
    double sum = 0;
    for (const histogram_bucket& b : times.buckets()) {
        const double off = static_cast<double>(b.least.count()) - mean;
        sum += off * off * static_cast<double>(b.count);
    }
    return sum / count;
}

// A stage on the ranks that have it.
struct stage_over_ranks {
    double num_ranks = 0;
    double work = 0;      // the median of work_of()
    double awaited = 0;   // the median of awaited_by()
    double variance = 0;  // of the time of an invocation

    stage_over_ranks(const rank_stats& stats, std::size_t place)
        : variance(variance_of(stats.all.stages[place].task_times)) {
        const rank_spread works =
            spread(stats, [&](const rank_record& r) { return work_of(stats, r, place); });
        num_ranks = static_cast<double>(works.num_ranks);
        work = works.median;
        awaited = spread(stats, [&](const rank_record& r) {
                      const bool has = work_of(stats, r, place).has_value();
                      return has ? std::optional(awaited_by(stats, r.stages[place], place)) : std::nullopt;
                  }).median;
    }
};

inline std::vector<stage_over_ranks> stages_over_ranks(const rank_stats& stats) {
    std::vector<stage_over_ranks> stages;
    for (std::size_t i = 0; i < stats.all.stages.size(); ++i) stages.emplace_back(stats, i);
    return stages;
}

// Compares a rank in one stage with the median of all ranks; the caller decides if this rank is a straggler.
// `work`: the result of work_of() for the rank.
inline straggler comparison(const rank_stats& stats, std::size_t place, std::size_t rank, double work,
                            const stage_over_ranks& usual) {
    const stage_on_rank& s = stats.ranks[rank].stages[place];
    const double median = usual.work;
    const bool awaits = awaited_by(stats, s, place) - usual.awaited > (work - median) / 2;
    const slot_state state = awaits ? slot_state::await : slot_state::run;
    return {.rank = rank,
            .stage_index = place,
            .stage = stats.all.stages[place].name,
            .state = states_by_number[static_cast<std::size_t>(state)].is,
            .ratio = median > 0 ? work / median : 1,
            .lost = (work - median) * calls_of(s) / static_cast<double>(s.times.total().count())};
}

// Whether the difference to the median is at least 5 standard errors plus `cut`. `cut`: the median time of
// one invocation for each slot, divided by the number of invocations: the ends of a lap (a part of a run) cut
// one invocation of each slot, and the time at work includes parts of these. `others`: the number of
// invocations of the median rank, taken to be the average over all ranks.
inline bool is_sure(const rank_stats& stats, const straggler& s, const stage_over_ranks& usual) {
    const auto tasks = static_cast<double>(stats.all.stages[s.stage_index].num_tasks);
    const double others = larger(tasks / usual.num_ranks, 1.0);
    const stage_on_rank& own = stats.ranks[s.rank].stages[s.stage_index];
    const double error = std::sqrt(usual.variance * (1 / calls_of(own) + 1 / others));
    const double cut = usual.work * static_cast<double>(own.concurrency) / calls_of(own);
    return usual.work * (s.ratio - 1) >= 5 * error + cut;
}

// Whether two laps have the same stages and as many ranks.
inline bool is_same_job(const rank_stats& a, const rank_stats& b) {
    return a.ranks.size() == b.ranks.size() &&
           std::ranges::equal(a.all.stages, b.all.stages, {}, &stage_stats::name, &stage_stats::name);
}

inline void add_work(rank_stats& sum, const rank_stats& lap) {
    for (std::size_t i = 0; i < lap.all.stages.size(); ++i) {
        sum.all.stages[i].num_tasks += lap.all.stages[i].num_tasks;
        sum.all.stages[i].task_times += lap.all.stages[i].task_times;
        for (std::size_t r = 0; r < lap.ranks.size(); ++r) {
            sum.ranks[r].reported = sum.ranks[r].reported || lap.ranks[r].reported;
            stage_on_rank& s = sum.ranks[r].stages[i];
            s.exists = s.exists || lap.ranks[r].stages[i].exists;
            s.num_tasks += lap.ranks[r].stages[i].num_tasks;
            s.times += lap.ranks[r].stages[i].times;
        }
    }
}

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

WEIR_INLINE spread_rows stage_spreads(const rank_stats& stats) {
    spread_rows rows;
    for (std::size_t i = 0; i < stats.all.stages.size(); ++i) {
        const auto over = [&](auto figure) {
            return spread(stats, [&](const rank_record& r) -> std::optional<double> {
                const stage_on_rank& s = r.stages[i];
                return s.exists ? std::optional<double>(figure(s)) : std::nullopt;
            });
        };
        const rank_spread work = over([](const stage_on_rank& s) { return s.work(); });
        std::vector<std::string> row = {stats.all.stages[i].name, std::to_string(work.num_ranks)};
        add_spread(row, work, true,
                   [](double ns) { return units::time(duration(nearest<std::int64_t>(ns))); });
        add_spread(row, over([](const stage_on_rank& s) { return per_second(s.num_tasks, s.elapsed); }), true,
                   units::rate);
        const rank_spread waits = over([](const stage_on_rank& s) {
            return share_of(s.times.wait_get + s.times.wait_put + s.times.wait_turn, s.times.total());
        });
        add_spread(row, waits, false, units::whole_percent);
        rows.push_back(std::move(row));
    }
    return rows;
}

WEIR_INLINE spread_rows queue_spreads(const rank_stats& stats) {
    spread_rows rows;
    for (std::size_t i = 0; i < stats.all.channels.size(); ++i) {
        const rank_spread ready = spread(stats, [i](const rank_record& r) -> std::optional<double> {
            return r.queues[i].exists ? std::optional(r.queues[i].readiness()) : std::nullopt;
        });
        std::vector<std::string> row = {stats.all.channels[i].name, std::to_string(ready.num_ranks)};
        add_spread(row, ready, true, [](double share) { return units::whole_percent(share) + " %"; });
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

inline void append_spreads(std::string& text, text_table table, const spread_rows& rows) {
    if (rows.empty()) return;
    for (const std::vector<std::string>& row : rows) table.add(row);
    text += '\n';
    table.append_to(text);
}

}  // namespace weir::detail

namespace weir {

WEIR_INLINE std::string line_text(const straggler& s) {
    return "rank " + std::to_string(s.rank) + ": " + s.stage + " " + s.state + " " +
           units::fixed(s.ratio, 1) + " times the median";
}

WEIR_INLINE std::vector<straggler> stragglers(const rank_stats& stats) {
    std::vector<straggler> found;
    const std::vector<detail::stage_over_ranks> usual = detail::stages_over_ranks(detail::checked(stats));
    for (std::size_t rank = 0; rank < stats.ranks.size(); ++rank) {
        std::optional<straggler> worst;
        for (std::size_t i = 0; i < stats.all.stages.size(); ++i) {
            const std::optional<double> own = detail::work_of(stats, stats.ranks[rank], i);
            if (!stats.ranks[rank].reported || !own) continue;
            straggler s = detail::comparison(stats, i, rank, *own, usual[i]);
            if (s.ratio < detail::slow_factor || s.lost < 0.01 || (worst && s.lost <= worst->lost)) continue;
            if (detail::is_sure(stats, s, usual[i])) worst = std::move(s);
        }
        if (worst) found.push_back(*std::move(worst));
    }
    std::ranges::sort(found, [](const straggler& a, const straggler& b) { return a.lost > b.lost; });
    return found;
}

WEIR_INLINE std::vector<straggler> straggler_watch::add(const rank_stats& lap) {
    if (!laps_.empty() && !detail::is_same_job(laps_.back(), lap)) laps_.clear();
    laps_.push_back(detail::checked(lap));
    if (laps_.size() > most_laps) laps_.pop_front();
    if (laps_.size() < slow_laps) return {};
    rank_stats sum = laps_.front();
    for (std::size_t i = 1; i < laps_.size(); ++i) detail::add_work(sum, laps_[i]);
    std::vector<straggler> found = weir::stragglers(sum);
    std::vector<std::size_t> slow(found.size());  // in how many of the laps each of them is slow
    for (const rank_stats& one : laps_) {
        const std::vector<detail::stage_over_ranks> usual = detail::stages_over_ranks(one);
        for (std::size_t i = 0; i < found.size(); ++i) {
            const std::size_t stage = found[i].stage_index;
            const std::optional<double> work = detail::work_of(one, one.ranks[found[i].rank], stage);
            if (work && *work >= detail::slow_factor * usual[stage].work) ++slow[i];
        }
    }
    std::vector<straggler> often;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (slow[i] >= slow_laps) often.push_back(std::move(found[i]));
    }
    return often;
}

WEIR_INLINE std::string table_text(const rank_stats& stats) {
    std::string text = std::to_string(stats.ranks.size()) + (stats.ranks.size() == 1 ? " rank" : " ranks");
    text += ", " + units::time(stats.all.elapsed) + " elapsed";
    const std::string differences = differences_text(stats);
    // If the pipelines of the ranks differ, several ranks may count the same item, and the sum of the ranks'
    // rates would be too high.
    if (differences.empty()) text += "; " + detail::first_item_text(stats.all);
    text += '\n';
    detail::append_tables(text, stats.all);
    detail::text_table stages(
        {"over ranks", "ranks", "least", "median", "most", "least", "median", "most", "least", "most"});
    stages.add_group(2, 4, "run + await of a task");
    stages.add_group(5, 7, "rate");
    stages.add_group(8, 9, "% waiting");
    detail::append_spreads(text, std::move(stages), detail::stage_spreads(stats));
    detail::text_table queues({"over ranks", "ranks", "least", "median", "most"});
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
