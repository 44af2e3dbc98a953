#include <weir/run/run_context.hpp>

#include "support/catch.hpp"
#include "support/causes.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/branch.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/split.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using items::take_all;
using items::take_until_failure;
using weir::failure;
using weir::pipeline_failure;
using weir::rate;
using weir::task;
using weir::unlimited;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

// A function that passes its item on, but throws where `wrong` says so.
template <class Predicate>
auto unless(Predicate wrong) {
    return [wrong](int n) {
        if (wrong(n)) throw std::runtime_error("can't take " + std::to_string(n));
        return n;
    };
}

bool is_odd(int n) { return n % 2 == 1; }

auto up_to(int n) { return weir::source(std::views::iota(0, n)); }

struct result : items::outcome<int> {
    std::uint64_t failures_told = 0;
};

// Runs the pipeline on virtual time, as far as it comes.
template <class Pipeline>
result run_of(const Pipeline& pipeline, weir::failure_limit limit = {}) {
    virtual_time time;
    result r;
    static_cast<items::outcome<int>&>(r) =
        take_until_failure(pipeline.start(time, {.max_failures = limit,
                                                 .on_failure = [&r](const failure&) { ++r.failures_told; }}));
    return r;
}

// Of `items` items, one in `each` fails: is the run stopped by this limit?
bool stops(int items, int each, weir::failure_limit limit, bool of_the_stage = false) {
    auto pipeline = up_to(items) |
                    weir::pipe(unless([each](int n) { return n % each == each - 1; }), {.name = "p"}) |
                    weir::sink();
    if (of_the_stage) {
        pipeline.options("p").max_failures = limit;
        return run_of(pipeline).failed != nullptr;
    }
    return run_of(pipeline, limit).failed != nullptr;
}

}  // namespace

