// weir executor, internal: what the pools have in common: threads, what comes from outside, and timers
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_THREADED_EXECUTOR_HPP
#define WEIR_EXECUTOR_THREADED_EXECUTOR_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/forked.hpp>
#include <weir/executor/inbox.hpp>
#include <weir/executor/locked_timers.hpp>
#include <weir/executor/pool_threads.hpp>
#include <weir/executor/process_exit.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/event_count.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/thread_record.hpp>

#include <coroutine>   // for std::coroutine_handle
#include <cstdint>     // for std::int64_t
#include <cstdio>      // for std::fprintf
#include <exception>   // for std::exception
#include <functional>  // for std::function
#include <stdexcept>   // for std::invalid_argument
#include <utility>     // for std::exchange, std::move

namespace weir::detail {

// Who has posted something, or added a timer, may find the pool gone as soon as that can be taken: what was
// brought may have been the last to run there, and who waits for that destroys the pool. So all that touches
// the pool happens before, under a lock, and what is left to do is a call that uses an address only.
template <class Platform>
class threaded_executor : public executor {
  public:
    void add(timer& t) noexcept final {
        using added = typename basic_locked_timers<Platform>::added;
        const std::int64_t deadline = t.deadline().time_since_epoch().count();
        const std::coroutine_handle<> waiter = t.waiter();
        wake_up wake;
        const added what = timers_.add(t, [&] { wake = who_sees(deadline); });
        if (what == added::refused) return post(waiter);
        wake();
    }

    void cancel(timer& t) noexcept final {
        const std::coroutine_handle<> waiter = t.waiter();
        if (timers_.cancel(t, now())) post(waiter);
    }

    [[nodiscard]] time_point now() const noexcept final { return time_point(duration(Platform::now())); }

  protected:
    using wake_up = typename basic_event_count<Platform>::wake_up;

    // The threads are called `name` and their number, and call `on_start` first. Errors:
    // `std::invalid_argument`, which says `refusal`, for no threads, or a negative number.
    threaded_executor(unsigned threads, const char* refusal, bool goes_on_with_forks, const char* name,
                      std::function<void(unsigned)> on_start)
        : executor({.parallelism = threads != 0 && !was_negative(threads)
                                       ? threads
                                       : throw std::invalid_argument(refusal),
                    .has_threads = true,
                    .continues_with_forks = goes_on_with_forks,
                    .counts_wakes = true}),
          threads_(name, std::move(on_start)) {}
    ~threaded_executor() override = default;

    // Whom to wake for what came from outside; and for a new first timer.
    virtual wake_up who_takes() noexcept = 0;
    virtual wake_up who_sees(std::int64_t deadline) noexcept = 0;
    // The pool ends.
    virtual void wake_all() noexcept = 0;
    // What the thread of a place does there, until its end; or until it has left the place to another, which
    // is what it returns.
    virtual bool work(unsigned place) noexcept = 0;
    // How many coroutines it has resumed; and whether more are queued, or due, and no thread is free for
    // them.
    virtual std::uint64_t num_resumed() const noexcept = 0;
    virtual bool is_crowded() const noexcept = 0;
    // Before some of them begin: how many there are to be. May throw.
    virtual void make_workers(unsigned threads) { static_cast<void>(threads); }
    // How many threads are about to begin; a negative number: that many could not.
    virtual void expect(int threads) noexcept { static_cast<void>(threads); }

    // Not inlined: few post from outside.
    WEIR_NOINLINE void post_from_outside(std::coroutine_handle<> h) noexcept {
        if (orphaned()) return;  // nobody would take it, and a thread of the parent may hold the lock
        inbox_.push(h.address(), [this] { return who_takes(); })();
    }

    void check_threads() const {
        if (orphaned()) throw forked_error();
    }

    // In the pool's constructor. Where one can't be started, the others end.
    void start() {
        try {
            set_threads(static_cast<unsigned>(traits().parallelism));
        } catch (...) {
            join();
            throw;
        }
    }
    // Those too many end when they see by `is_wanted` that they are.
    void set_threads(unsigned n) {
        threads_.set(
            n, [this](unsigned all) { make_workers(all); }, [this](int more) { expect(more); },
            [this](unsigned i) { return work(i); });
    }
    unsigned asked() const noexcept { return threads_.asked(); }
    unsigned wanted() const noexcept { return threads_.wanted(); }
    bool is_wanted(unsigned thread) const noexcept { return threads_.wants(thread); }
    template <class Last>
    bool let_go(unsigned place, Last last) noexcept {
        return threads_.let_go(place, last);
    }

