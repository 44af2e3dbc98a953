// weir executor, internal: who of a pool's idle workers sleeps, and who keeps watch
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_IDLE_WORKERS_HPP
#define WEIR_EXECUTOR_IDLE_WORKERS_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/event_count.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/spin_lock.hpp>

#include <cstdint>  // for std::int64_t, std::uint64_t
#include <limits>   // for std::numeric_limits
#include <mutex>    // for std::lock_guard
#include <utility>  // for std::exchange

namespace weir::detail {

// Of the workers that have nothing to do, one at a time keeps watch: it searches, and naps between
// searches, for short whiles as long as somebody works, until the next timer when nobody does. The
// others sleep until the watch is passed to them. (Go's `sysmon` thread has the same duty.)
//
// A worker that queues something on its own side therefore owes no wake-up: the watcher comes by
// within a nap. That is what makes a hand-over between two coroutines of one worker free of fences
// and system calls, and still no queued coroutine waits for a worker that is stuck in a long one.
//
// | watch | means                                                                        |
// |-------|------------------------------------------------------------------------------|
// | taken | one idle worker searches or naps, or has been chosen and wakes up now        |
// | free  | nobody is idle; or one worker works, all others sleep, and it has not called |
//
// The rule that keeps `unwatched()` exact though it is a relaxed load: while a worker stays active,
// the watch never becomes free as long as somebody is idle. (It becomes free in `leave` only, if
// nobody else is active or nobody is idle; and who goes idle takes a free watch in the same step.)
// So a worker that once saw it taken, or wrote it so, can't miss that it is free.
template <class Platform = standard_platform>
class basic_idle_workers {
    template <class T>
    using atomic = typename Platform::template atomic<T>;

    // Written under the lock, read without: active workers << 32 | idle workers << 1 | watch taken.
    alignas(64) atomic<std::uint64_t> state_;
    alignas(64) basic_spin_lock<Platform> lock_;
    std::uint64_t active_;
    std::uint64_t idle_ = 0;
    bool taken_ = false;
    bool chosen_ = false;  // the watch is taken on behalf of a sleeper that isn't up yet
    bool closed_ = false;
    basic_event_count<Platform> sleepers_;
    basic_event_count<Platform> watcher_;  // one waits here at most
    atomic<std::int64_t> nap_end_{awake};
    atomic<bool> listening_{false};

  public:
    using ticket = typename basic_event_count<Platform>::ticket;
    using wake_up = typename basic_event_count<Platform>::wake_up;

    static constexpr std::int64_t awake = (std::numeric_limits<std::int64_t>::min)();
    static constexpr std::int64_t never = (std::numeric_limits<std::int64_t>::max)();

    enum class woken { to_watch, to_go, by_the_end };
    struct end_of_watch {
        void* found;
        bool over;
    };

    // `workers`: that begin, and so are active.
    explicit basic_idle_workers(unsigned workers = 0) noexcept : state_(0), active_(workers) { publish(); }
    basic_idle_workers(const basic_idle_workers&) = delete;
    basic_idle_workers& operator=(const basic_idle_workers&) = delete;

    // ---- asked by those who make work -----------------------------------------------------------

    // Whether an active worker of this pool that has just queued something must `call`.
    bool unwatched() const noexcept {
        const std::uint64_t s = state_.load(std::memory_order_relaxed);
        return (s & idle_or_taken) != 0 && !taken(s);
    }

    // Whether the watcher naps and would rather be called when something is queued; a hint. (It
    // would not if at any look since its last nap it has seen a worker that deals with its queue by itself,
    // which is empty now and then: each nap would cost that worker a system call. Three no-op stages at
    // capacity 2, measured, two workers: 216 -> 165 ns an item.)
    bool listening() const noexcept { return listening_.load(std::memory_order_relaxed); }

    // Makes sure that somebody idle, if there is anybody, looks for work from now on, or at the
    // latest at the instant `deadline`. To be called after the work was published: by a seq_cst
    // store if it comes from outside; from a worker any will do, by the rule above.
    void call(std::int64_t deadline = awake) noexcept { alert(deadline)(); }

    // The same but for the system call, which whoever gets the result makes: for those from outside, whom
    // nothing but a lock keeps the pool alive for once the work was published.
    wake_up alert(std::int64_t deadline = awake) noexcept {
        // seq_cst; pairs with the stores in publish(): a worker that goes idle, or frees the watch,
        // looks for work after that
        const std::uint64_t s = state_.load(std::memory_order_seq_cst);
        if ((s & idle_or_taken) == 0) return {};
        if (!taken(s) && choose()) return sleepers_.turn_back();
        // The watch is taken, and the watcher announces each nap before its last look (seq_cst on
        // both sides). Who finds that somebody has just ended the nap may rely on that wake-up: the
        // watcher's next look comes after it.
        if (nap_end_.load(std::memory_order_seq_cst) <= deadline) return {};
        if (nap_end_.exchange(awake, std::memory_order_seq_cst) != awake) return watcher_.turn_back();
        return {};
    }

    // ---- asked by idle workers ------------------------------------------------------------------

    // A worker with nothing to do goes idle; true if the watch is its own now, else it is to sleep.
    bool go_idle() noexcept {
        std::lock_guard guard(lock_);
        --active_;
        ++idle_;
        const bool mine = !taken_;
        taken_ = true;
        publish();
        return mine;
    }

