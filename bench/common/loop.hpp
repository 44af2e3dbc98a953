// An executor without threads, for exact figures.
#ifndef BENCH_COMMON_LOOP_HPP
#define BENCH_COMMON_LOOP_HPP

#include "common/check.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>

#include <coroutine>
#include <deque>

namespace bench {

// Runs everything on the waiting thread, first come, first served, and nothing before it waits.
class loop : public weir::executor {
  public:
    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h); }
    void add(weir::timer& t) noexcept override {
        if (!timers_.add(t)) post(t.waiter());
    }
    void cancel(weir::timer& t) noexcept override {
        if (timers_.cancel(t, now())) post(t.waiter());
    }
    bool drive(flag&, weir::time_point) override {
        check(!ready_.empty(), "something can run until all is done");
        const std::coroutine_handle<> next = ready_.front();
        ready_.pop_front();
        resume(next);
        return true;
    }

  private:
    std::deque<std::coroutine_handle<>> ready_;
    weir::timer_queue timers_;
};

}  // namespace bench

#endif
