// weir executor, internal: sources of completions that idle threads of executors poll, as a GPU or MPI
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_POLLED_SOURCE_HPP
#define WEIR_EXECUTOR_POLLED_SOURCE_HPP

#include <weir/executor/executor.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system.hpp>

#include <cstdint>  // for std::int64_t
#include <limits>   // for std::numeric_limits
#include <memory>   // for std::enable_shared_from_this, std::shared_ptr
#include <mutex>    // for std::lock_guard
#include <utility>  // for std::exchange

namespace weir::detail {

// A source of completions, as an executor sees it. An idle worker of a pool, or the thread in
// `run_loop::drive`, polls the source, and resumes the coroutines that became ready. This needs no wake-up of
// another thread, and no system call.
class pollable : public std::enable_shared_from_this<pollable> {
  public:
    static constexpr std::int64_t never = (std::numeric_limits<std::int64_t>::max)();
    static constexpr std::int64_t closed = (std::numeric_limits<std::int64_t>::min)();

    pollable() noexcept = default;
    pollable(const pollable&) = delete;
    pollable& operator=(const pollable&) = delete;

    // Called by one thread of `pool`, a pool or a run_loop, at a time. Posts the coroutines whose operations
    // have ended. Returns when `pool` has to poll again, in ns of its clock: at once, if the result is not
    // after `now`; `never`: not before the next `executor::polls`; or `closed`: never again.
    virtual std::int64_t poll_for(const executor& pool, std::int64_t now) noexcept = 0;

  protected:
    ~pollable() = default;
};

// The sources that threads of one executor poll. Any thread adds one. One thread at a time polls: the watcher
// of a pool (idle_workers.hpp), or the thread that runs a run_loop.
template <class Platform = standard_platform>
class basic_pollables {
    template <class T>
    using atomic = typename Platform::template atomic<T>;

  public:
    // Adds the source, and makes all sources due: the executor polls them when it reads `next`. Returns false
    // if the list of sources is full (but makes all due), or if no std::shared_ptr owns the source any more.
    bool add(pollable& source) noexcept {
        if (!has(source) && !enter(source)) return false;
        next_.store(at_once, std::memory_order_seq_cst);  // pairs with next(), read after a nap is announced
        return true;
    }

    // The instant at which the executor has to poll. seq_cst; pairs with add()
    std::int64_t next() const noexcept { return next_.load(std::memory_order_seq_cst); }

    void poll(const executor& pool, std::int64_t now) noexcept {  // all sources; sets `next`
        // seq_cst; pairs with add(): a source that is added from here on sets the instant again
        next_.store(pollable::never, std::memory_order_seq_cst);
        std::int64_t first = pollable::never;
        for (place& p : places_) {
            // acquire; pairs with enter(): the source's members are visible
            pollable* const source = p.source.load(std::memory_order_acquire);
            if (source == nullptr) continue;
            const std::int64_t next = source->poll_for(pool, now);
            if (next == pollable::closed) {
                leave(p);
            } else {
                first = smaller(first, next);
            }
        }
        std::int64_t set = pollable::never;
        // Fails if add() has set an instant meanwhile, which is earlier.
        next_.compare_exchange_strong(set, first, std::memory_order_seq_cst);
    }

  private:
    struct place {  // of a source in the list
        atomic<pollable*> source{nullptr};
        std::shared_ptr<pollable> kept{};  // guarded by lock_
    };
    static constexpr std::int64_t at_once = pollable::closed;