    // Sleeps until there is a reason to wake. Who `has_to_go` counts as active then.
    template <class HasToGo>
    woken sleep(HasToGo has_to_go) noexcept {
        for (;;) {
            const ticket t = sleepers_.prepare_wait();
            {
                std::lock_guard guard(lock_);
                if (chosen_ || closed_) {
                    sleepers_.cancel_wait();
                    return std::exchange(chosen_, false) ? woken::to_watch : woken::by_the_end;
                }
                if (has_to_go()) {
                    sleepers_.cancel_wait();
                    --idle_;
                    ++active_;
                    publish();
                    return woken::to_go;
                }
            }
            sleepers_.commit_wait(t);
        }
    }

    // Whether nobody works. Asked by the watcher: it stays so until the watcher leaves, or more are expected.
    bool all_idle() const noexcept { return active() == 0; }
    std::uint64_t active() const noexcept { return state_.load(std::memory_order_seq_cst) >> 32; }
    bool none_idle() const noexcept { return (state_.load(std::memory_order_seq_cst) & idle_or_taken) == 0; }

    // The watcher announces a nap, looks for work once more, then either naps or stays up. It has its
    // ticket before others can see the nap: so whoever ends it does wake the watcher, and those who find
    // it ended rely on that.
    ticket announce(std::int64_t nap_end, bool listen) noexcept {
        const ticket t = watcher_.prepare_wait();
        listening_.store(listen, std::memory_order_relaxed);
        nap_end_.store(nap_end, std::memory_order_seq_cst);
        return t;
    }
    void stay_up() noexcept {
        wake();
        watcher_.cancel_wait();
    }
    void nap(ticket t, std::int64_t timeout_ns) noexcept {
        watcher_.commit_wait(t, timeout_ns);
        wake();
    }

    // What the watcher does: searches, and naps in between, until there is something; or nobody will bring
    // anything any more; or it `has_to_go()`. `is_over()`: something true if the pool ends, and the same
    // again if nothing has happened in between. `search(now, since)`: all that an idle worker can find,
    // `since` as long as which it has done nothing. Searches without a nap until `spin_end`.
    template <class Worker, class Timers, class IsOver, class HasToGo, class Search>
    end_of_watch keep(Worker& me, std::int64_t spin_end, const Timers& timers, IsOver is_over,
                      HasToGo has_to_go, Search search) noexcept {
        const std::int64_t since = Platform::now();
        me.searches(true);
        for (std::int64_t length = first_nap;; length = smaller(2 * length, last_nap)) {
            std::int64_t now = Platform::now();
            const std::int64_t wait_end = now + ripening;
            auto last = search(now, since);
            bool chats = last.young;
            while (last.caught == nullptr && (now < spin_end || (last.young && now < wait_end))) {
                for (int i = 0; i < 8; ++i) Platform::pause();
                now = Platform::now();
                last = search(now, since);
                chats = chats || last.young;
            }
            if (last.caught != nullptr) return {last.caught, false};

            const bool alone = all_idle();
            const std::int64_t end = smaller(alone ? never : now + length, timers.next());
            const ticket t = announce(end, !chats);
            // Announced; now all is looked at again. seq_cst; pairs with call(). First whether the pool ends:
            // then nobody is expected any more.
            const auto ends = is_over();
            const bool none = all_idle();
            const bool over = ends && none && is_over() == ends;
            const bool goes = has_to_go();
            last = search(now, since);
            if (last.caught != nullptr || over || goes) {
                stay_up();
                return {last.caught, last.caught == nullptr && over};
            }
            if (timers.next() < end || (alone && !none)) {  // who was at work then may have gone idle since
                stay_up();
                continue;
            }
            me.searches(false);
            nap(t, end == never ? -1 : end - now);
            me.searches(true);
            if (alone) length = first_nap / 2;
        }
    }

    // The watcher has found work. The watch passes to a sleeper if others work as well: what they
    // queue meanwhile counts on it. If not, it is free, and the caller of this must `call` if
    // anything at all is left to find.
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

    // Nobody works and nothing will come: `sleep` returns false from now on.
    void close() noexcept {
        {
            std::lock_guard guard(lock_);
            closed_ = true;
        }
        sleepers_.notify_all();
    }

    // Workers that begin count as active before they do; and do so no more when they go, or have never begun.
    // seq_cst, as the state is; pairs with keep(): a watcher that thought nobody works thinks again.
    void expect(int workers) noexcept {
        {
            std::lock_guard guard(lock_);
            active_ += static_cast<std::uint64_t>(workers);
            publish();
        }
        call();
    }

    // Some workers may have to go: all that are idle look whether they have to. After that is so, seq_cst.
    void rouse() noexcept {
        sleepers_.notify_all();
        call();
    }

  private:
    static constexpr std::uint64_t idle_or_taken = 0xffff'ffff;
    static constexpr std::int64_t ripening = 10'000;     // ns for what is too young to be stolen
    static constexpr std::int64_t first_nap = 50'000;    // ns; the kernel's timer slack is as much
    static constexpr std::int64_t last_nap = 1'000'000;  // ns

    void wake() noexcept {
        listening_.store(false, std::memory_order_relaxed);
        nap_end_.store(awake, std::memory_order_relaxed);
    }

    static bool taken(std::uint64_t s) noexcept { return (s & 1) != 0; }
    void publish() noexcept {
        state_.store(active_ << 32 | idle_ << 1 | (taken_ ? 1U : 0U), std::memory_order_seq_cst);
    }

    // A sleeper, to be woken, becomes the watcher; false if there is one already, or nobody sleeps.
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
