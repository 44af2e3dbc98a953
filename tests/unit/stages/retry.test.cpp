#include <weir/stages/retry.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/policy.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using items::take_all;
using items::take_until_failure;
using weir::retry;
using weir::task;
using weir::time_point;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

struct lost_connection : std::runtime_error {
    lost_connection() : std::runtime_error("the connection was lost") {}
};

// When it was called; fails so many times for each item.
struct unreliable {
    int failures;
    virtual_time* time;
    std::vector<std::chrono::nanoseconds>* calls;
    int left = failures;

    int operator()(int n) {
        calls->push_back(time->now().time_since_epoch());
        if (left-- > 0) throw std::runtime_error("failure " + std::to_string(failures - left));
        left = failures;
        return 10 * n;
    }
};

// When a function that always fails is called.
std::vector<std::chrono::nanoseconds> calls_of(weir::retry_options options) {
    virtual_time time;
    std::vector<std::chrono::nanoseconds> calls;
    const auto pipeline = weir::source({1}) |
                          weir::pipe(retry(unreliable{1000, &time, &calls}, std::move(options))) |
                          weir::sink();
    const auto end = take_until_failure(pipeline.start(time));
    CHECK(end.inside == "failure " + std::to_string(calls.size()));
    return calls;
}

}  // namespace

TEST_CASE("a function that fails is called again with the same item") {
    virtual_time time;
    std::vector<std::chrono::nanoseconds> calls;
    const auto pipeline =
        weir::source({1, 2, 3}) | weir::pipe(retry(unreliable{2, &time, &calls})) | weir::sink();
    auto run = pipeline.start(time);
    CHECK(take_all(run) == ints{10, 20, 30});
    CHECK(calls.size() == 9);
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).num_tasks == 3);
    CHECK(stats.stages.at(1).num_failures == 0);
    CHECK(stats.stages.at(1).times().await == 90ms);
    CHECK(flows::add_up(stats));
}

TEST_CASE("each wait is longer than the one before, up to the longest") {
    CHECK(calls_of({}) == std::vector<std::chrono::nanoseconds>{0ms, 10ms, 30ms});
    CHECK(calls_of({.attempts = 6, .delay = 1s, .factor = 3, .max_delay = 10s}) ==
          std::vector<std::chrono::nanoseconds>{0s, 1s, 4s, 13s, 23s, 33s});
    CHECK(calls_of({.attempts = 3, .delay = 1s, .factor = 1}) ==
          std::vector<std::chrono::nanoseconds>{0s, 1s, 2s});
    CHECK(calls_of({.attempts = 3, .delay = 1h}) == std::vector<std::chrono::nanoseconds>{0s, 1min, 2min});
    CHECK(calls_of({.attempts = 3, .delay = 0s}) == std::vector<std::chrono::nanoseconds>{0s, 0s, 0s});
    CHECK(calls_of({.attempts = 1}) == std::vector<std::chrono::nanoseconds>{0s});
    CHECK(calls_of({.attempts = 4, .delay = 1ns, .factor = 1e300, .max_delay = 1h}).back() == 1ns + 2h);
}

TEST_CASE("the last exception is what fails the item, as it is") {
    virtual_time time;
    const auto breaks = [](int n) -> int {
        if (n == 2) throw lost_connection();
        return n;
    };
    const auto pipeline = weir::source({1, 2, 3}) | weir::pipe(retry(breaks), {.name = "r"}) | weir::sink();
    CHECK(take_all(pipeline.start(time, {.max_failures = 1})) == ints{1, 3});
    const auto end = take_until_failure(pipeline.start(time));
    CHECK(end.taken == ints{1});
    REQUIRE(end.failed);
    CHECK(end.failed->stage() == "r");
    CHECK(end.failed->item() == 1);
    CHECK_THROWS_AS(std::rethrow_exception(end.failed->original()), lost_connection);
}

TEST_CASE("no exception is none of any class") { CHECK_FALSE(weir::threw<std::exception>(nullptr)); }

TEST_CASE("what isn't worth another call is thrown at once") {
    virtual_time time;
    int calls = 0;
    const auto breaks = [&calls](int n) -> int {
        ++calls;
        if (n == 1) throw std::invalid_argument("1 will never do");
        throw lost_connection();
    };
    const auto with = [&](weir::retry_options options) {
        calls = 0;
        auto run = (weir::source({1, 2}) | weir::pipe(retry(breaks, std::move(options))) | weir::sink())
                       .start(time, {.max_failures = 2});
        CHECK(take_all(run).empty());
        return calls;
    };
    CHECK(with({}) == 6);
    CHECK(with({.when = weir::threw<lost_connection>}) == 4);
    CHECK(with({.when = weir::threw<std::exception>}) == 6);
    CHECK(with({.when = [](const std::exception_ptr&) { return false; }}) == 2);
    CHECK(with({.when = [](const std::exception_ptr&) -> bool { throw std::logic_error("can't tell"); }}) ==
          2);
}

