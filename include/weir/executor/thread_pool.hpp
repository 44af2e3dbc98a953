// weir executor: a work-stealing pool, one worker a core
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_THREAD_POOL_HPP
#define WEIR_EXECUTOR_THREAD_POOL_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/executor_view.hpp>
#include <weir/executor/idle_workers.hpp>
#include <weir/executor/pool_worker.hpp>
#include <weir/executor/steal_policy.hpp>
#include <weir/executor/threaded_executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/thread_record.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <memory>     // for std::unique_ptr
#include <utility>    // for std::exchange

namespace weir {

/// Runs coroutines on a fixed number of threads. For code that computes; what blocks belongs on a
/// `blocking_pool`.
///
/// A coroutine posted by a worker goes into that worker's next-to-run slot, and who was there to
/// the end of the worker's queue; one that posts itself (a yield) goes to the end of the queue at
/// once. Parts of something large (`fork`) are taken last come, first served. Idle workers steal
/// lazily, so that coroutines which chat stay on one core (`executor/steal_policy.hpp`).
///
/// Order: the slot runs three times in a row at most. So a coroutine that n others are queued
/// before starts after at most 5 n + 4 resumptions of its worker, one posted from outside after at
/// most 61 (n + 1) of any worker, and the eldest fork after at most 64 of its worker, however
/// busy its neighbours are.
/// Threads: any may post and add timers. Nothing is ever resumed inside `post`.
/// Lifetime: the destructor runs what is still posted, then joins. All coroutines that use the pool
/// have to end by that; no timer may be pending.
/// Errors: an exception that leaves a resumed coroutine, or no memory for a queue to grow:
/// std::terminate.
/// Source: Chase and Lev's deque (executor/deque.hpp); the slot and its bound are Go's and tokio's.
/// Cost: idle workers sleep. While at least one works, one idle worker looks for work at least
/// every millisecond, which is also how long a coroutine may wait behind another that hogs their
/// worker (0.1 ms on average). A hand-over between two coroutines on one worker: 12 ns.
template <class Platform = detail::standard_platform>
class basic_thread_pool final : public detail::threaded_executor<Platform> {
    using base = detail::threaded_executor<Platform>;
    using record = detail::basic_thread_record<Platform>;
    using base::inbox_;
    using base::timers_;
    using worker = detail::pool_worker<basic_thread_pool, Platform, executor::shift>;
    friend worker;

  public:
    /// \param workers the number of threads.
    /// Errors: std::invalid_argument if 0, or negative; std::system_error if a thread can't be started.
    explicit basic_thread_pool(unsigned workers = Platform::concurrency())
        : base(workers,
               "weir::thread_pool: 0 workers, or fewer, can run nothing; ask for at least 1, or for none to "
               "get one a core",
               true),
          count_(workers), workers_(new worker[workers]), thieves_(workers), idle_(workers) {
        for (unsigned i = 0; i < count_; ++i) {
            workers_[i].serve(*this);
            workers_[i].random = Platform::seed() | 1;
        }
        this->start([this](unsigned i) { work(workers_[i]); }, [this](unsigned lost) { idle_.forget(lost); });
    }

    ~basic_thread_pool() { this->end(); }

    /// How many threads it has.
    [[nodiscard]] unsigned workers() const noexcept { return count_; }

    using executor::post;
    // Not inlined, as all that calls `current`: see WEIR_NOINLINE.
    WEIR_NOINLINE void post(std::coroutine_handle<> h) noexcept override {
        worker* const me = current();
        if (me == nullptr || me->pool != this) return this->post_from_outside(h);
        if (h.address() == me->running()) return push(*me, h.address());
        if (void* const displaced = me->exchange_next(h.address(), me->thread())) {
            return push(*me, displaced);
        }
        if (idle_.unwatched()) idle_.call();
    }

    WEIR_NOINLINE void fork(std::coroutine_handle<> h) noexcept override {
        worker* const me = current();
        if (me == nullptr || me->pool != this) return this->post_from_outside(h);
        me->fork(h);
    }

