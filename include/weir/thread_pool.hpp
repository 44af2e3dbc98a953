// weir floor 4: a work-stealing pool, one worker a core
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_THREAD_POOL_HPP
#define WEIR_THREAD_POOL_HPP

#include <weir/clock.hpp>
#include <weir/detail/deque.hpp>
#include <weir/detail/injector.hpp>
#include <weir/detail/parker.hpp>
#include <weir/detail/platform.hpp>
#include <weir/detail/spin_lock.hpp>
#include <weir/detail/watch.hpp>
#include <weir/executor.hpp>
#include <weir/locked_timers.hpp>
#include <weir/timer.hpp>

#include <algorithm>  // for std::min
#include <cassert>    // for assert
#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <memory>     // for std::unique_ptr
#include <mutex>      // for std::lock_guard
#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::exchange
#include <vector>     // for std::vector

namespace weir {

/// Runs coroutines on a fixed number of threads. For code that computes; what blocks belongs on a
/// `blocking_pool`.
///
/// A coroutine posted by a worker goes into that worker's next-to-run slot, and who was there to
/// the end of the worker's queue; one that posts itself (a yield) goes to the end of the queue at
/// once. Idle workers steal only what has waited for 5 us, so that coroutines which chat stay on
/// one core.
///
/// Order: the slot runs three times in a row at most. So a coroutine that n others are queued
/// before starts after at most 5 n + 4 resumptions of its worker (70 (n + 1) if more than 256 are
/// queued), and one posted from outside after at most 61 (n + 1) of any worker, however busy its
/// neighbours are.
/// Threads: any may post and add timers. Nothing is ever resumed inside `post`.
/// Lifetime: the destructor runs what is still posted, then joins. All coroutines that use the pool
/// have to end by that; no timer may be pending.
/// Errors: an exception that leaves a resumed coroutine, or no memory for a queue to grow:
/// std::terminate.
/// Cost: idle workers sleep. While at least one works, one idle worker looks for work at least
/// every millisecond, which is also how long a coroutine may wait behind another that hogs their
/// worker (0.1 ms on average). A hand-over between two coroutines on one worker: 23 ns.
template <class Platform = detail::standard_platform>
class basic_thread_pool final : public executor {
    struct worker;

  public:
    /// \param workers the number of threads.
    /// Errors: std::invalid_argument if 0; std::system_error if a thread can't be started.
    explicit basic_thread_pool(unsigned workers = Platform::concurrency())
        : count_(workers == 0
                     ? throw std::invalid_argument(
                           "weir::thread_pool: 0 workers can run nothing; ask for at least 1, "
                           "or for none to get one a core")
                     : workers),
          workers_(new worker[count_]),
          trails_(new trail[count_]),
          watch_(count_) {
        threads_.reserve(count_);
        for (unsigned i = 0; i < count_; ++i) {
            workers_[i].pool = this;
            workers_[i].random = Platform::seed() | 1;
        }
        try {
            for (unsigned i = 0; i < count_; ++i) {
                threads_.emplace_back([this, i] { work(workers_[i]); });
            }
        } catch (...) {
            watch_.forget(count_ - static_cast<unsigned>(threads_.size()));
            join();
            throw;
        }
    }

    ~basic_thread_pool() {
        join();
        assert(timers_.next() == timers_.never &&
               "weir::thread_pool: destroyed with a timer pending");
    }

    /// How many threads it has.
    [[nodiscard]] unsigned workers() const noexcept { return count_; }

    void post(std::coroutine_handle<> h) noexcept override {
        worker* const me = current();
        if (me == nullptr || me->pool != this) {
            inbox_.push(h.address());
            watch_.call();
            return;
        }
        void* const before = me->next.load(std::memory_order_relaxed);
        if (h.address() == me->running) {
            push(*me, h.address());
        } else if (before == nullptr) {
            // release; pairs with the exchange in take_next(): a thief sees the coroutine
            me->next.store(h.address(), std::memory_order_release);
            if (watch_.unwatched()) watch_.call();
        } else if (void* const displaced =
                       me->next.exchange(h.address(), std::memory_order_acq_rel)) {
            push(*me, displaced);
        }
    }

    void add(timer& t) noexcept override {
        using added = typename basic_locked_timers<Platform>::added;
        const std::int64_t deadline = t.deadline().time_since_epoch().count();
        const std::coroutine_handle<> waiter = t.waiter();
        switch (timers_.add(t)) {
            case added::refused:
                return post(waiter);
            case added::earliest:
                return watch_.call(deadline);
            case added::queued:
                return;
        }
    }

    void cancel(timer& t) noexcept override {
        const std::coroutine_handle<> waiter = t.waiter();
        if (timers_.cancel(t, now())) post(waiter);
    }

    [[nodiscard]] time_point now() const noexcept override {
        return time_point(duration(Platform::now()));
    }

