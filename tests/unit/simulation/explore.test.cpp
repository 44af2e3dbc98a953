#include <weir/simulation/explore.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sim = weir::simulation;
using Catch::Matchers::ContainsSubstring;
using sim::detail::explorer;

TEST_CASE("a scenario is explored at random, and nothing is bounded closely, unless it is said") {
    const sim::explore_options options;
    CHECK(options.schedules == 1'000);
    CHECK(options.strategy == sim::strategy::random);
    CHECK(options.deviations > 1'000'000);
    CHECK(options.replay.empty());
    CHECK_FALSE(sim::explored().complete);
}

TEST_CASE("a failure keeps what went wrong, the seed and the schedule") {
    const sim::schedule_failure e("all of it", "one item is missing", 7, "0x12 1");
    CHECK(std::string(e.what()) == "all of it");
    CHECK(e.cause() == "one item is missing");
    CHECK(e.seed() == 7);
    CHECK(e.schedule() == "0x12 1");
}

namespace {

weir::task<> step() { co_await weir::yield(); }

// Draws eight numbers, of which two matter: it fails if both are large.
void draws(sim::world& w) {
    weir::sync_wait(w, step());
    std::size_t sum = 0;
    for (int i = 0; i < 8; ++i) {
        const std::size_t n = w.draw(10);
        if (i == 2 || i == 6) sum += n;
    }
    sim::world::check(sum < 12, "the two aren't large");
}

}  // namespace

TEST_CASE("of what fails only the decisions are left that it takes, and those as small as they can be") {
    try {
        explorer(draws, {.schedules = 10'000}).explore();
        FAIL("it is found");
    } catch (const sim::schedule_failure& e) {
        CHECK(e.cause() == "the two aren't large");
        CHECK(std::string(e.what()).find("2 decisions other") != std::string::npos);
        CHECK_THROWS_AS(explorer(draws, {.replay = e.schedule()}).explore(), sim::schedule_failure);
    }
}

TEST_CASE(
    "the cause of a failure names the text and the type of what was thrown, and of what is nested in it") {
    const auto cause_of = [](std::function<void(sim::world&)> run) {
        try {
            explorer(run, {.schedules = 1}).explore();
        } catch (const sim::schedule_failure& e) {
            return e.cause();
        }
        return std::string();
    };
    CHECK(cause_of([](sim::world&) { throw 42; }) == "42 (thrown as int)");
    const auto nests = [](sim::world&) {
        try {
            throw std::string("inner");
        } catch (...) {
            std::throw_with_nested(std::runtime_error("outer"));
        }
    };
    CHECK(cause_of(nests) == "outer: inner (thrown as std::string)");
    const auto breaks = [](sim::world& w) {
        w.always([] { throw 7; });
        weir::sync_wait(w, step());
    };
    CHECK(cause_of(breaks).ends_with(": 7 (thrown as int)"));
}

TEST_CASE("the cause of a failure is that of its shortest schedule") {
    const auto fails = [](sim::world& w) {
        weir::sync_wait(w, step());
        if (w.draw(10) >= 5) throw std::runtime_error("of thousand: " + std::to_string(w.draw(1'000)));
    };
    try {
        explorer(fails, {.schedules = 1'000}).explore();
        FAIL("it is found");
    } catch (const sim::schedule_failure& e) {
        CHECK(e.cause().starts_with("of thousand: 0"));
        CHECK(e.schedule() == "0:5");
    }
}

TEST_CASE("without an attempt to make it shorter a schedule stays what it was when it failed") {
    try {
        explorer(draws, {.schedules = 10'000, .attempts_to_shrink = 0}).explore();
        FAIL("it is found");
    } catch (const sim::schedule_failure& e) {
        CHECK(std::string(e.what()).find("2 decisions other") == std::string::npos);
    }
}

TEST_CASE("all there is is tried once, one decision after the other") {
    const auto few = [](sim::world& w) {
        weir::sync_wait(w, step());
        static_cast<void>(w.draw(3));
        static_cast<void>(w.draw(2));
    };
    const auto done = explorer(few, {.strategy = sim::strategy::exhaustive}).explore();
    CHECK(done.complete);
    CHECK(done.schedules == 6);
    CHECK_THROWS_AS(explorer(few, {.schedules = 0}), std::invalid_argument);
}

namespace {

// Appends its name, once for each step.
weir::task<> walk(sim::world& w, std::string& path, char name, int steps) {
    for (int i = 0; i < steps; ++i) {
        co_await weir::schedule(w);
        path += name;
    }
}

std::string walk_both(sim::world& w, int steps) {
    std::string path;
    weir::sync_wait(w, weir::when_all(walk(w, path, 'a', steps), walk(w, path, 'b', steps)));
    return path;
}

// Reads, lets others run, and writes what it has read, plus one.
weir::task<> add_carelessly(sim::world& w, int& sum) {
    const int before = sum;
    co_await weir::schedule(w);
    sum = before + 1;
}

void lose_an_update(sim::world& w) {
    int sum = 0;
    weir::sync_wait(w,
                    weir::when_all(add_carelessly(w, sum), add_carelessly(w, sum), add_carelessly(w, sum)));
    w.demand(sum == 3, "three additions make 3");
}

// Fails only if `b` has made all of its steps before the first of `a`'s: a fault of depth 1 for
// priorities, one in 70 for random decisions.
void late_one(sim::world& w) { w.demand(walk_both(w, 4) != "bbbbaaaa", "the first is not the last"); }

std::string message_of(void (*scenario)(sim::world&), sim::explore_options options) {
    try {
        sim::explore(scenario, std::move(options));
    } catch (const sim::schedule_failure& e) {
        return e.what();
    }
    return "no failure";
}

struct variable {
    variable(const char* name, const std::string& value) : name_(name) { set(value.c_str()); }
    ~variable() { set(nullptr); }
    // NOLINTBEGIN(concurrency-mt-unsafe): one thread
    void set(const char* value) const {
#if defined(_WIN32)
        ::_putenv_s(name_, value == nullptr ? "" : value);
#else
        value == nullptr ? ::unsetenv(name_) : ::setenv(name_, value, 1);
#endif
    }
    // NOLINTEND(concurrency-mt-unsafe)
    const char* name_;
};

}  // namespace

TEST_CASE("a coroutine of a world that is sent to a pool stays in the world") {
    weir::thread_pool pool(1);
    struct body {
        static weir::task<> go(weir::executor& there, int& done) {
            co_await weir::schedule(there);
            ++done;
        }
    };
    const auto done = sim::explore(
        [&](sim::world& w) {
            int sum = 0;
            weir::sync_wait(w, weir::when_all(body::go(pool, sum), body::go(pool, sum)));
            w.demand(sum == 2, "both have been there");
        },
        {.schedules = 20});
    CHECK(done.schedules > 0);
}

TEST_CASE("each of two coroutines may go first, in every combination of their steps") {
    std::set<std::string> paths;
    const auto done =
        sim::explore([&](sim::world& w) { paths.insert(walk_both(w, 3)); }, {.schedules = 2'000});
    CHECK(done.schedules == 2'000);
    CHECK_FALSE(done.complete);
    CHECK(paths.size() == 20);  // 6 over 3
}

TEST_CASE("an exhaustive exploration makes each schedule once, and says that there are no more") {
    std::vector<std::string> paths;
    const auto done = sim::explore([&](sim::world& w) { paths.push_back(walk_both(w, 3)); },
                                   {.schedules = 100'000, .strategy = sim::strategy::exhaustive});
    CHECK(done.complete);
    CHECK(done.schedules == paths.size());
    const std::set<std::string> different(paths.begin(), paths.end());
    CHECK(different.size() == 20);
}

TEST_CASE("with no deviations an exhaustive exploration is first come, first served alone") {
    std::vector<std::string> paths;
    const auto one = sim::explore([&](sim::world& w) { paths.push_back(walk_both(w, 3)); },
                                  {.strategy = sim::strategy::exhaustive, .deviations = 0});
    CHECK(one.schedules == 1);
    CHECK(one.complete);
    CHECK(paths.front() == "ababab");
    const auto few =
        sim::explore([](sim::world& w) { walk_both(w, 3); },
                     {.schedules = 100'000, .strategy = sim::strategy::exhaustive, .deviations = 1});
    const auto more =
        sim::explore([](sim::world& w) { walk_both(w, 3); },
                     {.schedules = 100'000, .strategy = sim::strategy::exhaustive, .deviations = 2});
    CHECK(few.complete);
    CHECK(few.schedules > 1);
    CHECK(more.schedules > few.schedules);
}

TEST_CASE("each strategy finds a lost update") {
    for (const auto how : {sim::strategy::random, sim::strategy::priorities, sim::strategy::exhaustive}) {
        CHECK_THROWS_WITH(sim::explore(lose_an_update, {.strategy = how}),
                          ContainsSubstring("three additions make 3"));
    }
}

TEST_CASE("priorities find in few schedules what random decisions take many for") {
    const auto until_found = [](sim::strategy how) {
        std::size_t sum = 0;
        for (std::uint64_t seed = 1; seed <= 30; ++seed) {
            std::size_t schedules = 0;
            const auto counted = [&](sim::world& w) {
                ++schedules;
                late_one(w);
            };
            try {
                sim::explore(counted, {.schedules = 10'000,
                                       .strategy = how,
                                       .seed = seed,
                                       .depth = 1,
                                       .attempts_to_shrink = 0});
            } catch (const sim::schedule_failure&) {
            }
            sum += schedules;
        }
        return sum / 30;
    };
    // The first one measures how long a schedule is.
    CHECK(until_found(sim::strategy::priorities) < 6);
    CHECK(until_found(sim::strategy::random) > 8);
}

TEST_CASE("the seed of a schedule by priorities finds it again, whatever was explored before it") {
    // Overtaken in the middle, which takes a change of priorities at the right step.
    const auto scenario = [](sim::world& w) {
        w.demand(walk_both(w, 6).find("aaaabb") == std::string::npos, "a is not overtaken there");
    };
    for (std::uint64_t first = 1; first <= 20; ++first) {
        const sim::explore_options options{.schedules = 10'000,
                                           .strategy = sim::strategy::priorities,
                                           .seed = first,
                                           .attempts_to_shrink = 0};
        std::string seed;
        std::string schedule;
        try {
            sim::explore(scenario, options);
            FAIL("nothing failed");
        } catch (const sim::schedule_failure& e) {
            seed = std::to_string(e.seed());
            schedule = e.schedule();
        }
        const variable only("WEIR_SEED", seed);
        try {
            sim::explore(scenario, options);
            FAIL("its seed doesn't find it");
        } catch (const sim::schedule_failure& e) {
            CHECK(e.schedule() == schedule);
        }
    }
}

TEST_CASE("a failure says its seed, which finds it again, alone and at once") {
    std::string seed;
    try {
        sim::explore(late_one, {.schedules = 10'000});
        FAIL("nothing failed");
    } catch (const sim::schedule_failure& e) {
        seed = std::to_string(e.seed());
        CHECK_THAT(e.what(), ContainsSubstring("WEIR_SEED=" + seed));
        CHECK(e.cause() == "the first is not the last");
    }
    const variable only("WEIR_SEED", seed);
    const std::string again = message_of(late_one, {.schedules = 10'000, .seed = 99});
    CHECK_THAT(again, ContainsSubstring("schedule 1 fails: the first is not the last"));
    CHECK(message_of([](sim::world& w) { walk_both(w, 2); }, {}) == "no failure");
}

TEST_CASE("a failure is made as short as it can be, and that schedule shows it again") {
    std::string schedule;
    try {
        sim::explore(lose_an_update, {.seed = 5});
        FAIL("nothing failed");
    } catch (const sim::schedule_failure& e) {
        schedule = e.schedule();
        CHECK(schedule == "0:0");  // first come, first served loses it already
    }
    try {
        sim::explore(late_one, {.schedules = 10'000});
        FAIL("nothing failed");
    } catch (const sim::schedule_failure& e) {
        schedule = e.schedule();
        CHECK_THAT(e.what(), ContainsSubstring("WEIR_SCHEDULE=\"" + schedule + "\""));
    }
    CHECK_THROWS_WITH(sim::explore(late_one, {.replay = schedule}),
                      ContainsSubstring("the first is not the last"));
    const variable only("WEIR_SCHEDULE", schedule);
    CHECK_THROWS_WITH(sim::explore(late_one), ContainsSubstring("the first is not the last"));
}

TEST_CASE("a schedule is replayed bit for bit") {
    std::vector<std::string> paths;
    const auto scenario = [&](sim::world& w) { paths.push_back(walk_both(w, 6)); };
    sim::explore(scenario, {.schedules = 50, .seed = 3});
    const auto first = paths;
    paths.clear();
    sim::explore(scenario, {.schedules = 50, .seed = 3});
    CHECK(paths == first);
}

TEST_CASE("a scenario that depends on something else than its decisions is told so") {
    int times = 0;
    CHECK_THROWS_WITH(sim::explore([&](sim::world& w) { w.demand(++times != 7, "not the seventh"); }),
                      ContainsSubstring("depends on something else"));
}

TEST_CASE("what is drawn is part of the schedule") {
    std::set<std::size_t> seen;
    const auto done =
        sim::explore([&](sim::world& w) { seen.insert(w.draw(5)); }, {.strategy = sim::strategy::exhaustive});
    CHECK(done.schedules == 5);
    CHECK(seen.size() == 5);
    CHECK_THROWS_WITH(sim::explore([](sim::world& w) { w.demand(w.draw(100) < 90, "it is small"); }),
                      ContainsSubstring("WEIR_SCHEDULE=\"0:90\""));
    CHECK_THROWS_WITH(sim::explore([](sim::world& w) { static_cast<void>(w.draw(0)); }),
                      ContainsSubstring("there is no number below 0"));
    if constexpr (sizeof(std::size_t) > sizeof(std::uint32_t)) {
        CHECK_THROWS_WITH(sim::explore([](sim::world& w) { static_cast<void>(w.draw(SIZE_MAX)); }),
                          ContainsSubstring("at most 2^32 - 1 numbers"));
    }
}

TEST_CASE("a pipeline runs under many schedules with one call") {
    const auto pipeline = weir::source(std::views::iota(0, 12)) |
                          weir::pipe([](int n) { return n + 1; }, {.concurrency = 2}) | weir::sink();
    std::set<std::vector<int>> orders;
    const auto done = sim::explore(
        [&](sim::world& w) {
            auto run = pipeline.start<sim::stepwise>(w);
            std::vector<int> got;
            while (auto n = run.get()) got.push_back(*n);
            orders.insert(got);
            const std::set<int> all(got.begin(), got.end());
            w.demand(got.size() == 12 && all.size() == 12, "each item comes out once");
        },
        {.schedules = 500});
    CHECK(done.schedules == 500);
    CHECK(orders.size() > 100);
}

TEST_CASE("a deadlock is a failure that names who waits for what") {
    const auto scenario = [](sim::world& w) {
        weir::channel<int, sim::stepwise> left(1), right(1);
        const auto turn = [](auto& from, auto& to) -> weir::task<> {
            const auto got = co_await from.get();
            const bool taken = co_await to.put(*got);
            static_cast<void>(taken);
        };
        weir::sync_wait(w, weir::when_all(turn(left, right), turn(right, left)));
    };
    CHECK_THROWS_WITH(sim::explore(scenario),
                      ContainsSubstring("deadlock") && ContainsSubstring("wait to get"));
}

TEST_CASE("what doesn't end is a failure") {
    const auto scenario = [](sim::world& w) {
        const auto forever = [](sim::world& here) -> weir::task<> {
            while (true) co_await weir::schedule(here);
        };
        weir::sync_wait(w, forever(w));
    };
    CHECK_THROWS_WITH(sim::explore(scenario, {.most_steps = 1'000}),
                      ContainsSubstring("the schedule has 1000 steps and goes on"));
}

// As long as it may be by itself: what looked at all decisions for each of them took minutes here.
TEST_CASE("what doesn't end for a hundred thousand steps is made short, too") {
    const auto scenario = [](sim::world& w) {
        const auto forever = [](sim::world& here) -> weir::task<> {
            while (true) co_await weir::schedule(here);
        };
        weir::sync_wait(w, weir::when_all(forever(w), forever(w)));
    };
    CHECK_THROWS_WITH(sim::explore(scenario), ContainsSubstring("WEIR_SCHEDULE=\"0:0\""));
}

TEST_CASE("by priorities who polls doesn't keep off for ever who it waits for") {
    const auto scenario = [](sim::world& w) {
        bool done = false;
        const auto poll = [&]() -> weir::task<> {
            while (!done) co_await weir::schedule(w);
        };
        const auto end = [&]() -> weir::task<> {
            co_await weir::schedule(w);
            done = true;
        };
        weir::sync_wait(w, weir::when_all(poll(), end()));
    };
    const auto all = sim::explore(scenario, {.strategy = sim::strategy::priorities, .most_steps = 1'000});
    CHECK(all.schedules == 1'000);
}

TEST_CASE("a run that doesn't end is a failure, and is ended all the same") {
    const auto scenario = [](sim::world& w) {
        auto run = (weir::source([]() -> std::optional<int> { return 1; }) |
                    weir::pipe([](int n) { return n; }) | weir::sink())
                       .start<sim::stepwise>(w);
        while (run.get()) {
        }
    };
    CHECK_THROWS_WITH(sim::explore(scenario, {.most_steps = 1'000, .attempts_to_shrink = 10}),
                      ContainsSubstring("the schedule has 1000 steps and goes on"));
}

TEST_CASE("a run with reports that doesn't end is ended all the same") {
    const auto scenario = [](weir::run_options options) {
        return [options](sim::world& w) {
            auto run = (weir::source([]() -> std::optional<int> { return 1; }) | weir::sink())
                           .start<sim::stepwise>(w, options);
            while (run.get()) {
            }
        };
    };
    const sim::explore_options few = {.most_steps = 1'000, .attempts_to_shrink = 10};
    CHECK_THROWS_WITH(sim::explore(scenario({.on_end = [](auto&, auto&) {}}), few),
                      ContainsSubstring("the schedule has 1000 steps and goes on"));
    CHECK_THROWS_WITH(sim::explore(scenario({.lap = std::chrono::milliseconds(1), .on_lap = [](auto&) {}}),
                                   few),
                      ContainsSubstring("the schedule has 1000 steps and goes on"));
}

TEST_CASE("an action that fails while a run is destroyed is the failure of its schedule") {
    const auto scenario = [](sim::world& w) {
        int seen = 0;
        auto run = (weir::source(std::views::iota(0, 100)) | weir::sink()).start<sim::stepwise>(w);
        w.at_step(w.draw(60), [&] { w.demand(seen < 3, "none too many"); });
        while (seen < 3 && run.get()) ++seen;
    };
    CHECK_THROWS_WITH(sim::explore(scenario, {.attempts_to_shrink = 10}),
                      ContainsSubstring("none too many") && ContainsSubstring("WEIR_SCHEDULE"));
}

TEST_CASE("options that make no sense are refused with a sentence") {
    const auto nothing = [](sim::world&) {};
    CHECK_THROWS_WITH(sim::explore(nothing, {.schedules = 0}), ContainsSubstring("ask for at least 1"));
    CHECK_THROWS_WITH(sim::explore(nothing, {.depth = 0}), ContainsSubstring("a depth of at least 1"));
    CHECK_THROWS_WITH(sim::explore(nothing, {.replay = "all"}), ContainsSubstring("is no schedule"));
    const auto refuses_seed = [&nothing](const char* text) {
        const variable seed("WEIR_SEED", text);
        CHECK_THROWS_WITH(sim::explore(nothing),
                          ContainsSubstring("WEIR_SEED='" + std::string(text) + "' is no seed"));
    };
    for (const char* const text : {"one", "-1", "1 ", "184467440737095516161"}) refuses_seed(text);
#if !defined(_WIN32)  // which knows no empty variables
    refuses_seed("");
#endif
}

TEST_CASE("a scenario that runs nothing in its world is refused with a sentence") {
    const auto elsewhere = [](sim::world&) {
        const auto work = []() -> weir::task<> { co_await weir::yield(); };
        weir::sync_wait(weir::when_all(work(), work()));
    };
    for (const auto how : {sim::strategy::random, sim::strategy::priorities, sim::strategy::exhaustive}) {
        CHECK_THROWS_WITH(sim::explore(elsewhere, {.strategy = how}), ContainsSubstring("ran no coroutine"));
    }
    const auto a_task = [](sim::world&) -> weir::task<> { co_await weir::yield(); };
    CHECK_THROWS_WITH(sim::explore(a_task), ContainsSubstring("as in sync_wait(world, task)"));
    const auto only_time = [](sim::world& w) {
        weir::channel<int, sim::stepwise> never(1, w, "never");
        w.demand(!never.blocking_get(std::chrono::seconds(1)), "nothing comes");
    };
    CHECK_NOTHROW(sim::explore(only_time));
}

namespace sim = weir::simulation;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using weir::channel_stats;
using weir::duration;
using weir::histogram;
using weir::pipeline_stats;
using weir::stage_stats;
using weir::simulation::check_identities;
using weir::simulation::failed_check;
using ints = std::vector<int>;

namespace {

template <class Policy>
weir::task<> put_twice(weir::channel<char, Policy>& to, char c) {
    co_await to.put(c + 0);
    co_await to.put(c + 0);
}

// In which orders the items of two coroutines may lie in a channel that has room for all of them.
template <class Policy>
std::set<std::string> orders() {
    std::set<std::string> all;
    const auto scenario = [&all](sim::world& w) {
        weir::channel<char, Policy> items(4);
        weir::sync_wait(w, weir::when_all(put_twice(items, 'a'), put_twice(items, 'b')));
        std::string order;
        while (const auto item = items.try_get()) order += *item;
        all.insert(order);
    };
    sim::explore(scenario, {.schedules = 100'000, .strategy = sim::strategy::exhaustive});
    return all;
}

}  // namespace

TEST_CASE("others may go on between any two operations, also those that needn't wait") {
    CHECK(orders<weir::summed>() == std::set<std::string>{"aabb", "bbaa"});
    CHECK(orders<sim::stepwise>() == std::set<std::string>{"aabb", "abab", "abba", "baab", "baba", "bbaa"});
}

TEST_CASE("in steps the same is measured as in sums") {
    CHECK(sim::stepwise::statistics);
    CHECK_FALSE(sim::stepwise::histograms);
}

namespace {

pipeline_stats sound() {
    pipeline_stats all;
    stage_stats stage;
    stage.name = "decode";
    stage.elapsed = duration(100);
    stage.per_slot.resize(1);
    stage.per_slot[0].run = duration(30);
    stage.per_slot[0].wait_get = duration(70);
    stage.busy = duration(30);
    stage.num_tasks = 3;
    stage.num_failures = 1;
    stage.task_times = histogram::without_quantiles(2, duration(20), duration(15));
    all.stages.push_back(stage);
    channel_stats queue;
    queue.name = "in";
    queue.elapsed = duration(100);
    queue.empty = duration(80);
    queue.get_wait = queue.get_blocked = duration(70);
    queue.num_put = 5;
    queue.num_get = 3;
    queue.size = 2;
    queue.put_waits = histogram::without_quantiles(5, duration(0), duration(0));
    queue.get_waits = histogram::without_quantiles(3, duration(70), duration(40));
    all.channels.push_back(queue);
    all.elapsed = duration(100);
    all.num_items = 3;
    all.first_item = {.after = duration(40), .since = duration(60), .num_items = 2};
    return all;
}

template <class Change>
std::string complaint_about(Change change) {
    pipeline_stats stats = sound();
    if constexpr (requires { change(stats); }) {
        change(stats);
    } else {
        change(stats.stages[0], stats.channels[0]);
    }
    try {
        check_identities(stats);
    } catch (const failed_check& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("figures that agree are taken") { CHECK_NOTHROW(check_identities(sound())); }

TEST_CASE("runs that measure less have figures that agree") {
    weir::virtual_time time;
    const auto pipeline = weir::source(std::views::iota(0, 9)) | weir::pipe([](int n) -> weir::task<int> {
                              co_await weir::sleep_for(duration(10));
                              co_return n;
                          }) |
                          weir::sink();
    auto unmeasured = pipeline.start<weir::unmeasured>(time);
    static_cast<void>(unmeasured.drain());
    CHECK_NOTHROW(check_identities(unmeasured.stats()));
    auto summed = pipeline.start<weir::summed>(time);
    static_cast<void>(summed.drain());
    CHECK_NOTHROW(check_identities(summed.stats()));
}

TEST_CASE("each contradiction is told, and where it is") {
    const auto told = [](auto change) { return complaint_about(change); };
    CHECK_THAT(told([](auto& s, auto&) { s.per_slot[0].run += duration(1); }),
               ContainsSubstring("stage 'decode': the states of a slot sum to the time that passed"));
    CHECK_THAT(told([](auto& s, auto&) {
                   s.per_slot[0].run = duration(-30);
                   s.per_slot[0].wait_get = duration(130);
                   s.busy = duration(-30);
               }),
               ContainsSubstring("less than no time"));
    for (duration weir::slot_times::* const state :
         {&weir::slot_times::off, &weir::slot_times::wait_get, &weir::slot_times::runnable,
          &weir::slot_times::run, &weir::slot_times::await, &weir::slot_times::wait_put,
          &weir::slot_times::wait_turn, &weir::slot_times::overhead}) {
        CHECK_THAT(told([state](auto& s, auto&) {
                       const bool is_run = state == &weir::slot_times::run;
                       s.per_slot[0] = {};
                       s.per_slot[0].*state = duration(-1);
                       s.per_slot[0].*(is_run ? &weir::slot_times::off : &weir::slot_times::run) =
                           duration(101);
                       s.busy = s.times().busy();
                   }),
                   ContainsSubstring("less than no time"));
    }
    CHECK_THAT(told([](auto& s, auto&) { s.busy += duration(1); }), ContainsSubstring("busy while they run"));
    CHECK_THAT(told([](auto& s, auto&) { s.num_failures = 4; }), ContainsSubstring("no more fail"));
    CHECK_THAT(told([](auto& s, auto&) { s.num_tasks = 4; }), ContainsSubstring("each success has a time"));
    CHECK_THAT(told([](auto&, auto& q) { q.size = 3; }),
               ContainsSubstring("queue 'in': what was put was got, was discarded, or is inside"));
    CHECK_THAT(told([](auto&, auto& q) { q.num_discarded = 1; }), ContainsSubstring("was discarded"));
    CHECK_THAT(told([](auto&, auto& q) { q.empty = duration(101); }),
               ContainsSubstring("a part of the time"));
    CHECK_THAT(told([](auto&, auto& q) { q.put_blocked = duration(1); }),
               ContainsSubstring("as long as all do"));
    CHECK_THAT(told([](auto&, auto& q) { q.get_blocked = duration(71); }),
               ContainsSubstring("as long as all do"));
    CHECK_THAT(told([](auto&, auto& q) { q.put_wait = q.put_blocked = duration(21); }),
               ContainsSubstring("to put while it is empty"));
    CHECK_THAT(told([](auto&, auto& q) { q.empty = duration(69); }),
               ContainsSubstring("to get while something"));
    CHECK_THAT(told([](auto&, auto& q) { q.num_put += q.num_discarded = 1; }),
               ContainsSubstring("each operation has a wait"));
}

TEST_CASE("a first item that came when nothing ran, or counts among those since, contradicts the rest") {
    CHECK(complaint_about([](pipeline_stats& p) { p.first_item.reset(); }) == "none");
    CHECK(complaint_about([](pipeline_stats& p) { p.first_item->num_items = 3; }) == "none");  // of a lap
    for (const int wrong : {0, 1}) {
        CHECK_THAT(complaint_about([&](pipeline_stats& p) { p.first_item->num_items = wrong == 0 ? 1 : 4; }),
                   ContainsSubstring("what came since is all but the first item"));
        CHECK_THAT(complaint_about(
                       [&](pipeline_stats& p) { p.first_item->since = duration(wrong == 0 ? -1 : 101); }),
                   ContainsSubstring("the first item came while it ran"));
    }
}

TEST_CASE("what comes out of a pipeline is checked under each schedule, and so are its figures") {
    const auto slow = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(weir::duration(n % 3));
        co_return n * 10;
    };
    std::set<ints> orders;
    const auto done =
        sim::explore(weir::source(std::views::iota(0, 6)) | weir::pipe(slow, {.concurrency = 3}) |
                         weir::sink(),
                     [&](ints all) {
                         orders.insert(all);
                         std::ranges::sort(all);
                         sim::world::check(all == ints{0, 10, 20, 30, 40, 50}, "each item comes once");
                     },
                     {.schedules = 300});
    CHECK(done.schedules == 300);
    CHECK(orders.size() > 1);
}

TEST_CASE("a check that fails under some schedule shows that schedule") {
    const auto pipeline = weir::source(std::views::iota(0, 6)) |
                          weir::pipe([](int n) { return n; }, {.concurrency = 2}) | weir::sink();
    CHECK_THROWS_WITH(sim::explore(pipeline,
                                   [](const ints& all) {
                                       sim::world::check(std::ranges::is_sorted(all),
                                                         "they keep their order");
                                   }),
                      ContainsSubstring("they keep their order") && ContainsSubstring("WEIR_SCHEDULE="));
}

TEST_CASE("items that only move are given to the check") {
    const auto boxed = weir::pipe([](int n) { return std::make_unique<int>(n); });
    sim::explore(weir::source(std::views::iota(0, 3)) | boxed | weir::sink(),
                 [](std::vector<std::unique_ptr<int>> all) { sim::world::check(all.size() == 3, "three"); },
                 {.schedules = 10});
}

TEST_CASE("a pipeline that fails is a schedule that fails, and says where and why") {
    const auto broken =
        weir::pipe([](int n) { return n < 2 ? n : throw std::runtime_error("no more"); }, {.name = "broken"});
    CHECK_THROWS_WITH(sim::explore(weir::source(std::views::iota(0, 3)) | broken | weir::sink(),
                                   [](const ints&) {}),
                      ContainsSubstring("'broken'") && ContainsSubstring("no more"));
}

TEST_CASE("what a pipeline does that ends with a for_each is checked under each schedule") {
    std::set<ints> orders;
    ints seen;
    const auto write = [&seen](int n) -> weir::task<> {
        if (n == 0) seen.clear();
        co_await weir::sleep_for(weir::duration(n % 3));
        seen.push_back(n);
    };
    const auto done =
        sim::explore(weir::source(std::views::iota(0, 6)) | weir::for_each(write, {.concurrency = 3}),
                     [&](const weir::run_result& all) {
                         sim::world::check(all.items == 6 && seen.size() == 6, "all are written");
                         orders.insert(seen);
                     },
                     {.schedules = 300});
    CHECK(done.schedules == 300);
    CHECK(orders.size() > 1);
}
