// weir report: what each slot of each run does or waits for, and why the run is not faster; also at a signal
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_EXPLAIN_ALL_RUNS_HPP
#define WEIR_REPORT_EXPLAIN_ALL_RUNS_HPP

#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/system_signals.hpp>
#include <weir/run/run_report.hpp>

#include <csignal>   // for SIGUSR1, which users name
#include <cstddef>   // for std::size_t
#include <iostream>  // for std::cerr
#include <map>       // for std::map
#include <mutex>     // for std::lock_guard
#include <optional>  // for std::optional
#include <ostream>   // for std::ostream
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace weir {

/// Explains all runs of the process that have started and still exist: what each slot (a worker of a stage)
/// does, and a verdict (a sentence on what limits the rate of the run). Then lists other coroutines and
/// threads that wait, for instance at a channel of the program, in at most 50 lines. A run that has ended is
/// marked so, until it is destroyed. `explain_on_signal` prints the same, with the verdicts at the end.
///
///     server.on("/debug/runs", [] { return weir::explain_all_runs(); });
///
/// `report/README.md` shows such a text. The verdict is `brief_verdict(run.stats())`. If there is none,
/// `explain` makes the verdict, from simulations of the run. If they would take more than about a second,
/// fewer items are simulated, or the verdict comes from the states of the slots alone. The text says, for
/// example, "working for 97 ms": this is the time of several items if the slot did not wait between them.
/// Runs that measure nothing (`unmeasured`) have neither times of slots nor a verdict. Runs on
/// `virtual_time`, whose clock jumps from timer to timer, are not shown.
///
/// \returns lines of text, each of which ends with `\n`.
/// Errors:  `std::bad_alloc`.
/// Threads: any, also while runs begin and end. The destructors of runs and channels wait until the states
///          are read.
/// Cost:    reading the states takes about 20 us for a run of four stages; a verdict takes 10 to 20 ms for
///          five stages, and less than a second for 20. The runs are not stopped meanwhile.
[[nodiscard]] std::string explain_all_runs();

/// Explains all runs, as `explain_all_runs`, whenever the process gets a signal, until the process ends.
/// Called at the beginning of `main`, for example.
///
///     weir::explain_on_signal(SIGUSR1);       // kill -USR1 PID
///
/// A thread of the library prints: first the states of all slots (workers of stages), at once; then the
/// verdicts (what limits each run), when they are computed. However often the same signal comes while the
/// thread prints, the thread prints once more. The runs go on.
///
/// Without the signals of POSIX, as on Windows, this function throws; `explain_all_runs` works there.
///
/// \param number  the number of a signal that the program uses for nothing else, as `SIGUSR1`, `SIGUSR2`.
/// \param to      where to print. An exception from the stream is ignored.
/// Errors:   `std::invalid_argument` for a signal that can't be caught, that reports a fault, or that the
///           program or `stop_on_signals` handles, and without the signals of POSIX; `std::system_error` if
///           the system has no pipe or thread left.
/// Threads:  any thread may call this function. A call waits while the thread of the library prints. A
///           further call with the same signal replaces the stream. Only the thread of the library uses the
///           stream.
/// Lifetime: the stream has to live until the process ends, or until the stream is replaced. In a forked
///           process the signal is handled as before the call: call the function again there. A handler that
///           the program installs later is kept; then nothing is printed.
/// Cost:     a sleeping thread; a print takes the time of `explain_all_runs`. As with every caught signal,
///           `poll`, `nanosleep` and others fail with `EINTR` in the thread that gets the signal.
void explain_on_signal(int number, std::ostream& to = std::cerr);

}  // namespace weir

namespace weir::detail {

// What a slot (a worker of a stage) does.
struct slot_activity {
    std::string what;                // "waiting to put"
    std::optional<duration> lasted;  // for how long; none: not measured, or the slot has ended
    std::string where;               // what follows the time: "; channel 'src' is full, 2 of 2"; or empty
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

// \returns the verdict on the run that has these statistics. Cost: about a second at most.
std::string sentence_on(const pipeline_stats& stats);

// What the slots of all runs of the process do, and which other coroutines and threads wait (the waits
// outside of runs). Runs on `virtual_time` are left out. The constructor reads all of this.
class present_runs {
  public:
    present_runs();

    // What each slot does; behind the slots of a run the verdict on the run, if `with_verdicts`. Then the
    // waits outside of runs.
    std::string states(bool with_verdicts = false) const;
    // The verdict on each run, from the statistics that the constructor has read. Takes up to a second a run.
    std::string verdicts() const;

  private:
    struct waiter {
        wait_seen seen;
        std::string channel;  // "channel 'y' is full, 64 of 64"; empty: the wait is not for a channel
    };
    struct present_run {
        std::string states;
        pipeline_stats stats;
        bool is_measured = false;
        bool has_ended = false;
    };

    // The first notes who waits at a site (an object at which coroutines and threads wait). The second
    // returns what the slots of a run do. The constructor calls both while the registry of runs and waits is
    // locked, so that no run, slot or site is destroyed meanwhile.
    void read(const wait_site& site);
    present_run read(const watched_run& run);
    slot_activity activity_of(const slot_seen& seen, bool is_measured) const;

    std::string consumer_text(const run_seen& run, const pipeline_stats& stats) const;
    std::string verdict_on(const present_run& run) const;

    std::map<const slot*, waiter> waiting_slots_;                    // the slots that wait
    std::map<const wait_site*, std::vector<waiter>> other_waiters_;  // other coroutines and threads that wait
    std::vector<present_run> runs_;
    std::string outside_;  // lines about the waits outside of runs
};

// Knows for each signal that was given to `explain_on_signal` the stream on which its explanations go.
class signal_explanations {
  public:
    static void add(int number, std::ostream& to);

  private:
    // Called by the library's thread for signals: with a signal's number, to print; with 0 after `add`, to
    // unblock the added signals.
    static void tell(int number) noexcept {
        mark_registry_reader();
        number == 0 ? only->accept_all() : only->print(number);
    }
    void print(int number) noexcept;
    // Unblocks the added signals on the calling thread, so that it gets them if all other threads block them.
    void accept_all() noexcept {
        const std::lock_guard guard(lock_);
        for (int number = 1; number < end_of_signals; ++number) {
            if (streams_[number] != nullptr) accept_signal(number);
        }
    }
    // Called in a forked process, which lacks the library's thread for signals: removes all streams, and
    // restores the earlier handlers of the signals.
    void forget_all() noexcept;

    static no_destroy<signal_explanations> only;
    static const bool forks_are_known;  // its initialisation registers `forget_all` for forked processes

    standard_platform::mutex lock_;               // guards the members below, also while the thread prints
    std::ostream* streams_[end_of_signals] = {};  // null: the signal prints nothing
    bool begun_ = false;                          // the thread of the library has been started
};

inline constinit no_destroy<signal_explanations> signal_explanations::only;
inline const bool signal_explanations::forks_are_known = at_fork_in_child([] { only->forget_all(); });

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/explain_all_runs.ipp>
#endif

#endif
