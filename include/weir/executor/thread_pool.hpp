// weir executor: a work-stealing pool, one worker a core
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_THREAD_POOL_HPP
#define WEIR_EXECUTOR_THREAD_POOL_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/forked.hpp>
#include <weir/executor/idle_workers.hpp>
#include <weir/executor/inbox.hpp>
#include <weir/executor/locked_timers.hpp>
#include <weir/executor/pool_threads.hpp>
#include <weir/executor/pool_view.hpp>
#include <weir/executor/steal_policy.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/worker_queues.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/spin_lock.hpp>
#include <weir/platform/thread_record.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <memory>     // for std::unique_ptr
#include <mutex>      // for std::lock_guard
#include <stdexcept>  // for std::invalid_argument
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
class basic_thread_pool final : public executor {
    using record = detail::basic_thread_record<Platform>;
    struct worker;

  public:
    /// \param workers the number of threads.
    /// Errors: std::invalid_argument if 0, or negative; std::system_error if a thread can't be started.
    explicit basic_thread_pool(unsigned workers = Platform::concurrency())
        : executor({.parallelism = checked(workers), .has_threads = true, .continues_with_forks = true}),
          count_(workers), workers_(new worker[count_]),
          trails_(new detail::basic_steal_policy<Platform>[count_]), watch_(count_) {
        threads_.reserve(count_);
        for (unsigned i = 0; i < count_; ++i) {
            workers_[i].pool = this;
            workers_[i].random = Platform::seed() | 1;
        }
        try {
            for (unsigned i = 0; i < count_; ++i) {
                threads_.start([this, i] { work(workers_[i]); });
            }
        } catch (...) {
            watch_.forget(count_ - static_cast<unsigned>(threads_.size()));
            join();
            throw;
        }
    }

    ~basic_thread_pool() {
        join();
        users().check(timers_.next() != timers_.never);
    }

    /// How many threads it has.
    [[nodiscard]] unsigned workers() const noexcept { return count_; }

    using executor::post;
    // Not inlined, as all that calls `current`: see WEIR_NOINLINE.
    WEIR_NOINLINE void post(std::coroutine_handle<> h) noexcept override {
        worker* const me = current();
        if (me == nullptr || me->pool != this) return post_from_outside(h);
        if (h.address() == me->running()) return push(*me, h.address());
        if (void* const displaced = me->exchange_next(h.address(), me->thread())) {
            return push(*me, displaced);
        }
        if (watch_.unwatched()) watch_.call();
    }

    WEIR_NOINLINE void fork(std::coroutine_handle<> h) noexcept override {
        worker* const me = current();
        if (me == nullptr || me->pool != this) return post_from_outside(h);
        me->forks.push_bottom(h.address());
        if (watch_.listening() || watch_.unwatched()) watch_.call();
    }

    void add(timer& t) noexcept override {
        using added = typename basic_locked_timers<Platform>::added;
        const std::int64_t deadline = t.deadline().time_since_epoch().count();
        const std::coroutine_handle<> waiter = t.waiter();
        typename detail::basic_idle_workers<Platform>::wake_up wake;  // see post_from_outside()
        const added what = timers_.add(t, [&] { wake = watch_.alert(deadline); });
        if (what == added::refused) return post(waiter);
        wake();
    }

    void cancel(timer& t) noexcept override {
        const std::coroutine_handle<> waiter = t.waiter();
        if (timers_.cancel(t, now())) post(waiter);
    }

    [[nodiscard]] time_point now() const noexcept override { return time_point(duration(Platform::now())); }

