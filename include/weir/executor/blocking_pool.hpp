// weir executor: threads for functions that block
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_BLOCKING_POOL_HPP
#define WEIR_EXECUTOR_BLOCKING_POOL_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/threaded_executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/thread_record.hpp>

#include <coroutine>   // for std::coroutine_handle
#include <cstddef>     // for std::size_t
#include <cstdint>     // for std::int64_t, std::uint64_t
#include <functional>  // for std::function

namespace weir {

/// Options of a `blocking_pool`, given by name.
struct blocking_pool_options {
    /// Called once on each thread, before the thread runs coroutines. `thread`: its number, from 0; a thread
    /// that replaces a blocked one has the number of the blocked one.
    std::function<void(unsigned thread)> on_thread_start = nullptr;
};

/// Runs coroutines that block their thread: in a read, a download, or a lock. All threads share one queue. At
/// most as many coroutines can block at a time as the pool has threads; for waits of the library see
/// Blocking.
///
/// Order: first come, first served. A coroutine that yields goes to the end of the queue.
/// Threads: any thread may post and add timers. A timer fires on time while a thread is idle, otherwise when
/// a thread ends its current resumption.
/// Lifetime: the destructor runs all posted coroutines, then joins the threads. All coroutines that use the
/// pool have to end before the threads are joined; no timer may be pending then.
/// Blocking: a coroutine that blocks in a wait of the library occupies no thread of the pool: another thread
/// works in its place, as in `thread_pool`.
/// Errors: std::terminate if an exception leaves a resumed coroutine, or if memory for the queue is
/// exhausted. The destructor called on a thread of the pool: a message and std::abort. For `std::exit` see
/// `thread_pool`, Exit.
/// Cost: a post takes a lock, and wakes an idle thread, if there is one: some microseconds. Use a
/// `thread_pool` for code that doesn't block.
template <class Platform = detail::standard_platform>
class basic_blocking_pool final : public detail::threaded_executor<Platform> {
    using base = detail::threaded_executor<Platform>;
    using base::inbox_;
    using base::timers_;

  public:
    /// \param threads how many functions can block at a time, on threads named "weir io 0", and so on.
    /// Errors: std::invalid_argument if 0, or negative; std::system_error if a thread can't be started;
    ///         exceptions of `on_thread_start`.
    explicit basic_blocking_pool(unsigned threads, const blocking_pool_options& options = {})
        : base(threads,
               "weir::blocking_pool: 0 threads, or fewer, can run nothing; ask for as many as functions "
               "are to block at a time",
               false, "weir io", options.on_thread_start) {
        this->start();
    }

    ~basic_blocking_pool() override {
        const bool is_mine = current().of == this;
        this->end(is_mine);
        if (is_mine) current().is_here = false;
    }

    /// The number of threads.
    [[nodiscard]] unsigned threads() const noexcept {
        return static_cast<unsigned>(this->traits().parallelism);
    }

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override { this->post_from_outside(h); }

    /// On a thread of this pool: another thread takes this thread's place for good. This thread sleeps until
    /// `done` is set, or until `limit`; then this thread only finishes its current resumption. If no other
    /// thread can be started, this thread sleeps for at most 1 ms. Returns true. On other threads: returns
    /// false.
    bool drive(detail::parker& done, time_point limit) override {
        this->check_threads();
        place& mine = current();
        if (mine.of != this) return false;
        this->sleep(done, limit, mine.leave());
        return true;
    }

    // `pending` misses no posted coroutine: a coroutine is first in the queue, then held by a thread outside
    // of wait(), then counted as resumed.
    void inspect(detail::executor_view& view) const override {
        view.resumed = resumed_.load(std::memory_order_seq_cst);
        const std::size_t resting = resting_.load(std::memory_order_seq_cst);
        view.busy = expected_.load(std::memory_order_seq_cst) - resting;
        const bool queued = !inbox_.empty();
        view.crowded = false;  // that all threads of a blocking pool block is no hint of a deadlock
        view.pending = queued || this->has_timer() || resting_.load(std::memory_order_seq_cst) != resting ||
                       resumed_.load(std::memory_order_seq_cst) != view.resumed;
    }

  private:
    using typename base::wake_up;

    // The state of one thread: its pool, its number in the pool, and whether the thread works under this
    // number (`is_here`). `is_here` is false on threads of no pool, after another thread has taken the number
    // over, and after the pool was destroyed on this thread.
    struct place final : detail::thread_place {
        basic_blocking_pool* of = nullptr;
        unsigned number = 0;
        bool is_here = false;

        bool leave() noexcept override {
            if (is_here && of->leave_place(number)) is_here = false;
            return !is_here;
        }
        void end() noexcept {
            belong_no_more();
            of = nullptr;
            is_here = false;
        }
        using detail::thread_place::belong_to_thread;
    };
    // Not inlined: a coroutine would keep the thread-local address when it continues on another thread.
    WEIR_NOINLINE static place& current() noexcept { return Platform::template of_thread<place>(); }

    bool work(unsigned number) noexcept override {
        place& mine = current();
        mine.of = this;
        mine.number = number;
        mine.belong_to_thread();
        mine.is_here = true;
        if (auto* const me = detail::basic_thread_record<Platform>::acquire()) {
            me->serve(static_cast<executor*>(this));
        }
        while (mine.is_here) {
            if (!this->is_wanted(number) && this->let_go(number, [] {})) {
                expect(-1);
                wake_all();  // this thread may have got a wake-up for work that others now have to do
                return false;
            }
            if (void* const next = take()) {
                run(next);
            } else if (is_last()) {
                if (inbox_.empty()) return false;  // else a coroutine was posted after take() looked
            } else {
                wait(number);
            }
        }
        expect(-1);
        return true;
    }

