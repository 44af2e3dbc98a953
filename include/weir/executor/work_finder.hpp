// weir executor, internal: the queues of a thread pool, and in which order workers search them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_WORK_FINDER_HPP
#define WEIR_EXECUTOR_WORK_FINDER_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/idle_workers.hpp>
#include <weir/executor/locked_timers.hpp>
#include <weir/executor/polled_source.hpp>
#include <weir/executor/pool_worker.hpp>
#include <weir/executor/steal_policy.hpp>
#include <weir/executor/threaded_executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/platform/thread_record.hpp>

#include <coroutine>   // for std::coroutine_handle
#include <cstddef>     // for std::size_t
#include <cstdint>     // for std::int64_t, std::uint64_t
#include <functional>  // for std::function
#include <new>         // for std::bad_alloc
#include <utility>     // for std::exchange, std::move

namespace weir::detail {

// How a watchdog inspects a pool without stopping the pool. A posted coroutine is first in a queue. Then a
// worker has the coroutine, and searches, is active, or both for a moment. Then the coroutine is counted as
// resumed. To miss no coroutine, `inspect_pool` reads the counts, whether workers search, and how many are
// active; then the queues; then the counts and states again.
template <class Workers, class Idle, class Inbox, class Timers>
void inspect_pool(executor_view& view, const Workers& workers, const Idle& idle, const Inbox& inbox,
                  const Timers& timers) {
    const unsigned count = workers.size();
    const auto resumed = [&] {
        std::uint64_t sum = 0;
        for (unsigned i = 0; i < count; ++i) sum += workers[i].resumed();
        return sum;
    };
    const auto search = [&] {
        bool any = false;
        for (unsigned i = 0; i < count; ++i) any = any || workers[i].is_searching();
        return any;
    };
    view.resumed = resumed();
    const bool searched = search();
    view.busy = static_cast<std::size_t>(idle.active());
    view.workers.clear();
    bool queued = !inbox.empty();
    for (unsigned i = 0; i < count; ++i) {
        queued = queued || !workers[i].empty();
        view.workers.push_back({workers[i].running() != nullptr, workers[i].done()});
    }
    const bool timed = timers.next() != timers.never;
    view.crowded = queued && idle.none_idle();
    view.pending =
        searched || queued || timed || search() || idle.active() != view.busy || resumed() != view.resumed;
}

// The part of basic_thread_pool that finds the next coroutine for a worker. The documentation of the pool
// states the order and the longest wait of a coroutine.
template <class Platform>
class basic_work_finder : public threaded_executor<Platform> {
    using base = threaded_executor<Platform>;

  public:
    using worker = pool_worker<basic_work_finder, Platform>;

    void inspect(executor_view& view) const override {
        inspect_pool(view, workers_, idle_, inbox_, timers_);
        view.busy += static_cast<std::size_t>(blocked_.load(std::memory_order_seq_cst) % change);
    }

    // From now on, idle workers poll `source` (a GPU, MPI). Makes one, if there is one, poll at once. A call
    // by a worker of this pool makes only the watcher poll; without a watcher, the caller polls when it finds
    // nothing to run.
    WEIR_NOINLINE bool polls(pollable& source) noexcept override {
        if (this->orphaned() || this->is_over() || !polled_.add(source)) return false;
        const auto* const me = basic_thread_record<Platform>::mine();
        const bool is_worker = me != nullptr && me->serves() == static_cast<const executor*>(this);
        if (!is_worker || !idle_.unwatched()) request_search();
        return true;
    }

