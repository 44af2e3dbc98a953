// weir asio, internal: the timers of a weir executor that runs on an executor of Asio
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

// The address of this variable identifies the Asio in use (standalone or Boost's) for executor::runs_on(),
// which then returns a pointer to an `any_io_executor`, or null.
inline constexpr char this_library = 0;

// The timers of an executor, and its counters. One timer of Asio expires with the earliest of the timers.
// Owned by shared_ptr, because a handler of Asio may still be queued, or about to return, when the executor
// is gone.
class io_timers : public weir::detail::woken_timers<io_timers> {
    using base = weir::detail::woken_timers<io_timers>;
    friend base;

  public:
    io_timers(executor& ex, const lib::any_io_executor& on) : base(ex), strand_(on), timer_(strand_) {}

    using count = weir::detail::standard_platform::atomic<std::uint64_t>;

    // How many resumptions of coroutines have begun so far, and how many have returned.
    count begun{0}, ended{0};

  private:
    // In the strand, because only one thread at a time may use a timer of Asio.
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

    // The same clock as `executor::now`.
    static time_point now() noexcept { return time_point(duration(weir::detail::standard_platform::now())); }

    lib::strand<lib::any_io_executor> strand_;
    lib::steady_timer timer_;
};

}  // namespace weir::asio::inline WEIR_ASIO_KIND::detail

#endif
