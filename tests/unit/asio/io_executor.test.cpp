#include <weir/asio/io_executor.hpp>

#include "support/catch.hpp"
#include "support/detached.hpp"
#include "support/items.hpp"
#include "unit/asio/support.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/report/watchdog.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include WEIR_ASIO_FILE(io_context.hpp)
#include WEIR_ASIO_FILE(post.hpp)

using sockets::runs_on;
using sockets::served;
using weir::sync_wait;
using weir::task;
using weir::thread_pool;
using weir::asio::io_executor;
using namespace std::chrono_literals;
using ints = std::vector<int>;
namespace lib = weir::asio::lib;

namespace {

task<int> twice(int n) { co_return 2 * n; }

task<> sleep_and_note(weir::duration d, ints& order, int n) {
    co_await weir::sleep_for(d);
    order.push_back(n);
}

}  // namespace

TEST_CASE("coroutines run on the thread of the context, and know where they are") {
    served net;
    io_executor on_io(net.io);
    CHECK(on_io.traits().parallelism == 1);
    CHECK(&on_io.context() == &net.io);
    const auto looks = [&]() -> task<bool> {
        co_return runs_on(on_io) && net.io.get_executor().running_in_this_thread();
    };
    CHECK(sync_wait(on_io, looks()));
    thread_pool pool(1);
    const auto goes_there = [&]() -> task<bool> {
        co_await weir::schedule(on_io);
        co_return runs_on(on_io);
    };
    CHECK(sync_wait(pool, goes_there()));
}

TEST_CASE("with no threads of its own, whoever waits runs the context") {
    lib::io_context io;
    io_executor on_io(io, 0);
    CHECK(on_io.traits().parallelism == 1);
    CHECK(sync_wait(on_io, twice(4)) == 8);
    auto run = (weir::source(std::views::iota(0, 5)) | weir::pipe(twice, {.concurrency = 2}) | weir::sink())
                   .start(on_io);
    ints all = items::take_all(run);
    std::ranges::sort(all);  // what came first is first
    CHECK(all == ints{0, 2, 4, 6, 8});
    // A context that was stopped runs nothing: who waits until then takes naps.
    io.stop();
    std::thread goes_on([&] { io.restart(); });
    CHECK(sync_wait(on_io, twice(5)) == 10);
    goes_on.join();
}

TEST_CASE("with no threads of its own, whoever waits for a run runs the stages that are on the context") {
    lib::io_context context;
    io_executor io(context, 0);
    thread_pool pool(2);
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(1us);
        co_return n + 1;
    };
    const auto pipeline = weir::source({1, 2, 3}) | weir::pipe(slow, {.concurrency = 2, .executor = &io});
    auto run = (pipeline | weir::sink()).start(pool);
    CHECK(items::take_all(run).size() == 3);
    CHECK((pipeline | weir::for_each([](int) {})).start(pool).wait().items == 3);
    auto left = (pipeline | weir::sink()).start(pool);
    CHECK(left.get().has_value());
}

TEST_CASE("a look takes what is ready, and doesn't wait") {
    lib::io_context io;
    io_executor on_io(io, 0);
    auto run = (weir::source(std::views::iota(0, 1)) | weir::pipe(twice) | weir::sink()).start(on_io);
    while (!run.get(0ms)) {
    }
    CHECK_FALSE(run.get().has_value());
}

TEST_CASE("a coroutine on the context may wait for another one there") {
    served net;
    io_executor on_io(net.io);
    const auto nested = [&]() -> task<int> { co_return sync_wait(on_io, twice(3)); };
    CHECK(sync_wait(on_io, nested()) == 6);
}

TEST_CASE("a sleep until an instant that passed long ago ends at once") {
    lib::io_context io;
    io_executor on_io(io, 0);
    CHECK(sync_wait(on_io, weir::sleep_until(weir::time_point::min(), {}, weir::timer_order::before_all)));
}

TEST_CASE("sleeps end in the order of their instants, whatever is added or cancelled in between") {
    served net;
    io_executor on_io(net.io);
    ints order;
    weir::stop_source stop;
    const auto sleeps_long = [&]() -> task<> {
        CHECK_FALSE(co_await weir::sleep_for(24h, stop.get_token()));
        order.push_back(4);
    };
    const auto stops = [&]() -> task<> {
        co_await weir::sleep_for(4ms);
        stop.request_stop();
    };
    sync_wait(on_io,
              weir::when_all(sleeps_long(), sleep_and_note(3ms, order, 3), sleep_and_note(1ms, order, 1),
                             sleep_and_note(2ms, order, 2), sleep_and_note(0ms, order, 0), stops()));
    CHECK(order == ints{0, 1, 2, 3, 4});
    weir::stop_source before;
    before.request_stop();
    CHECK_FALSE(sync_wait(on_io, weir::sleep_for(24h, before.get_token())));
}

