// weir report: a thread that reports waits that can never end, and functions that block a worker
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_WATCHDOG_HPP
#define WEIR_REPORT_WATCHDOG_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/pool_threads.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/report/wait_graph.hpp>
#include <weir/task/external_wait.hpp>

#include <chrono>            // for std::chrono::milliseconds
#include <cstddef>           // for std::size_t
#include <cstdint>           // for std::uint64_t
#include <functional>        // for std::function, std::reference_wrapper
#include <initializer_list>  // for std::initializer_list
#include <iostream>          // for std::cerr
#include <map>               // for std::map
#include <optional>          // for std::optional
#include <ostream>           // for std::ostream
#include <string>            // for std::string
#include <tuple>             // for std::tuple
#include <unordered_map>     // for std::unordered_map
#include <utility>           // for std::move, std::pair
#include <vector>            // for std::vector

namespace weir {

/// A wait that can never end.
struct stuck_wait {
    std::string who;           ///< "stage 'x', slot 0" (a worker of a stage), "a coroutine" or "a thread"
    std::string stage;         ///< the name of the waiter's stage; empty if the waiter belongs to none
    std::size_t slot = 0;      ///< the number of the slot in that stage, from 0
    std::string where;         ///< where the stage was composed: "loader.cpp:42"; empty: not known
    std::string at;            ///< "channel 'y' is full, 64 of 64"; empty: not at a channel
    std::string what;          ///< follows "waits": "to put", "to get", "for its turn to give an item on"
    std::string channel;       ///< the name of the channel; empty: no name, or not at a channel
    std::size_t size = 0;      ///< items in the channel
    std::size_t capacity = 0;  ///< of the channel, in items
    duration seen{};           ///< the time since an inspection first found the wait, which may be older
    bool in_function = false;  ///< the user's function waits, not the code of the library around it
    /// The waits of the slots that could end this wait, as indices in `deadlock_report::waits`. Empty: all
    /// slots that could end this wait have ended themselves, or `by_anyone` is true. Of each stage, about
    /// `most_needs` waits at most.
    std::vector<std::size_t> needs;
    static constexpr std::size_t most_needs = 16;  ///< see `needs`
    bool by_anyone = false;  ///< any coroutine or thread could end the wait, but none of them can go on
};

/// A set of waits that can never end.
struct deadlock_report {
    /// The cause comes first: waits that need no other wait to end, or only each other. Then come the waits
    /// that need those.
    std::vector<stuck_wait> waits;
    bool partial = false;  ///< other coroutines still run, or may run

    /// The most lines that `text` has for waits; `waits` has all waits.
    static constexpr std::size_t max_lines = detail::most_wait_lines;

    /// \returns a heading; then one line for all waits of the same stage for the same thing, with the reason.
    ///          The lines have the order of `waits`. Behind `max_lines` of them, a line counts the other
    ///          waits.
    [[nodiscard]] std::string text() const;

    /// Writes what `text` returns.
    friend std::ostream& operator<<(std::ostream& out, const deadlock_report& r) { return out << r.text(); }

  private:
    // \returns why the wait can't end: "that needs stage 'a' or stage 'b', which wait themselves".
    [[nodiscard]] std::string why(const stuck_wait& w) const;
};

/// A function has held a worker of a pool for `watchdog_options::blocked_after` or longer, while coroutines
/// wait for a worker.
struct stall_report {
    duration held{};          ///< for how long: the greatest time of any held worker
    std::size_t workers = 0;  ///< how many workers are held for `blocked_after` or longer
    std::size_t of = 0;       ///< how many workers the pool has
    /// The slots whose function runs now: "stage 'x', slot 0", "16 slots of stage 'y'". One of them holds the
    /// worker, if a stage's function does. Empty: no function of a stage runs, or the run has no statistics.
    std::vector<std::string> functions;

    /// \returns a sentence that says what is wrong and what to do.
    [[nodiscard]] std::string text() const;

    /// Writes what `text` returns.
    friend std::ostream& operator<<(std::ostream& out, const stall_report& r) { return out << r.text(); }
};

}  // namespace weir

namespace weir::detail {

// Finds the deadlocks that earlier inspections have not reported.
class known_waits {
  public:
    // Adds a report for each group of waits that never end. (Two such waits are in one group if the slot of
    // one could end the other.) Leaves out a group if the previous call did not find one of its waits, or if
    // one of its waits was reported.
    void report_new(const wait_graph& graph, time_point now, std::vector<deadlock_report>& deadlocks);