    /// On a worker of this pool: runs one coroutine, or naps for a moment if there is none, so that
    /// code which blocks there can't stop the pool. Elsewhere: false.
    bool drive(detail::parker& done, time_point limit) override {
        worker* const me = current();
        if (me == nullptr || me->pool != this) return false;
        if (void* const found = find(*me)) {
            me->misses = 0;
            run(*me, found);
            return true;
        }
        // Nobody wakes a worker that counts as active: it looks again after 2 us, 4 us, ... 1 ms.
        const std::int64_t now = Platform::now();
        fire(*me, now);
        if (!me->queue.empty()) return true;
        me->misses = std::min(me->misses + 1, 10U);
        const std::int64_t nap = std::int64_t{1000} << me->misses;
        const std::int64_t left = limit.time_since_epoch().count() - now;
        if (left > 0) done.wait(std::min(nap, left));
        return true;
    }

  private:
    static constexpr unsigned slot_streak = 3;         // see class comment; tokio's figure, too
    static constexpr std::uint64_t inbox_period = 61;  // resumptions; prime, as in Go's scheduler
    static constexpr std::uint64_t timer_period = 8;   // resumptions, for a clock read of 25 ns
    static constexpr std::size_t inbox_batch = 32;
    static constexpr std::size_t long_queue = 256;
    static constexpr unsigned eldest_period = 16;
    // What its owner gets to within this time is not worth stealing: it costs about as much to
    // move. Five stages that do nothing, ns an item with capacity 2 / 64: on one worker 144 / 107,
    // on two 154 / 109, and 424 / 290 where everything queued may be stolen at once. Stages of 5 us
    // on two workers, capacity 2: 88 % of ideal at 5 us, 79 % at 10 us, 87 % at once. It doesn't
    // help where the queue takes longer than this to come round: 13 coroutines, capacity 64: 112 on
    // one worker, 290 on two; 126 at 10 us. Also tried: to steal only from workers whose
    // resumptions take more than 300 ns on average; two workers that contend look slow, and stay
    // apart.
    static constexpr std::int64_t patience = 5'000;      // ns
    static constexpr std::int64_t spin = 20'000;         // ns of searching before the first nap
    static constexpr std::int64_t first_nap = 50'000;    // ns; the kernel's timer slack is as much
    static constexpr std::int64_t last_nap = 1'000'000;  // ns

    struct alignas(64) worker {
        // Shared with thieves.
        typename Platform::template atomic<void*> next{nullptr};
        typename Platform::template atomic<std::uint64_t> resumed{0};  // written by the owner only
        detail::basic_work_stealing_deque<Platform> queue;
        // The owner's.
        basic_thread_pool* pool = nullptr;
        void* running = nullptr;
        unsigned streak = 0;
        unsigned misses = 0;
        unsigned taken = 0;
        std::int64_t looked = 0;  // coarse clock, when it last looked outside
        std::uint64_t random = 1;
    };

    // What thieves know of a worker: how often it had resumed at some instant, and how far its
    // queue went then and one look before. What was queued by the look before has waited long
    // enough, and so has the slot if nothing was resumed since.
    struct trail {
        std::int64_t when = 0;
        std::uint64_t resumed = 0;
        std::uint64_t queued = 0;
        std::uint64_t queued_before = 0;
    };

    struct prey {
        void* caught = nullptr;
        bool young = false;  // there was something, but not old enough
    };

    // The calling thread's worker, of whatever pool. Not inlined: see WEIR_NOINLINE.
    WEIR_NOINLINE static worker*& current() noexcept {
        static thread_local worker* here = nullptr;
        return here;
    }

    void work(worker& me) noexcept {
        current() = &me;
        for (;;) {
            void* found = find(me);
            if (found == nullptr) found = idle(me);
            if (found == nullptr) return;
            run(me, found);
        }
    }

