#include <weir/locked_timers.hpp>

#include <coroutine>

bool starts(weir::basic_locked_timers<>& timers, weir::timer& t) {
    return timers.add(t) == weir::basic_locked_timers<>::added::earliest;
}
void wake(weir::basic_locked_timers<>& timers, weir::time_point now) {
    timers.fire(now, [](std::coroutine_handle<> due) { due.resume(); });
}