TEST_CASE("a negative number of threads is refused") {
    lib::io_context io;
    CHECK(items::message_of([&] { const io_executor on_io(io, static_cast<std::size_t>(-1)); }) ==
          "weir: an io_executor was told a negative number of threads; tell it 0 or more");
}

TEST_CASE("run() goes on while a coroutine sleeps without an end, until a stop ends the sleep") {
    lib::io_context io;
    io_executor on_io(io);
    bool slept = true;
    weir::stop_source stop;
    weir::task_group group(on_io);
    const auto sleeps = [&]() -> task<> {
        slept = co_await weir::sleep_for((weir::duration::max)(), stop.get_token());
    };
    group.spawn(sleeps());
    io.poll();
    CHECK_FALSE(io.stopped());
    stop.request_stop();
    io.restart();
    io.run();
    CHECK_FALSE(slept);
    io.restart();
    sync_wait(group.join());
}

TEST_CASE("run() returns when nothing is posted and nobody sleeps, also after a sleep was cancelled") {
    lib::io_context io;
    io_executor on_io(io);
    bool slept = true;
    weir::stop_source stop;
    weir::task_group group(on_io);
    const auto sleeps = [&]() -> task<> { slept = co_await weir::sleep_for(24h, stop.get_token()); };
    group.spawn(sleeps());
    lib::post(io, [&] { stop.request_stop(); });
    io.run();
    CHECK_FALSE(slept);
    io.restart();
    sync_wait(group.join());
}

TEST_CASE("what Asio still has to call when the executor is gone, does nothing") {
    lib::io_context io;
    {
        io_executor on_io(io, 0);
        sync_wait(on_io, weir::sleep_for(1ms));
    }
    io.restart();
    io.run();
    CHECK(io.stopped());
}

TEST_CASE(
    "it may be destroyed when the last coroutine has left it, by its thread on the way out of that one") {
    // Goes, and takes the executor along.
    class leave {
      public:
        explicit leave(std::unique_ptr<io_executor>& ex) noexcept : executor_(&ex) {}
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> h) const noexcept {
            std::unique_ptr<io_executor>* const ex = executor_;
            h.destroy();
            ex->reset();
        }
        void await_resume() const noexcept {}

      private:
        std::unique_ptr<io_executor>* executor_;
    };
    struct body {
        static detached run(std::unique_ptr<io_executor>& ex, int& times) {
            co_await weir::schedule(*ex);
            ++times;
            co_await leave(ex);
        }
    };
    lib::io_context io;
    auto ex = std::make_unique<io_executor>(io);
    int times = 0;
    body::run(ex, times);
    io.run();
    CHECK(times == 1);
    CHECK(ex == nullptr);
}

TEST_CASE("stages run on it, beside others on a pool, and on several threads of it") {
    served net(2);
    io_executor on_io(net.io, 2);
    CHECK(on_io.traits().parallelism == 2);
    thread_pool pool(2);
    const auto there = [&](int n) -> task<int> {
        co_await weir::yield();
        if (!runs_on(on_io)) throw std::logic_error("elsewhere");
        co_return n + 1;
    };
    auto run = (weir::source(std::views::iota(0, 500)) |
                weir::pipe(there, {.name = "there", .concurrency = 3, .executor = &on_io}) |
                weir::pipe(twice) | weir::sink(4))
                   .start(pool);
    int sum = 0;
    for (const int n : run) sum += n;
    CHECK(sum == 500 * 501);
}

