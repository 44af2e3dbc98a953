// weir executor, internal: the common base of the pools: threads, timers, and coroutines posted from outside
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_THREADED_EXECUTOR_HPP
#define WEIR_EXECUTOR_THREADED_EXECUTOR_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/executor_users.hpp>
#include <weir/executor/locked_timers.hpp>
#include <weir/executor/pool_threads.hpp>
#include <weir/executor/ready_queue.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/thread_record.hpp>

#include <coroutine>   // for std::coroutine_handle
#include <cstdint>     // for std::int64_t
#include <cstdio>      // for std::fprintf
#include <cstring>     // for std::memcpy
#include <exception>   // for std::exception
#include <functional>  // for std::function
#include <stdexcept>   // for std::invalid_argument
#include <utility>     // for std::exchange, std::move

namespace weir::detail {

// An executor without behaviour. While a process ends by `std::exit`, a pool may be destroyed while threads
// that can't be joined still use it. The pool's destructor then redirects the virtual calls of those threads
// to this class.
class left_executor final : public executor {
  public:
    using executor::post;
    void post(std::coroutine_handle<>) noexcept override {}
    void add(timer&) noexcept override {}
    void cancel(timer&) noexcept override {}
    bool drive(flag&, time_point) override { return false; }

    // The address of the virtual function table. In the ABIs of all compilers that this library is tested
    // with, an object begins with this address.
    static void* functions() {
        static const left_executor& one = *new left_executor;
        void* table = nullptr;
        std::memcpy(static_cast<void*>(&table), static_cast<const void*>(&one), sizeof table);
        return table;
    }
};

// Lifetime rule of `post` and `add`: as soon as another thread can take the coroutine or timer, the pool may
// be destroyed, as that coroutine may have been the last one. So these functions access the pool only under
// the lock, before the coroutine or timer can be taken. Afterwards these functions only wake a thread, by a
// `wake_up`: it holds an address in the pool, and reads no memory there.
template <class Platform>
class threaded_executor : public executor {
  public:
    void add(timer& t) noexcept final {
        using added = typename basic_locked_timers<Platform>::added;
        const std::int64_t deadline = t.deadline().time_since_epoch().count();
        const std::coroutine_handle<> waiter = t.waiter();
        wake_up wake;
        const added result = timers_.add(t, [&] { wake = wake_up_for_timer(deadline); });
        if (result == added::refused) return post(waiter);
        wake();
    }

    void cancel(timer& t) noexcept final {
        const std::coroutine_handle<> waiter = t.waiter();
        if (timers_.cancel(t, now())) post(waiter);
    }

    [[nodiscard]] time_point now() const noexcept final { return time_point(duration(Platform::now())); }

  protected:
    using wake_up = typename basic_event_count<Platform>::wake_up;

    // Threads are named `name` and their number, and call `on_start` first. Errors: `std::invalid_argument`
    // with the message `refusal`, for no threads, or a negative number.
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

    // `wake_up_for_post` chooses the thread to wake for a coroutine that was posted from outside,
    // `wake_up_for_timer` for a timer that is now the earliest. Called under the lock of the inbox or of the
    // timers. The call of the result wakes the thread, if one has to be woken.
    virtual wake_up wake_up_for_post() noexcept = 0;
    virtual wake_up wake_up_for_timer(std::int64_t deadline) noexcept = 0;
    // Wakes all idle threads: each checks whether it is surplus (not wanted), and whether the pool ends.
    virtual void wake_all() noexcept = 0;
    // The main loop of the thread that works as number `place`. Returns false if the pool ends or the thread
    // is surplus; true if another thread has taken the place meanwhile.
    virtual bool work(unsigned place) noexcept = 0;
    // Called when the thread stops working for the pool: the thread then counts as a thread of no pool. After
    // this call, destructors of `thread_local` objects may still wait on the thread, also for coroutines of
    // this pool.
    virtual void end_place() noexcept {}
    // The number of resumptions so far.
    virtual std::uint64_t num_resumed() const noexcept = 0;
    // Whether coroutines are queued, or timers due, and no thread is free.
    virtual bool is_crowded() const noexcept = 0;
    // Makes what threads need, before they begin. `threads`: the number of all threads. May throw.
    virtual void make_workers(unsigned threads) { static_cast<void>(threads); }
    // Counts threads that work, or will at once. `threads`: how many are about to begin; negative: how many
    // end, or could not begin.
    virtual void expect(int threads) noexcept { static_cast<void>(threads); }

    // Not inlined: few coroutines are posted from outside.
    WEIR_NOINLINE void post_from_outside(std::coroutine_handle<> h) noexcept {
        if (orphaned()) return;  // no thread would take it, and a thread of the parent may hold the lock
        inbox_.push(h.address(), [this] { return wake_up_for_post(); })();
    }

    void check_threads() const {
        if (orphaned()) throw forked_error();
    }

