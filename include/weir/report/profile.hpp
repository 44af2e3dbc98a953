// weir report: finds the rate that each stage of a pipeline can reach alone, with several numbers of slots
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_PROFILE_HPP
#define WEIR_REPORT_PROFILE_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/parking.hpp>
#include <weir/report/table.hpp>
#include <weir/run/diagnosis.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/profile_trial.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/run_report.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/detached_task.hpp>

#include <cstddef>      // for std::size_t
#include <exception>    // for std::exception_ptr, std::rethrow_exception
#include <functional>   // for std::function
#include <ostream>      // for std::ostream
#include <string>       // for std::string
#include <type_traits>  // for std::remove_cvref_t
#include <utility>      // for std::forward, std::move, std::pair
#include <vector>       // for std::vector

namespace weir {

/// All trials of one stage. In a trial, the stage runs alone with one number of slots (workers).
struct stage_profile {
    std::string name;  ///< of the stage
    std::string kind;  ///< of the stage: `source`, `pipe`, `aggregate` and so on
    /// In the order of `profile_options::concurrencies`; one trial if the stage can have one slot only.
    std::vector<profile_trial> trials;

    [[nodiscard]] friend bool operator==(const stage_profile&, const stage_profile&) = default;
};

/// The result of `profile`. It can be kept, compared and printed.
struct profile_result {
    std::size_t num_items = 0;          ///< items that the sources gave in their own trials
    std::vector<stage_profile> stages;  ///< in the order of the flow of items, without the sink

    [[nodiscard]] friend bool operator==(const profile_result&, const profile_result&) = default;
};

/// The progress of a profile.
struct profile_progress {
    std::string stage;            ///< the stage that is about to run; empty at the end
    std::size_t concurrency = 1;  ///< the number of slots (workers) of this stage; 0 at the end
    std::size_t done = 0;         ///< number of trials that have ended, or were skipped
    std::size_t total = 0;        ///< number of all trials
};

/// Options of `profile`.
struct profile_options {
    /// The concurrencies to try. A stage that has one slot by its nature is tried with one.
    std::vector<std::size_t> concurrencies = {32, 16, 8, 4, 1};

    /// The longest time of a trial. When this time is over, the trial ends, even if items are left.
    duration time_limit{10'000'000'000};

    /// Called before each trial that is not skipped, and once after all trials unless the profile failed. For
    /// instance `weir::profile_bar(std::cerr)`, which shows the progress.
    /// Threads: those of the executor, one call at a time.
    std::function<void(const profile_progress&)> on_progress = nullptr;
};

/// Shows the progress of a profile: `profile(p, pool, 1000, {.on_progress = weir::profile_bar(std::cerr)})`.
/// Errors: those of the stream, if it throws. Lifetime: the stream must outlive the bar.
class profile_bar {
  public:
    /// \param in_place  overwrites one line, for a terminal; else writes a line for each trial.
    explicit profile_bar(std::ostream& out, bool in_place = true) : out_(&out), in_place_(in_place) {}

    /// Writes the progress to the stream. `profile` calls it as `profile_options::on_progress`.
    void operator()(const profile_progress& p);

  private:
    static constexpr std::size_t length = 30;
    std::ostream* out_;
    bool in_place_;
    std::size_t width_ = 0;  // of the text that was last written behind the bar
};

/// \returns the profile as a table, one line per trial. `speed-up` is the rate divided by the rate of the
///          stage's trial with the fewest slots; `-` if the 95 % confidence interval of this ratio, which
///          is in the next column, contains 1 or is unknown. For the other columns see `profile_trial`.
[[nodiscard]] std::string profile_text(const profile_result& profile);

/// Writes `profile_text(profile)` in one call. The stream's locale and format flags do not matter.
std::ostream& operator<<(std::ostream& out, const profile_result& profile);

namespace detail {

// The parameters and the result of a profile: shared by the thread that called `profile` and waits for
// `done`, and by the executor's threads that run the trials.
struct profile_state {
    profile_state(std::size_t items, profile_options how);

    std::size_t num_items;
    profile_options options;
    std::vector<std::pair<std::size_t, std::size_t>> ascending;  // (a concurrency, its index in the options)
    std::vector<std::size_t> concurrencies;                      // those of `ascending`
    parker done;
    profile_result found;
    std::exception_ptr error;
};

// Runs the trials of a profile, and stores the results in its `profile_state`. Then the run ends; no item
// leaves the pipeline.
class profile_trials final : public stage_trials {
  public:
    explicit profile_trials(profile_state& to) noexcept;

    void finish(profiled_run& run) override {
        if (!run.was_interrupted()) tell({}, 0, total_);
        end(run);
    }
    void abandon(profiled_run& run, std::exception_ptr error) noexcept override {
        state_.error = std::move(error);
        end(run);
    }

  private:
    // `on_begin` is called before all trials, `on_trial` before a trial, `on_result` after a trial, also if
    // the trial was skipped. `index`: that of the trial's number of slots in `profile_state::ascending`; 0 if
    // the stage has one trial.
    WEIR_INLINE void on_begin(profiled_run& run) override;
    void on_trial(const profiled_run& run, std::size_t stage, std::size_t num_slots) override {
        tell(run.name_of(stage), num_slots, done_);
    }
    WEIR_INLINE void on_result(const profiled_run& run, std::size_t stage, std::size_t index,
                               const profile_trial& trial) override;

