// weir report: a thread that sees who waits for ever, and what keeps a worker to itself
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_WATCHDOG_HPP
#define WEIR_REPORT_WATCHDOG_HPP

#include <weir/executor/errors.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/pool_threads.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/registry.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/report/deadlock_report.hpp>
#include <weir/report/known_waits.hpp>
#include <weir/report/observed_pool.hpp>
#include <weir/report/wait_graph.hpp>
#include <weir/task/external_wait.hpp>

#include <chrono>            // for std::chrono::milliseconds
#include <cstddef>           // for std::size_t
#include <cstdint>           // for std::uint64_t
#include <functional>        // for std::function, std::reference_wrapper
#include <initializer_list>  // for std::initializer_list
#include <iostream>          // for std::cerr
#include <mutex>             // for std::lock_guard
#include <optional>          // for std::optional
#include <stdexcept>         // for std::invalid_argument
#include <unordered_map>     // for std::unordered_map
#include <utility>           // for std::move
#include <vector>            // for std::vector

namespace weir {

/// Of a `watchdog`.
struct watchdog_options {
    /// Between two inspections. A deadlock is reported by the second one, or the third, that finds it. 0: no
    /// thread; whoever wants to know calls `inspect`.
    duration period = std::chrono::milliseconds(20);
    /// For how long something may keep a worker while others wait for one.
    duration blocked_after = std::chrono::milliseconds(100);
    /// Called by the thread that inspects, once for each deadlock, and once for each stall; must not throw.
    /// What isn't given writes the report to `std::cerr`.
    std::function<void(const deadlock_report&)> on_deadlock = {};
    std::function<void(const stall_report&)> on_stall = {};  ///< the same
};

/// Searches, every now and then, for coroutines that can never go on, and for functions that block a worker.
///
///     weir::thread_pool pool;
///     weir::blocking_pool io(8);
///     weir::watchdog dog({pool, io});     // all executors there are
///
/// Off unless there is one; `examples/19_watchdog.cpp` shows what it says.
/// Reports a deadlock in two cases:
/// - In a run, slots wait for each other in a circle or for what has ended: by its graph the library knows
///   who could end each wait. Whatever else goes on in the program: a partial deadlock.
/// - Everything waits: the executors given have nothing to run, now or by a timer, and each thread that has
///   ever used the library blocks in it without a limit, or has ended. Then who waits for a channel of yours
///   waits for ever, too, and so does a run whose consumer waits elsewhere.
///
/// What it can't know, and takes for alive, so that it would rather be silent than wrong:
/// - a consumer, or any thread of yours, that is not blocked in the library; the thread that makes the
///   watchdog counts from the start, another one from its first use of a channel, a run, or `sync_wait`;
/// - the threads of an executor that it was not given, or that doesn't override `executor::inspect`;
/// - a stage's function that awaits what is not the library's; a run that is paused; a wait with a time
///   limit.
/// What it can't know, and you have to say: outside of a run, a coroutine that is woken by something else
/// than the library (a driver, a socket), or a channel that a thread is going to use which has used none yet.
/// An `external_wait` says so. A run without statistics (`unmeasured`) does not know when it is its function
/// that waits: such a slot counts as alive. A run is only ever taken to be ended by its stages: that somebody
/// may stop it is no way out. It does not see who waits for a `when_all` or a `task_group`, but who they wait
/// for; nor what waits on virtual time, which has its own report, or in a `sync_wait` without an executor.
///
/// Threads: one of its own; `inspect` from any. In a forked process one that is made there inspects what
///          began there.
/// Lifetime: the executors outlive it.
/// Errors: `std::invalid_argument` for a negative period or a limit that isn't positive; `std::system_error`
///         if its thread can't be started. Without memory for an inspection it is left out. `forked_error`
///         from `inspect` in a process that was forked from its own.
/// Cost: an inspection takes about a microsecond for each channel, and ten for a run of four stages. Those
///       that are inspected pay nothing, but that a channel is locked for a moment of which nothing went in
///       or out since the last one; and who destroys a channel, or ends a run, waits for an inspection that
///       is under way.
class watchdog {
  public:
    using executors = std::initializer_list<std::reference_wrapper<executor>>;

    /// Of one executor.
    explicit watchdog(executor& ex, watchdog_options options = {})
        : watchdog(executors{ex}, std::move(options)) {}
    /// Of several: `{pool, io}`.
    // NOLINTNEXTLINE(google-explicit-constructor): a list of them isn't meant to become one unasked
    explicit watchdog(executors all, watchdog_options options = {}) : options_(std::move(options)) {
        if (options_.period < duration(0) || options_.blocked_after <= duration(0)) {
            throw std::invalid_argument(
                "weir: a watchdog's period can't be negative (0: it inspects when it is told to), and its "
                "blocked_after has to be more than 0");
        }
        for (executor& each : all) pools_.emplace_back(each.lasting());
        static_cast<void>(record::acquire());  // the calling thread is known from now on
        if (options_.period > duration(0)) thread_.set(1, [this](unsigned) { work(); });
    }
    watchdog(const watchdog&) = delete;
    watchdog& operator=(const watchdog&) = delete;
    ~watchdog() {
        stop_.set();
        thread_.join();
    }

