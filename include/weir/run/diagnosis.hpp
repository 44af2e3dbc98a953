// weir run, internal: WEIR_DIAGNOSE=1 in the environment profiles each run of a program, and prints a table
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_DIAGNOSIS_HPP
#define WEIR_RUN_DIAGNOSIS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/run/profile_trial.hpp>
#include <weir/run/run_report.hpp>

#include <cstddef>    // for std::size_t
#include <exception>  // for std::exception_ptr
#include <string>     // for std::string

// `WEIR_DIAGNOSE=1 program` prints a table on stderr for each run of an unchanged program: the rate of each
// stage alone, measured as by `profile`. No item is lost:
// - The first 1000 items of each source go through the stages, one stage at a time. For each later stage that
//   gets too few items, as behind an `aggregate` (makes one batch of several items), each source makes up to
//   3000 more. The consumer, which takes the results of the run, gets no item before the last stage is tried.
//   Each stage works once on each item, in the usual order. Then the run continues with the concurrencies and
//   capacities of its pipeline. The statistics of the run include the profile.
// - The function of a stage that can have several slots (workers) is called by up to 32 threads at once,
//   whatever the concurrency of the stage. A `for_each` (a last stage) of one slot keeps its slot.
// - Nothing blocks: `start` returns at once, and the run's executor does the work.
// - A trial (a stage alone, with one number of slots) ends after 10 s at the latest, or after 3 s in which no
//   slot of the stage has changed its state: see `trial_limits::still`. After 60 s, all trials end, and the
//   run continues. The table names the trials that ended early or were not made, with the reason.
// - Trials of a function that never suspends leave one thread of the executor free, if there are three or
//   more: the function may wait for a later stage, which needs a thread. As many slots as the pipeline
//   describes are always allowed. Trials of a coroutine may use all threads of its executor.
// - When the run ends, a verdict is printed, if 20 items or more came after the profile: what limited the
//   rate of the run, and which change would help most. The verdict is made from the statistics since the
//   first time after the profile when no queue held more than its capacity. Changes are simulated if the
//   program prints a table of statistics, or was built with WEIR_SEPARATE_COMPILATION: other programs don't
//   compile the simulation. There, the verdict is made from the states of the slots, and the line says so.
// - A run that is stopped, or fails, before the end of the profile prints a line about this. Runs at the same
//   time disturb each other's figures.
// With `WEIR_DIAGNOSE=0`, or empty, there is no profile. With a value other than 1, 0 and empty, `start`
// throws `std::invalid_argument`.

namespace weir::detail {

// The table of a profile, made line by line, so that each line is printed when its trial has ended.
class profile_lines {
  public:
    // `longest`: the length of the longest name of a stage.
    explicit profile_lines(std::size_t longest) noexcept;

    // Returns the titles of the columns. The state `off` (the slot is paused, or has ended) has no column: a
    // trial counts the time in `off` as `wait_get` (the slot waits for an item).
    std::string head() const;

    // Returns the line of the trial `t`. `base`: the trial with which `t` is compared, maybe itself; null: no
    // speed-up is printed.
    std::string line(const std::string& name, const profile_trial& t, const profile_trial* base);

    // Returns the text below the table: explains the columns, and the remarks on trials, such as `stuck`.
    std::string foot() const;

  private:
    static constexpr std::size_t most = 20;    // the maximum width of the column with the names of stages
    static constexpr int rate_width = 19;      // the width of the column with the interval of the rate
    static constexpr int speed_up_width = 12;  // the width of the column with the interval of the speed-up

    // Whether a trial has ended in this way: `foot` then explains the remark.
    bool has_seen(trial_end end) const noexcept { return seen_ends_[static_cast<std::size_t>(end)]; }
    // Whether the trial had too few items for an interval.
    static bool has_few(const profile_trial& t) noexcept;
    // A speed-up as text, with one more digit below 1.
    static std::string times(double factor) { return units::fixed(factor, factor < 0.995 ? 2 : 1); }
    // Returns the text of a cell: "-" if there is no figure.
    static const char* or_dash(const std::string& text) noexcept { return text.empty() ? "-" : text.c_str(); }
    // The text at the end of the line: how the trial ended, unless it was complete.
    static const char* remark(const profile_trial& t) noexcept;
    // `part` as a percentage of `all`; "-" if `all` is 0.
    static std::string share(double part, double all, const char* unit = "");

    int width_;               // of the column with the names of stages
    bool is_few_ = false;     // a trial had too few items for an interval
    bool seen_ends_[6] = {};  // by `trial_end`: whether a trial has ended in this way
};

// The profiler of WEIR_DIAGNOSE: prints a line for each trial, and the verdict at the end of the run.
class printed_trials final : public stage_trials {
  public:
    printed_trials() noexcept;

    // Prints the end of the table; or that the run was stopped, or has failed, before its end.
    WEIR_INLINE void finish(profiled_run& run) override;
    // Called if a function of the profiler threw, as for lack of memory: prints a line about this. The run
    // continues without a profile.
    WEIR_INLINE void abandon(profiled_run&, std::exception_ptr) noexcept override;
    bool has_conclusion() const noexcept override { return is_complete_; }  // whether `conclude` is called
    // Called at the end of the run: prints the verdict.
    WEIR_INLINE void conclude(const pipeline_stats& rest) override;

  private:
    static constexpr std::size_t concurrencies[] = {1, 4, 8, 16, 32};  // the numbers of slots to try

    // Print the titles of the table; nothing before a trial; and, after each trial, its line.
    WEIR_INLINE void on_begin(profiled_run& run) override;
    void on_trial(const profiled_run&, std::size_t, std::size_t) override {}
    WEIR_INLINE void on_result(const profiled_run& run, std::size_t stage, std::size_t index,
                               const profile_trial& trial) override;

    profile_lines lines_{0};    // made anew by `on_begin`, for the names of the run's stages
    profile_trial base_;        // the first trial of the current stage, with the fewest slots
    bool is_complete_ = false;  // the table was printed to its end: so the verdict is printed, too
};

// Returns the verdict that is made from the states of the slots, without simulated changes.
std::string conclusion_of_states(const pipeline_stats& rest);
// Returns the line with the verdict. `rest`: the statistics after the profile: see `run_profiler::conclude`.
std::string conclusion_text(const pipeline_stats& rest);

// Called for each run that starts. Returns the profiler of the run if WEIR_DIAGNOSE is 1, else null; also
// null, with a warning, if the run is not measured (`weir::unmeasured`). Throws for a value other than 0, 1
// and empty.
owned<run_profiler> diagnosis(bool is_measured);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/run/diagnosis.ipp>
#endif

#endif