    /// On a worker of this pool: runs one coroutine, or naps for a moment if there is none, so that
    /// code which blocks there can't stop the pool. Elsewhere: false.
    WEIR_NOINLINE bool drive(detail::parker& done, time_point limit) override {
        this->check_threads();
        worker* const me = current();
        if (me == nullptr || me->pool != this) return false;
        if (void* const found = find(*me)) {
            me->misses = 0;
            executor::shift inner(*this, me);
            executor::shift* const outer = std::exchange(me->shift, &inner);
            run(*me, found);
            me->turns_apart();  // what goes on now is below
            me->shift = outer;
            return true;
        }
        // Nobody wakes a worker that counts as active: it looks again after 2 us, 4 us, ... 1 ms.
        const std::int64_t now = Platform::now();
        fire(*me, now);
        if (!me->queue.empty()) return true;
        me->misses = detail::smaller(me->misses + 1, 10U);
        const std::int64_t nap = std::int64_t{1000} << me->misses;
        const std::int64_t left = limit.time_since_epoch().count() - now;
        me->naps(true);
        if (left > 0) done.wait(detail::smaller(nap, left));
        me->naps(false);
        return true;
    }

    void inspect(detail::executor_view& view) const override {
        detail::inspect_pool(view, workers_.get(), count_, idle_, inbox_, timers_);
    }

  private:
    using typename base::wake_up;

    static constexpr unsigned slot_streak = 3;         // see class comment; tokio's figure, too
    static constexpr std::uint64_t inbox_period = 61;  // resumptions; prime, as in Go's scheduler
    static constexpr std::uint64_t timer_period = 8;   // resumptions, for a clock read of 25 ns
    static constexpr std::size_t inbox_batch = 32;
    static constexpr unsigned fork_period = 16;   // visits to the queue
    static constexpr std::int64_t spin = 20'000;  // ns of searching before the first nap

    // The calling thread's worker, of whatever pool.
    struct place {
        worker* here = nullptr;
    };
    static worker*& current() noexcept { return Platform::template of_thread<place>().here; }

    WEIR_NOINLINE void work(worker& me) noexcept {
        current() = &me;
        me.set_thread(record::acquire(), static_cast<executor*>(this));
        executor::shift here(*this, &me);
        me.shift = &here;
        for (;;) {
            void* found = find(me);
            if (found == nullptr) found = idle(me);
            if (found == nullptr) return;
            run(me, found);
        }
    }

    void run(worker& me, void* address) noexcept {
        me.count_resumption();
        void* const outer = me.running();  // not null inside drive()
        me.runs(address);
        me.shift->resume(std::coroutine_handle<>::from_address(address));
        me.runs(outer);
    }

    // To the end of the worker's own queue.
    void push(worker& me, void* address) noexcept {
        me.queue.push_bottom(address);
        is_for_two();
    }
    // There is work for two now: ends the watcher's nap.
    void is_for_two() noexcept {
        if (idle_.listening() || idle_.unwatched()) [[unlikely]]
            call();
    }
    WEIR_NOINLINE void call() noexcept { idle_.call(); }

    // The next coroutine for an active worker, or null if there is none to be had.
    void* find(worker& me) noexcept {
        const std::uint64_t tick = me.resumed();
        // What comes from outside, and timers, have their turn every so many resumptions; and whenever
        // the coarse clock has moved on, since a resumption may take long.
        const std::int64_t due = timers_.next();
        if (due != timers_.never || !inbox_.empty()) {
            if (void* const p = look_outside(me, tick, due)) return p;
        }
        if (me.streak < slot_streak) {
            if (void* const p = me.take_next(me.thread())) {
                ++me.streak;
                return p;
            }
        }
        return find_queued(me);
    }

    // The same, before what the worker has at hand.
    bool looks_outside(const worker& me) const noexcept {
        return (timers_.next() != timers_.never || !inbox_.empty()) && has_to_look(me, me.resumed());
    }
    WEIR_NOINLINE static bool has_to_look(const worker& me, std::uint64_t tick) noexcept {
        return tick % inbox_period == 0 || tick % timer_period == 0 || me.looked != Platform::coarse_now();
    }

