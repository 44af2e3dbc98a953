// An executor on the thread that waits, with a clock that is set by hand: also while something runs, so that
// what is ready then waits for its turn.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_SLOW_WORLD_HPP
#define WEIR_TESTS_SUPPORT_SLOW_WORLD_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>

#include <coroutine>
#include <deque>

class slow_world final : public weir::executor {
  public:
    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h); }
    void add(weir::timer& t) noexcept override {
        if (!timers_.add(t)) post(t.waiter());
    }
    void cancel(weir::timer& t) noexcept override {
        if (timers_.cancel(t, now())) post(t.waiter());
    }
    weir::time_point now() const noexcept override { return now_; }
    bool drive(flag&, weir::time_point) override {
        if (!run_one()) throw weir::deadlock_error("nothing to do");
        return true;
    }
    // All that is ready now, and then.
    void run() {
        while (run_one()) continue;
    }
    void pass(weir::duration d) { now_ += d; }

  private:
    bool run_one() {
        while (weir::timer* due = timers_.pop_due(now_)) post(due->waiter());
        if (ready_.empty()) return false;
        const auto h = ready_.front();
        ready_.pop_front();
        resume(h);
        return true;
    }

    std::deque<std::coroutine_handle<>> ready_;
    weir::timer_queue timers_;
    weir::time_point now_{};
};

#endif
