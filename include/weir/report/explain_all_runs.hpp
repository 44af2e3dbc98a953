// weir report: what each slot of each run does or waits for at the moment, and why the run is not faster
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_EXPLAIN_ALL_RUNS_HPP
#define WEIR_REPORT_EXPLAIN_ALL_RUNS_HPP

#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/run/run_report.hpp>

#include <cstddef>   // for std::size_t
#include <map>       // for std::map
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace weir {

/// Explains all runs of the process while they go on. `explain_on_signal` prints the same text.
///
///     server.on("/debug/runs", [] { return weir::explain_all_runs(); });
///
/// `report/README.md` shows such a text. The verdict, a sentence on what limits the rate of the run, is
/// `brief_verdict(run.stats())`; without one, `explain` makes the verdict. "working for 97 ms" is the time of
/// several items if the slot did not wait between them. Runs that measure nothing (`unmeasured`) have neither
/// times nor a verdict. Runs on virtual time are not shown.
///
/// \returns lines of text, each of which ends with `\n`.
/// Errors:  `std::bad_alloc`.
/// Threads: any, also while runs begin and end. The end of a run, and the destruction of a channel, wait
///          until the states are read.
/// Cost:    reading the states takes about 20 us for a run of four stages; a verdict takes 10 to 20 ms for
///          five stages, and less than a second for 20. The runs are not stopped meanwhile.
[[nodiscard]] std::string explain_all_runs();

}  // namespace weir

namespace weir::detail {

// What a slot (a worker of a stage) does: "waiting to put", 97 ms, "; channel 'src' is full, 2 of 2".
struct slot_activity {
    std::string what;
    std::optional<duration> lasted;  // none: not measured
    std::string where;
};

// The activities of a stage's slots as text: one line for all slots that do the same.
class activity_lines {
  public:
    void add(std::size_t slot, slot_activity of_slot);
    std::string text() const;

  private:
    struct line {
        slot_activity activity;  // `lasted`: the shortest time of these slots
        duration longest{};
        std::vector<std::size_t> slot_numbers;
    };
    std::vector<line> lines_;
};

// Slots 0, 1, 2 and 5 as "slots 0-2, 5". `slot_numbers` is sorted, and not empty.
std::string slots_text(const std::vector<std::size_t>& slot_numbers);

// \returns the sentence of a verdict, in about a second at most.
std::string sentence_on(const pipeline_stats& stats);

// The states of all runs of the process, and of all waits in it. The constructor reads them.
class present_runs {
  public:
    present_runs();

    // What each slot does.
    std::string states() const;
    // The verdict on each run, from the statistics that the constructor has read. Takes up to a second a run.
    std::string verdicts() const;
    // The states and the verdict of each run in turn.
    std::string text() const;

  private:
    struct waiter {
        wait_seen seen;
        std::string channel;  // "channel 'y' is full, 64 of 64"; empty: the wait is not at a channel
    };
    struct present_run {
        std::string states;
        pipeline_stats stats;
        bool is_measured = false;
    };

    // The constructor calls these three while the registry of runs and waits is locked, so that no run, slot
    // or site (an object at which coroutines wait) is destroyed meanwhile.
    void read(const wait_site& site);
    present_run read(const watched_run& run);
    slot_activity activity_of(const slot_seen& seen, bool is_measured) const;

    std::string consumer_text(const run_seen& run, const pipeline_stats& stats) const;
    std::string verdict_on(const present_run& run) const;
    std::string head() const;

    std::map<const slot*, waiter> slots_;                        // the slots that wait
    std::map<const wait_site*, std::vector<waiter>> outsiders_;  // other coroutines and threads that wait
    std::vector<present_run> runs_;
    std::string outside_;  // lines about the waits outside of runs
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/explain_all_runs.ipp>
#endif

#endif
