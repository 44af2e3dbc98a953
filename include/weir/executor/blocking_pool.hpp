// weir executor: threads for functions that block
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_BLOCKING_POOL_HPP
#define WEIR_EXECUTOR_BLOCKING_POOL_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/executor_view.hpp>
#include <weir/executor/pool_options.hpp>
#include <weir/executor/threaded_executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/event_count.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/thread_place.hpp>
#include <weir/platform/thread_record.hpp>

#include <algorithm>    // for std::max, std::min
#include <coroutine>    // for std::coroutine_handle
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <type_traits>  // for std::is_convertible_v

namespace weir {

/// Runs coroutines that block their thread: in a read, a download, a lock. One queue for all
/// threads; so many block at a time as there are threads.
///
/// Order: first come, first served, a yield too.
/// Threads: any may post and add timers. A timer fires on time while a thread is free, else when
/// the first becomes free.
/// Lifetime: the destructor runs what is still posted, then joins. All coroutines that use the pool
/// have to end by that; no timer may be pending.
/// Blocking: as of `thread_pool`: a coroutine that blocks in a wait of the library is none of those that
/// block at a time, as another thread works in its place.
/// Errors: an exception that leaves a resumed coroutine, or no memory for the queue to grow:
/// std::terminate. The destructor on one of its own threads, and `std::exit`: as of `thread_pool`.
/// Cost: a lock and a wake-up a hand-over, some microseconds; what doesn't block belongs on a
/// `thread_pool`.
template <class Platform = detail::standard_platform>
class basic_blocking_pool final : public detail::threaded_executor<Platform> {
    using base = detail::threaded_executor<Platform>;
    using base::inbox_;
    using base::timers_;

  public:
    /// \param threads how many functions can block at a time, on threads called "weir io 0", and so on.
    /// Errors: std::invalid_argument if 0, or negative; std::system_error if a thread can't be started; what
    ///         `on_thread_start` throws.
    explicit basic_blocking_pool(unsigned threads, const blocking_pool_options& options = {})
        : base(threads,
               "weir::blocking_pool: 0 threads, or fewer, can run nothing; ask for as many as functions "
               "are to block at a time",
               false, "weir io", options.on_thread_start) {
        this->start();
    }

    /// Rejects options without names at compile time.
    template <class Options>
        requires(!std::is_convertible_v<Options, const blocking_pool_options&>)
    basic_blocking_pool(unsigned threads, Options&&) : basic_blocking_pool(threads) {
        static_assert(std::is_convertible_v<Options, const blocking_pool_options&>,
                      "weir: the options of a pool are given by their names: weir::blocking_pool io(12, "
                      "{.on_thread_start = name_it})");
    }

    ~basic_blocking_pool() override {
        const bool is_mine = current().of == this;
        this->end(is_mine);
        if (is_mine) current().is_here = false;
    }

    /// How many threads it has.
    [[nodiscard]] unsigned threads() const noexcept {
        return static_cast<unsigned>(this->traits().parallelism);
    }

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override { this->post_from_outside(h); }

    /// On a thread of this pool: another one works in its place from now on, as long as this one has not come
    /// back from what it runs; sleeps until `done` is set or poked, or until `limit`. Elsewhere: false.
    bool drive(detail::parker& done, time_point limit) override {
        this->check_threads();
        place& mine = current();
        if (mine.of != this) return false;
        this->sleep(done, limit, mine.leave());
        return true;
    }

    // A coroutine on its way is in the queue, or a thread that doesn't rest has it, or it was counted.
    void inspect(detail::executor_view& view) const override {
        view.resumed = resumed_.load(std::memory_order_seq_cst);
        const std::size_t resting = resting_.load(std::memory_order_seq_cst);
        view.busy = expected_.load(std::memory_order_seq_cst) - resting;
        const bool queued = !inbox_.empty();
        view.crowded = false;  // its threads are there to be blocked
        view.pending = queued || this->has_timer() || resting_.load(std::memory_order_seq_cst) != resting ||
                       resumed_.load(std::memory_order_seq_cst) != view.resumed;
    }

  private:
    using typename base::wake_up;

    // What the calling thread is: of whatever pool, which of those who take from its queue; unless it has
    // left that to another.
    struct place final : detail::thread_place {
        basic_blocking_pool* of = nullptr;
        unsigned number = 0;
        bool is_here = false;