  private:
    struct known_wait {
        time_point since{};     // of the inspection that found the wait first
        bool reported = false;  // a report has this wait
    };
    using key = std::pair<std::uint64_t, std::uint64_t>;  // number of the site, number of the wait there

    static key key_of(const wait_graph& graph, const wait_graph::wait& w) {
        const wait_site* const at = graph.sites[w.at].site;
        return {at == nullptr ? 0 : at->serial(), w.seen.number};
    }

    // For the order of a report: waits with equal keys have the same distance from the cause. The key: the
    // site (such as a channel), the stage, the kind of wait, and whether the stage's function waits.
    using line_key = std::tuple<const wait_site*, const std::string*, wait_kind, bool>;

    // \returns the waits of the group, those closest to the cause first.
    static std::vector<std::size_t> in_order(const wait_graph& graph, const std::vector<std::size_t>& group);

    deadlock_report report_of(const wait_graph& graph, const std::vector<std::size_t>& group,
                              time_point now) const;

    std::map<key, known_wait> known_;  // the waits of the previous call of `report_new`
};

// An executor that the watchdog inspects, and since when each of its workers has run one function, which has
// used no channel meanwhile.
class observed_pool {
  public:
    explicit observed_pool(executor& ex) : executor_(&ex, executor_user::watchdog) {}

    bool inspects(const void* ex) const noexcept { return &*executor_ == ex; }

    // Errors: `std::bad_alloc`; then the view is empty.
    const executor_view& inspect() {
        view_ = {};
        executor_->inspect(view_);
        return view_;
    }
    const executor_view& view() const noexcept { return view_; }

    // \returns whether a worker has run one function for `limit` or longer, and coroutines wait for a worker
    //          now, as at the previous call. After `set_reported` false, until a call finds no such worker.
    bool is_newly_held(time_point now, duration limit);
    void set_reported() noexcept { reported_ = true; }

    stall_report report(const wait_graph& graph, time_point now, duration limit) const;

  private:
    struct worker {
        std::uint64_t done = 0;  // resumptions and channel operations so far: `worker_view::done`
        time_point since{};      // the last inspection at which `done` had changed, or the worker was idle
    };

    executor_use executor_;
    executor_view view_;
    std::vector<worker> workers_;
    bool was_crowded_ = false;  // coroutines waited for a worker at the previous call of is_newly_held()
    bool reported_ = false;
};

}  // namespace weir::detail

namespace weir {

/// Options of a `watchdog`.
struct watchdog_options {
    /// Time between two inspections. The second or third inspection after a deadlock began reports it. 0: the
    /// watchdog has no thread; the program calls `inspect`.
    duration period = std::chrono::milliseconds(20);
    /// How long a function may hold a worker while coroutines wait for a worker.
    duration blocked_after = std::chrono::milliseconds(100);
    /// Called once for each deadlock, by the thread that inspects. Must not throw. The default writes to
    /// `std::cerr`.
    std::function<void(const deadlock_report&)> on_deadlock = {};
    /// Called once for each stall, by the thread that inspects. Must not throw. The default writes to
    /// `std::cerr`.
    std::function<void(const stall_report&)> on_stall = {};
};

/// Looks periodically for coroutines that can never continue, and for functions that block a worker (a thread
/// of an executor).
///
///     weir::thread_pool pool;
///     weir::blocking_pool io(8);
///     weir::watchdog dog({pool, io});     // all executors there are
///
/// `examples/19_watchdog.cpp` shows its reports. The watchdog reports a deadlock in two cases:
/// - Slots (workers of stages) wait for each other in a circle, or for slots that have ended. The graph of
///   the run's stages and queues tells which slots could end each wait. If other coroutines may still run,
///   the deadlock is partial.
/// - Everything waits. The given executors have nothing to run, now or by a timer. Every thread that has
///   ever used the library blocks in the library without a time limit, or has ended. Then waits at channels
///   that the program itself made never end either, nor does a run whose consumer waits elsewhere.
///
/// Under the conditions below, the watchdog never reports a wait that could still end. So it reports no wait
/// that could be ended by:
/// - a consumer (which takes a run's results), or any thread of the program, that is not blocked in the
///   library. The thread that makes the watchdog counts from the start; another thread from its first use of
///   a channel, a run, or `sync_wait`;
/// - the threads of an executor that it was not given, or that does not override `executor::inspect`;
/// - a stage function that awaits something outside the library; the end of a pause; a time limit.
///
/// The program has to make an `external_wait` object, which tells the watchdog of an event to come, in two
/// cases. A coroutine outside of a run is going to be woken from outside of the library (by a driver, a
/// socket). Or a thread that has not used the library yet is going to use a channel. Further limits: in a run
/// without statistics (`unmeasured`) a slot whose function waits counts as able to continue. The watchdog
/// ignores that the program could still stop the run. Waits for a `when_all` or a `task_group` are not seen;
/// the waits of their parts are. Waits on virtual time (a simulated clock, with its own report) and in a
/// `sync_wait` without an executor are not seen.
///
/// Threads: a watchdog has a thread of its own, unless its period is 0. Any thread may call `inspect`. A
///          watchdog made in a forked process inspects what began in that process.
/// Lifetime: the executors must outlive the watchdog.
/// Errors: `std::invalid_argument` for a negative period or a limit that is not positive;
///         `std::system_error` if its thread can't be started. The thread leaves out an inspection that lacks
///         memory; a call of `inspect` throws `std::bad_alloc`. `inspect` throws `forked_error` in a process
///         that was forked after the watchdog was made.
/// Cost: an inspection takes about 1 us per channel and 10 us for a run of four stages. Inspected code pays
///       nothing, except that a channel is locked for a moment if nothing went in or out since the last
///       inspection. The destructors of channels and runs wait for an inspection in progress.
class watchdog {
  public:
    using executors = std::initializer_list<std::reference_wrapper<executor>>;

