// simulate: waits until nothing else happens at the current instant.
// This works on virtual time; on another clock it returns at once.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_END_OF_INSTANT_HPP
#define WEIR_EXAMPLES_SIMULATE_END_OF_INSTANT_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <optional>   // for std::optional

namespace simulate {

namespace detail {

// A timer that is due now. On virtual time a timer fires only when nothing else is ready.
class end_of_instant {
  public:
    explicit end_of_instant(weir::executor& clock) noexcept : clock_(clock) {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
        timer_.emplace(clock_.now(), h);
        clock_.add(*timer_);
    }
    void await_resume() const noexcept {}

  private:
    weir::executor& clock_;
    std::optional<weir::timer> timer_;
};

}  // namespace detail

}  // namespace simulate

#endif