    // Called by a worker after it has queued a coroutine that another worker could run. Wakes the watcher
    // (the idle worker that searches) if it naps and is `listening()`. If there is no watcher, wakes an idle
    // worker, which becomes the watcher.
    WEIR_ALWAYS_INLINE void wake_helper() noexcept {
        if (idle_.listening() || idle_.unwatched()) [[unlikely]]
            request_search();
    }
    // Whether there are timers, or coroutines posted from outside.
    bool has_outside_work() const noexcept { return timers_.next() != timers_.never || !inbox_.empty(); }
    // Whether timers and coroutines from outside have priority now over the worker's own queues:
    // periodically, and if the coarse clock has advanced.
    WEIR_NOINLINE static bool must_look_outside(const worker& me) noexcept {
        const std::uint64_t tick = me.resumed();
        return tick % inbox_period == 0 || tick % timer_period == 0 || me.looked != Platform::coarse_now();
    }

  protected:
    using base::inbox_;
    using base::timers_;
    using watch = basic_idle_workers<Platform>;
    using typename base::wake_up;

    // `most`: the largest number that `set_workers` accepts. `refusal`: the message for a wrong number of
    // workers. `name`: of the threads, each of which first calls `on_start` with its number.
    basic_work_finder(unsigned workers, unsigned most, const char* refusal, const char* name,
                      std::function<void(unsigned)> on_start)
        : base(workers, refusal, true, name, std::move(on_start)),
          one_processor_(Platform::concurrency() == 1), workers_(most + most_extra),
          thieves_(most + most_extra, one_processor_) {}
    ~basic_work_finder() override = default;

    void wake_all() noexcept override { idle_.wake_all(); }

    // The largest number that `set_workers` accepts.
    unsigned most() const noexcept { return workers_.most() - most_extra; }

    // Appends a coroutine to the worker's own queue.
    void push(worker& me, void* address) noexcept {
        me.queue.push_bottom(address);
        wake_helper();
    }
    WEIR_NOINLINE void request_search() noexcept { idle_.request_search(); }

    // Returns the next coroutine for an active worker, or null.
    void* find(worker& me) noexcept {
        const std::uint64_t tick = me.resumed();
        // Coroutines from outside and timers are served after a fixed number of resumptions. As a resumption
        // can take any time, they are also served when the coarse clock has advanced. Coroutines from outside
        // count in `streak` (resumptions since the worker's queue was served), so that it is served, too.
        const std::int64_t due = timers_.next();
        if (due != timers_.never || !inbox_.empty()) {
            if (void* const p = look_outside(me, tick, due)) return p;
        }
        if (me.streak < longest_streak) {
            if (void* const p = me.take_next(me.thread())) {
                ++me.streak;
                return p;
            }
        }
        return find_queued(me);
    }

    WEIR_NOINLINE void* look_outside(worker& me, std::uint64_t tick, std::int64_t due) noexcept {
        const std::int64_t before = std::exchange(me.looked, Platform::coarse_now());
        if (tick % inbox_period == 0 || (me.looked != before && me.streak < longest_streak)) {
            if (void* const p = receive(me)) {
                ++me.streak;
                return p;
            }
        }
        if (due != timers_.never && (tick % timer_period == 0 || me.looked >= due)) {
            fire(me, Platform::now());
        }
        return nullptr;
    }

    WEIR_NOINLINE void* find_queued(worker& me) noexcept {  // queue, forks, inbox, next, theft
        me.streak = 0;
        if (!me.queue.empty()) {
            if (++me.passed_over % fork_period == 0) {
                if (void* const p = me.forks.steal()) return p;  // the oldest
            }
            if (void* const p = me.take_next(me.thread())) push(me, p);
            if (void* const p = me.queue.steal()) return p;
        }
        if (!me.forks.empty()) {
            if (void* const p = me.forks.pop_bottom()) return p;
        }
        if (void* const p = receive(me)) return p;
        if (void* const p = me.take_next(me.thread())) return p;
        if (workers_.size() == 1) return nullptr;
        const std::int64_t now = Platform::now();
        return thieves_.steal(workers_, me, now, now).found;
    }

