// weir executor, internal: the idle workers of a thread pool: one searches for work, the others sleep
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_IDLE_WORKERS_HPP
#define WEIR_EXECUTOR_IDLE_WORKERS_HPP

#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>

#include <cstdint>  // for std::int64_t, std::uint64_t
#include <limits>   // for std::numeric_limits
#include <mutex>    // for std::lock_guard
#include <utility>  // for std::exchange

namespace weir::detail {

// At most one idle worker is the watcher: it searches for work, and naps between searches. A nap takes 50 us
// to 1 ms while another worker is active; else it lasts until the next timer, or poll of a device or MPI. The
// other idle workers sleep until one is made the watcher. (Go's `sysmon` thread has a similar task.)
//
// While there is a watcher, a worker that puts a coroutine into its own queue wakes no thread: the watcher
// finds the coroutine after one nap. So a hand-over between two coroutines of one worker needs no fence and
// no system call. And while a worker is idle, a queued coroutine waits about 1 ms at most.
//
// | watch | meaning                                                                                    |
// |-------|--------------------------------------------------------------------------------------------|
// | taken | there is a watcher: it searches or naps, or a sleeper was chosen and is waking up           |
// | free  | no worker is idle; or all but one sleep, and that one has not called `request_search`      |
//
// Why the relaxed load in `unwatched()` is exact: only `leave` frees the watch, and afterwards
//     taken || idle == 0 || active == 1
// as the model tests/exploration/models/spin/watch.pml asserts. In the last case the one active worker itself
// called `leave`, and sees its own store. A worker that goes idle takes a free watch in the same step.
template <class Platform = standard_platform>
class basic_idle_workers {
    template <class T>
    using atomic = typename Platform::template atomic<T>;

    // Written under the lock, read without: active workers << 32 | idle workers << 1 | watch taken.
    alignas(64) atomic<std::uint64_t> state_;
    alignas(64) basic_spin_lock<Platform> lock_;
    std::uint64_t active_;  // workers that are not idle, or are about to begin
    std::uint64_t idle_ = 0;
    bool taken_ = false;   // there is a watcher: see the table
    bool chosen_ = false;  // the watch is taken for a sleeper that has not woken up yet
    bool closed_ = false;
    basic_event_count<Platform> sleepers_;  // the idle workers but the watcher wait here
    basic_event_count<Platform> watcher_;   // at most one thread waits here
    atomic<std::int64_t> nap_end_{awake};   // of the watcher's announced nap; `awake`: there is none
    atomic<bool> listening_{false};         // see listening()
    const bool one_processor_;              // an idle worker must not spin

  public:
    using ticket = typename basic_event_count<Platform>::ticket;
    using wake_up = typename basic_event_count<Platform>::wake_up;

    static constexpr std::int64_t awake = (std::numeric_limits<std::int64_t>::min)();
    static constexpr std::int64_t never = (std::numeric_limits<std::int64_t>::max)();

    // `workers`: the number of active workers at the beginning.
    explicit basic_idle_workers(unsigned workers = 0, bool one_processor = false) noexcept
        : state_(0), active_(workers), one_processor_(one_processor) {
        publish();
    }
    basic_idle_workers(const basic_idle_workers&) = delete;
    basic_idle_workers& operator=(const basic_idle_workers&) = delete;

    // Why `sleep` ended: the worker is now the watcher; it is surplus (the pool wants fewer); the pool ends.
    enum class woken { to_watch, surplus, by_the_end };
    // The result of `keep_watch`: a coroutine, or null. Null, and not over: the worker is surplus.
    struct end_of_watch {
        void* found;
        bool over;
    };

    // ---- called by threads that queue coroutines ------------------------------------------------

    // Whether workers sleep and none watches: who queues a coroutine then has to call `request_search`.
    bool unwatched() const noexcept {
        const std::uint64_t s = state_.load(std::memory_order_relaxed);
        return (s & idle_or_taken) != 0 && !taken(s);
    }

    // A hint: the watcher naps, and should be woken when a coroutine is queued. False if a search since its
    // last nap found only coroutines too young to be stolen: their worker keeps up, and should make no system
    // call. (Three stages that do nothing, statistics, queues of 2, two workers: 216 -> 165 ns an item.)
    bool listening() const noexcept { return listening_.load(std::memory_order_relaxed); }

