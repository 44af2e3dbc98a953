#include <weir/execution/scheduler_executor.hpp>

#include "support/catch.hpp"
#include "unit/execution/support.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/parking.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <thread>

using weir::sync_wait;
using weir::task;
using weir::execution::scheduler_executor;
using namespace std::chrono_literals;

TEST_CASE("coroutines run, yield and sleep on a scheduler's context") {
    senders::context there;
    scheduler_executor on_it((senders::context::scheduler(there)));
    const auto works = [&]() -> task<int> {
        int right = std::this_thread::get_id() == there.id() ? 1 : 0;
        co_await weir::yield();
        right += std::this_thread::get_id() == there.id() ? 2 : 0;
        co_await weir::sleep_for(1ms);
        right += std::this_thread::get_id() == there.id() ? 4 : 0;
        weir::stop_source stop;
        stop.request_stop();
        right += co_await weir::sleep_for(24h, stop.get_token()) ? 0 : 8;
        co_return right;
    };
    CHECK(sync_wait(on_it, works()) == 15);
}

TEST_CASE("a negative number of threads is refused") {
    senders::context there;
    const senders::context::scheduler on(there);
    CHECK_THROWS_AS(scheduler_executor(on, static_cast<std::size_t>(-1)), std::invalid_argument);
}

TEST_CASE("stages run on it, beside others on a pool") {
    senders::context there;
    scheduler_executor on_it((senders::context::scheduler(there)));
    weir::thread_pool pool(2);
    const auto works = [&](int n) -> task<int> {
        co_await weir::yield();
        if (std::this_thread::get_id() != there.id()) throw std::logic_error("elsewhere");
        co_return n + 1;
    };
    auto run =
        (weir::source(std::views::iota(0, 200)) | weir::pipe(works, {.concurrency = 3, .executor = &on_it}) |
         weir::pipe([](int n) { return 2 * n; }) | weir::sink(4))
            .start(pool);
    int sum = 0;
    for (const int n : run) sum += n;
    CHECK(sum == 200 * 201);
}

namespace {

class noting final : public weir::executor {
  public:
    weir::detail::parker posted;
    void post(std::coroutine_handle<>) noexcept override { posted.set(); }
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
};

constexpr weir::duration day = weir::duration(86'400'000'000'000);

}  // namespace

TEST_CASE("a timer that is due is posted, also behind one that is late") {
    noting home;
    const auto alarm = std::make_shared<weir::execution::detail::alarm>(home);
    weir::timer late(home.now() + day, std::noop_coroutine());
    weir::timer due(home.now() + weir::duration(1), std::noop_coroutine());
    alarm->add(late);
    CHECK_FALSE(home.posted.is_set());
    alarm->add(due);
    while (!home.posted.wait()) {
    }
    CHECK_FALSE(due.cancelled());
    alarm->cancel(late);
    CHECK(late.cancelled());
}

TEST_CASE("one that is cancelled is posted at once; one that was before, instead of added") {
    noting home, other;
    const auto alarm = std::make_shared<weir::execution::detail::alarm>(home);
    weir::timer late(home.now() + day, std::noop_coroutine());
    alarm->add(late);
    alarm->cancel(late);
    CHECK(home.posted.is_set());

    const auto second = std::make_shared<weir::execution::detail::alarm>(other);
    weir::timer before(other.now() + day, std::noop_coroutine());
    second->cancel(before);
    CHECK_FALSE(other.posted.is_set());
    second->add(before);
    CHECK(other.posted.is_set());
}