    /// On a worker of this pool: runs one coroutine, or naps for a moment if there is none, so that
    /// code which blocks there can't stop the pool. Elsewhere: false.
    WEIR_NOINLINE bool drive(detail::parker& done, time_point limit) override {
        if (orphaned()) throw forked_error();
        worker* const me = current();
        if (me == nullptr || me->pool != this) return false;
        if (void* const found = find(*me)) {
            me->misses = 0;
            shift inner(*this);
            shift* const outer = std::exchange(me->shift, &inner);
            run(*me, found);
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

    void look(detail::executor_view& view) const override {
        detail::look_at_pool(view, workers_.get(), count_, watch_, inbox_, timers_);
    }

  private:
    static constexpr unsigned slot_streak = 3;         // see class comment; tokio's figure, too
    static constexpr std::uint64_t inbox_period = 61;  // resumptions; prime, as in Go's scheduler
    static constexpr std::uint64_t timer_period = 8;   // resumptions, for a clock read of 25 ns
    static constexpr std::size_t inbox_batch = 32;
    static constexpr unsigned fork_period = 16;          // visits to the queue
    static constexpr std::int64_t ripening = 10'000;     // ns for what is too young to be stolen
    static constexpr std::int64_t spin = 20'000;         // ns of searching before the first nap
    static constexpr std::int64_t first_nap = 50'000;    // ns; the kernel's timer slack is as much
    static constexpr std::int64_t last_nap = 1'000'000;  // ns

    struct worker : detail::basic_worker_queues<Platform> {
        basic_thread_pool* pool = nullptr;
        executor::shift* shift = nullptr;
        unsigned streak = 0;
        unsigned misses = 0;
        unsigned passed_over = 0;  // how often the queue came before the forks
        std::int64_t looked = 0;   // coarse clock, when it last looked outside
        std::uint64_t random = 1;
    };

    struct steal_result {
        void* caught = nullptr;
        bool young = false;  // there was something, but not old enough
    };

    static unsigned checked(unsigned workers) {
        if (workers != 0 && !detail::was_negative(workers)) return workers;
        throw std::invalid_argument(
            "weir::thread_pool: 0 workers, or fewer, can run nothing; ask for at least 1, or for none to get "
            "one a core");
    }

    // The calling thread's worker, of whatever pool.
    struct place {
        worker* here = nullptr;
    };
    static worker*& current() noexcept { return Platform::template of_thread<place>().here; }

    WEIR_NOINLINE void work(worker& me) noexcept {
        current() = &me;
        me.set_thread(record::acquire(), static_cast<executor*>(this));
        shift here(*this);
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

    WEIR_NOINLINE void post_from_outside(std::coroutine_handle<> h) noexcept {
        if (orphaned()) return;  // nobody would take it, and a thread of the parent may hold the lock
        // Once it can be popped it may end, and who waits for that may destroy the pool. So all that
        // touches this happens before, and what is left to do uses an address only.
        inbox_.push(h.address(), [this] { return watch_.alert(); })();
    }

    // To the end of the worker's own queue. It is work for two now: ends the watcher's nap.
    void push(worker& me, void* address) noexcept {
        me.queue.push_bottom(address);
        if (watch_.listening() || watch_.unwatched()) watch_.call();
    }

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

    // What may be stolen; from all in turn, from a random one on. `idle_since`: since when the caller
    // has done nothing.
    steal_result hunt(worker& me, std::int64_t now, std::int64_t idle_since) noexcept {
        me.random ^= me.random << 13;
        me.random ^= me.random >> 7;
        me.random ^= me.random << 17;
        steal_result result;
        const std::lock_guard guard(hunt_lock_);
        for (unsigned i = 0, k = static_cast<unsigned>(me.random % count_); i < count_; ++i) {
            worker& victim = workers_[k];
            result.caught = trails_[k].steal_from(victim, me, now, idle_since);
            if (result.caught != nullptr) return result;
            result.young = result.young || !victim.empty();
            k = k + 1 == count_ ? 0 : k + 1;
        }
        return result;
    }

    void fire(worker& me, std::int64_t now) noexcept {
        if (timers_.next() > now) return;
        timers_.fire(time_point(duration(now)), [&](std::coroutine_handle<> h) { push(me, h.address()); });
    }

    // Everything that an idle worker can find.
    steal_result search(worker& me, std::int64_t now, std::int64_t idle_since) noexcept {
        fire(me, now);
        steal_result result{me.queue.steal()};
        if (result.caught == nullptr) result.caught = receive(me);
        return result.caught != nullptr ? result : hunt(me, now, idle_since);
    }

    // Returns a coroutine, or null when the pool ends.
    WEIR_NOINLINE void* idle(worker& me) noexcept {
        const bool mine = watch_.go_idle();
        if (!mine && !watch_.sleep()) return nullptr;
        // Who has just run out of work waits for more; who was called has others to watch.
        void* const found = keep_watch(me, mine ? Platform::now() + spin : 0);
        if (found == nullptr) {
            watch_.close();
            return nullptr;
        }
        watch_.leave();
        me.searches(false);
        if (watch_.unwatched() && (!me.queue.empty() || !inbox_.empty() || timers_.next() != timers_.never)) {
            watch_.call();
        }
        return found;
    }

    void* keep_watch(worker& me, std::int64_t spin_end) noexcept {
        const std::int64_t since = Platform::now();
        me.searches(true);
        for (std::int64_t nap = first_nap;; nap = detail::smaller(2 * nap, last_nap)) {
            std::int64_t now = Platform::now();
            const std::int64_t wait_end = now + ripening;
            steal_result last = search(me, now, since);
            while (last.caught == nullptr && (now < spin_end || (last.young && now < wait_end))) {
                for (int i = 0; i < 8; ++i) Platform::pause();
                now = Platform::now();
                last = search(me, now, since);
            }
            if (last.caught != nullptr) return last.caught;

            const bool alone = watch_.all_idle();
            const std::int64_t end = detail::smaller(alone ? watch_.never : now + nap, timers_.next());
            const auto ticket = watch_.announce(end, !last.young);
            // Announced; now all is looked at again. seq_cst; pairs with call(). First whether the pool ends.
            const bool over = alone && stopping_.load(std::memory_order_seq_cst);
            last = search(me, now, since);
            if (last.caught != nullptr || over) {
                watch_.stay_up();
                return last.caught;
            }
            if (timers_.next() < end) {
                watch_.stay_up();
                continue;
            }
            me.searches(false);
            watch_.nap(ticket, end == watch_.never ? -1 : end - now);
            me.searches(true);
            if (alone) nap = first_nap / 2;
        }
    }

    void join() noexcept {
        if (orphaned()) return threads_.forget();
        stopping_.store(true, std::memory_order_seq_cst);
        watch_.call();
        threads_.join();
    }

    const unsigned count_;
    std::unique_ptr<worker[]> workers_;
    std::unique_ptr<detail::basic_steal_policy<Platform>[]> trails_;  // of each worker; under hunt_lock_
    alignas(64) detail::basic_spin_lock<Platform> hunt_lock_;
    detail::basic_idle_workers<Platform> watch_;
    detail::basic_inbox<Platform> inbox_;
    basic_locked_timers<Platform> timers_;
    typename Platform::template atomic<bool> stopping_{false};
    detail::basic_pool_threads<Platform> threads_;
};

/// The one to use; only tests have another platform.
using thread_pool = basic_thread_pool<>;

}  // namespace weir

#endif