TEST_CASE("a function that waits is retried as one that doesn't") {
    virtual_time time;
    int calls = 0;
    const auto third_time = [&calls](int n) -> task<int> {
        co_await weir::sleep_for(1ms);
        if (++calls % 3 != 0) throw lost_connection();
        co_await weir::sleep_for(1ms);
        co_return 2 * n;
    };
    auto run = (weir::source({1, 2}) | weir::pipe(retry(third_time)) | weir::sink()).start(time);
    CHECK(take_all(run) == ints{2, 4});
    CHECK(time.now() == time_point(2 * 34ms));
    CHECK(run.stats().stages.at(1).task_times.max() == 34ms);
    CHECK(flows::add_up(run.stats()));
}

TEST_CASE("a function that gives any other awaitable is retried, too") {
    virtual_time time;
    int calls = 0;
    const auto sleeps = [&calls](int n) {
        if (++calls % 2 == 1) throw lost_connection();
        return weir::sleep_for(n * 1ms);
    };
    auto run = (weir::source({1, 2}) | weir::pipe(retry(sleeps)) | weir::sink()).start(time);
    CHECK(take_all(run) == std::vector<bool>{true, true});
    CHECK(time.now() == time_point(23ms));
}

TEST_CASE("a function that drops items, and one that is a filter's or a flat_map's, can be retried") {
    virtual_time time;
    int calls = 0;
    const auto odd = [&calls](int n) -> std::optional<int> {
        if (++calls % 2 == 1) throw lost_connection();
        return n % 2 == 1 ? std::optional<int>(n) : std::nullopt;
    };
    CHECK(take_all((weir::source({1, 2, 3}) | weir::pipe(retry(odd)) | weir::sink()).start(time)) ==
          ints{1, 3});
    const auto is_odd = [&calls](int n) {
        if (++calls % 2 == 1) throw lost_connection();
        return n % 2 == 1;
    };
    CHECK(take_all((weir::source({1, 2, 3}) | weir::filter(retry(is_odd)) | weir::sink()).start(time)) ==
          ints{1, 3});
    const auto twice = [&calls](int n) {
        if (++calls % 2 == 1) throw lost_connection();
        return ints{n, n};
    };
    CHECK(take_all((weir::source({1, 2}) | weir::flat_map(retry(twice)) | weir::sink()).start(time)) ==
          ints{1, 1, 2, 2});
}

TEST_CASE("a for_each retries a function that gives nothing, whether it waits or not") {
    virtual_time time;
    ints got;
    const auto fails_first = [&got](int n) {
        got.push_back(n);
        if (got.size() % 2 == 1) throw lost_connection();
    };
    const auto waits = [fails_first](int n) -> task<> {
        co_await weir::sleep_for(5ms);
        fails_first(n);
    };
    auto run = (weir::source({1, 2}) | weir::for_each(retry(fails_first))).start(time);
    CHECK(run.wait().items == 2);
    auto waiting = (weir::source({3}) | weir::for_each(retry(waits))).start(time);
    CHECK(waiting.wait().items == 1);
    CHECK(got == ints{1, 1, 2, 2, 3, 3});
    CHECK(waiting.stats().stages.at(1).num_failures == 0);
}

TEST_CASE("a retried function gets a constant item, or a copy, and the invocation if it takes that") {
    virtual_time time;
    int calls = 0;
    const auto empties = [&calls](std::string s) {
        const std::string text = std::move(s);
        if (++calls % 3 != 0) throw lost_connection();
        return text;
    };
    CHECK(take_all((weir::source({std::string(50, 'a')}) | weir::pipe(retry(empties)) | weir::sink())
                       .start(time)) == std::vector<std::string>{std::string(50, 'a')});
    const auto looks = [&calls](const std::unique_ptr<int>& p) {
        if (++calls % 3 != 0) throw lost_connection();
        return *p;
    };
    CHECK(take_all((weir::source({1, 2}) | weir::pipe([](int n) { return std::make_unique<int>(n); }) |
                    weir::pipe(retry(looks)) | weir::sink())
                       .start(time)) == ints{1, 2});
    const auto numbers = [](int, const weir::invocation& call) { return call.item(); };
    CHECK(take_all((weir::source({7, 7}) | weir::pipe(retry(numbers)) | weir::sink()).start(time)) ==
          std::vector<std::uint64_t>{0, 1});
}

