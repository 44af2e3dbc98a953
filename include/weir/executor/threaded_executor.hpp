// weir executor, internal: what the pools have in common: threads, what comes from outside, and timers
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_THREADED_EXECUTOR_HPP
#define WEIR_EXECUTOR_THREADED_EXECUTOR_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/forked.hpp>
#include <weir/executor/inbox.hpp>
#include <weir/executor/locked_timers.hpp>
#include <weir/executor/pool_threads.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/event_count.hpp>

#include <coroutine>   // for std::coroutine_handle
#include <cstdint>     // for std::int64_t
#include <functional>  // for std::function
#include <stdexcept>   // for std::invalid_argument
#include <utility>     // for std::move

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
    ~threaded_executor() = default;

    // Whom to wake for what came from outside; and for a new first timer.
    virtual wake_up who_takes() noexcept = 0;
    virtual wake_up who_sees(std::int64_t deadline) noexcept = 0;
    // The pool ends.
    virtual void wake_all() noexcept = 0;
    // What each thread does, from its beginning to its end.
    virtual void work(unsigned thread) noexcept = 0;
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
            [this](unsigned i) { work(i); });
    }
    unsigned wanted() const noexcept { return threads_.wanted(); }
    bool is_wanted(unsigned thread) const noexcept { return threads_.wants(thread); }
    bool let_go(unsigned thread) noexcept { return threads_.let_go(thread); }

    // seq_cst; pairs with join(): who goes to sleep asks after it has announced that.
    bool is_over() const noexcept { return stopping_.load(std::memory_order_seq_cst); }
    bool has_timer() const noexcept { return timers_.next() != timers_.never; }

    // In the pool's destructor: what is posted runs, and the threads end.
    void end() noexcept {
        join();
        users().check(has_timer());
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

    typename Platform::template atomic<bool> stopping_{false};
    basic_pool_threads<Platform> threads_;
};

WEIR_COMPILED(class threaded_executor<standard_platform>);

}  // namespace weir::detail

#endif