    // seq_cst; pairs with join(): who goes to sleep asks after it has announced that.
    bool is_over() const noexcept { return stopping_.load(std::memory_order_seq_cst); }
    bool has_timer() const noexcept { return timers_.next() != timers_.never; }

    // On the thread that has the place, which is about to block: another thread works there from now on. Both
    // count as expected until the first stands by. False: there is none to be had now, which is said once.
    bool leave_place(unsigned place) noexcept {
        expect(1);
        try {
            threads_.replace(place, [this](unsigned i) { return work(i); });
            return true;
        } catch (const std::exception& e) {
            expect(-1);
            if (!has_complained_.exchange(true, std::memory_order_relaxed)) {
                std::fprintf(stderr,
                             "weir: a coroutine blocks its thread of a pool, and no other thread can be "
                             "started in its place (%s): what is queued there waits\n",
                             e.what());
            }
            return false;
        } catch (...) {
            expect(-1);
            return false;
        }
    }
    // What that thread does then: sleeps until `done` is set, or until `limit`. Meanwhile all others may come
    // to be in something that waits for this very thread, such as a lock that it has: where nothing was
    // resumed for a while, and something is queued, threads are added, one after the other, until this one
    // goes on. `has_left`: whether another works in its place; if not, returns after a moment, for the next
    // try.
    void sleep(parker& done, time_point limit, bool has_left) noexcept {
        auto* const me = basic_thread_record<Platform>::mine();
        if (me != nullptr) me->sleeps(true);
        int added = 0;
        std::uint64_t seen = num_resumed();
        for (std::int64_t nap = has_left ? first_nap : retry;; nap = smaller(2 * nap, longest_nap)) {
            std::int64_t left = nap;
            if (limit != (time_point::max)()) {
                left = smaller(left, time_between(Platform::now(), limit.time_since_epoch().count()));
            }
            if (left <= 0 || done.wait(left) || !has_left) break;
            const std::uint64_t resumed = num_resumed();
            if (std::exchange(seen, resumed) == resumed && is_crowded() && add(1)) ++added;
        }
        if (me != nullptr) me->sleeps(false);
        for (; added > 0; --added) add(-1);
    }

    // In the pool's destructor: what is posted runs, and the threads end. `is_mine`: this is one of them,
    // which can't wait for itself. While the process ends by `exit`, nobody may ever come to end what runs
    // here, or what waits: it is left as it is, once the threads have come out of what they run.
    void end(bool is_mine) noexcept {
        const bool exits = process_end::has_begun();
        if (is_mine && !exits) {
            executor_users::fail(
                "weir: a pool is destroyed by a coroutine that runs on it, and would wait for itself; let "
                "the thread that made the pool destroy it, after what runs there has ended");
        }
        if (exits && (is_mine || users().has_any() || has_timer())) return leave(is_mine);
        join();
        users().abort_if_any(has_timer());
    }

    basic_inbox<Platform> inbox_;
    basic_locked_timers<Platform> timers_;

  private:
    void join() noexcept {
        if (!orphaned()) {
            threads_.close();
            stopping_.store(true, std::memory_order_seq_cst);
            wake_all();
        }
        threads_.join();
    }
    void leave(bool is_mine) noexcept {
        users().leave(static_cast<executor*>(this), left_executor::functions());
        if (orphaned()) return threads_.join();
        threads_.dismiss();
        stopping_.store(true, std::memory_order_seq_cst);
        wake_all();
        threads_.leave(is_mine ? 1 : 0, longest_leave);
        let_consumers_block();
    }

    // So many places more, or less.
    bool add(int places) noexcept {
        const bool is_so = threads_.add_extra(
            places, [this](unsigned all) { make_workers(all); }, [this](int more) { expect(more); },
            [this](unsigned i) { return work(i); });
        if (is_so && places < 0) wake_all();
        return is_so;
    }

    // In ns. The first is long for what computes, and short for what hangs.
    static constexpr std::int64_t first_nap = 10'000'000;
    static constexpr std::int64_t longest_nap = 160'000'000;
    static constexpr std::int64_t retry = 1'000'000;
    // Long enough to come out of anything short; a function that takes longer is left where it is. In ns.
    static constexpr std::int64_t longest_leave = 100'000'000;

    typename Platform::template atomic<bool> has_complained_{false};
    typename Platform::template atomic<bool> stopping_{false};
    basic_pool_threads<Platform> threads_;
};

WEIR_COMPILED(class threaded_executor<standard_platform>);

}  // namespace weir::detail

#endif