        bool leave() noexcept override {
            if (is_here && of->leave_place(number)) is_here = false;
            return !is_here;
        }
        using detail::thread_place::belong_to_thread;
    };
    // Not inlined: see WEIR_NOINLINE.
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
                wake_all();  // it may have been woken for what others have to do now
                return false;
            }
            if (void* const next = take()) {
                run(next);
            } else if (is_last()) {
                if (inbox_.empty()) return false;  // else it was posted after the look, before the end
            } else {
                wait(number);
            }
        }
        expect(-1);
        return true;
    }

    // Threads that have begun to work, those included that have left their places and not come back yet.
    void expect(int threads) noexcept override {
        expected_.fetch_add(static_cast<std::size_t>(threads), std::memory_order_seq_cst);
        if (threads < 0 && this->is_over()) wake_all();  // pairs with is_last()
    }
    std::uint64_t num_resumed() const noexcept override { return resumed_.load(std::memory_order_relaxed); }
    bool is_crowded() const noexcept override {
        return resting_.load(std::memory_order_relaxed) == 0 &&
               (!inbox_.empty() || timers_.next() <= Platform::now());
    }
    // Whether nothing will come any more but what is there.
    bool is_last() const noexcept {
        return this->is_over() && expected_.load(std::memory_order_seq_cst) <= threads();
    }

    void run(void* address) noexcept {
        resumed_.fetch_add(1, std::memory_order_seq_cst);
        this->resume(std::coroutine_handle<>::from_address(address));
    }

    // The next coroutine, or null. If there are more, wakes another thread: a notification may have
    // hit one thread for two posts; and if nobody keeps the time any more.
    void* take() noexcept {
        if (this->has_timer()) {
            timers_.fire(this->now(), [this](std::coroutine_handle<> h) { inbox_.push(h.address()); });
        }
        void* const next = inbox_.pop();
        if (next != nullptr && (!inbox_.empty() || is_unkept(timers_.next()))) who_takes()();
        return next;
    }

    // Whether there is a timer, and nobody who sleeps until then. seq_cst; pairs with wait(): who gives up
    // keeping the time and goes to work sees who sleeps without limit, or that one sees it.
    bool is_unkept(std::int64_t next_timer) const noexcept {
        return next_timer != timers_.never && !kept_.load(std::memory_order_seq_cst);
    }

    // One idle thread, the timekeeper, sleeps until the next timer; the others without limit. (The watch of
    // thread_pool, tried in place of this, takes twice the processor for a hand-over while a timer is set, 12
    // us instead of 6, as it is the timekeeper that it wakes; and of several that are posted at once each is
    // started by the one before: 28 us an item of a pipeline with four slots here, instead of 12.)
    void wait(unsigned number) noexcept {
        const bool mine = !kept_.exchange(true, std::memory_order_seq_cst);
        auto& event = mine ? keeper_ : sleepers_;
        const auto ticket = event.prepare_wait();
        // Announced; now everything is looked at once more. seq_cst; pairs with post(), add(),
        // join(), take()
        const std::int64_t until = timers_.next();
        if (is_unkept(until) || !inbox_.empty() || is_last() || !this->is_wanted(number)) {
            event.cancel_wait();
        } else {
            const bool without_limit = !mine || until == timers_.never;
            resting_.fetch_add(1, std::memory_order_seq_cst);
            event.commit_wait(ticket,
                              without_limit ? -1 : (std::max<std::int64_t>)(until - Platform::now(), 0));
            resting_.fetch_sub(1, std::memory_order_seq_cst);
        }
        if (mine) kept_.store(false, std::memory_order_seq_cst);
    }

    // The timekeeper last: somebody else would have to take over from it.
    wake_up who_takes() noexcept override {
        const wake_up sleeper = sleepers_.turn_back();
        return sleeper ? sleeper : keeper_.turn_back();
    }
    wake_up who_sees(std::int64_t) noexcept override {
        const wake_up keeper = keeper_.turn_back();
        return keeper ? keeper : sleepers_.turn_back();  // any will do: it becomes the timekeeper
    }
    void wake_all() noexcept override {
        sleepers_.notify_all();
        keeper_.notify_all();
    }

    detail::basic_event_count<Platform> sleepers_;
    detail::basic_event_count<Platform> keeper_;  // one waits here at most
    typename Platform::template atomic<bool> kept_{false};
    // For a watchdog.
    typename Platform::template atomic<std::size_t> expected_{0};
    typename Platform::template atomic<std::size_t> resting_{0};
    typename Platform::template atomic<std::uint64_t> resumed_{0};
};

/// The one to use; only tests have another platform.
using blocking_pool = basic_blocking_pool<>;

WEIR_COMPILED(class basic_blocking_pool<detail::standard_platform>);

}  // namespace weir

#endif
