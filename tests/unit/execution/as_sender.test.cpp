#include <weir/execution/as_sender.hpp>

#include "support/catch.hpp"
#include "unit/execution/support.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace lib = weir::execution::lib;
using senders::noting;
using senders::outcome;
using weir::task;
using weir::execution::as_sender;
using namespace std::chrono_literals;

namespace {

task<std::unique_ptr<int>> makes(int n) {
    co_await weir::yield();
    co_return std::make_unique<int>(n);
}

task<> fails() {
    co_await weir::yield();
    throw std::runtime_error("its own");
}

}  // namespace

static_assert(
    std::is_same_v<decltype(as_sender(fails()))::completion_signatures,
                   lib::completion_signatures<lib::set_value_t(), lib::set_error_t(std::exception_ptr),
                                              lib::set_stopped_t()>>);

TEST_CASE("a task is a sender of its result, and completes on the executor that it is given") {
    weir::thread_pool pool(1);
    outcome<std::unique_ptr<int>> ended;
    auto operation = lib::connect(as_sender(pool, makes(3)), noting(ended));
    CHECK_FALSE(ended.is_set());
    lib::start(operation);
    ended.wait();
    CHECK(*ended.value.value() == 3);
    CHECK(ended.where == &pool);
}

TEST_CASE(
    "without an executor it runs on the one of the thread that starts it, else on the library's thread") {
    weir::thread_pool pool(1);
    outcome<std::unique_ptr<int>> there, nowhere;
    auto first = lib::connect(as_sender(makes(4)), noting(there));
    auto second = lib::connect(as_sender(makes(5)), noting(nowhere));
    const auto starts = [&]() -> task<> {
        lib::start(first);
        co_return;
    };
    weir::sync_wait(pool, starts());
    lib::start(second);
    there.wait();
    nowhere.wait();
    CHECK(there.where == &pool);
    CHECK(*nowhere.value.value() == 5);
    CHECK(nowhere.where == &weir::detail::foreign_run_loop::get());
}

TEST_CASE("what it throws is the sender's error") {
    weir::virtual_time time;
    outcome<int> ended;
    auto operation = lib::connect(as_sender(time, fails()), noting(ended));
    lib::start(operation);
    weir::sync_wait(time, weir::sleep_for(1s));
    CHECK(ended.what() == "its own");
}

TEST_CASE("a function gives what stays where it is, when the sender is started") {
    weir::virtual_time time;
    weir::channel<int> numbers(1);
    auto run = (weir::source(std::views::iota(1, 3)) | weir::sink()).start(time);
    outcome<std::optional<int>> got, item;
    auto gets = lib::connect(as_sender(time, [&] { return numbers.get(); }), noting(got));
    auto takes = lib::connect(as_sender(time, [&] { return run.next(); }), noting(item));
    lib::start(gets);
    lib::start(takes);
    CHECK(numbers.try_put(7) == weir::channel_status::success);
    weir::sync_wait(time, weir::sleep_for(1s));
    CHECK(got.value.value() == 7);
    CHECK(item.value.value() == 1);
}

TEST_CASE("a stop ends what waits, and loses nothing") {
    weir::virtual_time time;
    weir::channel<int> numbers(1);
    outcome<std::optional<int>> got, late;
    outcome<bool> slept;
    auto gets = lib::connect(as_sender(time, [&] { return numbers.get(); }), noting(got));
    auto sleeps = lib::connect(as_sender(time, [] { return weir::sleep_for(24h); }), noting(slept));
    lib::start(gets);
    lib::start(sleeps);
    weir::sync_wait(time, weir::sleep_for(1s));
    got.stop.request_stop();
    slept.stop.request_stop();
    weir::sync_wait(time, weir::sleep_for(1s));
    CHECK(got.stopped);
    CHECK(slept.stopped);

    auto gets_late = lib::connect(as_sender(time, [&] { return numbers.get(); }), noting(late));
    lib::start(gets_late);
    weir::sync_wait(time, weir::sleep_for(1s));
    CHECK(numbers.try_put(8) == weir::channel_status::success);
    late.stop.request_stop();
    weir::sync_wait(time, weir::sleep_for(1s));
    CHECK(late.value.value() == 8);
}

TEST_CASE("one that is never started runs nothing") {
    bool begun = false;
    const auto begins = [&]() -> task<> {
        begun = true;
        co_return;
    };
    outcome<int> ended;
    {
        auto sender = as_sender(begins());
        auto operation = lib::connect(std::move(sender), noting(ended));
        static_cast<void>(operation);
    }
    CHECK_FALSE(begun);
    CHECK_FALSE(ended.is_set());
}