    // Makes an idle worker, if there is one, search for work now, or at `deadline` at the latest. Called
    // after the work was published: with a seq_cst store by a thread outside of the pool; with any store by a
    // worker, for the reason in the comment of the class.
    void request_search(std::int64_t deadline = awake) noexcept { prepare_request(deadline)(); }

    // As `request_search`, but the returned object makes the system call, after the caller has released the
    // lock under which it queued. The pool may already be destroyed then: the object only uses an address.
    wake_up prepare_request(std::int64_t deadline = awake) noexcept {
        // seq_cst; pairs with the stores in publish(): a worker that goes idle, or frees the watch, looks for
        // work after its store
        const std::uint64_t s = state_.load(std::memory_order_seq_cst);
        if ((s & idle_or_taken) == 0) return {};
        if (!taken(s) && choose()) return sleepers_.prepare_notify();
        // The watcher announces each nap in `nap_end_` before its last search (seq_cst on both sides).
        // Without a nap, or if another thread has just ended the nap, the watcher searches again anyway.
        if (nap_end_.load(std::memory_order_seq_cst) <= deadline) return {};
        if (nap_end_.exchange(awake, std::memory_order_seq_cst) != awake) return watcher_.prepare_notify();
        return {};
    }

    // ---- called by idle workers -----------------------------------------------------------------

    // A worker goes idle. True: it is the watcher now. False: it has to `sleep`.
    bool go_idle() noexcept {
        std::lock_guard guard(lock_);
        --active_;
        ++idle_;
        const bool is_watcher = !taken_;
        taken_ = true;
        publish();
        return is_watcher;
    }

    // Sleeps until the worker is chosen as the watcher, or becomes surplus (`is_surplus()`; it then counts as
    // active again), or the pool ends.
    template <class IsSurplus>
    woken sleep(IsSurplus is_surplus) noexcept {
        for (;;) {
            const ticket t = sleepers_.prepare_wait();
            {
                std::lock_guard guard(lock_);
                if (chosen_ || closed_) {
                    sleepers_.cancel_wait();
                    return std::exchange(chosen_, false) ? woken::to_watch : woken::by_the_end;
                }
                if (is_surplus()) {
                    sleepers_.cancel_wait();
                    --idle_;
                    ++active_;
                    publish();
                    return woken::surplus;
                }
            }
            sleepers_.commit_wait(t);
        }
    }

    // Whether no worker is active. When called by the watcher, a true result holds until the watcher calls
    // `leave`, `expect` adds workers, or a sleeper is surplus.
    bool all_idle() const noexcept { return active() == 0; }
    std::uint64_t active() const noexcept { return state_.load(std::memory_order_seq_cst) >> 32; }
    bool none_idle() const noexcept { return (state_.load(std::memory_order_seq_cst) & idle_or_taken) == 0; }

    // The watcher announces a nap, searches once more, then calls `nap` or `stay_up`. The watcher takes its
    // ticket before other threads can see the nap: so a thread that ends the nap does wake the watcher.
    // `listen`: whether threads that queue a coroutine are to end the nap.
    ticket announce(std::int64_t nap_end, bool listen) noexcept {
        const ticket t = watcher_.prepare_wait();
        listening_.store(listen, std::memory_order_relaxed);
        nap_end_.store(nap_end, std::memory_order_seq_cst);
        return t;
    }
    void stay_up() noexcept {  // instead of the announced nap
        wake();
        watcher_.cancel_wait();
    }
    void nap(ticket t, std::int64_t timeout_ns) noexcept {
        watcher_.commit_wait(t, timeout_ns);
        wake();
    }