    /// Inspects once, at an instant of the clock of `executor::now`; calls the callbacks for what is new.
    /// Says what will never happen if the calling thread does nothing about it.
    /// \returns how many reports that were.
    std::size_t inspect() { return inspect(time_point(duration(detail::standard_platform::now()))); }
    std::size_t inspect(time_point now) {
        std::vector<deadlock_report> deadlocks;
        std::vector<stall_report> stalls;
        if (thread_.are_elsewhere()) throw forked_error();
        {
            const std::lock_guard guard(inspecting_);
            inspect_all(now, deadlocks, stalls);
        }
        for (const deadlock_report& r : deadlocks) tell(options_.on_deadlock, r);
        for (const stall_report& r : stalls) tell(options_.on_stall, r);
        return deadlocks.size() + stalls.size();
    }

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

    void work() {
        if (record* const me = record::acquire()) me->serve(&watchers_);
        while (!stop_.wait(options_.period.count())) {
            try {
                inspect();
            } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): as said below
                // The next inspection may do better.
            }
        }
    }

    // Why a report is true. Each inspection sees one thing after the other, while they change. What is
    // reported was found by this one, and by the one before in the very same wait, or state. So there is an
    // instant between the two at which all of it waited at once. And nothing else was there that could end
    // any of it: if that is a slot, then it has ended, and had closed its channels, before this inspection
    // asked for waits; if it is anybody, then at that instant each executor ran nothing and had nothing to
    // run, and each thread and outsider was known not to do anything. So the first of those waits that
    // ends is ended by nobody.
    void inspect_all(time_point now, std::vector<deadlock_report>& deadlocks,
                     std::vector<stall_report>& stalls) {
        const std::optional<readings> before = all_quiet();
        const bool nobody = before && before == quiet_;
        std::vector<detail::observed_pool*> held;
        for (detail::observed_pool& p : pools_) {
            if (p.is_newly_held(now, options_.blocked_after)) held.push_back(&p);
        }

        const detail::registry::reader all(*detail::the_registry);
        detail::wait_graph graph;
        graph.read(all, nobody || !held.empty());
        std::unordered_map<const detail::wait_site*, std::uint64_t> moved;
        const auto read = [&](const detail::wait_site& site) {
            const std::uint64_t count = site.moved();
            const auto found = moved_.find(&site);
            moved.emplace(&site, count);
            if (found == moved_.end() || found->second == count) graph.read(site);
        };
        graph.each_queue(read);
        all.each<detail::wait_site>(read);
        moved_ = std::move(moved);

        quiet_ = all_quiet();
        graph.revive(!nobody || quiet_ != before);
        waits_.report_new(graph, now, deadlocks);
        for (detail::observed_pool* const p : held) {
            stalls.push_back(p->report(graph, now, options_.blocked_after));
            p->set_reported();
        }
    }

    // What would have changed if anything had happened; nothing, if something happens or may.
    std::optional<readings> all_quiet() {
        readings all;
        const std::uint64_t ended = external_wait::num_ended();
        all.push_back(external_wait::num_begun());
        bool quiet = all.back() == ended;
        for (detail::observed_pool& p : pools_) {
            const detail::executor_view& view = p.inspect();
            quiet = quiet && !view.pending;
            all.push_back(view.resumed);
        }
        std::vector<std::size_t> stuck(pools_.size(), 0);
        const record* const me = record::mine();
        record::each([&](const record& r) {
            if (&r == me || !r.in_use() || r.serves() == &watchers_) return;
            const std::uint64_t block = r.is_stuck();
            std::size_t i = 0;
            while (i < pools_.size() && !pools_[i].is(r.serves())) ++i;
            if (i == pools_.size()) {
                quiet = quiet && block != 0;
            } else if (block != 0) {
                ++stuck[i];
            }
            if (block != 0) all.push_back(block);
        });
        for (std::size_t i = 0; i < pools_.size(); ++i) quiet = quiet && pools_[i].view().busy == stuck[i];
        if (!quiet) return std::nullopt;
        return all;
    }

    inline static constexpr char watchers_ = 0;  // whom the threads of watchdogs serve

    const watchdog_options options_;
    detail::standard_platform::mutex inspecting_;  // guards what was seen
    std::vector<detail::observed_pool> pools_;
    std::optional<readings> quiet_;
    std::unordered_map<const detail::wait_site*, std::uint64_t> moved_;
    detail::known_waits waits_;
    detail::parker stop_;
    detail::basic_pool_threads<> thread_{"weir watch"};  // one or none
};

}  // namespace weir

#endif