TEST_CASE("slots wait each for itself, with one function or with one each") {
    virtual_time time;
    std::vector<std::chrono::nanoseconds> calls;
    const auto breaks = [&](int n) -> int {
        calls.push_back(time.now().time_since_epoch());
        throw std::runtime_error(std::to_string(n));
    };
    auto run = (weir::source({1, 2, 3}) | weir::pipe(retry(breaks), {.concurrency = 3}) | weir::sink())
                   .start(time, {.max_failures = 3});
    CHECK(take_all(run).empty());
    CHECK(calls.size() == 9);
    CHECK(time.now() == time_point(30ms));
    const auto own = [] {
        return retry([calls_of_mine = 0](int n) mutable {
            if (++calls_of_mine == 1) throw lost_connection();
            return n;
        });
    };
    CHECK(take_all((weir::source({1, 2, 3}) | weir::pipe(weir::per_slot(own)) | weir::sink()).start(time)) ==
          ints{1, 2, 3});
}

TEST_CASE("items of epochs are retried within their epoch") {
    virtual_time time;
    int calls = 0;
    const auto breaks = [&calls](int n, const weir::invocation& call) {
        if (++calls % 3 != 0) throw lost_connection();
        return 10 * static_cast<int>(call.epoch()) + n;
    };
    auto run = (weir::source(weir::epochs(ints{1, 2}, 2)) | weir::pipe(retry(breaks), {.concurrency = 1}) |
                weir::sink())
                   .start(time);
    CHECK(flows::by_epoch(run) == std::vector<std::pair<std::size_t, ints>>{{0, {1, 2}}, {1, {11, 12}}});
}

TEST_CASE("when the time limit is over, a retry waits no longer and calls no more") {
    virtual_time time;
    std::vector<std::chrono::nanoseconds> calls;
    const auto breaks = [&](int) -> int {
        calls.push_back(time.now().time_since_epoch());
        throw lost_connection();
    };
    const auto pipeline = weir::source({1}) |
                          weir::pipe(retry(breaks, {.attempts = 100, .delay = 10ms}), {.time_limit = 50ms}) |
                          weir::sink();
    const auto end = take_until_failure(pipeline.start(time));
    CHECK(calls == std::vector<std::chrono::nanoseconds>{0ms, 10ms, 30ms});
    CHECK(time.now() == time_point(50ms));
    REQUIRE(end.failed);
    try {
        std::rethrow_exception(end.failed->original());
    } catch (const weir::time_limit_exceeded& over) {
        CHECK(items::message_inside(over) == "the connection was lost");
    }
    CHECK_THROWS_AS(std::rethrow_exception(end.failed->original()), weir::time_limit_exceeded);

    const auto too_long = [&calls](int) -> task<int> {
        calls.push_back(0ns);
        co_await weir::sleep_for(60ms);
        throw lost_connection();
    };
    calls.clear();
    CHECK(take_until_failure(
              (weir::source({1}) | weir::pipe(retry(too_long), {.time_limit = 50ms}) | weir::sink())
                  .start(time))
              .failed);
    CHECK(calls.size() == 1);
    CHECK(time.now() == time_point(100ms));  // what the call waited for has ended with the limit
}

TEST_CASE("a retry of a retry ends with its time limit, and with the last error of the function") {
    virtual_time time;
    const auto fails = [](int) { throw lost_connection(); };
    const auto pipeline =
        weir::source({1}) | weir::for_each(retry(retry(fails, {.attempts = 9, .delay = 1h}), {.attempts = 2}),
                                           {.max_failures = weir::unlimited, .time_limit = 10ms});
    std::string inside;
    auto run = pipeline.start(time, {.on_failure = [&inside](const weir::failure& what) {
                                  try {
                                      std::rethrow_exception(what.error);
                                  } catch (const weir::time_limit_exceeded& over) {
                                      inside = items::message_inside(over);
                                  }
                              }});
    run.wait();
    CHECK(inside == "the connection was lost");
    CHECK(time.now() == time_point(10ms));
}

