// weir asio, internal: the timers of an executor on one of Asio's
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_IO_TIMERS_HPP
#define WEIR_ASIO_IO_TIMERS_HPP

#include <weir/asio/library.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/locked_timers.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/platform.hpp>

#include WEIR_ASIO_FILE(any_io_executor.hpp)
#include WEIR_ASIO_FILE(post.hpp)
#include WEIR_ASIO_FILE(steady_timer.hpp)
#include WEIR_ASIO_FILE(strand.hpp)

#include <algorithm>  // for std::clamp
#include <chrono>     // for std::chrono::hours
#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::uint64_t
#include <memory>     // for std::enable_shared_from_this

namespace weir::asio::inline WEIR_ASIO_KIND::detail {

// Stands for this Asio where an executor is asked what it runs on: the answer is an `any_io_executor`.
inline constexpr char this_library = 0;

// The timers of an executor, woken by one of Asio's, which is set to the earliest of them; and what that
// executor has counted. Shared, as Asio may still have a handler, or be on the way out of one, when the
// executor is gone.
class io_timers : public std::enable_shared_from_this<io_timers> {
  public:
    io_timers(executor& ex, const lib::any_io_executor& on) : executor_(&ex), strand_(on), timer_(strand_) {}

    using count = weir::detail::standard_platform::atomic<std::uint64_t>;

    // Of coroutines, ever: begun to be resumed, and suspended or ended again.
    count begun{0}, ended{0};

    // As those of the executor, which says its clock.
    void add(timer& t) noexcept {
        using added = basic_locked_timers<>::added;
        const std::coroutine_handle<> waiter = t.waiter();
        const auto me = shared_from_this();  // once it was added it may fire, and the executor be gone
        const added what = queue_.add(t);
        if (what == added::refused) executor_->post(waiter);
        if (what == added::earliest) arm();
    }
    void cancel(timer& t) noexcept {
        const std::coroutine_handle<> waiter = t.waiter();
        if (!queue_.cancel(t, now())) return;
        // A timer that is too early does no harm; one for nobody would keep `io.run()` from returning.
        if (queue_.next() == queue_.never) arm();
        executor_->post(waiter);
    }

  private:
    // A timer of Asio is for one thread at a time.
    void arm() {
        lib::post(strand_, [self = shared_from_this()] { self->arm_here(); });
    }

    void arm_here() {
        if (queue_.next() == queue_.never) {
            timer_.cancel();
            return;
        }
        const duration left = time_point(duration(queue_.next())) - now();
        timer_.expires_after(std::clamp<duration>(left, duration(0), std::chrono::hours(1)));
        timer_.async_wait([self = shared_from_this()](const auto& error) {
            if (!error) self->fire();
        });
    }

    // Where the executor is gone there is nothing in the queue.
    void fire() {
        if (queue_.next() == queue_.never) return;
        queue_.fire(now(), [this](std::coroutine_handle<> h) { executor_->post(h); });
        arm_here();
    }

    // That of `executor::now`.
    static time_point now() noexcept { return time_point(duration(weir::detail::standard_platform::now())); }

    executor* executor_;
    basic_locked_timers<> queue_;
    lib::strand<lib::any_io_executor> strand_;
    lib::steady_timer timer_;
};

}  // namespace weir::asio::inline WEIR_ASIO_KIND::detail

#endif
