#include <weir/timer.hpp>

#include <coroutine>

std::coroutine_handle<> first_due(weir::timer_queue& timers, weir::timer& t, weir::time_point now) {
    if (!timers.add(t)) return t.waiter();
    const weir::timer* const due = timers.pop_due(now);
    return due == nullptr ? std::coroutine_handle<>() : due->waiter();
}
