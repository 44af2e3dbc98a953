#include <weir/task/detached_task.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <coroutine>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using weir::task;
using weir::detail::detached_task;
using weir::detail::make_detached_task;

namespace {

class counts final : public weir::detail::detached_task_owner {
  public:
    void ended() noexcept override { ++times; }
    int times = 0;
};

task<int> give_after_a_second(int n) {
    co_await weir::sleep_for(1s);
    co_return n + 0;
}

task<> fail() {
    throw std::runtime_error("failed");
    co_return;
}

// Runs nothing, has a clock that stands still, and notes until when a thread would have slept.
class still final : public weir::executor {
  public:
    still(weir::time_point now, bool is_this_threads) : now_(now), is_this_threads_(is_this_threads) {}
    void post(std::coroutine_handle<>) noexcept override {}
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    weir::time_point now() const noexcept override { return now_; }
    bool drive(flag&, weir::time_point limit) override {
        limits.push_back(limit);
        return is_this_threads_;
    }

    std::vector<weir::time_point> limits;

  private:
    weir::time_point now_;
    bool is_this_threads_;
};

}  // namespace

TEST_CASE("a coroutine that waits for another executor sleeps on its own for as long as its limit is away") {
    using times = std::vector<weir::time_point>;
    still game(weir::time_point(1s), false), loop(weir::time_point(1h), true);
    weir::detail::parker done;
    weir::executor* const before = std::exchange(weir::detail::current_executor(), &loop);
    for (const auto limit : {weir::time_point(1s + 5ms), weir::time_point(900ms), weir::time_point::max()}) {
        CHECK(weir::detail::help_until(done, &game, limit));
    }
    CHECK(weir::detail::help_until(done, nullptr, weir::time_point::min()));  // the clock of no executor
    weir::detail::current_executor() = before;
    CHECK(game.limits == times{weir::time_point(1s + 5ms), weir::time_point(900ms), weir::time_point::max()});
    CHECK(loop.limits == times{weir::time_point(1h + 5ms), weir::time_point(1h), weir::time_point::max(),
                               weir::time_point(1h)});
}

TEST_CASE("a detached task runs after its start, and tells its owner once that it has ended") {
    weir::virtual_time time;
    counts owner;
    task<int> t = give_after_a_second(3);
    auto r = make_detached_task<int, task<int>>(t);
    time.run();
    CHECK(owner.times == 0);
    r.start(time, nullptr, owner);
    CHECK_FALSE(r.done());
    time.run();
    CHECK(r.done());
    CHECK(owner.times == 1);
    CHECK_FALSE(r.has_exception());
    CHECK(r.take() == 3);
    CHECK(time.now() == weir::time_point(1s));
}

TEST_CASE("a detached task keeps the exception of its coroutine") {
    weir::virtual_time time;
    counts owner;
    task<> t = fail();
    auto r = make_detached_task<void, task<>>(t);
    r.start(time, nullptr, owner);
    time.run();
    CHECK(owner.times == 1);
    CHECK(r.has_exception());
    CHECK(r.exception() != nullptr);
    CHECK_THROWS_AS(r.take(), std::runtime_error);
}

TEST_CASE("a detached task can be moved, and destroyed without having run") {
    weir::virtual_time time;
    counts owner;
    task<int> t = give_after_a_second(3);
    {
        auto a = make_detached_task<int, task<int>>(t);
        auto b = std::move(a);
        const detached_task<int> unused = make_detached_task<int, task<int>>(t);
        b.start(time, nullptr, owner);
        time.run();
        CHECK(b.take() == 3);
    }
    CHECK(owner.times == 1);
}

TEST_CASE("a task that a detached task awaits has its executor and slot") {
    class env_of_awaiter {
      public:
        env_of_awaiter() noexcept {}
        bool await_ready() const noexcept { return false; }
        bool await_suspend(
            std::coroutine_handle<weir::detail::task_promise<weir::detail::coroutine_env>> h) noexcept {
            env_ = h.promise().env();
            return false;
        }
        weir::detail::coroutine_env await_resume() const noexcept { return env_; }

      private:
        weir::detail::coroutine_env env_;
    };
    struct body {
        static task<weir::detail::coroutine_env> look() { co_return co_await env_of_awaiter(); }
    };
    weir::virtual_time time;
    counts owner;
    const std::string stage = "stage";
    weir::detail::slot slot(stage, 0, time);
    slot.begin(0);
    auto t = body::look();
    auto r = make_detached_task<weir::detail::coroutine_env, task<weir::detail::coroutine_env>>(t);
    r.start(time, &slot, owner);
    time.run();
    const weir::detail::coroutine_env env = r.take();
    CHECK(env.executor == &time);
    CHECK(env.measured == &slot);
}

TEST_CASE("the owner may destroy the detached task inside of ended()") {
    // The thread that waits destroys it while the other one is still on its way out.
    class owner final : public weir::detail::detached_task_owner {
      public:
        void ended() noexcept override { done.set(); }
        weir::detail::parker done;
    };
    weir::thread_pool pool(2);
    for (int i = 0; i < 1'000; ++i) {
        owner o;
        weir::schedule there(pool);
        std::optional<detached_task<void>> r(make_detached_task<void, weir::schedule&>(there));
        r->start(pool, nullptr, o);
        o.done.wait();
        r.reset();
    }
    SUCCEED();
}

TEST_CASE("a thread that blocks sleeps, or runs the executor that has no other thread") {
    weir::virtual_time time;
    class owner final : public weir::detail::detached_task_owner {
      public:
        void ended() noexcept override { done.set(); }
        weir::detail::parker done;
    };
    owner o;
    task<int> t = give_after_a_second(1);
    auto r = make_detached_task<int, task<int>>(t);
    r.start(time, nullptr, o);
    weir::detail::block_until(o.done, time);
    CHECK(r.take() == 1);

    weir::thread_pool pool(1);
    weir::detail::parker done;
    std::thread other([&] { done.set(); });
    weir::detail::block_until(done, pool);
    other.join();
    CHECK(done.is_set());
}
