// weir insight: changes slots, capacities and threads of a running pipeline, lap by lap, within budgets
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_TUNE_HPP
#define WEIR_INSIGHT_TUNE_HPP

#include <weir/insight/predict.hpp>
#include <weir/insight/recording.hpp>
#include <weir/insight/tuning_plan.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <exception>    // for std::exception
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <vector>       // for std::vector

namespace weir {

/// The limits within which a tuner changes a run. Slots that the tuner removes count until they have finished
/// their item; items above a lowered capacity of a queue count until they have left the queue.
struct tune_budget {
    std::size_t max_slots = 0;    ///< slots (workers) of all stages, the source included; 0: no limit
    std::size_t max_threads = 0;  ///< threads of the `thread_pool` that `step` gets; 0: as many as at first
    std::size_t max_items =
        0;  ///< items in flight: the capacities of all queues, and an item for each slot; 0: no limit
    std::size_t max_bytes = 0;   ///< bytes in flight: items in flight times `item_bytes`; 0: no limit
    std::size_t item_bytes = 0;  ///< the most bytes of an item in any queue; only used with `max_bytes`
};

/// The options of a tuner. A lap is a part of the run that is measured by itself. The consumer takes the
/// run's results.
struct tune_options {
    double worthwhile = 0.05;         ///< the least predicted increase of the rate, as a share, for a change
    std::uint64_t fewest_items = 10;  ///< a lap goes on until the consumer has got this many; at least 2
    std::size_t most_slots = 64;      ///< the most slots that a stage gets
    std::size_t most_capacity = 64;   ///< the greatest capacity that a queue gets, in items
    std::string pool_stage = {};      ///< a stage on the pool that `step` gets; if empty, the first stage
    std::vector<std::string> fixed = {};  ///< stages that keep their slots, and the capacity behind them
};

/// How a tuner judged its last changes.
enum class tuning_outcome {
    none,        ///< there was no change to judge
    open,        ///< not yet clear: another lap is measured
    kept,        ///< the changes stay
    taken_back,  ///< the rate was too low: the earlier settings are restored
    outdated,    ///< no change was on trial, and times have changed: the tuner begins anew
};

/// One call of `tuner::step` or `tuner::decide`, mostly at the end of a lap. A lap with too few items, or
/// whose times can't be modelled, goes on instead: `sentence` then says so.
struct tuning_step {
    std::uint64_t lap = 0;                          ///< the number of the call of `step`, from 1
    duration at{};                                  ///< the time from the start of the run
    double rate = 0;                                ///< items per second that the consumer got in the lap
    tuning_outcome outcome = tuning_outcome::none;  ///< of the changes of earlier steps
    std::vector<setting_change> changes = {};       ///< that the step makes, in this order
    double predicted = 0;       ///< the rate predicted for the changes on trial; 0 if none is on trial
    std::string sentence = {};  ///< all of this in a sentence, without a full stop
};

/// Tunes a run: predicts which changes help, makes them, measures a lap, and keeps them or takes them back.
///
///     weir::tuner tuner({.max_slots = 16, .max_threads = 8});
///     for (auto& batch : run) {
///         train(batch);
///         if (is_lap_over()) std::cout << tuner.step(run, pool).sentence << '\n';
///     }
///
/// - A change is made if the predicted rate is greater by `worthwhile`. Once a change was kept and 40 times
///   `fewest_items` are measured, half of `worthwhile` is enough.
/// - A change is also made if the predicted loss is below 1 %, and if the change frees slots or threads, or
///   much capacity: at least 8 items, and a quarter of all capacities. A run above its budget is always
///   reduced.
/// - A change that doesn't raise the rate, or lowers the rate while it frees something, is taken back after
///   one lap or two. Then the tuner waits some laps, and makes one change at a time.
/// - If the times of a stage or of the consumer change while no change is on trial, the tuner begins anew.
/// - Stages whose number of slots is fixed, such as sources, keep their slots; the capacities of the queues
///   behind these stages are tuned. Stages that share a name are left as they are.
/// - A last stage that has one slot at the first step, such as a `for_each` that writes a file, keeps one.
/// - Any other stage with a function may get several slots, also if it began with one: the function is then
///   called by several threads at once, and results leave in the order in which they are done, unless the
///   stage has `output_order::input`. A stage that relies on one slot belongs into `tune_options::fixed`.
///   The same for a stage whose results hold objects of a limited pool, such as a `block_pool`: more slots
///   or capacity need more objects, and without them the run may wait for ever.
///
/// Not tuned: a run with branches, or without histograms of its times, or one that is much faster than its
/// times explain, as a `traverse` with a slow source; the sentence of each step says this. A lap with a
/// `run::pause` counts as slow, so that a change on trial is taken back.
/// Threads:  one call at a time, from any thread or coroutine, also in `run_options::on_lap`.
/// Lifetime: a tuner serves one run; it keeps no reference to the run or the pool.
/// Cost:     of a step, that of `run::stats`; of a step that plans, that of some 100 predictions, 0.1 s for
///           five stages, and with the square of the number of stages. If an item of the consumer needs
///           more than 500 invocations, as a batch of 250, then 0.3 ms for each. If plans find no change, the
///           tuner plans at ever longer intervals, up to 16 laps.
class tuner {
  public:
    /// Errors: `std::invalid_argument` for a negative number, for `max_bytes` without `item_bytes`, and for a
    ///         `worthwhile` that is not above 0. The same for `fewest_items` below 2, for `most_slots` of 0
    ///         or above 100000, and for `most_capacity` of 0.
    explicit tuner(const tune_budget& budget = {}, const tune_options& options = {});