    // Takes a batch from the inbox (posts from outside): returns one coroutine, and puts the others into the
    // worker's queue. Null if the inbox is empty.
    void* receive(worker& me) noexcept {
        void* batch[inbox_batch];
        const std::size_t n = inbox_.pop(batch, inbox_batch);
        if (n == 0) return nullptr;
        for (std::size_t i = 1; i < n; ++i) push(me, batch[i]);
        return batch[0];
    }

    // Puts the coroutines of the timers that are due into the worker's queue.
    void fire(worker& me, std::int64_t now) noexcept {
        if (timers_.next() > now) return;
        timers_.fire(time_point(duration(now)), [&](std::coroutine_handle<> h) { push(me, h.address()); });
    }

    // The search of an idle worker: timers, polled sources (a GPU, MPI), its own queue, the inbox, and other
    // workers.
    steal_result search(worker& me, std::int64_t now, std::int64_t idle_since) noexcept {
        fire(me, now);
        steal_result result{nullptr};
        if (polled_.next() <= now) {
            polled_.poll(*this, now);
            result.found = me.take_next(me.thread());
        }
        if (result.found == nullptr) result.found = me.queue.steal();
        if (result.found == nullptr) result.found = receive(me);
        return result.found != nullptr ? result : thieves_.steal(workers_, me, now, idle_since);
    }

    // When the watcher has to search at the latest.
    struct due_times {
        const basic_locked_timers<Platform>& timers;
        const basic_pollables<Platform>& polled;
        std::int64_t next() const noexcept { return smaller(timers.next(), polled.next()); }
    };
    due_times due() const noexcept { return {timers_, polled_}; }

    // If true, an idle worker doesn't spin while another worker is active: spinning would take the processor
    // from the active worker.
    const bool one_processor_;
    basic_worker_places<worker, Platform> workers_;
    basic_thieves<Platform> thieves_;
    basic_pollables<Platform> polled_;
    watch idle_{0, one_processor_};
    // The number of threads that block in a wait; the upper half counts how often that number has changed, by
    // which the watcher sees whether all workers were idle at once when the pool ends.
    static constexpr std::uint64_t change = std::uint64_t{1} << 32;
    typename Platform::template atomic<std::uint64_t> blocked_{0};

  private:
    static constexpr unsigned longest_streak = 3;      // resumptions before the queue is served; as in tokio
    static constexpr std::uint64_t inbox_period = 61;  // resumptions between looks at the inbox; as in Go
    static constexpr std::uint64_t timer_period = 8;   // resumptions between two readings of the clock
    static constexpr std::size_t inbox_batch = 32;     // coroutines that are taken from the inbox at once
    static constexpr unsigned fork_period = 16;        // times that the queue is served before a fork
    static constexpr unsigned most_extra = 64;  // workers that threaded_executor::sleep adds while all block

    void make_workers(unsigned n) override {
        if (n > workers_.most()) throw std::bad_alloc();  // only if all `most_extra` are in use
        while (workers_.size() < n) workers_.add(owned<worker>(new worker(*this, workers_.size())));
    }
    void expect(int workers) noexcept override { idle_.expect(workers); }
    std::uint64_t num_resumed() const noexcept override {
        std::uint64_t sum = 0;
        for (unsigned i = 0, n = workers_.size(); i < n; ++i) sum += workers_[i].resumed();
        return sum;
    }
    bool is_crowded() const noexcept override {
        if (!idle_.none_idle()) return false;
        bool any = !inbox_.empty() || timers_.next() <= Platform::now();
        for (unsigned i = 0, n = workers_.size(); i < n; ++i) any = any || !workers_[i].empty();
        return any;
    }

    wake_up wake_up_for_post() noexcept override { return idle_.prepare_request(); }
    wake_up wake_up_for_timer(std::int64_t deadline) noexcept override {
        return idle_.prepare_request(deadline);
    }
};

WEIR_COMPILED(class basic_work_finder<standard_platform>);

}  // namespace weir::detail

#endif