    bool has(const pollable& source) const noexcept {
        for (const place& p : places_) {
            // relaxed: the address is only compared
            if (p.source.load(std::memory_order_relaxed) == &source) return true;
        }
        return false;
    }
    bool enter(pollable& source) noexcept {  // into the list
        const std::lock_guard guard(lock_);
        if (has(source)) return true;
        for (place& p : places_) {
            if (p.kept != nullptr) continue;
            p.kept = source.weak_from_this().lock();
            p.source.store(p.kept.get(), std::memory_order_release);  // pairs with poll()
            return p.kept != nullptr;
        }
        next_.store(at_once, std::memory_order_seq_cst);  // poll() then removes the sources that are closed
        return false;
    }
    void leave(place& p) noexcept {      // out of the list, as the source is closed
        std::shared_ptr<pollable> last;  // destroyed after the lock is released
        const std::lock_guard guard(lock_);
        p.source.store(nullptr, std::memory_order_relaxed);  // relaxed: only the polling thread follows it
        last.swap(p.kept);
    }

    atomic<std::int64_t> next_{pollable::never};  // see next()
    basic_spin_lock<Platform> lock_;
    place places_[8];
};

// A source with its own thread, the guard. The guard polls while no thread of an executor does: all threads
// are busy, or the executor of the waiting coroutine polls nothing. A worker of a pool, or the thread that
// runs a run_loop, polls as soon as it finds nothing to run. The guard then sleeps until shortly after the
// instant at which that thread promised to poll again.
class polled_source : public pollable {
    using platform = standard_platform;

  public:
    // Called after an operation was made visible to `poll`. `ex`: the executor whose coroutine waits for the
    // operation, or null. If `ex` polls the source, wakes the guard only out of its sleep without a pending
    // operation, as a wake-up takes a system call. If `ex` doesn't poll the source, always wakes the guard.
    void expect(executor* ex) noexcept {
        expected_since_rest_.store(true, std::memory_order_seq_cst);  // pairs with rest()
        if (ex != nullptr && ex->lasting().polls(*this)) {
            promise(&ex->lasting(), larger(platform::now(), promised_.load(std::memory_order_relaxed)));
            if (guards_.load(std::memory_order_seq_cst)) return;  // pairs with rest()
        }
        wake();
    }

    // Ends the guard's current nap, or its next one.
    void wake() noexcept { guard_.poke(); }

    std::int64_t poll_for(const executor& pool, std::int64_t now) noexcept override {
        const std::int64_t other = promised_by_another(&pool, first_grace);
        if (now < other) return other;
        if (!poll_lock_.try_lock()) return now + retry;
        nap_on_time();
        const std::int64_t next = closed_ ? closed : poll(now, false);
        if (next != closed) promise(&pool, next == never ? now : next);
        poll_lock_.unlock();
        return next;
    }

    // The loop of the guard. `own(now)`: work for this thread only. `own` returns the latest instant, in ns,
    // at which the loop has to call `own` again; or `never`; or `closed`, which ends the loop.
    template <class Own>
    void guard(Own own) noexcept {
        nap_on_time();
        guards_.store(true, std::memory_order_seq_cst);
        for (std::int64_t grace = first_grace;;) {
            const std::int64_t now = platform::now();
            const std::int64_t again = own(now);
            if (again == closed) return;
            // After each kept promise the guard wakes less often, as it may share the worker's processor.
            std::int64_t next = promised_by_another(this, grace);
            if (now < next) {
                grace = smaller(2 * grace, longest_nap_ / 4);
            } else {
                next = poll_here(now);
                grace = first_grace;
            }
            if (next == never) {
                rest(again == never ? -1 : larger<std::int64_t>(again - now, 0));
                continue;
            }
            next = smaller(next, again);
            if (next <= now) {
                platform::pause();  // not yield(): where all cores are busy, that takes milliseconds
            } else {
                guard_.wait(smaller(next - now, longest_nap_));
            }
        }
    }

  protected:
    // `nap`: the longest sleep of the guard while an operation is pending, in ns. A thread that has promised
    // to poll may run a coroutine at the promised instant. The guard then polls at most `nap` after that
    // instant, and finds the operations that have ended.
    explicit polled_source(std::int64_t nap = 1'000'000) noexcept : longest_nap_(nap) {}
    ~polled_source() = default;

