#include <weir/asio/awaiting.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "unit/asio/support.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/report/watchdog.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/external_wait.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
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

#include WEIR_ASIO_FILE(buffer.hpp)
#include WEIR_ASIO_FILE(dispatch.hpp)
#include WEIR_ASIO_FILE(post.hpp)
#include WEIR_ASIO_FILE(read.hpp)
#include WEIR_ASIO_FILE(steady_timer.hpp)
#include WEIR_ASIO_FILE(write.hpp)

using sockets::runs_on;
using sockets::served;
using weir::sync_wait;
using weir::task;
using weir::thread_pool;
using weir::asio::awaiting;
using namespace std::chrono_literals;
namespace lib = weir::asio::lib;

namespace {

// An operation that ends as the test has it. What Asio would keep is in `kept`.
template <class Signature, class Function>
auto ends_by(Function&& end) {
    return lib::async_initiate<const weir::asio::basic_awaiting<false>, Signature>(std::forward<Function>(
                                                                                       end),
                                                                                   awaiting);
}

template <class... As>
auto gives(As... as) {
    return ends_by<void(As...)>([... as = std::move(as)](auto&& then) mutable { then(std::move(as)...); });
}

// A coroutine of another library: it runs at once, wherever it is, and has an environment of its own.
class foreign {
  public:
    class promise_type {
      public:
        foreign get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

task<char> read_one(sockets::tcp::socket& from, const weir::executor& home, bool& at_home) {
    char c = 0;
    co_await lib::async_read(from, lib::buffer(&c, 1), awaiting);
    at_home = runs_on(home);
    co_return c;
}

task<> write_one(sockets::tcp::socket& to, char c) {
    co_await lib::async_write(to, lib::buffer(&c, 1), awaiting);
}

task<std::string> echo(sockets::pair& both, std::string text) {
    std::string back(text.size(), ' ');
    co_await lib::async_write(both.near, lib::buffer(text), awaiting);
    std::string seen(text.size(), ' ');
    co_await lib::async_read(both.far, lib::buffer(seen), awaiting);
    co_await lib::async_write(both.far, lib::buffer(seen), awaiting);
    co_await lib::async_read(both.near, lib::buffer(back), awaiting);
    co_return back;
}

}  // namespace

TEST_CASE("an operation resumes the coroutine on its own executor, whoever runs the context") {
    served net;
    thread_pool pool(2);
    sockets::pair both(net.io);
    bool at_home = false;
    auto [c, nothing] =
        sync_wait(pool, weir::when_all(read_one(both.near, pool, at_home), write_one(both.far, 'x')));
    static_cast<void>(nothing);
    CHECK(c == 'x');
    CHECK(at_home);
    // On a loop of this thread, which Asio doesn't know.
    weir::run_loop loop;
    both.far.send(lib::buffer("y", 1));
    CHECK(sync_wait(loop, read_one(both.near, loop, at_home)) == 'y');
    CHECK(at_home);
}

TEST_CASE("an operation's error is thrown, or is the first of its tuple") {
    served net;
    sockets::pair both(net.io);
    both.far.send(lib::buffer("ab", 2));
    both.far.close();
    const auto read_three = [&]() -> task<> {
        std::array<char, 3> three;
        const auto [error, n] = co_await lib::async_read(both.near, lib::buffer(three), awaiting.as_tuple());
        CHECK(error == lib::error::eof);
        CHECK(n == 2);
        CHECK_FALSE(co_await lib::async_write(both.near, lib::buffer(three, 0), awaiting));
        both.near.close();
        co_await both.near.async_read_some(lib::buffer(three), awaiting);
    };
    try {
        sync_wait(read_three());
        FAIL("nothing was thrown");
    } catch (const std::system_error& e) {
        CHECK(e.code() == static_cast<std::error_code>(make_error_code(lib::error::bad_descriptor)));
    }
}

TEST_CASE("it gives nothing, one value or several, also what only moves") {
    const auto all = []() -> task<> {
        static_assert(std::is_void_v<decltype(gives().await_resume())>);
        co_await gives();
        const std::unique_ptr<int> one = co_await gives(std::make_unique<int>(1));
        CHECK(*one == 1);
        auto [text, two] = co_await gives(std::string("text"), std::make_unique<int>(2));
        CHECK(text == "text");
        CHECK(*two == 2);
        CHECK(co_await gives(std::error_code(), 3) == 3);
        CHECK(co_await gives(std::exception_ptr(), 4) == 4);
    };
    sync_wait(all());
    const auto fails = []() -> task<int> {
        co_return co_await gives(std::make_exception_ptr(std::runtime_error("its own")), 5);
    };
    CHECK_THROWS_WITH(sync_wait(fails()), "its own");
}

TEST_CASE("an operation that ends while it begins doesn't suspend the coroutine, however often") {
    served net;
    const auto many = [&]() -> task<int> {
        int n = 0;
        for (int i = 0; i < 100'000; ++i) n += co_await gives(1);
        co_await lib::dispatch(net.io, awaiting);
        co_await lib::post(net.io, awaiting);
        co_return n;
    };
    CHECK(sync_wait(many()) == 100'000);
}

TEST_CASE("what beginning an operation throws is thrown once, also where the handler goes with it") {
    const auto takes_it_along = []() -> task<> {
        co_await ends_by<void()>([](auto then) {
            static_cast<void>(then);
            throw std::runtime_error("can't begin");
        });
    };
    CHECK_THROWS_WITH(sync_wait(takes_it_along()), "can't begin");
    std::shared_ptr<void> kept;
    const auto leaves_it = [&kept]() -> task<> {
        co_await ends_by<void()>([&kept](auto&& then) {
            kept = std::make_shared<std::decay_t<decltype(then)>>(std::move(then));
            throw std::runtime_error("can't begin");
        });
    };
    CHECK_THROWS_WITH(sync_wait(leaves_it()), "can't begin");
    kept.reset();
}

TEST_CASE("an operation that is dropped ends as aborted, alone or with its context") {
    const auto is_dropped = [](auto begin) -> task<bool> {
        try {
            co_await begin();
        } catch (const std::system_error& e) {
            co_return sockets::is_aborted(e.code());
        }
        co_return false;
    };
    CHECK(sync_wait(is_dropped([] { return ends_by<void()>([](auto) {}); })));

    std::optional<lib::io_context> io(std::in_place);
    const auto destroys = [&]() -> task<> {
        io.reset();
        co_return;
    };
    auto [aborted, nothing] =
        sync_wait(weir::when_all(is_dropped([&] { return lib::post(*io, awaiting); }), destroys()));
    static_cast<void>(nothing);
    CHECK(aborted);
}

TEST_CASE("a coroutine that is destroyed while it waits drops the result, and nothing else happens") {
    lib::io_context io;
    lib::steady_timer timer(io, 1ms);
    weir::virtual_time time;
    bool went_on = false;
    const auto waits = [&]() -> task<> {
        co_await timer.async_wait(awaiting);
        went_on = true;
    };
    // Virtual time knows of no timer but its own, and destroys what it takes for a deadlock.
    CHECK_THROWS_AS(sync_wait(time, waits()), weir::deadlock_error);
    CHECK(io.run() == 1);
    CHECK_FALSE(went_on);
}

TEST_CASE("a coroutine that no executor runs goes on on a thread of the library's own") {
    lib::io_context io;
    weir::executor* where = nullptr;
    weir::detail::parker done;
    const auto waits = [&]() -> foreign {
        co_await lib::post(io, awaiting);
        where = weir::detail::current_executor();
        done.set();
    };
    waits();
    CHECK(io.run() > 0);
    while (!done.wait()) {
    }
    CHECK(where == &weir::detail::foreign_run_loop::get());
}

TEST_CASE("many operations at once, on several threads, each end once") {
    served net(2);
    thread_pool pool(2);
    std::vector<std::unique_ptr<sockets::pair>> pairs;
    std::vector<task<std::string>> echoes;
    for (int i = 0; i < 50; ++i) {
        pairs.push_back(std::make_unique<sockets::pair>(net.io));
        echoes.push_back(echo(*pairs.back(), std::to_string(i)));
    }
    const std::vector<std::string> back = sync_wait(pool, weir::when_all(std::move(echoes)));
    REQUIRE(back.size() == 50);
    for (std::size_t i = 0; i < back.size(); ++i) CHECK(back[i] == std::to_string(i));
}

TEST_CASE("a watchdog takes an operation under way for no deadlock") {
    served net;
    thread_pool pool(2);
    sockets::pair both(net.io);
    std::size_t reports = 0;
    weir::time_point now{};
    weir::watchdog dog(pool, {.period = weir::duration(0),
                              .on_deadlock = [&](const weir::deadlock_report&) { ++reports; }});
    const auto begun = weir::external_wait::num_begun();
    bool at_home = false;
    std::thread looks([&] {
        while (weir::external_wait::num_begun() == begun) std::this_thread::yield();
        for (int i = 0; i < 50; ++i) dog.inspect(now += 20ms);
        both.far.send(lib::buffer("x", 1));
    });
    CHECK(sync_wait(pool, read_one(both.near, pool, at_home)) == 'x');
    looks.join();
    CHECK(reports == 0);
}

TEST_CASE("in a stage the wait is its slot's await, and all times add up") {
    served net;
    thread_pool pool(2);
    const auto wait = [&](int n) -> task<int> {
        lib::steady_timer timer(net.io, 2ms);
        co_await timer.async_wait(awaiting);
        co_return n;
    };
    auto run = (weir::source(std::views::iota(0, 8)) | weir::pipe(wait, {.name = "wait", .concurrency = 3}) |
                weir::sink())
                   .start(pool);
    int sum = 0;
    for (const int n : run) sum += n;
    CHECK(sum == 28);
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).times().await >= 16ms);
    CHECK(flows::add_up(stats));
}

TEST_CASE("a stop of the run ends what its stages await of Asio, also in what they await") {
    served net;
    thread_pool pool(2);
    std::atomic<int> begun = 0, ended = 0;
    const auto reads = [&](int way) -> task<int> {
        sockets::pair both(net.io);  // nobody ever writes
        char c = 0;
        ++begun;
        try {
            if (way == 1) {
                co_await both.near.async_read_some(lib::buffer(&c, 1), awaiting);
            } else {
                co_await both.near.async_read_some(lib::buffer(&c, 1), awaiting.as_tuple());
            }
        } catch (const weir::stopped&) {
            ++ended;
            throw;
        }
        co_return 0;
    };
    const auto work = [&](int way) -> task<int> {
        if (way == 0) co_return 0;
        if (way < 3) co_return co_await reads(way);
        const auto both = co_await weir::when_all(reads(1), reads(2));
        co_return std::get<0>(both);
    };
    {
        auto run = (weir::source(std::views::iota(0, 4)) |
                    weir::pipe(work, {.name = "work", .concurrency = 4}) | weir::sink())
                       .start(pool);
        CHECK(run.get() == 0);
        while (begun < 4) std::this_thread::yield();
    }
    CHECK(ended == 4);
}

TEST_CASE("a time limit ends what an invocation awaits of Asio") {
    served net;
    thread_pool pool(2);
    const auto reads = [&](int n) -> task<int> {
        sockets::pair both(net.io);  // nobody ever writes
        char c = 0;
        co_await both.near.async_read_some(lib::buffer(&c, 1), awaiting);
        co_return n;
    };
    auto run = (weir::source({1, 2}) |
                weir::pipe(reads, {.max_failures = weir::unlimited, .time_limit = 1ms}) | weir::sink())
                   .start(pool);
    CHECK_FALSE(run.get());
    CHECK(run.stats().stages.at(1).num_failures == 2);
}

TEST_CASE("in a run that was stopped, an operation that ends by itself gives its result, or its error") {
    served net;
    thread_pool pool(1);
    std::atomic<bool> begun = false, stopped = false;
    bool has_value = false, has_error = false, was_posted = false;
    const auto work = [&](int n) -> task<int> {
        begun = true;
        begun.notify_all();
        stopped.wait(false);
        has_value = co_await gives(7) == 7;
        try {
            co_await gives(make_error_code(lib::error::eof));
        } catch (const std::system_error&) {
            has_error = true;
        }
        co_await lib::post(net.io, awaiting);
        was_posted = true;
        co_return n;
    };
    {
        auto run = (weir::source(std::views::iota(0, 1)) | weir::pipe(work) | weir::sink()).start(pool);
        begun.wait(false);
        run.request_stop();
        stopped = true;
        stopped.notify_all();
    }
    CHECK(has_value);
    CHECK(has_error);
    CHECK(was_posted);
}

using sockets::is_aborted;
using sockets::served;
using weir::stop_source;
using weir::stop_token;
using weir::sync_wait;
using weir::task;
using weir::thread_pool;
using weir::asio::awaiting_unless;
using namespace std::chrono_literals;
namespace lib = weir::asio::lib;

namespace {

task<bool> sleeps(lib::io_context& io, std::chrono::steady_clock::duration d, stop_token stop) {
    lib::steady_timer timer(io, d);
    const auto [error] = co_await timer.async_wait(awaiting_unless(stop).as_tuple());
    if (error && !is_aborted(error)) throw std::system_error(error);
    co_return !error;
}

task<> asks(stop_source stop) {
    stop.request_stop();
    co_return;
}

}  // namespace

TEST_CASE("a stop that was asked for before cancels what begins after it") {
    served net;
    stop_source stop;
    stop.request_stop();
    CHECK_FALSE(sync_wait(sleeps(net.io, 24h, stop.get_token())));
}

TEST_CASE("a stop cancels what is under way; without one it ends as ever") {
    served net;
    thread_pool pool(2);
    stop_source stop;
    auto [slept, nothing] =
        sync_wait(pool, weir::when_all(sleeps(net.io, 24h, stop.get_token()), asks(stop)));
    static_cast<void>(nothing);
    CHECK_FALSE(slept);
    CHECK(sync_wait(pool, sleeps(net.io, 1ms, stop_source().get_token())));
    CHECK(sync_wait(pool, sleeps(net.io, 1ms, {})));
}

TEST_CASE("a stop cancels an operation of several parts, and tells what was done until then") {
    served net;
    thread_pool pool(2);
    sockets::pair both(net.io);
    stop_source stop;
    both.far.send(lib::buffer("ab", 2));
    const auto reads = [&]() -> task<> {
        char three[3];
        co_await both.near.async_wait(sockets::tcp::socket::wait_read, weir::asio::awaiting);
        auto [result, nothing] = co_await weir::when_all(
            [](auto& from, auto& to, stop_token until) -> task<std::pair<std::error_code, std::size_t>> {
                const auto [error, n] =
                    co_await lib::async_read(from, lib::buffer(to),
                                             awaiting_unless(std::move(until)).as_tuple());
                co_return std::pair<std::error_code, std::size_t>(error, n);
            }(both.near, three, stop.get_token()),
            asks(stop));
        static_cast<void>(nothing);
        CHECK(is_aborted(result.first));
        CHECK(result.second <= 2);
    };
    sync_wait(pool, reads());
}

TEST_CASE("a stop that comes when the operation has ended does nothing, also where its object is gone") {
    served net;
    stop_source stop;
    const auto waits = [&]() -> task<> {
        co_await lib::post(net.io, awaiting_unless(stop.get_token()));
        lib::steady_timer timer(net.io, 0ms);
        co_await timer.async_wait(awaiting_unless(stop.get_token()));
    };
    sync_wait(waits());
    stop.request_stop();
}

TEST_CASE("an operation and its stop on different threads, many times over: it ends once, one way or other") {
    served net(2);
    thread_pool pool(2);
    std::size_t ended = 0;
    for (int i = 0; i < 300; ++i) {
        stop_source stop;
        sockets::pair both(net.io);
        const auto reads = [&]() -> task<std::size_t> {
            char four[4];
            const auto [error, n] = co_await lib::async_read(both.near, lib::buffer(four),
                                                             awaiting_unless(stop.get_token()).as_tuple());
            CHECK((n == 4) == !error);
            co_return 1;
        };
        const auto writes = [&]() -> task<> {
            both.far.send(lib::buffer("ab", 2));
            both.far.send(lib::buffer("cd", 2));
            co_return;
        };
        auto all = sync_wait(pool, weir::when_all(reads(), writes(), asks(stop)));
        ended += std::get<0>(all);
    }
    CHECK(ended == 300);
}

TEST_CASE("a run that ends early cancels what its stages wait for") {
    served net;
    thread_pool pool(2);
    std::atomic<int> begun = 0, aborted = 0;
    const auto read = [&](int n, const weir::invocation& call) -> task<int> {
        if (n == 0) co_return n;
        sockets::pair both(net.io);  // nobody ever writes
        char c = 0;
        ++begun;
        const auto [error, size] =
            co_await both.near.async_read_some(lib::buffer(&c, 1), awaiting_unless(call.stop()).as_tuple());
        aborted += is_aborted(error) ? 1 : 0;
        co_return static_cast<int>(size);
    };
    {
        auto run = (weir::source(std::views::iota(0, 4)) |
                    weir::pipe(read, {.name = "read", .concurrency = 4}) | weir::sink())
                       .start(pool);
        CHECK(run.get() == 0);
        while (begun < 3) std::this_thread::yield();
    }
    CHECK(aborted == 3);
}
