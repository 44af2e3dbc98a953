#include <weir/simulation/world.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/simulation/explore.hpp>
#include <weir/simulation/explore_pipeline.hpp>
#include <weir/stages.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sim = weir::simulation;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

weir::task<> walk(sim::world& w, int steps) {
    for (int i = 0; i < steps; ++i) co_await weir::schedule(w);
}

struct scene {
    sim::detail::decisions made;
    sim::world here{made};
};

}  // namespace

TEST_CASE("time stands still while anything can run, and then jumps to the next timer") {
    scene s;
    const auto nap = [](sim::world& w, std::vector<std::int64_t>& at, weir::duration d) -> weir::task<> {
        co_await weir::sleep_for(d);
        at.push_back(w.now().time_since_epoch().count());
    };
    std::vector<std::int64_t> at;
    weir::sync_wait(s.here, weir::when_all(nap(s.here, at, 2h), nap(s.here, at, 1ns), walk(s.here, 5)));
    CHECK(at == std::vector<std::int64_t>{1, 7'200'000'000'000});
}

TEST_CASE("an action is done once, before the step that it was asked for") {
    scene s;
    std::vector<std::size_t> done;
    for (const std::size_t step : {4U, 2U, 2U, 0U, 1'000U}) {
        s.here.at_step(step, [&] { done.push_back(s.here.steps()); });
    }
    weir::sync_wait(s.here, walk(s.here, 10));
    CHECK(done == std::vector<std::size_t>{0, 2, 2, 4});
    s.here.at_step(3, [&] { done.push_back(99); });  // that is over
    CHECK(done.back() == 99);
}

TEST_CASE("a schedule may have as many steps as are allowed, and none more") {
    std::size_t steps = 0;
    {
        scene s;
        weir::sync_wait(s.here, walk(s.here, 10));
        steps = s.here.steps();
    }
    sim::detail::decisions made;
    {
        sim::world enough(made, steps);
        CHECK_NOTHROW(weir::sync_wait(enough, walk(enough, 10)));
    }
    sim::detail::decisions again;
    sim::world too_few(again, steps - 1);
    CHECK_THROWS_WITH(weir::sync_wait(too_few, walk(too_few, 10)),
                      ContainsSubstring("has " + std::to_string(steps - 1) + " steps and goes on"));
}

TEST_CASE("an invariant is looked at after every step, and the first that breaks is kept") {
    scene s;
    int looks = 0;
    s.here.always([&] {
        ++looks;
        if (s.here.steps() == 3) throw std::runtime_error("three is too many");
    });
    weir::sync_wait(s.here, walk(s.here, 10));
    CHECK(s.here.broken() == "after step 3: three is too many");
    CHECK(looks == 3);
}

TEST_CASE("a thread that waits with a time-out gets it when nothing else can happen before") {
    scene s;
    weir::channel<int, sim::stepwise> c(1, s.here);
    CHECK(c.blocking_get(10ms).status() == weir::channel_status::timed_out);
    CHECK(s.here.now().time_since_epoch() == 10ms);
}

TEST_CASE("with stepwise channels a coroutine that need not wait lets others go all the same") {
    scene s;
    weir::channel<int, sim::stepwise> a(8), b(8);
    const auto fill = [](auto& c, std::string& path, char name) -> weir::task<> {
        for (int i = 0; i < 3; ++i) {
            const bool taken = co_await c.put(i);
            if (taken) path += name;
        }
    };
    std::string path;
    weir::sync_wait(s.here, weir::when_all(fill(a, path, 'a'), fill(b, path, 'b')));
    CHECK(path == "ababab");
}

TEST_CASE("what is still ready when the scenario ends is told") {
    scene s;
    CHECK(s.here.left_behind().empty());
    s.here.post(std::noop_coroutine());
    CHECK_THAT(s.here.left_behind(), ContainsSubstring("1 coroutine was still ready"));
    s.here.run();
    CHECK(s.here.left_behind().empty());
}

TEST_CASE("nothing runs on top of a coroutine that blocks in the world: another thread goes on there") {
    static thread_local int depth = 0;
    scene s;
    const auto blocks = [](sim::world& w) -> weir::task<> {
        CHECK(++depth == 1);
        weir::sync_wait(w, weir::sleep_for(1ms));
        CHECK(depth-- == 1);
        co_return;
    };
    weir::sync_wait(s.here, weir::when_all(blocks(s.here), blocks(s.here), blocks(s.here)));
    CHECK(s.here.now().time_since_epoch() == 1ms);
}

TEST_CASE("two coroutines that block until the other goes on both go on, in every schedule") {
    const auto done = sim::explore(
        [](sim::world& w) {
            weir::channel<int, sim::stepwise> there(1, w), back(1, w);
            const auto asks = [&]() -> weir::task<> {
                w.demand(there.blocking_put(1) == weir::channel_status::success, "it is open");
                w.demand(*back.blocking_get() == 2, "the answer");
                w.demand(there.blocking_put(3) == weir::channel_status::success, "it is open");
                co_return;
            };
            const auto answers = [&]() -> weir::task<> {
                w.demand(*there.blocking_get() == 1, "the question");
                w.demand(back.blocking_put(2) == weir::channel_status::success, "it is open");
                w.demand(*there.blocking_get() == 3, "the thanks");
                co_return;
            };
            weir::sync_wait(w, weir::when_all(asks(), answers(), walk(w, 2)));
        },
        {.schedules = 300});
    CHECK(done.schedules > 1);
}

TEST_CASE("a deadlock is told to the coroutine that blocks in the world, and the run of the world goes on") {
    scene s;
    weir::channel<int> never(1, s.here);
    bool told = false;
    const auto waits = [&]() -> weir::task<> {
        try {
            static_cast<void>(never.blocking_get());
        } catch (const weir::deadlock_error&) {
            told = true;
        }
        co_await weir::sleep_for(1ms);
    };
    weir::task<> it = waits();
    weir::sync_wait(s.here, std::move(it));
    CHECK(told);
    CHECK(s.here.now().time_since_epoch() == 1ms);
}

TEST_CASE("an action may stop a run whose stage blocks in the world, at each step") {
    for (std::size_t step = 0; step < 40; ++step) {
        CAPTURE(step);
        scene s;
        auto run = (weir::source(std::views::iota(0, 4)) | weir::pipe([&](int i) {
                        weir::sync_wait(s.here, weir::sleep_for(1ms));
                        return i;
                    }) |
                    weir::sink(1))
                       .start(s.here);
        int taken = 0;
        s.here.at_step(step, [&] { run.stop(); });
        while (run.get()) ++taken;
        CHECK(taken <= 4);
        CHECK(run.outcome() != weir::run_outcome::failed);
    }
}