    WEIR_NOINLINE void* look_outside(worker& me, std::uint64_t tick, std::int64_t due) noexcept {
        const std::int64_t before = std::exchange(me.looked, Platform::coarse_now());
        if (tick % inbox_period == 0 || me.looked != before) {
            if (void* const p = receive(me)) return p;
        }
        if (due != timers_.never && (tick % timer_period == 0 || me.looked >= due)) {
            fire(me, Platform::now());
        }
        return nullptr;
    }

    WEIR_NOINLINE void* find_queued(worker& me) noexcept {
        me.streak = 0;
        if (!me.queue.empty()) {
            if (++me.passed_over % fork_period == 0) {
                if (void* const p = me.forks.steal()) return p;  // the eldest
            }
            if (void* const p = me.take_next(me.thread())) push(me, p);
            if (void* const p = me.queue.steal()) return p;
        }
        if (!me.forks.empty()) {
            if (void* const p = me.forks.pop_bottom()) return p;
        }
        if (void* const p = receive(me)) return p;
        if (void* const p = me.take_next(me.thread())) return p;
        if (count_ == 1) return nullptr;
        const std::int64_t now = Platform::now();
        return hunt(me, now, now).caught;
    }

    // From outside: one to run, and more into the own queue.
    void* receive(worker& me) noexcept {
        void* batch[inbox_batch];
        const std::size_t n = inbox_.pop(batch, inbox_batch);
        if (n == 0) return nullptr;
        for (std::size_t i = 1; i < n; ++i) push(me, batch[i]);
        return batch[0];
    }

    detail::steal_result hunt(worker& me, std::int64_t now, std::int64_t idle_since) noexcept {
        me.random ^= me.random << 13;
        me.random ^= me.random >> 7;
        me.random ^= me.random << 17;
        return thieves_.hunt(workers_.get(), static_cast<unsigned>(me.random % count_), me, now, idle_since);
    }

    void fire(worker& me, std::int64_t now) noexcept {
        if (timers_.next() > now) return;
        timers_.fire(time_point(duration(now)), [&](std::coroutine_handle<> h) { push(me, h.address()); });
    }

    // Everything that an idle worker can find.
    detail::steal_result search(worker& me, std::int64_t now, std::int64_t idle_since) noexcept {
        fire(me, now);
        detail::steal_result result{me.queue.steal()};
        if (result.caught == nullptr) result.caught = receive(me);
        return result.caught != nullptr ? result : hunt(me, now, idle_since);
    }

    // Returns a coroutine, or null when the pool ends.
    WEIR_NOINLINE void* idle(worker& me) noexcept {
        const bool mine = idle_.go_idle();
        if (!mine && !idle_.sleep()) return nullptr;
        // Who has just run out of work waits for more; who was called has others to watch.
        void* const found = idle_.keep(
            me, mine ? Platform::now() + spin : 0, timers_, [this] { return this->is_over(); },
            [&](std::int64_t now, std::int64_t since) { return search(me, now, since); });
        if (found == nullptr) {
            idle_.close();
            return nullptr;
        }
        idle_.leave();
        me.turns_apart();
        me.searches(false);
        if (idle_.unwatched() && (!me.queue.empty() || !inbox_.empty() || timers_.next() != timers_.never)) {
            idle_.call();
        }
        return found;
    }

    wake_up who_takes() noexcept override { return idle_.alert(); }
    wake_up who_sees(std::int64_t deadline) noexcept override { return idle_.alert(deadline); }
    void wake_all() noexcept override { idle_.call(); }

    const unsigned count_;
    std::unique_ptr<worker[]> workers_;
    detail::basic_thieves<Platform> thieves_;
    detail::basic_idle_workers<Platform> idle_;
};

/// The one to use; only tests have another platform.
using thread_pool = basic_thread_pool<>;

WEIR_COMPILED(class basic_thread_pool<detail::standard_platform>);

}  // namespace weir

#endif