    // The loop of the watcher: searches and naps, until it finds a coroutine, the pool is over, or the
    // watcher is surplus (`is_surplus()`). Searches without naps until `spin_end`, and while a poll is due;
    // with several processors, also for up to `wait_for_young` while coroutines are queued too briefly to be
    // stolen. `timers.next()`: the instant at which a timer or a poll is due. `is_over()`: nonzero if the
    // pool ends; two equal results mean that no thread blocked or came back in between. `search(now, since)`:
    // looks once for a coroutine to run; `since`: when this loop began.
    template <class Worker, class Timers, class IsOver, class IsSurplus, class Search>
    end_of_watch keep_watch(Worker& me, std::int64_t spin_end, const Timers& timers, IsOver is_over,
                            IsSurplus is_surplus, Search search) noexcept {
        const std::int64_t since = Platform::now();
        me.set_searching(true);
        for (std::int64_t length = first_nap;; length = smaller(2 * length, last_nap)) {
            std::int64_t now = Platform::now();
            const std::int64_t wait_end = one_processor_ ? now : now + wait_for_young;
            auto last = search(now, since);
            bool found_too_young = last.too_young;
            const auto polls = [&] {
                const bool may = !one_processor_ || all_idle();  // else an active worker needs the processor
                return may && timers.next() <= now && is_over() == 0 && !is_surplus();
            };
            while (last.found == nullptr &&
                   (now < spin_end || (last.too_young && now < wait_end) || polls())) {
                for (int i = 0; i < 8; ++i) Platform::pause();
                now = Platform::now();
                last = search(now, since);
                found_too_young = found_too_young || last.too_young;
            }
            if (last.found != nullptr) return {last.found, false};

            const bool alone = all_idle();  // no worker is active: the nap may last until the next timer
            const std::int64_t end = smaller(alone ? never : now + length, timers.next());
            const ticket t = announce(end, !found_too_young);
            // The nap is announced: check everything again. seq_cst; pairs with request_search(). is_over()
            // comes before all_idle(): no worker is added to a pool that ends.
            const auto ends = is_over();
            const bool none = all_idle();
            const bool over = ends && none && is_over() == ends;
            const bool goes = is_surplus();
            last = search(now, since);
            if (last.found != nullptr || over || goes) {
                stay_up();
                return {last.found, last.found == nullptr && over};
            }
            if (timers.next() < end || (alone && !none)) {  // a worker is active now: no endless nap
                stay_up();
                continue;
            }
            me.set_searching(false);
            nap(t, end == never ? -1 : end > now ? end - now : one_processor_ ? first_nap : 0);
            me.set_searching(true);
            if (alone) length = first_nap / 2;
        }
    }

    // The watcher has found a coroutine, or is surplus (not wanted), and becomes active. If another worker is
    // active and one sleeps, the sleeper becomes the watcher. Else the watch is free, and the caller of
    // `leave` calls `request_search` if work is queued.
    void leave() noexcept {
        {
            std::lock_guard guard(lock_);
            --idle_;
            ++active_;
            if (idle_ == 0 || active_ == 1) {
                taken_ = false;
                publish();
                return;
            }
            chosen_ = true;
            publish();
        }
        sleepers_.notify_one();
    }

    // The pool is over: wakes all sleepers. From now on `sleep` returns `by_the_end`, except to a sleeper
    // that was chosen as the watcher.
    void close() noexcept {
        {
            std::lock_guard guard(lock_);
            closed_ = true;
        }
        sleepers_.notify_all();
    }

    // Adds active workers that are about to begin; a negative number removes workers that end, block, or
    // could not begin. seq_cst; pairs with keep_watch(): a watcher that saw no active worker looks again.
    void expect(int workers) noexcept {
        {
            std::lock_guard guard(lock_);
            active_ += static_cast<std::uint64_t>(workers);
            publish();
        }
        request_search();
    }

    // Wakes all idle workers. Called after a seq_cst store that makes workers surplus or ends the pool.
    void wake_all() noexcept {
        sleepers_.notify_all();
        request_search();
    }

  private:
    static constexpr std::uint64_t idle_or_taken = 0xffff'ffff;  // the lower half of `state_`
    static constexpr std::int64_t wait_for_young = 10'000;       // ns; see keep_watch()
    static constexpr std::int64_t first_nap = 50'000;            // ns; the kernel's timer slack is as much
    static constexpr std::int64_t last_nap = 1'000'000;          // ns

    void wake() noexcept {  // relaxed: a caller that reads the old nap wakes the watcher once too often
        listening_.store(false, std::memory_order_relaxed);
        nap_end_.store(awake, std::memory_order_relaxed);
    }

    static bool taken(std::uint64_t s) noexcept { return (s & 1) != 0; }
    void publish() noexcept {
        state_.store(active_ << 32 | idle_ << 1 | (taken_ ? 1U : 0U), std::memory_order_seq_cst);
    }

    // Makes a sleeper the watcher; the caller wakes it. False: there is a watcher, or no worker sleeps.
    WEIR_NOINLINE bool choose() noexcept {
        std::lock_guard guard(lock_);
        if (taken_ || idle_ == 0) return false;
        taken_ = chosen_ = true;
        publish();
        return true;
    }
};

WEIR_COMPILED(class basic_idle_workers<standard_platform>);

}  // namespace weir::detail

#endif