TEST_CASE("a stop ends the wait for another call, which is no failure") {
    const auto check = [](auto policy, auto limit, std::chrono::nanoseconds delay) {
        virtual_time time;
        weir::stop_source stop;
        int calls = 0;
        int failures = 0;
        const auto fails = [&](int) {
            ++calls;
            if (delay == 0ns && calls == 3) stop.request_stop();
            throw lost_connection();
        };
        const auto pipeline =
            weir::source({1}) | weir::for_each(retry(fails, {.attempts = 100, .delay = delay}),
                                               {.concurrency = 1, .time_limit = limit});
        auto run = pipeline.template start<decltype(policy)>(
            time,
            {.on_failure = [&failures](const weir::failure&) { ++failures; }, .stop = stop.get_token()});
        if (delay != 0ns) {
            time.run_until(time_point(1ms));
            stop.request_stop();
        }
        CHECK(run.wait().items == 0);
        CHECK(run.outcome() == weir::run_outcome::stopped_by_token);
        CHECK(calls == (delay == 0ns ? 3 : 1));
        CHECK(failures == 0);
    };
    const auto on_all = [&check](auto policy) {
        for (const auto limit : {0ns, 10ns, std::chrono::nanoseconds(1h)}) {
            if (limit != 10ns) check(policy, limit, 10ms);
            check(policy, limit, 0ns);
        }
    };
    on_all(weir::measured());
    on_all(weir::unmeasured());
}

TEST_CASE("an item that is retried when the run is destroyed is destroyed once") {
    items::ledger book(100);
    {
        virtual_time time;
        const auto make = [&book](int) { return items::counted(book); };
        int calls = 0;
        const auto passes = [&](const items::counted&) -> items::counted {
            if (++calls % 2 == 1) throw lost_connection();
            return items::counted(book);
        };
        auto run = (weir::source(ints(50)) | weir::pipe(make) |
                    weir::pipe(retry(passes), {.concurrency = 3}) | weir::sink())
                       .start(time);
        for (int n = 0; n < 4; ++n) CHECK(run.get().has_value());
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("an item that a stopped run doesn't call again for is no item of its checkpoint") {
    virtual_time time;
    const auto fails = [](const weir::draw& d) {
        if (d.position == 2) throw lost_connection();
        return d.position;
    };
    auto run = (weir::source(weir::draws(weir::sampler({.size = 4, .shuffle = false}), 1)) |
                weir::pipe(retry(fails, {.delay = 1s}), {.max_failures = weir::unlimited}) | weir::sink())
                   .start(time);
    CHECK(run.get() == 0);
    CHECK(run.get() == 1);
    time.run_until(time.now() + 1ms);
    run.stop();
    CHECK(run.checkpoint().watermark() == 2);
    CHECK(run.checkpoint().ahead().empty());
}

TEST_CASE("options of a retry that make no sense are refused with what to do") {
    const auto refused = [](weir::retry_options options) {
        return items::message_of(
            [&options] { static_cast<void>(retry([](int n) { return n; }, std::move(options))); });
    };
    CHECK(refused({.attempts = 0}) ==
          "weir: retry with 0 attempts would never call its function; give it 1 or more");
    CHECK(refused({.delay = -1ns}) ==
          "weir: the delay of a retry can't be negative; 0 means that it calls again at once");
    CHECK(refused({.max_delay = -1ns}) ==
          "weir: the max_delay of a retry can't be negative; 0 means that it calls again at once");
    const std::string factor =
        "weir: the factor of a retry has to be 1 or more: 2 doubles the delay each time";
    CHECK(refused({.factor = 0.5}) == factor);
    CHECK(refused({.factor = std::numeric_limits<double>::quiet_NaN()}) == factor);
    CHECK(refused({.factor = std::numeric_limits<double>::infinity()}) == factor);
    CHECK(refused({}).empty());
}

TEST_CASE(
    "the statistics count repeated calls, and the time of the failed calls and of the waits after them") {
    virtual_time time;
    struct slow_at_first {
        int left = 2;
        task<int> operator()(int n) {
            co_await weir::sleep_for(5ms);
            if (left-- > 0) throw lost_connection();
            left = 2;
            co_return n;
        }
    };
    const auto pipeline = weir::source({1, 2, 3}) |
                          weir::pipe(retry(slow_at_first{}, {.delay = 10ms, .factor = 2})) | weir::sink();
    auto run = pipeline.start(time);
    CHECK(take_all(run) == ints{1, 2, 3});
    const weir::pipeline_stats stats = run.stats();
    REQUIRE(stats.stages[1].retries);
    CHECK(stats.stages[1].retries->num_retries == 6);
    CHECK(stats.stages[1].retries->time == 3 * (5ms + 10ms + 5ms + 20ms));
    CHECK_FALSE(stats.stages[0].retries);
    CHECK((stats - stats).stages[1].retries->num_retries == 0);
}
