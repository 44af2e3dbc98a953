#include <weir/task/foreign_executor.hpp>

#include "support/catch.hpp"

#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <thread>

TEST_CASE("the loop for coroutines that no executor runs is one, on a thread of its own, with timers") {
    weir::executor& ex = weir::detail::endless_loop::get();
    CHECK(&ex == &weir::detail::endless_loop::get());
    const auto where = []() -> weir::task<std::thread::id> {
        co_await weir::sleep_for(std::chrono::nanoseconds(1));
        co_return std::this_thread::get_id();
    };
    const std::thread::id first = weir::sync_wait(ex, where());
    CHECK(first != std::this_thread::get_id());
    CHECK(weir::sync_wait(ex, where()) == first);
}