    void end_place() noexcept override { current().end(); }

    // Adds to the number of threads that work, or subtracts if negative. The number includes threads that
    // block in a wait and were replaced.
    void expect(int threads) noexcept override {
        expected_.fetch_add(static_cast<std::size_t>(threads), std::memory_order_seq_cst);
        if (threads < 0 && this->is_over()) wake_all();  // pairs with wait(): is_last() may be true now
    }
    // relaxed, here and in is_crowded(): sleep() reads the values repeatedly, and they order no data
    std::uint64_t num_resumed() const noexcept override { return resumed_.load(std::memory_order_relaxed); }
    bool is_crowded() const noexcept override {
        return resting_.load(std::memory_order_relaxed) == 0 &&
               (!inbox_.empty() || timers_.next() <= Platform::now());
    }
    // Whether the pool ends and no replaced thread still blocks: the coroutine of such a thread may post.
    // `wanted`: with the threads that sleep() has added, and can't remove while the pool ends.
    bool is_last() const noexcept {
        return this->is_over() && expected_.load(std::memory_order_seq_cst) <= this->wanted();
    }

    void run(void* address) noexcept {  // resumes the coroutine
        resumed_.fetch_add(1, std::memory_order_seq_cst);
        this->resume(std::coroutine_handle<>::from_address(address));
    }

    // Fires the timers that are due. Returns the next coroutine, or null. Before it returns a coroutine,
    // wakes another thread in two cases: more coroutines are queued, as one thread may have received the
    // notifications of two posts; or a timer is set and no thread is the timekeeper.
    void* take() noexcept {
        if (this->has_timer()) {
            timers_.fire(this->now(), [this](std::coroutine_handle<> h) { inbox_.push(h.address()); });
        }
        void* const next = inbox_.pop();
        if (next != nullptr && (!inbox_.empty() || lacks_timekeeper(timers_.next()))) wake_up_for_post()();
        return next;
    }

    // Whether there is a timer, and no timekeeper. seq_cst; pairs with wait(): either a timekeeper that goes
    // to work sees the thread that sleeps without limit, and wakes it; or the thread that is about to sleep
    // sees that there is no timekeeper.
    bool lacks_timekeeper(std::int64_t next_timer) const noexcept {
        return next_timer != timers_.never && !has_timekeeper_.load(std::memory_order_seq_cst);
    }

    // One idle thread, the timekeeper, sleeps until the next timer; the others sleep without limit. A post
    // wakes one of the others, or the timekeeper if no other thread sleeps. (In a `thread_pool` a post wakes
    // the thread that also keeps the time. In this pool, such posts took twice the processor time while a
    // timer is set: 12 us, not 6. A stage with four workers took 28 us an item, not 12.)
    void wait(unsigned number) noexcept {
        const bool keeps_time = !has_timekeeper_.exchange(true, std::memory_order_seq_cst);
        auto& event = keeps_time ? timekeeper_ : sleepers_;
        const auto ticket = event.prepare_wait();
        // The wait is announced: check once more for work. seq_cst; pairs with post(), add(), take(),
        // expect(), join() and leave(), which change what is checked here, and then wake a thread.
        const std::int64_t until = timers_.next();
        if (lacks_timekeeper(until) || !inbox_.empty() || is_last() || !this->is_wanted(number)) {
            event.cancel_wait();
        } else {
            const bool without_limit = !keeps_time || until == timers_.never;
            resting_.fetch_add(1, std::memory_order_seq_cst);
            event.commit_wait(ticket, without_limit ? -1 : detail::time_between(Platform::now(), until));
            resting_.fetch_sub(1, std::memory_order_seq_cst);
        }
        if (keeps_time) has_timekeeper_.store(false, std::memory_order_seq_cst);
    }

    // Wakes the timekeeper only if no other thread sleeps: else the sleeper would have to be woken, too, to
    // become the timekeeper.
    wake_up wake_up_for_post() noexcept override {
        const wake_up sleeper = sleepers_.prepare_notify();
        return sleeper ? sleeper : timekeeper_.prepare_notify();
    }
    wake_up wake_up_for_timer(std::int64_t) noexcept override {
        const wake_up keeper = timekeeper_.prepare_notify();
        return keeper ? keeper : sleepers_.prepare_notify();  // a woken sleeper becomes the timekeeper
    }
    void wake_all() noexcept override {
        sleepers_.notify_all();
        timekeeper_.notify_all();
    }

    detail::basic_event_count<Platform> sleepers_;
    detail::basic_event_count<Platform> timekeeper_;                  // at most one thread waits
    typename Platform::template atomic<bool> has_timekeeper_{false};  // there is a timekeeper
    typename Platform::template atomic<std::size_t> expected_{0};     // see expect()
    typename Platform::template atomic<std::size_t> resting_{0};      // of `expected_`: threads in wait()
    typename Platform::template atomic<std::uint64_t> resumed_{0};
};

/// The pool to use; only tests use another platform.
using blocking_pool = basic_blocking_pool<>;

WEIR_COMPILED(class basic_blocking_pool<detail::standard_platform>);

}  // namespace weir

#endif
