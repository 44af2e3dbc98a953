// weir report: a thread that sees who waits for ever, and what keeps a worker to itself
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_WATCHDOG_HPP
#define WEIR_REPORT_WATCHDOG_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/executor_view.hpp>
#include <weir/executor/forked.hpp>
#include <weir/executor/pool_threads.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/registry.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/report/deadlock_report.hpp>
#include <weir/report/wait_graph.hpp>
#include <weir/task/external_wait.hpp>

#include <algorithm>         // for std::find, std::max
#include <chrono>            // for std::chrono::milliseconds
#include <cstddef>           // for std::size_t
#include <cstdint>           // for std::uint64_t
#include <functional>        // for std::function, std::reference_wrapper
#include <initializer_list>  // for std::initializer_list
#include <iostream>          // for std::cerr
#include <map>               // for std::map
#include <mutex>             // for std::lock_guard
#include <optional>          // for std::optional
#include <stdexcept>         // for std::invalid_argument
#include <unordered_map>     // for std::unordered_map
#include <utility>           // for std::move, std::pair
#include <vector>            // for std::vector

namespace weir {

/// Of a `watchdog`.
struct watchdog_options {
    /// Between two looks. A deadlock is reported by the second look, or the third, that finds it. 0: no
    /// thread; whoever wants to know calls `look`.
    duration period = std::chrono::milliseconds(20);
    /// For how long something may keep a worker while others wait for one.
    duration blocked_after = std::chrono::milliseconds(100);
    /// Called by the thread that looks, once for each deadlock, and once for each stall; must not throw. What
    /// isn't given writes the report to `std::cerr`.
    std::function<void(const deadlock_report&)> on_deadlock = {};
    std::function<void(const stall_report&)> on_stall = {};  ///< the same
};

/// Looks, every now and then, for coroutines that can never go on, and for functions that block a worker.
///
///     weir::thread_pool pool;
///     weir::blocking_pool io(8);
///     weir::watchdog dog({pool, io});     // all executors there are
///
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
/// - the threads of an executor that it was not given, or that doesn't override `executor::look`;
/// - a stage's function that awaits what is not the library's; a run that is paused; a wait with a time
///   limit.
/// What it can't know, and you have to say: outside of a run, a coroutine that is woken by something else
/// than the library (a driver, a socket), or a channel that a thread is going to use which has used none yet.
/// An `external_wait` says so. A run without statistics (`unmeasured`) does not know when it is its function
/// that waits: such a slot counts as alive. A run is only ever taken to be ended by its stages: that somebody
/// may stop it is no way out. It does not see who waits for a `when_all` or a `task_group`, but who they wait
/// for; nor what waits on virtual time, which has its own report, or in a `sync_wait` without an executor.
///
/// Threads: one of its own; `look` from any. In a forked process one that is made there looks at what began
///          there.
/// Lifetime: the executors outlive it.
/// Errors: `std::invalid_argument` for a negative period or a limit that isn't positive; `std::system_error`
///         if its thread can't be started. Without memory for a look there is none. `forked_error` from
///         `look` in a process that was forked from its own.
/// Cost: a look takes about a microsecond for each channel, and ten for a run of four stages. Those it
///       watches pay nothing, but that a channel is locked for a moment of which nothing went in or out since
///       the last look; and who destroys a channel, or ends a run, waits for a look that is under way.
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
                "weir: a watchdog's period can't be negative (0: it looks when it is told to), and its "
                "blocked_after has to be more than 0");
        }
        for (executor& each : all) {
            pools_.push_back({{&each.lasting(), detail::executor_user::watchdog}, {}, {}, false, false});
        }
        static_cast<void>(record::acquire());  // the calling thread is known from now on
        if (options_.period > duration(0)) thread_.start([this] { work(); });
    }
    watchdog(const watchdog&) = delete;
    watchdog& operator=(const watchdog&) = delete;
    ~watchdog() {
        stop_.set();
        thread_.join();
    }

    /// Looks once, at an instant of the clock of `executor::now`; calls the callbacks for what is new. Says
    /// what will never happen if the calling thread does nothing about it.
    /// \returns how many reports that were.
    std::size_t look() { return look(time_point(duration(detail::standard_platform::now()))); }
    std::size_t look(time_point now) {
        std::vector<deadlock_report> deadlocks;
        std::vector<stall_report> stalls;
        if (thread_.are_elsewhere()) throw forked_error();
        {
            const std::lock_guard guard(looking_);
            look_at_all(now, deadlocks, stalls);
        }
        for (const deadlock_report& r : deadlocks) tell(options_.on_deadlock, r);
        for (const stall_report& r : stalls) tell(options_.on_stall, r);
        return deadlocks.size() + stalls.size();
    }

  private:
    using record = detail::basic_thread_record<detail::standard_platform>;
    using marks = std::vector<std::uint64_t>;

    struct worker_seen {
        std::uint64_t done = 0;
        time_point since{};  // has it been at that
    };
    struct pool_seen {
        detail::executor_use ex;
        detail::executor_view view;
        std::vector<worker_seen> workers;
        bool was_crowded;
        bool reported;
    };
    struct wait_known {
        time_point since{};
        bool reported = false;
    };
    using wait_key = std::pair<std::uint64_t, std::uint64_t>;  // of the place, of the wait there

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
                look();
            } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): as said below
                // The next look may do better.
            }
        }
    }

    // Why an alarm is true. Each look sees one thing after the other, while they change. What is reported was
    // found by this look, and by the one before in the very same wait, or state. So there is an instant
    // between the two looks at which all of it waited at once. And nothing else was there that could end any
    // of it: if that is a slot, then it has ended, and had closed its channels, before this look asked for
    // waits; if it is anybody, then at that instant each executor ran nothing and had nothing to run, and
    // each thread and outsider was known not to do anything. So the first of those waits that ends is ended
    // by nobody.
    void look_at_all(time_point now, std::vector<deadlock_report>& deadlocks,
                     std::vector<stall_report>& stalls) {
        const std::optional<marks> before = all_quiet();
        const bool nobody = before && before == quiet_;
        const std::vector<std::size_t> held = find_held(now);

        const detail::registry::reader all(*detail::the_registry);
        detail::wait_graph graph;
        graph.read(all, nobody || !held.empty());
        std::unordered_map<const detail::wait_site*, std::uint64_t> moved;
        const auto read = [&](const detail::wait_site& place) {
            const std::uint64_t count = place.moved();
            const auto found = moved_.find(&place);
            moved.emplace(&place, count);
            if (found == moved_.end() || found->second == count) graph.read(place);
        };
        graph.each_queue(read);
        all.each<detail::wait_site>(read);
        moved_ = std::move(moved);

        quiet_ = all_quiet();
        graph.revive(!nobody || quiet_ != before);
        find_deadlocks(graph, now, deadlocks);
        for (const std::size_t i : held) {
            stalls.push_back(report_of(pools_[i], graph, now));
            pools_[i].reported = true;
        }
    }

    // What would have changed if anything had happened; nothing, if something happens or may.
    std::optional<marks> all_quiet() {
        marks all;
        const std::uint64_t ended = external_wait::num_ended();
        all.push_back(external_wait::num_begun());
        bool quiet = all.back() == ended;
        for (pool_seen& p : pools_) {
            p.view = {};
            p.ex->look(p.view);
            quiet = quiet && !p.view.pending;
            all.push_back(p.view.resumed);
        }
        std::vector<std::size_t> stuck(pools_.size(), 0);
        const record* const me = record::mine();
        record::each([&](const record& r) {
            if (&r == me || !r.in_use() || r.serves() == &watchers_) return;
            const std::uint64_t block = r.is_stuck();
            std::size_t i = 0;
            while (i < pools_.size() && &*pools_[i].ex != r.serves()) ++i;
            if (i == pools_.size()) {
                quiet = quiet && block != 0;
            } else if (block != 0) {
                ++stuck[i];
            }
            if (block != 0) all.push_back(block);
        });
        for (std::size_t i = 0; i < pools_.size(); ++i) quiet = quiet && pools_[i].view.busy == stuck[i];
        if (!quiet) return std::nullopt;
        return all;
    }

    void find_deadlocks(const detail::wait_graph& graph, time_point now,
                        std::vector<deadlock_report>& deadlocks) {
        struct group {
            std::vector<std::size_t> waits;
            bool is_news = true;
        };
        std::map<std::size_t, group> groups;
        std::map<wait_key, wait_known> known;
        for (std::size_t i = 0; i < graph.waits.size(); ++i) {
            const auto& w = graph.waits[i];
            const auto old = known_.find(key_of(graph, w));
            known[key_of(graph, w)] = old != known_.end() ? old->second : wait_known{now};
            if (w.alive) continue;
            group& g = groups[w.group];
            g.waits.push_back(i);
            g.is_news = g.is_news && old != known_.end() && !old->second.reported;
        }
        known_ = std::move(known);
        for (const auto& [unused, g] : groups) {
            if (!g.is_news) continue;
            deadlocks.push_back(report_of(graph, g.waits, now));
            for (const std::size_t i : g.waits) known_[key_of(graph, graph.waits[i])].reported = true;
        }
    }

    static wait_key key_of(const detail::wait_graph& graph, const detail::wait_graph::wait& w) {
        const detail::wait_site* const at = graph.places[w.at].place;
        return {at == nullptr ? 0 : at->serial(), w.seen.number};
    }

    deadlock_report report_of(const detail::wait_graph& graph, const std::vector<std::size_t>& group,
                              time_point now) const {
        deadlock_report report;
        report.partial = graph.somebody_lives();
        for (const std::size_t i : group) {
            const auto& w = graph.waits[i];
            const detail::place_seen& at = graph.places[w.at];
            stuck_wait& s = report.waits.emplace_back();
            s.who = detail::name_of(w.seen);
            s.what = detail::sentence_of(at, w.seen).substr(s.who.size() + 1);
            if (w.seen.who != nullptr) {
                s.stage = w.seen.who->stage();
                s.slot = w.seen.who->index();
            }
            if (at.channel != nullptr) s.channel = *at.channel;
            s.size = at.size;
            s.capacity = at.capacity;
            s.seen = now - known_.at(key_of(graph, w)).since;
            s.in_function = w.seen.in_function && w.seen.who != nullptr;
            s.by_anyone = graph.by_anyone(w);
            for (const std::size_t k : graph.enders_of(w)) {
                const auto found = std::find(group.begin(), group.end(), k);
                if (found != group.end()) s.needs.push_back(static_cast<std::size_t>(found - group.begin()));
            }
        }
        return report;
    }

    // The pools of which a worker has been kept for too long, and that was not said yet.
    std::vector<std::size_t> find_held(time_point now) {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < pools_.size(); ++i) {
            pool_seen& p = pools_[i];
            p.workers.resize(p.view.workers.size());
            for (std::size_t k = 0; k < p.workers.size(); ++k) {
                const detail::worker_view& w = p.view.workers[k];
                if (w.runs && w.done == p.workers[k].done) continue;
                p.workers[k] = {w.done, now};
            }
            const bool crowded = p.view.crowded && p.was_crowded;
            p.was_crowded = p.view.crowded;
            if (!is_held(p, now)) {
                p.reported = false;
            } else if (crowded && !p.reported) {
                found.push_back(i);
            }
        }
        return found;
    }
    bool is_held(const pool_seen& p, time_point now) const {
        for (const worker_seen& w : p.workers) {
            if (now - w.since >= options_.blocked_after) return true;
        }
        return false;
    }

    stall_report report_of(const pool_seen& p, const detail::wait_graph& graph, time_point now) const {
        stall_report report;
        report.of = p.workers.size();
        for (const worker_seen& w : p.workers) {
            if (now - w.since < options_.blocked_after) continue;
            ++report.workers;
            report.held = std::max(report.held, now - w.since);
        }
        graph.each_running([&report](const detail::slot& s) {
            report.functions.push_back("stage '" + s.stage() + "', slot " + std::to_string(s.index()));
        });
        return report;
    }

    inline static constexpr char watchers_ = 0;  // whom the threads of watchdogs serve

    const watchdog_options options_;
    detail::standard_platform::mutex looking_;  // guards what was seen
    std::vector<pool_seen> pools_;
    std::optional<marks> quiet_;
    std::unordered_map<const detail::wait_site*, std::uint64_t> moved_;
    std::map<wait_key, wait_known> known_;
    detail::parker stop_;
    detail::basic_pool_threads<> thread_;  // one or none
};

}  // namespace weir

#endif