TEST_CASE("the first exception ends a run: all before it is delivered in order, then it is thrown") {
    virtual_time time;
    const auto pipeline = up_to(100) | weir::pipe([](int n) { return n; }) |
                          weir::pipe(unless([](int n) { return n == 7; }), {.name = "parse"}) |
                          weir::pipe([](int n) { return n; }) | weir::sink();
    auto run = pipeline.start(time);
    ints taken;
    try {
        for (const int n : run) taken.push_back(n);
        FAIL("nothing was thrown");
    } catch (const pipeline_failure& e) {
        CHECK(e.stage() == "parse");
        CHECK(e.item() == 7);
        CHECK(e.failures().size() == 1);
        CHECK(e.what() ==
              std::string("weir: stage 'parse' (run_context.test.cpp:93) failed on item 7: can't take 7"));
        CHECK_THROWS_AS(causes::rethrow_cause(e), std::runtime_error);
        CHECK(items::message_inside(e) == "can't take 7");
        CHECK(items::message_of([&e] { std::rethrow_exception(e.original()); }) == "can't take 7");
    }
    CHECK(taken == ints{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("a failure is thrown once; after it there is just the end") {
    virtual_time time;
    auto run = (up_to(1) | weir::pipe(unless([](int) { return true; })) | weir::sink()).start(time);
    CHECK_THROWS_AS(run.get(), pipeline_failure);
    CHECK_FALSE(run.get().has_value());
    CHECK(run.get(1s).status() == weir::channel_status::closed);
    CHECK(run.begin() == run.end());
    run.stop();
}

TEST_CASE("a stage that fails after the failure was thrown changes nothing any more") {
    virtual_time time;
    const auto late = [](int n) -> task<int> {
        if (n == 1) {
            co_await weir::sleep_for(10ms);
            throw std::runtime_error("too late");
        }
        co_return n;
    };
    const auto early = [](int) -> task<int> {
        co_await weir::sleep_for(5ms);
        throw std::runtime_error("in time");
    };
    auto run = (up_to(2) | weir::pipe(late) | weir::pipe(early) | weir::sink()).start(time);
    CHECK(take_until_failure(run).inside == "in time");
    CHECK(time.now() == weir::time_point(5ms));
    time.run();
    CHECK(time.now() == weir::time_point(10ms));
    CHECK_FALSE(run.get().has_value());
}

TEST_CASE("whatever would give the next item throws the failure") {
    virtual_time time;
    const auto pipeline = up_to(3) | weir::pipe(unless([](int n) { return n == 1; })) | weir::sink();
    auto by_get = pipeline.start(time);
    CHECK(by_get.get() == 0);
    CHECK_THROWS_AS(by_get.get(), pipeline_failure);

    auto by_time_out = pipeline.start(time);
    CHECK(*by_time_out.get(1s) == 0);
    CHECK_THROWS_AS(static_cast<void>(by_time_out.get(1s)), pipeline_failure);

    auto by_loop = pipeline.start(time);
    auto at = by_loop.begin();
    CHECK(*at == 0);
    CHECK_THROWS_AS(++at, pipeline_failure);

    const auto consume = [](auto run) -> task<int> {
        int taken = 0;
        while (const auto n = co_await run.next()) ++taken;
        co_return taken;
    };
    CHECK_THROWS_AS(weir::sync_wait(time, consume(pipeline.start(time))), pipeline_failure);
}

TEST_CASE("a failure cancels the stages before, also an endless source") {
    virtual_time time;
    int pulled = 0;
    const auto endless = [&pulled]() -> std::optional<int> { return pulled++; };
    // Through stages of all kinds: each ends the one before it.
    const auto one = [](int n) -> weir::generator<int> { co_yield n; };
    auto run = (weir::source(endless) | weir::aggregate(1) | weir::disaggregate() |
                weir::pipe([](int n) { return n; }) | weir::pipe(one) | weir::aggregate(2) |
                weir::disaggregate() | weir::pipe(unless([](int n) { return n == 50; })) | weir::sink(1))
                   .start(time);
    const auto end = take_until_failure(run);
    CHECK(end.taken.size() == 50);
    CHECK(end.failed);
    time.run();  // would throw if anything still waited
    CHECK(pulled < 100);
}

TEST_CASE("an exception that is no std::exception is nested unchanged") {
    virtual_time time;
    auto run = (up_to(1) | weir::pipe([](int) -> int { throw 42; }) | weir::sink()).start(time);
    try {
        static_cast<void>(run.get());
        FAIL("nothing was thrown");
    } catch (const pipeline_failure& e) {
        CHECK(items::contains(e.what(), "42 (thrown as int)"));
        CHECK_THROWS_AS(causes::rethrow_cause(e), int);
    }
}

TEST_CASE("an exception whose text is a null pointer ends the run as any other") {
    struct silent : std::exception {
        const char* what() const noexcept override { return nullptr; }
    };
    virtual_time time;
    auto run = (up_to(1) | weir::pipe([](int) -> int { throw silent(); }) | weir::sink()).start(time);
    try {
        static_cast<void>(run.get());
        FAIL("nothing was thrown");
    } catch (const pipeline_failure& e) {
        CHECK(items::contains(e.what(), "silent, without a text"));
    }
}

TEST_CASE("a count of failures is tolerated, one more stops the run") {
    const auto pipeline = up_to(10) | weir::pipe(unless(is_odd)) | weir::sink();
    CHECK(run_of(pipeline, 2).taken == ints{0, 2, 4});
    CHECK(run_of(pipeline, 3).taken == ints{0, 2, 4, 6});
    CHECK(run_of(pipeline, 3).failed->item() == 7);
    CHECK(run_of(pipeline, 3).failures_told == 4);
    CHECK(run_of(pipeline, 4).taken == ints{0, 2, 4, 6, 8});
    CHECK(run_of(pipeline, 4).failed->item() == 9);
    CHECK(run_of(pipeline, 5).taken == ints{0, 2, 4, 6, 8});
    CHECK_FALSE(run_of(pipeline, 5).failed);
}

TEST_CASE("without a limit all other items are processed, and each failure is reported") {
    virtual_time time;
    std::vector<std::string> told;
    const auto tell = [&told](const failure& f) {
        told.push_back(f.stage + " " + std::to_string(f.item) + ": " + f.message());
    };
    auto run = (up_to(7) | weir::pipe(unless(is_odd), {.name = "even"}) | weir::sink())
                   .start(time, {.max_failures = unlimited, .on_failure = tell});
    CHECK(take_all(run) == ints{0, 2, 4, 6});
    CHECK(told ==
          std::vector<std::string>{"even 1: can't take 1", "even 3: can't take 3", "even 5: can't take 5"});
    const auto stats = run.stats().stages.at(1);
    CHECK(stats.num_tasks == 7);
    CHECK(stats.num_failures == 3);
}

TEST_CASE("on_failure is called before the stage continues, and also for the failure that stops the run") {
    virtual_time time;
    ints order;
    const auto work = [&order](int n) {
        order.push_back(n);
        if (n >= 1) throw std::runtime_error("no");
        return n;
    };
    auto run = (up_to(4) | weir::pipe(work) | weir::sink())
                   .start(time, {.max_failures = 1, .on_failure = [&order](const failure& f) {
                                     order.push_back(100 + static_cast<int>(f.item));
                                 }});
    CHECK(take_until_failure(run).taken == ints{0});
    CHECK(order == ints{0, 1, 101, 2, 102});
}

TEST_CASE("an item's number is that of the stage that failed on it") {
    const auto pipeline = up_to(20) | weir::pipe(unless(is_odd), {.name = "a", .max_failures = unlimited}) |
                          weir::pipe(unless([](int n) { return n == 10; }), {.name = "b"}) | weir::sink();
    const result r = run_of(pipeline);
    REQUIRE(r.failed);
    CHECK(r.failed->stage() == "b");
    CHECK(r.failed->item() == 5);
    CHECK(r.taken == ints{0, 2, 4, 6, 8});
}

TEST_CASE("a limit of the stage goes before that of the run, whichever is stricter") {
    auto pipeline = up_to(10) | weir::pipe(unless(is_odd), {.name = "p"}) | weir::sink();
    pipeline.options("p").max_failures = 2;
    CHECK(run_of(pipeline, unlimited).taken == ints{0, 2, 4});
    CHECK(run_of(pipeline, 0).taken == ints{0, 2, 4});
    pipeline.options("p").max_failures = unlimited;
    CHECK(run_of(pipeline, 0).taken == ints{0, 2, 4, 6, 8});
    CHECK_FALSE(run_of(pipeline, 0).failed);
}

TEST_CASE("stages without a limit of their own share the run's; those with one count apart") {
    const auto multiple_of = [](int d) { return unless([d](int n) { return n % d == d - 1; }); };
    // Of 0..23, `a` fails on six (3, 7, ...), `b` on three of what is left (5, 14, 17, ... fail n % 3).
    auto pipeline = up_to(24) | weir::pipe(multiple_of(4), {.name = "a"}) |
                    weir::pipe(multiple_of(6), {.name = "b"}) | weir::sink();
    std::uint64_t all = run_of(pipeline, unlimited).failures_told;
    CHECK(all == 6 + 2);  // 11 and 23 fail in `a` already
    CHECK_FALSE(run_of(pipeline, 8).failed);
    CHECK(run_of(pipeline, 7).failed);

    pipeline.options("a").max_failures = 6;
    CHECK_FALSE(run_of(pipeline, 2).failed);
    REQUIRE(run_of(pipeline, 1).failed);
    CHECK(run_of(pipeline, 1).failed->stage() == "b");

    pipeline.options("a").max_failures = 5;
    REQUIRE(run_of(pipeline, 2).failed);
    CHECK(run_of(pipeline, 2).failed->stage() == "a");
    CHECK(run_of(pipeline, 2).failed->item() == 23);

    pipeline.options("a").max_failures = unlimited;
    pipeline.options("b").max_failures = 0;
    REQUIRE(run_of(pipeline, 0).failed);
    CHECK(run_of(pipeline, 0).failed->stage() == "b");
    CHECK(run_of(pipeline, 0).taken == ints{0, 1, 2, 4});
}

TEST_CASE("a stage that failed within the limit is not named when another one exceeds it") {
    const auto pipeline = up_to(10) | weir::pipe(unless([](int n) { return n == 1; }), {.name = "a"}) |
                          weir::pipe(unless([](int n) { return n == 5; }), {.name = "b"}) | weir::sink();
    const result r = run_of(pipeline, 1);
    REQUIRE(r.failed);
    CHECK(r.failed->failures().size() == 1);
    CHECK(r.failed->stage() == "b");
    CHECK(r.taken == ints{0, 2, 3, 4});
}

TEST_CASE("a rate is tolerated up to its share, on probation for 100 invocations") {
    for (const bool of_the_stage : {false, true}) {
        CAPTURE(of_the_stage);
        CHECK(stops(1000, 10, rate(0.09), of_the_stage));
        CHECK_FALSE(stops(1000, 10, rate(0.1), of_the_stage));
        CHECK_FALSE(stops(1000, 10, rate(0.15), of_the_stage));
        CHECK(stops(1000, 100, rate(0.001), of_the_stage));
        // Half of them fail, but there are less than 100.
        CHECK_FALSE(stops(99, 2, rate(0.1), of_the_stage));
        CHECK(stops(100, 2, rate(0.1), of_the_stage));
        CHECK_FALSE(stops(1000, 1, rate(1), of_the_stage));
        CHECK(stops(1000, 1, rate(0.99), of_the_stage));
    }
}

// Of 300 items those below 99 fail in the stage "p": too many for the rate with the hundredth, which is right.
template <class Stage>
void check_end_of_probation(const Stage& stage, bool of_the_stage, std::size_t most = 1,
                            std::size_t slots = 1) {
    virtual_time time;
    auto pipeline = up_to(300) | stage | weir::sink();
    weir::run_options options;
    (of_the_stage ? pipeline.options("p").max_failures.emplace() : options.max_failures) = rate(0.5);
    const auto r = take_until_failure(pipeline.start(time, std::move(options)));
    REQUIRE(r.failed);
    CHECK(r.failed->stage() == "p");
    CHECK(r.failed->item() == 98);
    CHECK(std::string(r.failed->what()).find("can't take 98") != std::string::npos);
    // Another slot may be late with a failure before it, behind which nothing is delivered.
    CHECK(r.failed->failures().size() <= slots);
    // What was finished is delivered, and no more of it.
    CHECK(r.taken.size() <= most);
    if (most == 1 && slots == 1) CHECK(r.taken == ints{99});
}

TEST_CASE("a rate is judged by the success that ends the probation, too, whatever the kind of stage") {
    const auto right = unless([](int n) { return n < 99; });
    const auto later = [right](int n) -> task<int> {
        co_await weir::sleep_for(n == 99 ? 2ms : 1ms);
        co_return right(n);
    };
    for (const bool of_the_stage : {false, true}) {
        CAPTURE(of_the_stage);
        const auto check = [of_the_stage](const auto& stage, std::size_t most = 1, std::size_t slots = 1) {
            check_end_of_probation(stage, of_the_stage, most, slots);
        };
        check(weir::pipe(right, {.name = "p"}));
        check(weir::pipe(right, {.name = "p", .time_limit = 1s}));
        check(weir::pipe(later, {.name = "p"}));
        check(weir::pipe(right, {.name = "p", .concurrency = 3, .output_order = weir::output_order::input}),
              1, 3);
        check(weir::flat_map([right](int n) { return ints{right(n)}; }, {.name = "p"}));
        check(weir::flat_map([right](int n) { return ints(static_cast<std::size_t>(right(n)) * 0); },
                             {.name = "p"}),
              0);
        check(weir::filter([right](int n) { return right(n) < 0; }, {.name = "p"}), 0);
        check(weir::route([right](int n) { return right(n) * 0; }, {.name = "p"}, weir::branch("a")));
        check(weir::aggregate(1) |
              weir::split([right](int n) { return right(n) * 0; }, {.name = "p"}, weir::branch("a")) |
              weir::disaggregate());
    }
}

TEST_CASE("the order in which failures and successes come makes no difference to a rate") {
    for (const bool of_the_stage : {false, true}) {
        for (const int bad : {5, 6}) {
            const auto of_100 = [&](auto wrong) {
                auto pipeline = up_to(100) | weir::pipe(unless(wrong), {.name = "p"}) | weir::sink();
                if (!of_the_stage) return run_of(pipeline, rate(0.05)).failed != nullptr;
                pipeline.options("p").max_failures = rate(0.05);
                return run_of(pipeline).failed != nullptr;
            };
            CHECK(of_100([bad](int n) { return n < bad; }) == (bad == 6));
            CHECK(of_100([bad](int n) { return n >= 100 - bad; }) == (bad == 6));
            CHECK(of_100([bad](int n) { return n >= 50 && n < 50 + bad; }) == (bad == 6));
        }
    }
}

TEST_CASE("where another stage ends the probation of a run, the last that failed is named") {
    const auto pipeline = up_to(90) | weir::pipe(unless([](int n) { return n < 50; }), {.name = "a"}) |
                          weir::pipe([](int n) { return n; }, {.name = "b"}) | weir::sink();
    const result r = run_of(pipeline, rate(0.3));
    REQUIRE(r.failed);
    CHECK(r.failed->stage() == "a");
    CHECK(r.failed->item() == 49);
}

TEST_CASE("on a pool many slots judge a rate by one order of all invocations") {
    weir::thread_pool pool(2);
    for (int i = 0; i < 100; ++i) {
        auto run =
            (up_to(200) | weir::pipe(unless([](int n) { return n < 99; }), {.name = "p", .concurrency = 4}) |
             weir::sink())
                .start(pool, {.max_failures = rate(0.6)});
        CHECK(take_until_failure(run).failed);
    }
}

TEST_CASE("a rate of the run is of invocations that may fail: a source's calls thin nothing out") {
    // One of two fails: 0.5 of what the stage does, and would be 0.33 of what it and the source do.
    CHECK(stops(1000, 2, rate(0.45)));
    CHECK_FALSE(stops(1000, 2, rate(0.5)));
}

TEST_CASE("a rate of the run is over all stages that have no limit of their own") {
    auto pipeline = up_to(1000) | weir::pipe(unless(is_odd), {.name = "a"}) |
                    weir::pipe([](int n) { return n; }, {.name = "b"}) | weir::sink();
    // 500 of 1000 and 0 of 500.
    CHECK_FALSE(run_of(pipeline, rate(0.35)).failed);
    CHECK(run_of(pipeline, rate(0.3)).failed);
    pipeline.options("b").max_failures = 0;
    CHECK(run_of(pipeline, rate(0.45)).failed);
    CHECK_FALSE(run_of(pipeline, rate(0.5)).failed);
}

TEST_CASE("runs of one pipeline count for themselves") {
    virtual_time time;
    const auto pipeline = up_to(10) | weir::pipe(unless(is_odd)) | weir::sink();
    auto one = pipeline.start(time, {.max_failures = 5});
    auto two = pipeline.start(time, {.max_failures = 5});
    CHECK(one.get() == 0);
    CHECK(take_all(two).size() == 5);
    CHECK(take_all(one).size() == 4);
}

TEST_CASE("an exception from on_failure stops the run, for the item's own error and for that one") {
    virtual_time time;
    int told = 0;
    const auto object = [&told](const failure& f) {
        if (++told == 2) throw std::logic_error("this is one too many: " + f.message());
    };
    const auto pipeline = up_to(10) | weir::pipe(unless(is_odd), {.name = "p"}) | weir::sink();
    auto run = pipeline.start(time, {.max_failures = unlimited, .on_failure = object});
    const auto end = take_until_failure(run);
    CHECK(end.taken == ints{0, 2});
    REQUIRE(end.failed);
    CHECK(end.failed->stage() == "p");
    CHECK(end.failed->item() == 3);
    CHECK(end.inside == "can't take 3");
    REQUIRE(end.failed->failures().size() == 2);
    CHECK(end.failed->failures().at(1).message() == "this is one too many: can't take 3");
    CHECK(told == 2);
    CHECK_FALSE(run.get().has_value());
}

TEST_CASE("a stop that on_failure requests is the cause of the end, and the failure is thrown all the same") {
    virtual_time time;
    const weir::stop_source stop;
    auto run = (up_to(5) | weir::pipe(unless([](int n) { return n == 2; }), {.name = "p"}) | weir::sink())
                   .start(time, {.on_failure = [&](const failure&) { stop.request_stop(); },
                                 .stop = stop.get_token()});
    const auto end = take_until_failure(run);
    REQUIRE(end.failed != nullptr);
    CHECK(end.failed->stage() == "p");
    CHECK(end.failed->item() == 2);
    CHECK(run.outcome() == weir::run_outcome::stopped_by_token);
}

TEST_CASE("on_failure is called for failures that no limit tolerates, too") {
    virtual_time time;
    std::vector<std::string> told;
    const weir::run_options options{.max_failures = unlimited, .on_failure = [&told](const failure& f) {
                                        told.push_back(f.stage + " " + std::to_string(f.item));
                                    }};
    const auto breaks = [left = 3]() mutable -> std::optional<int> {
        if (left-- == 0) throw std::runtime_error("the disk is gone");
        return left;
    };
    class refuses {
      public:
        explicit refuses(ints&&) { throw std::runtime_error("no such batch"); }
    };
    CHECK(take_until_failure((weir::source(breaks) | weir::sink()).start(time, options)).failed);
    const auto batches = up_to(10) | weir::aggregate<refuses>(4) | weir::sink();
    CHECK(take_until_failure(batches.start(time, options)).failed);
    CHECK(told == std::vector<std::string>{"src 3", "aggregate#1 3"});
}

TEST_CASE("stages that fail at the same time are all named, the first one first") {
    virtual_time time;
    const auto at_5_ms = [&time](const char* text) {
        return [&time, text](int n) -> task<int> {
            const weir::time_point then(5ms);
            if (time.now() >= then) throw std::runtime_error(text);
            co_await weir::sleep_for(1ms);
            if (time.now() >= then) throw std::runtime_error(text);
            co_return n;
        };
    };
    const auto pipeline = up_to(100) | weir::pipe(at_5_ms("of a"), {.name = "a"}) |
                          weir::pipe(at_5_ms("of b"), {.name = "b"}) | weir::sink();
    const auto end = take_until_failure(pipeline.start(time));
    REQUIRE(end.failed);
    REQUIRE(end.failed->failures().size() == 2);
    std::vector<std::string> stages;
    for (const failure& f : end.failed->failures()) {
        stages.push_back(f.stage);
        CHECK(items::contains(end.failed->what(), f.message()));
    }
    CHECK(end.failed->stage() == stages.front());
    CHECK(end.inside == "of " + stages.front());
    std::ranges::sort(stages);
    CHECK(stages == std::vector<std::string>{"a", "b"});
    CHECK(end.taken == ints{0, 1, 2});
}

TEST_CASE("after a failure, items in other slots of the stage are finished and delivered") {
    virtual_time time;
    const auto work = [](int n) -> task<int> {
        co_await weir::sleep_for((n == 2 ? 1 : 5) * 1ms);
        if (n == 2) throw std::runtime_error("no");
        co_return n;
    };
    auto run = (up_to(100) | weir::pipe(work, {.concurrency = 4}) | weir::sink()).start(time);
    auto end = take_until_failure(run);
    std::ranges::sort(end.taken);
    CHECK(end.taken == ints{0, 1, 3});
    REQUIRE(end.failed);
    CHECK(end.failed->item() == 2);
}

TEST_CASE("every slot that fails stops, and no more than a handful of failures is kept") {
    virtual_time time;
    const auto work = [](int n) -> task<int> {
        co_await weir::sleep_for(1ms);
        throw std::runtime_error(std::to_string(n));
    };
    auto run = (up_to(100) | weir::pipe(work, {.concurrency = 40}) | weir::sink()).start(time);
    const auto end = take_until_failure(run);
    REQUIRE(end.failed);
    CHECK(end.failed->failures().size() == 16);
    CHECK(run.stats().stages.at(1).num_failures == 40);
}

TEST_CASE("after a failure the pipeline starts anew") {
    virtual_time time;
    bool broken = true;
    const auto work = [&broken](int n) {
        if (broken && n == 3) throw std::runtime_error("broken");
        return n;
    };
    const auto pipeline = up_to(6) | weir::pipe(work) | weir::sink();
    CHECK(take_until_failure(pipeline.start(time)).taken.size() == 3);
    broken = false;
    CHECK(take_all(pipeline.start(time)).size() == 6);
}

TEST_CASE("a failure that no consumer takes is still reported, and blocks nothing") {
    virtual_time time;
    int told = 0;
    const auto pipeline = up_to(10) | weir::pipe(unless([](int n) { return n == 1; })) | weir::sink();
    {
        const auto run = pipeline.start(time, {.on_failure = [&told](const failure&) { ++told; }});
        time.run();
        CHECK(told == 1);
    }
    {
        auto run = pipeline.start(time, {.on_failure = [&told](const failure&) { ++told; }});
        time.run();
        run.stop();
        run.stop();
    }
    CHECK(told == 2);
}

TEST_CASE("a failure doesn't hide an exception of the consumer's own") {
    virtual_time time;
    const auto consume = [&time] {
        auto run = (up_to(10) | weir::pipe(unless([](int n) { return n == 1; })) | weir::sink()).start(time);
        for ([[maybe_unused]] const int n : run) throw std::logic_error("the consumer's");
    };
    CHECK(items::message_of(consume) == "the consumer's");
}

TEST_CASE("failures are tolerated and counted without statistics, too") {
    virtual_time time;
    const auto pipeline = up_to(10) | weir::pipe(unless(is_odd)) | weir::sink();
    CHECK(take_until_failure(pipeline.start<weir::unmeasured>(time, {.max_failures = 3})).taken ==
          ints{0, 2, 4, 6});
    CHECK(take_all(pipeline.start<weir::unmeasured>(time, {.max_failures = 5})).size() == 5);
}

TEST_CASE("on a pool each failure of many slots is reported exactly once") {
    weir::thread_pool pool(3);
    std::vector<std::atomic<int>> told(1000);
    auto run = (up_to(1000) | weir::pipe(unless(is_odd), {.concurrency = 4, .max_failures = unlimited}) |
                weir::pipe(unless([](int n) { return n % 4 == 2; }), {.concurrency = 4}) | weir::sink())
                   .start(pool, {.max_failures = 250, .on_failure = [&told](const failure& f) {
                                     const std::string text = f.message();  // "can't take 17"
                                     ++told[std::stoul(text.substr(text.rfind(' ')))];
                                 }});
    ints taken = take_all(run);
    std::ranges::sort(taken);
    CHECK(taken.size() == 250);
    for (std::size_t n = 0; n < told.size(); ++n) {
        const bool failed = n % 2 == 1 || n % 4 == 2;
        if (told[n] != (failed ? 1 : 0)) FAIL("item " << n << " was told of " << told[n] << " times");
        CHECK(std::ranges::binary_search(taken, static_cast<int>(n)) == !failed);
    }
    CHECK(run.stats().stages.at(1).num_failures == 500);
    CHECK(run.stats().stages.at(2).num_failures == 250);
}

TEST_CASE("on a pool a failure ends the stream after the items before it") {
    weir::thread_pool pool(3);
    const auto pipeline = weir::source(std::views::iota(0)) | weir::pipe([](int n) { return n; }) |
                          weir::pipe(unless([](int n) { return n == 500; }), {.name = "p"}) |
                          weir::pipe([](int n) { return n; }) | weir::sink();
    for (int i = 0; i < 20; ++i) {
        const auto end = take_until_failure(pipeline.start(pool));
        CHECK(end.taken.size() == 500);
        CHECK(std::ranges::is_sorted(end.taken));
        REQUIRE(end.failed);
        CHECK(end.failed->item() == 500);
    }
}