    // Called by the pool's constructor: starts the threads. Before an exception leaves this function, the
    // threads that had begun have ended.
    void start() {
        try {
            set_threads(static_cast<unsigned>(traits().parallelism));
        } catch (...) {
            join();
            throw;
        }
    }
    // Sets the number of threads to `n`. Surplus threads end when they see that `is_wanted` is false.
    void set_threads(unsigned n) {
        threads_.set(
            n, [this](unsigned all) { make_workers(all); }, [this](int more) { expect(more); },
            [this](unsigned i) { return work_to_end(i); });
    }
    // The number of threads asked for by `set_threads`; the number with those that `sleep` has added; whether
    // the thread with this number is still wanted.
    unsigned asked() const noexcept { return threads_.asked(); }
    unsigned wanted() const noexcept { return threads_.wanted(); }
    bool is_wanted(unsigned thread) const noexcept { return threads_.wants(thread); }
    // Called by the thread at a surplus place. True: the thread has to end, and `last()` was called before
    // another thread can take the place. False: the place is wanted again.
    template <class Last>
    bool let_go(unsigned place, Last last) noexcept {
        return threads_.let_go(place, last);
    }

    // Whether the pool ends. seq_cst; pairs with join() and leave(): an idle thread announces its sleep
    // before it reads the flag. join() and leave() set the flag before they wake all threads.
    bool is_over() const noexcept { return stopping_.load(std::memory_order_seq_cst); }
    bool has_timer() const noexcept { return timers_.next() != timers_.never; }

    // Called by the thread that works as number `place` and is about to block: another thread takes over the
    // place. `expect` counts both threads until the blocked one comes back and becomes a spare, which waits
    // until the place needs a thread again. False: no thread could be started, or `on_start` threw. The first
    // of these errors that is a `std::exception` is printed.
    bool leave_place(unsigned place) noexcept {
        expect(1);
        try {
            threads_.replace(place, [this](unsigned i) { return work_to_end(i); });
            return true;
        } catch (const std::exception& e) {
            expect(-1);
            // relaxed: only lets one thread print
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
    // Blocks the calling thread, after `leave_place`, until `done` is set, or until `limit`. All other
    // threads may come to wait for this thread meanwhile, for instance for a lock that this thread holds. So
    // threads are added, one after the other, while `is_crowded` returns true and no coroutine is resumed.
    // The added threads are removed at the end. `has_left`: another thread has the place. If none has,
    // returns after `retry` at the latest, and the caller calls `leave_place` again.
    void sleep(parker& done, time_point limit, bool has_left) noexcept {
        auto* const me = basic_thread_record<Platform>::mine();
        if (me != nullptr) me->set_sleeping(true);
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
        if (me != nullptr) me->set_sleeping(false);
        for (; added > 0; --added) add(-1);
    }

    // Called by the pool's destructor: posted coroutines run, and the threads end. `is_mine`: the calling
    // thread is one of them, and can't join itself: ends the program, unless `std::exit` was called. While
    // the process ends by `std::exit`, waiting coroutines may never resume. If the pool may have such
    // coroutines, calls `leave`, which waits for the current resumptions only.
    void end(bool is_mine) noexcept {
        const bool exits = process_end::has_begun();  // the process ends by `std::exit`
        if (is_mine && !exits) {
            executor_users::fail(
                "weir: a pool is destroyed by a coroutine that runs on it, and would wait for itself; let "
                "the thread that made the pool destroy it, after what runs there has ended");
        }
        if (exits && (is_mine || users().has_any() || has_timer())) return leave(is_mine);
        join();
        users().abort_if_any(has_timer());
    }

    basic_inbox<Platform> inbox_;  // posted coroutines, except those in the queues of workers
    basic_locked_timers<Platform> timers_;

  private:
    // Calls `work`, and `end_place` if the thread ends. Returns the result of `work`.
    bool work_to_end(unsigned i) noexcept {
        const bool may_work_again = work(i);
        if (!may_work_again) end_place();
        return may_work_again;
    }

    void join() noexcept {
        if (!orphaned()) {
            threads_.close();
            stopping_.store(true, std::memory_order_seq_cst);
            wake_all();
        }
        threads_.join();
    }
    void leave(bool is_mine) noexcept {
        users().leave_behind(static_cast<executor*>(this), left_executor::functions());
        if (orphaned()) return threads_.join();
        threads_.dismiss();
        stopping_.store(true, std::memory_order_seq_cst);
        wake_all();
        threads_.leave(is_mine ? 1 : 0, longest_leave);
        let_consumers_block();  // threads of the program may still take items of a run
    }

    // Adds a place for a thread (`places` 1), or removes an added one (-1) and wakes all threads, so that a
    // surplus thread ends. False: the pool is closed, or no thread could be started.
    bool add(int places) noexcept {
        const bool done = threads_.add_extra(
            places, [this](unsigned all) { make_workers(all); }, [this](int more) { expect(more); },
            [this](unsigned i) { return work_to_end(i); });
        if (done && places < 0) wake_all();
        return done;
    }

    // In ns: the naps in `sleep`; after each nap, a thread is added if necessary. Most resumptions take less
    // than the first nap, and cause no added thread. `retry`: the nap if no other thread has the place.
    static constexpr std::int64_t first_nap = 10'000'000;
    static constexpr std::int64_t longest_nap = 160'000'000;
    static constexpr std::int64_t retry = 1'000'000;
    // In ns: how long `leave` waits for the threads to end. Threads that run longer are detached.
    static constexpr std::int64_t longest_leave = 100'000'000;

    typename Platform::template atomic<bool> has_complained_{false};  // see leave_place()
    typename Platform::template atomic<bool> stopping_{false};        // see is_over()
    basic_pool_threads<Platform> threads_;
};

WEIR_COMPILED(class threaded_executor<standard_platform>);

}  // namespace weir::detail

#endif