    /// Ends a lap, and changes the run. A lap with fewer than `tune_options::fewest_items` items goes on
    /// instead.
    ///
    /// \param run   any object with `stats`, `set_concurrency` and `set_capacity`, as a `run`.
    /// \param pool  at most one `thread_pool`, if its number of workers may change.
    /// \returns the step, which is also in `log()`. Lifetime: until the next call.
    /// Errors: `std::invalid_argument` if the budget is too small for a slot of each stage and room for an
    ///         item in each queue. The same for another run than before, and if `tune_options::pool_stage` or
    ///         one of `tune_options::fixed` is not the name of exactly one stage. A change that the run or
    ///         the pool refuses is not made, and not tried again; the sentence says this.
    template <class Run, class... Pool>
    const tuning_step& step(Run& run, Pool&... pool);

    /// \returns all steps. Lifetime: the elements, until the next step.
    [[nodiscard]] const std::vector<tuning_step>& log() const noexcept { return log_; }

    /// Decides as `step` does, but changes nothing: the caller makes the changes of the step.
    /// \param now      the statistics from the start of the run.
    /// \param workers  the number of workers of the thread pool; 0 if no thread pool may change.
    /// \returns the step. Errors, lifetime: those of `step`.
    const tuning_step& decide(const pipeline_stats& now, std::size_t workers = 0);

  private:
    // Changes that were made, and that the tuner has not judged yet.
    struct trial {
        pipeline_settings before;  // the settings before the changes
        double rate = 0;           // the rate before the changes
        double predicted = 0;      // the predicted rate with the changes
        bool has_to_stay = false;  // the rate need not rise, only stay: the changes free something, or are
                                   // predicted to bring less than `worthwhile`
        int laps = 0;              // laps measured since the changes
    };

    void set_limits(const pipeline_stats& now, const recording& lap, std::size_t workers);
    // Judges the changes of `trial_`, or plans and makes new ones. `times`: the recording of the lap.
    void decide_for(tuning_step& next, const pipeline_stats& now, const pipeline_stats& lap,
                    const recording& times);
    bool judge(tuning_step& next, const recording& times, std::uint64_t num_items);
    // Sets `target_` and `trial_` if better settings are predicted. `noise`: how much the rate of the lap
    // varies by chance, as a share.
    void plan(tuning_step& next, const recording& times, double noise);
    // The settings with the one change towards `best` that has the greatest predicted rate; the current ones
    // if each change exceeds the budget, or was taken back before.
    pipeline_settings best_single(const pipeline_settings& best, const recording& times) const;
    // Adds to `next` the changes towards `target_` that the budget allows now.
    void approach(tuning_step& next, const pipeline_stats& now, const pipeline_stats& lap,
                  const pipeline_settings& current);
    void begin_anew(const pipeline_stats& now);
    // Removes a change from the last step, as the run or the pool has refused it by an exception with the
    // message `why`. The tuner won't try such a change again.
    void refused(const setting_change& change, std::string_view why);