    // Posts the coroutines whose operations have ended. Called by one thread at a time. `by_guard`: whether
    // this thread is the guard. Returns when to poll again, as `poll_for`. May return an instant that is past
    // (the caller then spins) for a bounded time only.
    virtual std::int64_t poll(std::int64_t now, bool by_guard) noexcept = 0;

    // Called on the thread of the guard: calls `poll` under the lock. Returns the result `next` of `poll`;
    // but if `last(next)` returns true, closes the source and returns `closed`. Executors then poll the
    // source no more. The loop of `guard` ends when its argument `own` returns `closed`.
    template <class Last>
    std::int64_t poll_here(std::int64_t now, Last last) noexcept {
        const std::lock_guard guard(poll_lock_);
        const std::int64_t next = poll(now, true);
        promise(this, now);
        closed_ = last(next);
        return closed_ ? closed : next;
    }

  private:
    std::int64_t poll_here(std::int64_t now) noexcept {
        return poll_here(now, [](std::int64_t) { return false; });
    }

    // Called by each thread that polls: from the first call on, the system ends the naps of this thread on
    // time, without the usual slack.
    static void nap_on_time() noexcept {
        struct per_thread {
            bool done = false;
        };
        if (!std::exchange(platform::of_thread<per_thread>().done, true)) end_waits_on_time();
    }

    // relaxed, as all operations on `promised_by_` and `promised_`: a promise only decides which thread
    // polls. A thread may see the new `by` with the old `until`. The guard reads both again after each nap,
    // so polling starts at most one nap later.
    void promise(const void* by, std::int64_t until) noexcept {
        promised_by_.store(by, std::memory_order_relaxed);
        promised_.store(until, std::memory_order_relaxed);
    }
    // Until when an executor other than `whom` is trusted to poll: its promise plus `grace`, as it may be
    // late; 0: no other executor has promised. `whom`: the caller, an executor or, for the guard, `this`. A
    // promise of the guard does not keep an executor from polling.
    std::int64_t promised_by_another(const void* whom, std::int64_t grace) const noexcept {
        const void* const by = promised_by_.load(std::memory_order_relaxed);
        return by == whom || by == this || by == nullptr ? 0
                                                         : promised_.load(std::memory_order_relaxed) + grace;
    }

    // Nothing is pending. The guard sleeps until it is woken, or for `limit` ns (negative: no limit). But if
    // `expect` was called since the last `rest`, the guard sleeps once, for at most `longest_nap_`: another
    // operation may follow, and then needs no system call.
    void rest(std::int64_t limit) noexcept {
        if (expected_since_rest_.exchange(false, std::memory_order_seq_cst)) {
            guard_.wait(limit < 0 ? longest_nap_ : smaller(limit, longest_nap_));
            return;
        }
        // seq_cst; pairs with expect(): expect() sees that the guard sleeps, or rest() sees the operation
        guards_.store(false, std::memory_order_seq_cst);
        if (!expected_since_rest_.load(std::memory_order_seq_cst)) guard_.wait(limit);
        guards_.store(true, std::memory_order_seq_cst);
    }

    // In ns. `retry`: when an executor tries again while another thread, maybe preempted, holds `poll_lock_`.
    // `first_grace`: how late a promised poll may be before another thread polls.
    static constexpr std::int64_t retry = 10'000;
    static constexpr std::int64_t first_grace = 50'000;

    const std::int64_t longest_nap_;
    spin_lock poll_lock_;                                 // held by the thread that polls
    bool closed_ = false;                                 // guarded by poll_lock_
    platform::atomic<const void*> promised_by_{nullptr};  // who promised: an executor, or this for the guard
    platform::atomic<std::int64_t> promised_{0};          // until when
    platform::atomic<bool> expected_since_rest_{false};   // see rest()
    platform::atomic<bool> guards_{false};                // false: the guard rests, or has not begun
    parker guard_;                                        // the guard sleeps in it
};

}  // namespace weir::detail

#endif
