#include <weir/simulation/world.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/simulation/explore.hpp>
#include <weir/stages.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <ranges>
#include <set>
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

namespace sim = weir::simulation;
using Catch::Matchers::ContainsSubstring;
using sim::detail::decisions;

namespace {

std::vector<std::size_t> choose_ten(decisions& d, std::size_t n) {
    std::vector<std::size_t> all;
    for (int i = 0; i < 10; ++i) all.push_back(d.choose(n));
    return all;
}

}  // namespace

TEST_CASE(
    "what is ready keeps the order of its posts, whichever is taken, before, between and behind others") {
    std::vector<char> many(600);
    sim::detail::ready_list ready(4);
    std::deque<void*> expected;
    CHECK(ready.empty());
    std::size_t posted = 0, taken = 0;
    for (std::uint64_t step = 0; taken < many.size(); ++step) {
        // Grows to 300, and shrinks to nothing.
        const bool posts = posted < many.size() && (step % 5 != 0 || expected.empty());
        if (posts) {
            ready.push_back(&many[posted]);
            expected.push_back(&many[posted++]);
        } else {
            const std::size_t which = step * step % 7 == 0 ? 0 : step * 31 % expected.size();
            CHECK(ready.take(which) == expected[which]);
            expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(which));
            ++taken;
        }
        REQUIRE(std::ranges::equal(ready.all(), expected));
        REQUIRE(ready.size() == expected.size());
        int other = 0;
        const auto behind = ready.all_behind(&other);
        REQUIRE(behind.size() == expected.size() + 1);
        REQUIRE(behind.front() == &other);
        REQUIRE(std::ranges::equal(behind.subspan(1), expected));
    }
    CHECK(ready.empty());
}

TEST_CASE("without a strategy everything is first come, first served") {
    decisions d;
    d.begin(7);
    CHECK(choose_ten(d, 3) == std::vector<std::size_t>(10, 0));
}

TEST_CASE("where there is one thing to choose from, nothing is decided") {
    decisions d;
    d.be_random();
    d.begin(7);
    CHECK(d.choose(1) == 0);
    CHECK(d.made().empty());
}

TEST_CASE("the same seed makes the same decisions, another one makes others") {
    decisions d;
    d.be_random();
    d.begin(7);
    const auto first = choose_ten(d, 5);
    const auto mark = d.digest();
    d.begin(8);
    CHECK(choose_ten(d, 5) != first);
    CHECK(d.digest() != mark);
    d.begin(7);
    CHECK(choose_ten(d, 5) == first);
    CHECK(d.digest() == mark);
}

TEST_CASE("random decisions reach each of what is offered") {
    decisions d;
    d.be_random();
    d.begin(1);
    std::set<std::size_t> seen;
    for (int i = 0; i < 200; ++i) seen.insert(d.choose(7));
    CHECK(seen == std::set<std::size_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("decisions that are given are made first, within what is offered") {
    decisions d;
    const std::uint32_t given[] = {2, 0, 9};
    d.begin(0, given);
    CHECK(d.choose(3) == 2);
    CHECK(d.choose(3) == 0);
    CHECK(d.choose(3) == 2);
    CHECK(d.choose(3) == 0);
    CHECK(d.made().size() == 4);
}

TEST_CASE("by priority, one of two goes on until it is overtaken at one of depth - 1 steps") {
    char coroutines[3];
    void* const who[] = {coroutines, coroutines + 1, coroutines + 2};
    decisions d;
    d.be_by_priority(3);
    for (std::uint64_t seed = 1; seed < 200; ++seed) {
        d.begin(seed, {}, 20);
        std::size_t changes = 0;
        std::size_t before = d.choose(who);
        for (int i = 0; i < 40; ++i) {
            const std::size_t next = d.choose(who);
            if (next != before) ++changes;
            before = next;
        }
        CHECK(changes <= 2);
    }
}

TEST_CASE("by priority, each of three is the first to go for some seed, and each order of two changes") {
    char coroutines[3];
    void* const who[] = {coroutines, coroutines + 1, coroutines + 2};
    decisions d;
    d.be_by_priority(2);
    std::set<std::size_t> first;
    std::set<std::size_t> last;
    for (std::uint64_t seed = 1; seed < 100; ++seed) {
        d.begin(seed, {}, 10);
        first.insert(d.choose(who));
        std::size_t then = 0;
        for (int i = 0; i < 10; ++i) then = d.choose(who);
        last.insert(then);
    }
    CHECK(first.size() == 3);
    CHECK(last.size() == 3);
}

TEST_CASE("a schedule as text names the decisions that are not the first on offer") {
    CHECK(sim::detail::to_text({0, 0, 2, 0, 1, 0}) == "2:2 4:1");
    CHECK(sim::detail::from_text("2:2 4:1") == std::vector<std::uint32_t>{0, 0, 2, 0, 1});
    CHECK(sim::detail::to_text({0, 0}) == "0:0");
    CHECK(sim::detail::from_text("0:0") == std::vector<std::uint32_t>{0});
}

TEST_CASE("what is no schedule is refused with a sentence") {
    for (const char* const text : {"3", "3:", ":1", "3:1,4:1", "x", "3:1x", "99999999999:1", "3:-1"}) {
        CAPTURE(text);
        CHECK_THROWS_WITH(sim::detail::from_text(text), ContainsSubstring("is no schedule"));
    }
}