    tune_budget budget_;
    tune_options options_;
    std::vector<tuning_step> log_;
    detail::plan_limits limits_;
    // Stages whose changes the run refused: of the number of slots, and of the capacity behind the stage.
    std::vector<std::string> fixed_slots_, fixed_room_;
    bool is_pool_fixed_ = false;
    pipeline_stats before_;                    // the statistics at the beginning of the lap
    pipeline_stats origin_;                    // plans use the times measured since these statistics
    std::optional<recording> reference_;       // the times with which those of the lap are compared
    std::optional<pipeline_settings> target_;  // the settings that approach() reaches step by step
    std::optional<trial> trial_;
    std::vector<pipeline_settings> rejected_;  // settings that were taken back
    bool is_cautious_ = false;                 // makes one change at a time
    bool has_tuned_ = false;                   // changes were kept
    bool settles_ = false;                     // changes were taken back: the next lap makes no plan
    std::uint64_t next_plan_ = 0;              // the number of the lap of the next plan
    std::uint64_t interval_ = 1;               // between plans, in laps
};

/// Tunes a run as long as `next_lap` returns true. Uses the default `tune_options`: a program that keeps the
/// slots of some stages makes a `tuner`.
///
///     const auto log = weir::tune(run, {.max_slots = 16}, [&] { return train_for(1s); });
///
/// \param next_lap  waits until a lap is over, and returns whether to tune on.
/// \param pool      at most one `thread_pool`: see `tuner::step`.
/// \returns the steps.
/// Errors: those of `tuner`, and the exceptions of `next_lap`. Threads: all on the calling thread.
/// Lifetime: the run and the pool outlive the call.
template <class Run, class NextLap, class... Pool>
std::vector<tuning_step> tune(Run& run, const tune_budget& budget, NextLap next_lap, Pool&... pool) {
    constexpr bool is_asked = requires { next_lap() ? 1 : 0; };
    static_assert(
        is_asked,
        "weir: tune(run, budget, next_lap) calls next_lap() for each lap, which returns false after "
        "the last one: [&] { return train_for(1s); }");
    tuner all(budget);
    if constexpr (is_asked) {
        while (next_lap()) all.step(run, pool...);
    }
    return all.log();
}

namespace detail {

template <class Run>
concept tunable_run = requires(Run& run, const pipeline_stats& stats, std::string_view name) {
    stats - run.stats();
    run.set_concurrency(name, std::size_t{1});
    run.set_capacity(name, std::size_t{1});
};

template <class Pool>
concept tunable_pool = requires(Pool& pool) { pool.set_workers(pool.workers()); };

}  // namespace detail

template <class Run, class... Pool>
const tuning_step& tuner::step(Run& run, Pool&... pool) {
    constexpr bool is_run = detail::tunable_run<Run>;
    constexpr bool is_pool = sizeof...(Pool) <= 1 && (detail::tunable_pool<Pool> && ...);
    static_assert(is_run,
                  "weir: a tuner changes a run: what pipeline::start returned, or an object with stats(), "
                  "set_concurrency(name, slots) and set_capacity(name, items)");
    static_assert(
        is_pool,
        "weir: a tuner changes the workers of one pool at most: step(run), or step(run, pool) with a "
        "weir::thread_pool");
    if constexpr (is_run && is_pool) {
        decide(run.stats(), (std::size_t{0} + ... + static_cast<std::size_t>(pool.workers())));
        const std::vector<setting_change> wanted = log_.back().changes;
        for (const setting_change& each : wanted) {
            try {
                const auto value = static_cast<std::size_t>(each.value);
                if (each.kind == change_kind::concurrency) run.set_concurrency(each.stage, value);
                if (each.kind == change_kind::capacity) run.set_capacity(each.stage, value);
                if (each.kind == change_kind::threads) {
                    (pool.set_workers(static_cast<unsigned>(value)), ...);
                }
            } catch (const std::exception& e) {
                refused(each, e.what());
            }
        }
    }
    return log_.back();
}

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/tune.ipp>
#endif

#endif
