// weir asio, internal: the timers of an executor on one of Asio's
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_IO_TIMERS_HPP
#define WEIR_ASIO_IO_TIMERS_HPP

#include <weir/asio/library.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/locked_timers.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/platform.hpp>

#include <algorithm>  // for std::clamp
#include <chrono>     // for std::chrono::hours
#include <cstdint>    // for std::uint64_t

namespace weir::asio::inline WEIR_ASIO_KIND::detail {

// Stands for this Asio where an executor is asked what it runs on: the answer is an `any_io_executor`.
inline constexpr char this_library = 0;

// The timers of an executor, woken by one of Asio's, which is set to the earliest of them; and what that
// executor has counted. Shared, as Asio may still have a handler, or be on the way out of one, when the
// executor is gone.
class io_timers : public weir::detail::woken_timers<io_timers> {
    using base = weir::detail::woken_timers<io_timers>;
    friend base;

  public:
    io_timers(executor& ex, const lib::any_io_executor& on) : base(ex), strand_(on), timer_(strand_) {}

    using count = weir::detail::standard_platform::atomic<std::uint64_t>;

    // Of coroutines, ever: begun to be resumed, and suspended or ended again.
    count begun{0}, ended{0};

  private:
    // A timer of Asio is for one thread at a time.
    void set() {
        lib::post(strand_, [self = shared_from_this()] { self->arm_here(); });
    }

    void arm_here() {
        if (is_empty()) {
            timer_.cancel();
            return;
        }
        const duration left = next() - now();
        timer_.expires_after(std::clamp<duration>(left, duration(0), std::chrono::hours(1)));
        timer_.async_wait([self = shared_from_this()](const auto& error) {
            if (!error) self->fire();
        });
    }

    void fire() {
        if (is_empty()) return;
        fire_due();
        arm_here();
    }

    // That of `executor::now`.
    static time_point now() noexcept { return time_point(duration(weir::detail::standard_platform::now())); }

    lib::strand<lib::any_io_executor> strand_;
    lib::steady_timer timer_;
};

}  // namespace weir::asio::inline WEIR_ASIO_KIND::detail

#endif