TEST_CASE("channels hand over between the context and a pool") {
    served net;
    io_executor on_io(net.io);
    thread_pool pool(2);
    weir::channel<int> numbers(2);
    const auto puts = [&]() -> task<> {
        for (int i = 0; i < 1000; ++i) {
            if (!co_await numbers.put(i)) break;
        }
        numbers.close();
    };
    const auto adds = [&]() -> task<int> {
        co_await weir::schedule(on_io);
        int sum = 0;
        while (const auto n = co_await numbers.get()) sum += *n;
        co_return sum;
    };
    auto [sum, nothing] = sync_wait(pool, weir::when_all(adds(), puts()));
    static_cast<void>(nothing);
    CHECK(sum == 499'500);
}

TEST_CASE("a watchdog sees coroutines that keep all of its threads while another one waits to run") {
    const std::size_t threads = GENERATE(1U, 2U);
    served net(threads);
    io_executor on_io(net.io, threads);
    std::vector<weir::stall_report> stalls;
    weir::watchdog dog(on_io, {.period = weir::duration(0),
                               .on_stall = [&](const weir::stall_report& r) { stalls.push_back(r); }});
    weir::time_point now{};
    std::atomic<std::size_t> begun = 0;
    std::atomic<bool> allowed = false;
    const auto blocks = [&]() -> task<> {
        ++begun;
        allowed.wait(false);
        co_return;
    };
    const auto waits_to_run = []() -> task<> { co_return; };
    weir::task_group group(on_io);
    for (std::size_t i = 1; i <= threads; ++i) {
        group.spawn(blocks());
        while (begun != i) std::this_thread::yield();
        for (int k = 0; k < 20; ++k) dog.inspect(now += 20ms);
        CHECK(stalls.empty());  // nobody waits for one of its threads
    }
    group.spawn(waits_to_run());
    while (stalls.empty()) dog.inspect(now += 20ms);
    CHECK(stalls[0].workers == threads);
    CHECK(stalls[0].of == threads);
    CHECK(stalls[0].held >= 100ms);
    allowed = true;
    allowed.notify_all();
    sync_wait(group.join());
    for (int k = 0; k < 20; ++k) dog.inspect(now += 20ms);
    CHECK(stalls.size() == 1);
}

TEST_CASE("a part of a stage's function on a context can't wait for the end of the stage's run") {
    lib::io_context io;
    io_executor ex(io, 0);
    weir::run<int>* own = nullptr;
    std::vector<std::string> said;
    const auto stops = [&]() -> task<> {
        said.push_back(items::message_of([&] { own->stop(); }));
        co_return;
    };
    const auto asks = [&](int n) -> task<int> {
        co_await weir::when_all(stops(), stops());
        weir::task_group group(ex);
        group.spawn(stops());
        co_await group.join();
        co_return n;
    };
    auto run = (weir::source({1}) | weir::pipe(asks) | weir::sink()).start(ex);
    own = &run;
    CHECK(items::take_all(run) == ints{1});
    REQUIRE(said.size() == 3);
    for (const std::string& each : said)
        CHECK(each.starts_with("weir: stage 'pipe#1' can't wait for the end of its own run"));
}

using weir::asio::detail::io_timers;

namespace {

// Notes what is posted, and resumes nothing.
class noting final : public weir::executor {
  public:
    std::vector<std::coroutine_handle<>> posted;
    void post(std::coroutine_handle<> h) noexcept override { posted.push_back(h); }
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
};

class one_timer {
  public:
    explicit one_timer(weir::duration after) : it(home.now() + after, std::noop_coroutine()) {}

    noting home;
    weir::asio::lib::io_context io;
    std::shared_ptr<io_timers> timers = std::make_shared<io_timers>(home, io.get_executor());
    weir::timer it;
};

constexpr weir::duration day = weir::duration(86'400'000'000'000);

}  // namespace

TEST_CASE("a timer that is due is posted where the context runs, and none is left then") {
    one_timer due(weir::duration(1));
    due.timers->add(due.it);
    CHECK(due.home.posted.empty());
    due.io.run();
    CHECK(due.home.posted.size() == 1);
    CHECK_FALSE(due.it.cancelled());
}

TEST_CASE("one that is cancelled is posted at once, and keeps the context no longer") {
    one_timer late(day);
    late.timers->add(late.it);
    late.io.poll();
    late.timers->cancel(late.it);
    CHECK(late.home.posted.size() == 1);
    late.io.run();
    CHECK(late.it.cancelled());
}

TEST_CASE("one that was cancelled before is posted instead of added") {
    one_timer late(day);
    late.timers->cancel(late.it);
    CHECK(late.home.posted.empty());
    late.timers->add(late.it);
    CHECK(late.home.posted.size() == 1);
}

TEST_CASE("an error of Asio is one of the standard library") {
    const std::error_code aborted = make_error_code(weir::asio::lib::error::operation_aborted);
    CHECK(aborted.value() == static_cast<int>(std::errc::operation_canceled));
    CHECK_FALSE(aborted.message().empty());
}
