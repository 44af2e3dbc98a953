#include <weir/execution/sender.hpp>

#include "support/catch.hpp"
#include "unit/execution/support.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace lib = weir::execution::lib;
using senders::completes_by;
using senders::noting;
using senders::outcome;
using weir::sync_wait;
using weir::task;
using weir::execution::as_sender;
using ints = std::vector<int>;
using namespace std::chrono_literals;

namespace {

auto just(int n) {
    return completes_by<lib::set_value_t(int)>([n](auto& to) noexcept { lib::set_value(std::move(to), n); });
}
auto just_on(senders::context& there, int n) {
    return completes_by<lib::set_value_t(int), lib::set_error_t(std::exception_ptr), lib::set_stopped_t()>(
        [&there, n](auto& to) noexcept { there.call([&to, n] { lib::set_value(std::move(to), n); }); });
}
template <class Error>
auto just_error(Error e) {
    return completes_by<lib::set_value_t(int), lib::set_error_t(Error)>(
        [e](auto& to) noexcept { lib::set_error(std::move(to), e); });
}
auto just_stopped() {
    return completes_by<lib::set_stopped_t()>([](auto& to) noexcept { lib::set_stopped(std::move(to)); });
}

// Completes as stopped when it is asked to.
auto until_stopped(bool& begun) {
    return completes_by<lib::set_value_t(int), lib::set_stopped_t()>([&begun](auto& to) noexcept {
        using token = decltype(lib::get_stop_token(lib::get_env(to)));
        struct stops {
            std::remove_reference_t<decltype(to)>* at;
            void operator()() noexcept { lib::set_stopped(std::move(*at)); }
        };
        using callback = lib::stop_callback_for_t<token, stops>;
        static std::optional<callback> on_stop;  // one at a time
        begun = true;
        on_stop.emplace(lib::get_stop_token(lib::get_env(to)), stops{&to});
    });
}

}  // namespace

static_assert(weir::awaitable<decltype(just(1))>);
static_assert(std::is_same_v<weir::await_result_t<decltype(just(1))>, int>);
static_assert(std::is_same_v<weir::await_result_t<decltype(just_stopped())>, void>);
static_assert(!weir::detail::has_adapter<task<int>>);

TEST_CASE("a sender gives its value, several values as a tuple, nothing, or what only moves") {
    const auto awaits = []() -> task<int> {
        int sum = co_await just(1);
        const auto named = just(2);
        sum += co_await named;
        const auto two = completes_by<lib::set_value_t(int, std::string)>(
            [](auto& to) noexcept { lib::set_value(std::move(to), 4, std::string("eight")); });
        const auto [four, eight] = co_await two;
        sum += four + static_cast<int>(eight.size());
        const auto none =
            completes_by<lib::set_value_t()>([](auto& to) noexcept { lib::set_value(std::move(to)); });
        co_await none;
        const auto moves = completes_by<lib::set_value_t(std::unique_ptr<int>)>(
            [](auto& to) noexcept { lib::set_value(std::move(to), std::make_unique<int>(8)); });
        const std::unique_ptr<int> moved = co_await moves;
        co_return sum + *moved;
    };
    CHECK(sync_wait(awaits()) == 20);
    CHECK(sync_wait(just(5)) == 5);
    auto [a, b] = sync_wait(weir::when_all(just(1), just(2)));
    CHECK(a + b == 3);
}

TEST_CASE("its error is thrown: exceptions as they are, codes as std::system_error, others as they are") {
    CHECK_THROWS_WITH(sync_wait(just_error(std::make_exception_ptr(std::runtime_error("its own")))),
                      "its own");
    try {
        sync_wait(just_error(std::make_error_code(std::errc::io_error)));
        FAIL("nothing was thrown");
    } catch (const std::system_error& e) {
        CHECK(e.code() == std::errc::io_error);
    }
    CHECK_THROWS_AS(sync_wait(just_error(std::string("text"))), std::string);
}

TEST_CASE("one that was stopped, by whomever, has no result") {
    try {
        sync_wait(just_stopped());
        FAIL("nothing was thrown");
    } catch (const std::system_error& e) {
        CHECK(e.code() == std::errc::operation_canceled);
    }
}

TEST_CASE("whoever completes it, the coroutine goes on on its own executor") {
    senders::context there;
    weir::thread_pool pool(2);
    const auto awaits = [&]() -> task<int> {
        int sum = 0;
        for (int i = 0; i < 50; ++i) {
            sum += co_await just_on(there, i);
            if (weir::detail::current_executor() != &pool) throw std::logic_error("elsewhere");
        }
        co_return sum;
    };
    CHECK(sync_wait(pool, awaits()) == 1'225);
}

TEST_CASE("senders that complete at once keep the stack flat") {
    const auto awaits = []() -> task<int> {
        int n = 0;
        for (int i = 0; i < 100'000; ++i) n += co_await just(1);
        co_return n;
    };
    CHECK(sync_wait(awaits()) == 100'000);
}

TEST_CASE("it is told the scheduler of the coroutine that awaits it") {
    weir::thread_pool pool(1);
    const auto asks = completes_by<lib::set_value_t(bool)>([&pool](auto& to) noexcept {
        const bool same = lib::get_scheduler(lib::get_env(to)) == weir::execution::get_scheduler(pool);
        lib::set_value(std::move(to), same);
    });
    CHECK(sync_wait(pool, asks));
}

TEST_CASE("a stage's function may return one, and the end of the run stops it, as a time limit does") {
    weir::virtual_time time;
    auto run = (weir::source(std::views::iota(0, 3)) | weir::pipe([](int n) { return just(n * 10); }) |
                weir::pipe([](int n) -> task<int> { co_return co_await just(n + 1); }) | weir::sink())
                   .start(time);
    ints all;
    for (const int n : run) all.push_back(n);
    CHECK(all == ints{1, 11, 21});

    bool begun = false;
    {
        auto endless = (weir::source(std::views::iota(0, 1)) |
                        weir::pipe([&](int) { return until_stopped(begun); }) | weir::sink())
                           .start(time);
        CHECK_FALSE(endless.get(weir::duration(1)));
    }
    CHECK(begun);

    auto limited = (weir::source(std::views::iota(0, 2)) |
                    weir::pipe([&](int) { return until_stopped(begun); },
                               {.max_failures = weir::unlimited, .time_limit = weir::duration(5)}) |
                    weir::sink())
                       .start(time);
    CHECK_FALSE(limited.get());
    CHECK(limited.stats().stages.at(1).num_failures == 2);
    CHECK(limited.stats().elapsed == weir::duration(10));
}

TEST_CASE("ours are senders, and theirs are awaited: a task that crosses twice is the same") {
    weir::thread_pool pool(1);
    const auto inner = []() -> task<int> { co_return 9; };
    const auto outer = [&]() -> task<int> { co_return co_await weir::execution::as_sender(pool, inner()); };
    CHECK(sync_wait(outer()) == 9);
}

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