    /// Watches one executor.
    explicit watchdog(executor& ex, watchdog_options options = {})
        : watchdog(executors{ex}, std::move(options)) {}
    /// Watches several executors: `{pool, io}`.
    // NOLINTNEXTLINE(google-explicit-constructor): explicit, so that no list converts to a watchdog
    explicit watchdog(executors all, watchdog_options options = {});
    watchdog(const watchdog&) = delete;
    watchdog& operator=(const watchdog&) = delete;
    ~watchdog();

    /// Inspects once and calls the callbacks for new deadlocks and stalls. The calling thread counts as one
    /// that does nothing.
    /// \param now  the time, if not that of the steady clock; never less than at an earlier inspection.
    /// \returns the number of reports.
    std::size_t inspect() { return inspect(time_point(duration(detail::standard_platform::now()))); }
    std::size_t inspect(time_point now);

  private:
    using record = detail::basic_thread_record<detail::standard_platform>;
    using readings = std::vector<std::uint64_t>;

    template <class Callback, class Report>
    static void tell(const Callback& callback, const Report& report) {
        if (callback) {
            callback(report);
        } else {
            std::cerr << report.text() + '\n';
        }
    }

    void work();  // the loop of the watchdog's thread

    // Why a report is true, though an inspection reads one object after the other while they change. The
    // previous inspection has found every reported wait, too, and each is still the same wait. So at an
    // instant between the two inspections, all reported waits were in progress, and only the waiting slots
    // themselves could end one of these waits:
    // - Other slots that could end one of the waits had ended, and closed their channels, before this
    //   inspection read the waits.
    // - If any coroutine or thread could end one of the waits: no executor ran anything or had anything to
    //   run, and no thread and no external wait did anything.
    // So none of these waits can be the first to end.
    void inspect_all(time_point now, std::vector<deadlock_report>& deadlocks,
                     std::vector<stall_report>& stalls);

    // \returns counters, at least one of which changes whenever a coroutine or a thread runs; nothing if a
    //          coroutine, or a thread other than the calling one, runs now or may run.
    std::optional<readings> all_quiet();

    const watchdog_options options_;
    detail::standard_platform::mutex inspecting_;  // guards the members below, but for `stop_` and `thread_`
    std::vector<detail::observed_pool> pools_;
    std::optional<readings> quiet_;  // the result of all_quiet() at the end of the previous inspection
    // For each site (such as a channel), how many operations it had completed at the previous inspection.
    std::unordered_map<const detail::wait_site*, std::uint64_t> moved_;
    detail::known_waits waits_;
    detail::parker stop_;
    detail::basic_pool_threads<> thread_{"weir watch"};  // one thread or none
};

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/watchdog.ipp>
#endif

#endif
