// The event loop of a user: an executor with the five functions that one has to write, and nothing besides.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_EVENT_LOOP_HPP
#define WEIR_TESTS_SUPPORT_EVENT_LOOP_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>

#include <coroutine>

class event_loop final : public weir::executor {
  public:
    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override { loop_.post(h); }
    void add(weir::timer& t) noexcept override { loop_.add(t); }
    void cancel(weir::timer& t) noexcept override { loop_.cancel(t); }
    bool drive(flag& done, weir::time_point limit) override { return loop_.drive(done, limit); }

  private:
    weir::run_loop loop_;
};

#endif