    void run(worker& me, void* address) noexcept {
        me.resumed.store(me.resumed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        void* const outer = me.running;  // not null inside drive()
        me.running = address;
        resume(std::coroutine_handle<>::from_address(address));
        me.running = outer;
    }

    // To the end of the worker's own queue. It is work for two now: ends the watcher's nap.
    void push(worker& me, void* address) noexcept {
        me.queue.push_bottom(address);
        if (watch_.listening() || watch_.unwatched()) watch_.call();
    }

    static void* take_next(worker& from) noexcept {
        if (from.next.load(std::memory_order_relaxed) == nullptr) return nullptr;
        return from.next.exchange(nullptr, std::memory_order_acquire);
    }

    // The next coroutine for an active worker, or null if there is none to be had.
    void* find(worker& me) noexcept {
        const std::uint64_t tick = me.resumed.load(std::memory_order_relaxed);
        // What comes from outside, and timers, have their turn every so many resumptions; and whenever
        // the coarse clock has moved on, since a resumption may take long.
        const std::int64_t due = timers_.next();
        if (due != timers_.never || !inbox_.empty()) {
            const std::int64_t before = std::exchange(me.looked, Platform::coarse_now());
            if (tick % inbox_period == 0 || me.looked != before) {
                if (void* const p = receive(me)) return p;
            }
        }
        if (due != timers_.never && (tick % timer_period == 0 || me.looked >= due)) {
            fire(me, Platform::now());
        }
        if (me.streak < slot_streak) {
            if (void* const p = take_next(me)) {
                ++me.streak;
                return p;
            }
        }
        me.streak = 0;
        if (!me.queue.empty()) {
            if (void* const p = take_next(me)) push(me, p);
            if (void* const p = take_queued(me)) return p;
        }
        if (void* const p = receive(me)) return p;
        if (void* const p = take_next(me)) return p;
        return count_ == 1 ? nullptr : hunt(me, Platform::now()).caught;
    }

    // First come, first served; but a long queue comes from a tree that spreads faster than it is
    // run, and is served youngest first, so that the tree is walked in depth and not in breadth,
    // except for every sixteenth. (10^6 leaves, ten a node: 8 MB and 51 ns a leaf, against 73 MB
    // and 70 ns.)
    void* take_queued(worker& me) noexcept {
        const bool eldest = me.queue.size() <= long_queue || ++me.taken % eldest_period == 0;
        if (eldest) return me.queue.steal();
        return me.queue.pop_bottom();
    }

    // From outside: one to run, and more into the own queue.
    void* receive(worker& me) noexcept {
        void* batch[inbox_batch];
        const std::size_t n = inbox_.pop(batch, inbox_batch);
        if (n == 0) return nullptr;
        for (std::size_t i = 1; i < n; ++i) push(me, batch[i]);
        return batch[0];
    }

    // What has waited for too long at another worker; in turn, from a random one on.
    prey hunt(worker& me, std::int64_t now) noexcept {
        me.random ^= me.random << 13;
        me.random ^= me.random >> 7;
        me.random ^= me.random << 17;
        prey result;
        const std::lock_guard guard(hunt_lock_);
        for (unsigned i = 0, k = static_cast<unsigned>(me.random % count_); i < count_; ++i) {
            worker& victim = workers_[k];
            trail& last = trails_[k];
            k = k + 1 == count_ ? 0 : k + 1;
            if (now - last.when >= patience) {
                const std::uint64_t resumed = victim.resumed.load(std::memory_order_relaxed);
                const bool stuck = resumed == last.resumed;
                last = {now, resumed, victim.queue.mark(), last.queued};
                if (stuck) result.caught = take_next(victim);
                if (result.caught != nullptr) return result;
            }
            result.caught = victim.queue.steal_before(last.queued_before);
            if (result.caught != nullptr) return result;
            result.young = result.young || !victim.queue.empty() ||
                           victim.next.load(std::memory_order_relaxed) != nullptr;
        }
        return result;
    }

    void fire(worker& me, std::int64_t now) noexcept {
        if (timers_.next() > now) return;
        timers_.fire(time_point(duration(now)),
                     [&](std::coroutine_handle<> h) { push(me, h.address()); });
    }

    // Everything that an idle worker can find.
    prey search(worker& me, std::int64_t now) noexcept {
        fire(me, now);
        prey result{me.queue.steal()};
        if (result.caught == nullptr) result.caught = receive(me);
        return result.caught != nullptr ? result : hunt(me, now);
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
        if (watch_.unwatched() &&
            (!me.queue.empty() || !inbox_.empty() || timers_.next() != timers_.never)) {
            watch_.call();
        }
        return found;
    }

    void* keep_watch(worker& me, std::int64_t spin_end) noexcept {
        for (std::int64_t nap = first_nap;; nap = std::min(2 * nap, last_nap)) {
            std::int64_t now = Platform::now();
            const std::int64_t wait_end = now + 2 * patience;  // for the young to grow old
            prey last = search(me, now);
            while (last.caught == nullptr && (now < spin_end || (last.young && now < wait_end))) {
                for (int i = 0; i < 16; ++i) Platform::pause();
                now = Platform::now();
                last = search(me, now);
            }
            if (last.caught != nullptr) return last.caught;

            const bool alone = watch_.all_idle();
            const std::int64_t end = std::min(alone ? watch_.never : now + nap, timers_.next());
            const auto ticket = watch_.announce(end, !last.young);
            // Announced; now everything is looked at once more. seq_cst; pairs with call()
            last = search(me, now);
            const bool over = alone && stopping_.load(std::memory_order_seq_cst);
            if (last.caught != nullptr || over) {
                watch_.stay_up();
                return last.caught;
            }
            if (timers_.next() < end) {
                watch_.stay_up();
                continue;
            }
            watch_.nap(ticket, end == watch_.never ? -1 : end - now);
            if (alone) nap = first_nap / 2;
        }
    }

    void join() noexcept {
        stopping_.store(true, std::memory_order_seq_cst);
        watch_.call();
        for (auto& t : threads_) t.join();
    }

    const unsigned count_;
    std::unique_ptr<worker[]> workers_;
    std::unique_ptr<trail[]> trails_;  // of each worker; under hunt_lock_
    alignas(64) detail::basic_spin_lock<Platform> hunt_lock_;
    detail::basic_watch<Platform> watch_;
    detail::basic_injector<Platform> inbox_;
    basic_locked_timers<Platform> timers_;
    typename Platform::template atomic<bool> stopping_{false};
    std::vector<typename Platform::thread> threads_;
};

using thread_pool = basic_thread_pool<>;

}  // namespace weir

#endif