    // Calls `profile_options::on_progress`, if there is one.
    void tell(const std::string& stage, std::size_t num_slots, std::size_t done) {
        if (state_.options.on_progress) state_.options.on_progress({stage, num_slots, done, total_});
    }
    // Ends the run, and wakes the thread that called `profile`.
    void end(profiled_run& run) noexcept {
        run.end();
        state_.done.set();
    }

    profile_state& state_;
    std::size_t done_ = 0;
    std::size_t total_ = 0;
};

template <class Row>
profile_result profile_of(pipeline<Row> whole, executor& ex, std::size_t items, profile_options options) {
    if constexpr (!Row::ends) {
        return detail::profile_of(std::move(whole) | weir::sink(), ex, items, std::move(options));
    } else {
        profile_state state(items, std::move(options));
        if constexpr (requires { whole.stages().last.closes; }) {
            refuse_if(
                whole.stages().last.closes,
                "weir: a profile would put the items of its trials into the channel of the sink_to, and "
                "close it: profile the pipeline with weir::sink() in place of the sink_to, or give the "
                "sink_to a channel of its own and {.closes = false}");
        }
        pipeline<Row>::each_options(whole, [](stage_options& each) { each.max_failures = unlimited; });
        run_core<measured> core(ex, detail::with_defaults({.max_failures = unlimited}),
                                owned<run_profiler>(new profile_trials(state)));
        pipeline<Row>::attach(std::move(whole), core);
        core.start();
        core.drive_loops_in([&] { detail::block_until(state.done, ex); });
        core.stop();
        core.throw_failure();
        if (state.error) std::rethrow_exception(state.error);
        return std::move(state.found);
    }
}

}  // namespace detail

/// Runs each stage of a pipeline alone, at several concurrencies, and measures the rate that the stage
/// reaches if no other stage limits it. Stages inside of lists, merges, routes and splits are included.
///
///     std::cout << weir::profile(pipeline, pool, 1000);
///
/// Each source gives `items` items. The first stage works on them, the second on the results, and so on.
/// Each item passes each stage once: half of the items are divided evenly among the trials of the stage, half
/// in proportion to the trials' concurrencies. A stage that has one slot by its nature (an aggregate) gets
/// all items in one trial. A trial ends early after `profile_options::time_limit`, or when the queue behind
/// the stage is full. The queue gets room for one result of each item, but a limit in bytes still holds. A
/// stage in which nothing moves any more gets no further trials: see `profile_trial::end`. Stages behind an
/// aggregate have fewer items. If a stage has fewer than 10 items a trial, or 4 a slot, the sources give
/// more: up to 15 times `items`, for at most `time_limit`. `profile_trial::pace` says how exact a figure is.
///
/// The environment variable `WEIR_DIAGNOSE=1` does the same at the start of each run of an unchanged program,
/// with items that then leave the pipeline as usual: see `<weir/run/diagnosis.hpp>`.
///
/// \param pipeline  with a source; a sink is not needed. A pipeline that can't be copied is moved in.
/// \param ex        runs the stages that name no executor. A stage that blocks its thread is only as fast as
///                  its executor has threads: such a stage has to name an executor with enough threads. On
///                  virtual time (a simulated clock) the figures are exact, and computing takes no time.
/// \param items     number of items that each source gives, ends of epochs (passes over the data) included.
/// \returns what was measured; `<<` prints a table.
/// Errors:  failed items are tolerated and counted. `pipeline_failure` if a stage can't go on, as when the
///          source throws. `std::invalid_argument` for a pipeline with which no run would start, for 0 items,
///          for empty `concurrencies`, for a concurrency of 0, for a time limit of 0 or less, and for a
///          `sink_to` that closes its channel. Exceptions of `on_progress`.
/// Threads: blocks until all is done; must not be called by a thread of `ex`. A stage that can have several
///          slots is called by up to as many threads at once as the largest concurrency says. A last stage,
///          such as a `for_each`, to which the pipeline gives one slot keeps one slot, as the order in which
///          its function is called may matter.
/// Lifetime: when `profile` returns, nothing uses `ex` any more. A channel that is the source is closed then,
///          and the items that were taken are lost; so profile with a channel of its own.
/// Cost:    the time of `items` items in each stage, one stage after the other; memory for the results of
///          two stages.
template <class P>
    requires detail::is_pipeline<std::remove_cvref_t<P>>
[[nodiscard]] profile_result profile(P&& pipeline, executor& ex, std::size_t items = 1000,
                                     profile_options options = {}) {
    using row = std::remove_cvref_t<decltype(pipeline.stages())>;
    constexpr bool begins = row::begins;
    constexpr bool usable = !std::is_lvalue_reference_v<P> || row::copyable;
    static_assert(begins, "weir: a pipeline to be profiled has a source at its front, for the items");
    static_assert(usable,
                  "weir: a stage of this pipeline can't be copied (a generator, or what holds an object that "
                  "only moves), so it is good for one run: profile(std::move(pipeline), executor)");
    if constexpr (begins && usable) {
        return detail::profile_of(std::remove_cvref_t<P>(std::forward<P>(pipeline)), ex, items,
                                  std::move(options));
    } else {
        return {};
    }
}

/// Rejects an argument that is no pipeline, at compile time.
template <class P>
    requires(!detail::is_pipeline<std::remove_cvref_t<P>>)
auto profile(P&&, executor&, std::size_t = 1000, const profile_options& = {}) {
    static_assert(detail::is_pipeline<std::remove_cvref_t<P>>,
                  "weir: what is profiled is a pipeline: a source, and stages behind it");
    return profile_result();
}

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/profile.ipp>
#endif

#endif
