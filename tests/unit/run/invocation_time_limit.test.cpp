#include <weir/run/invocation.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"
#include "support/slow_world.hpp"

#include <weir/channel/channel.hpp>
#include <weir/channel/select.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>
#include <weir/task/when_any.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using items::message_of;
using items::take_all;
using items::take_until_failure;
using weir::duration;
using weir::invocation;
using weir::task;
using weir::time_point;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

// Told of failures: at what time, and what they were.
struct told {
    std::vector<std::pair<duration, std::string>> all;
    weir::run_options options(virtual_time& time, weir::failure_limit limit = weir::unlimited) {
        weir::run_options o;
        o.max_failures = limit;
        o.on_failure = [this, &time](const weir::failure& f) {
            all.emplace_back(time.now().time_since_epoch(), std::to_string(f.item) + ": " + f.message());
        };
        return o;
    }
};

const std::string too_long = "weir: an invocation took longer than its stage's time limit of 10.0 ms";

// Notes that a function has been left.
class left_by {
  public:
    explicit left_by(bool& left) : left_(left) {}
    left_by(const left_by&) = delete;
    left_by& operator=(const left_by&) = delete;
    ~left_by() { left_ = true; }

  private:
    bool& left_;
};

// A sleep that no stop ends.
class deaf_sleep {
  public:
    explicit deaf_sleep(duration d) : duration_(d) {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> h) {
        weir::executor& ex = weir::detail::executor_of(weir::detail::env_of(h));
        timer_.emplace(ex.now() + duration_, h);
        ex.add(*timer_);
    }
    void await_resume() const noexcept {}

  private:
    duration duration_;
    std::optional<weir::timer> timer_;
};

// Item n takes n ms, whatever it is asked.
task<int> deaf(int n) {
    co_await deaf_sleep(n * 1ms);
    co_return n;
}

}  // namespace

TEST_CASE("an invocation that takes longer than its limit has failed, and its result is dropped") {
    virtual_time time;
    told failures;
    auto run = (weir::source({5, 30, 9, 11, 10}) | weir::pipe(deaf, {.name = "deaf", .time_limit = 10ms}) |
                weir::sink())
                   .start(time, failures.options(time));
    CHECK(take_all(run) == ints{5, 9});
    // The slot goes on when the function has ended. One that ends at the very end of the time is late.
    CHECK(failures.all == std::vector<std::pair<duration, std::string>>{{35ms, "1: " + too_long},
                                                                        {55ms, "3: " + too_long},
                                                                        {65ms, "4: " + too_long}});
    CHECK(time.now() == time_point(65ms));
    const auto stage = run.stats().stages.at(1);
    CHECK(stage.num_tasks == 5);
    CHECK(stage.num_failures == 3);
    CHECK(stage.task_time == 14ms);
    CHECK(stage.busy == 65ms);
    CHECK(stage.times().total() == 65ms);
}

TEST_CASE("a function is asked to stop when its time is over, and can end at once") {
    virtual_time time;
    told failures;
    const auto listens = [](int n, const invocation& call) -> task<int> {
        const bool slept = co_await weir::sleep_for(n * 1ms, call.stop());
        if (!slept && n > 50) throw std::runtime_error("was asked to stop");
        co_return slept ? n : -1;
    };
    auto run = (weir::source({5, 30, 9, 60}) | weir::pipe(listens, {.time_limit = 10ms}) | weir::sink())
                   .start(time, failures.options(time));
    CHECK(take_all(run) == ints{5, 9});
    CHECK(failures.all ==
          std::vector<std::pair<duration, std::string>>{{15ms, "1: " + too_long}, {34ms, "3: " + too_long}});
    CHECK(time.now() == time_point(34ms));
}

TEST_CASE(
    "a time limit ends what a stop of the run ends: what a function awaits of sleeps and channels, at any "
    "depth") {
    const auto forever = [](int) -> task<> { co_await weir::sleep_for(1h); };
    const auto both = [forever](int n) -> task<> {
        std::vector<task<>> parts;
        parts.push_back(forever(n));
        parts.push_back(forever(n));
        co_await weir::when_all(std::move(parts));
    };
    const auto values = []() -> weir::async_generator<int> {
        co_await weir::sleep_for(1h);
        co_yield 1;
    };
    for (int what = 0; what < 9; ++what) {
        CAPTURE(what);
        virtual_time time;
        told failures;
        weir::channel<int> empty(1), full(1);
        REQUIRE(full.try_put(7) == weir::channel_status::success);
        bool unwound = false;
        const auto waits = [&](int n) -> task<int> {
            if (n == 1) co_return n;
            const left_by note(unwound);
            if (what == 0) co_await weir::sleep_for(1h);
            if (what == 1) static_cast<void>(co_await empty.get());
            if (what == 2) static_cast<void>(co_await full.put(n));
            if (what == 3) static_cast<void>(co_await empty.get_for(1h));
            if (what == 4) static_cast<void>(co_await weir::select(weir::on_get(empty), weir::on_get(empty)));
            if (what == 5) co_await both(n);
            if (what == 6) co_await weir::when_any(forever(n), forever(n));
            if (what == 7) {
                auto all = values();
                co_await all.next();
            }
            if (what == 8) {
                try {
                    co_await weir::sleep_for(1h);
                } catch (const weir::stopped&) {
                }
                co_await weir::sleep_for(1h);  // ends at once
            }
            co_return n;
        };
        auto run = (weir::source({0, 1, 2}) |
                    weir::pipe(waits, {.output_order = weir::output_order::input, .time_limit = 10ms}) |
                    weir::sink())
                       .start(time, failures.options(time));
        CHECK(take_all(run) == ints{1});
        CHECK(unwound);
        CHECK(failures.all == std::vector<std::pair<duration, std::string>>{{10ms, "0: " + too_long},
                                                                            {20ms, "2: " + too_long}});
        CHECK(run.stats().elapsed == 20ms);
        CHECK((empty.size() == 0 && full.size() == 1));
    }
}

TEST_CASE("a run that is stopped within a time limit ends as without one: nobody is told of a failure") {
    virtual_time time;
    told failures;
    const auto waits = [](int n) -> task<int> {
        co_await weir::sleep_for(1h);
        co_return n;
    };
    auto run = (weir::source({1, 2, 3}) | weir::pipe(waits, {.time_limit = 10ms}) | weir::sink())
                   .start(time, failures.options(time));
    time.run_until(time_point(15ms));
    run.stop();
    CHECK(failures.all.size() == 1);
    CHECK(time.now() == time_point(15ms));
    CHECK(run.stats().stages.at(1).num_failures == 1);
}

TEST_CASE("an item that comes in the moment in which the time is over is kept, or still in its channel") {
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
        virtual_time time(seed);
        told failures;
        weir::channel<int> c(1);
        ints got;
        const auto takes = [&](int n) -> task<int> {
            if (n == 0) {
                co_await weir::sleep_for(10ms);
                co_await c.put(5);
            } else if (const auto item = co_await c.get()) {
                got.push_back(*item);
            }
            co_return n;
        };
        auto run =
            (weir::source({0, 1}) |
             weir::pipe(takes, {.concurrency = 2, .time_limit = seed % 2 == 0 ? 10ms : 11ms}) | weir::sink())
                .start(time, failures.options(time));
        static_cast<void>(take_all(run));
        const bool is_in = c.stats().num_put == 1;
        CHECK(got.size() + c.size() == (is_in ? 1 : 0));
        CHECK(c.stats().num_get == got.size());
    }
}

TEST_CASE("what a function threw when it was asked to stop is nested in what its item fails with") {
    virtual_time time;
    const auto listens = [](int, const invocation& call) -> task<int> {
        co_await weir::sleep_for(1h, call.stop());
        throw std::runtime_error("was asked to stop");
    };
    auto run =
        (weir::source({1}) | weir::pipe(listens, {.name = "listens", .time_limit = 10ms}) | weir::sink())
            .start(time);
    const auto end = take_until_failure(run);
    REQUIRE(end.failed != nullptr);
    CHECK(end.failed->stage() == "listens");
    CHECK(end.inside == too_long);
    try {
        std::rethrow_exception(end.failed->original());
    } catch (const weir::time_limit_exceeded& e) {
        CHECK(e.limit() == 10ms);
        CHECK(items::message_inside(e) == "was asked to stop");
    }
    CHECK(time.now() == time_point(10ms));
}

TEST_CASE("an exception within the time is that exception") {
    virtual_time time;
    told failures;
    const auto fails = [](int n) -> task<int> {
        co_await weir::sleep_for(n * 1ms);
        throw std::runtime_error("by itself");
    };
    auto run = (weir::source({3, 9}) | weir::pipe(fails, {.time_limit = 10ms}) | weir::sink())
                   .start(time, failures.options(time));
    CHECK(take_all(run).empty());
    CHECK(failures.all ==
          std::vector<std::pair<duration, std::string>>{{3ms, "0: by itself"}, {12ms, "1: by itself"}});
}

TEST_CASE("late items count towards max_failures") {
    virtual_time time;
    told failures;
    auto run = (weir::source({20, 1, 20, 2, 20, 3}) |
                weir::pipe(deaf, {.max_failures = 2, .time_limit = 10ms}) | weir::sink())
                   .start(time, failures.options(time));
    const auto end = take_until_failure(run);
    CHECK(end.taken == ints{1, 2});
    REQUIRE(end.failed != nullptr);
    CHECK(end.failed->item() == 4);
    CHECK(failures.all.size() == 3);
}

TEST_CASE("no alarm is left behind by an invocation that ended in time") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0, 100)) |
                weir::pipe(
                    [](int n) -> task<int> {
                        co_await weir::sleep_for(1ms);
                        co_return n;
                    },
                    {.concurrency = 3, .time_limit = 1h}) |
                weir::pipe([](int n) { return n; }, {.concurrency = 2, .time_limit = 2h}) | weir::sink())
                   .start(time);
    CHECK(take_all(run).size() == 100);
    CHECK(time.now() == time_point(34ms));
    time.run();
    CHECK(time.now() == time_point(34ms));
    CHECK(run.stats().elapsed == 34ms);
}

TEST_CASE("a run that is left while invocations are watched leaves nothing behind") {
    for (int ms = 0; ms < 40; ++ms) {
        virtual_time time;
        {
            auto run = (weir::source(std::views::iota(0)) |
                        weir::pipe(
                            [](int n) -> task<int> {
                                co_await weir::sleep_for(n % 15 * 1ms);
                                co_return n;
                            },
                            {.concurrency = 3, .max_failures = weir::unlimited, .time_limit = 10ms}) |
                        weir::sink(100))
                           .start(time);
            time.run_until(time_point(ms * 1ms));
        }
        const time_point end = time.now();
        time.run();
        CHECK(time.now() == end);
    }
}

TEST_CASE("slots are watched each for itself, and the order of the input is kept") {
    virtual_time time;
    told failures;
    auto run =
        (weir::source({9, 40, 3, 12, 1}) |
         weir::pipe(deaf, {.concurrency = 2, .output_order = weir::output_order::input, .time_limit = 10ms}) |
         weir::sink())
            .start(time, failures.options(time));
    CHECK(take_all(run) == ints{9, 3, 1});
    CHECK(failures.all.size() == 2);
    CHECK(time.now() == time_point(41ms));
}

TEST_CASE("hooks hear of the time that was exceeded, and a limit holds in each epoch") {
    class listener final : public weir::hook {
      public:
        void after(const invocation& call, const std::exception_ptr& error) override {
            if (error) heard.emplace_back(call.epoch(), weir::failure("", 0, error).message());
        }
        std::vector<std::pair<std::uint64_t, std::string>> heard;
    };
    virtual_time time;
    const auto hook = std::make_shared<listener>();
    weir::run_options o;
    o.max_failures = weir::unlimited;
    o.hooks = {hook};
    auto run = (weir::source(weir::epochs(ints{3, 30, 4}, 2)) |
                weir::pipe(deaf, {.concurrency = 3, .time_limit = 10ms}) | weir::sink())
                   .start(time, std::move(o));
    CHECK(take_all(run) == ints{3, 4, 3, 4});
    CHECK(hook->heard == std::vector<std::pair<std::uint64_t, std::string>>{{0, too_long}, {1, too_long}});
}

TEST_CASE("a function that doesn't wait can be late as well") {
    slow_world world;
    std::size_t asked = 0;
    const auto works = [&](int n, const invocation& call) {
        world.pass(n * 1ms);
        if (call.stop().stop_requested()) ++asked;
        return n;
    };
    auto run = (weir::source({5, 30, 10, 11}) |
                weir::pipe(works, {.max_failures = weir::unlimited, .time_limit = 10ms}) | weir::sink())
                   .start(world);
    CHECK(take_all(run) == ints{5, 10});
    CHECK(asked == 0);  // nothing else runs meanwhile
    CHECK(run.stats().stages.at(1).num_failures == 2);
    CHECK(run.stats().stages.at(1).failure_time == 41ms);
}

TEST_CASE("a limit that can't be is refused at the start") {
    virtual_time time;
    const auto start = [&](auto f, weir::stage_options o) {
        o.name = "limited";
        return message_of([&] {
            static_cast<void>((weir::source({1}) | weir::pipe(f, std::move(o)) | weir::sink()).start(time));
        });
    };
    CHECK(start(deaf, {.time_limit = -1ns}) ==
          "weir: stage 'limited' has a negative time limit; 0 means that there is none");
    CHECK(
        start([](int n) -> weir::generator<int> { co_yield n; }, {.time_limit = 1ms}) ==
        "weir: stage 'limited' gives many items for one, at the pace of the next stage: it can't have a time "
        "limit");
    CHECK(start(deaf, {.time_limit = duration::max()}).empty());
}

TEST_CASE("a negative limit is refused at the start, also by stages that have no use for a limit") {
    const auto message_for = [](const std::string& stage) {
        virtual_time time;
        auto pipeline = weir::source({1}) | weir::aggregate(2, {.name = "batch"}) |
                        weir::disaggregate({.name = "items"}) | weir::sink(1);
        pipeline.options(stage).time_limit = -1s;
        return message_of([&] { static_cast<void>(pipeline.start(time)); });
    };
    for (const std::string stage : {"src", "batch", "items", "sink"}) {
        CHECK(message_for(stage) ==
              "weir: stage '" + stage + "' has a negative time limit; 0 means that there is none");
    }
}

TEST_CASE("the error tells the limit in the units of reports") {
    CHECK(std::string(weir::time_limit_exceeded(3s).what()) ==
          "weir: an invocation took longer than its stage's time limit of 3.0 s");
}

TEST_CASE("on a pool functions are asked to stop, and none is left behind") {
    weir::thread_pool pool(2);
    const auto listens = [](int n, const invocation& call) -> task<int> {
        const duration length = n % 2 == 0 ? duration(0) : duration(1h);
        weir::stop_token stop;
        if (n % 4 == 1) stop = call.stop();  // else the limit itself ends the sleep
        co_await weir::sleep_for(length, stop);
        co_return n;
    };
    const auto pipeline =
        weir::source(std::views::iota(0, 200)) |
        weir::pipe(listens, {.concurrency = 4, .max_failures = weir::unlimited, .time_limit = 100us}) |
        weir::sink();
    auto run = pipeline.start(pool);
    for (const int n : run) CHECK(n % 2 == 0);
    CHECK(run.stats().stages.at(1).num_tasks == 200);
    CHECK(run.stats().stages.at(1).num_failures >= 100);
    auto plain = pipeline.start<weir::unmeasured>(pool);
    for (const int n : plain) CHECK(n % 2 == 0);
}

namespace {

// Writes down what it hears; breaks where it is told to.
class scribe : public weir::hook {
  public:
    scribe(std::string name, std::vector<std::string>& book, const char* breaks = "")
        : name_(std::move(name)), book_(book), breaks_(breaks) {}
    void before(const weir::invocation& call) override {
        if (call.stage() == "work") note("before");
    }
    void after(const weir::invocation& call, const std::exception_ptr& error) override {
        if (call.stage() == "work") note(error ? "after a failure" : "after");
    }

  private:
    void note(const std::string& what) {
        book_.push_back(name_ + " " + what);
        if (what == breaks_) throw std::runtime_error(name_);
    }
    std::string name_;
    std::vector<std::string>& book_;
    std::string breaks_;
};

std::vector<std::string> heard_with(const char* first_breaks, const char* second_breaks) {
    std::vector<std::string> book;
    weir::run_options options;
    options.hooks.emplace_back(std::make_shared<scribe>("first", book, first_breaks));
    options.hooks.emplace_back(std::make_shared<scribe>("second", book, second_breaks));
    options.max_failures = 10;
    virtual_time time;
    auto work = [&book](int x) {
        book.emplace_back("work");
        return x;
    };
    auto run = (weir::source({1}) | weir::pipe(work, {.name = "work"}) | weir::sink())
                   .start(time, std::move(options));
    while (run.get()) {
    }
    return book;
}

}  // namespace

TEST_CASE("hooks stand around the work, the last one nearest to it") {
    CHECK(heard_with("", "") ==
          std::vector<std::string>{"first before", "second before", "work", "second after", "first after"});
}

TEST_CASE("a hook that throws before the work leaves it out, and those before it hear of the failure") {
    CHECK(heard_with("", "before") ==
          std::vector<std::string>{"first before", "second before", "first after a failure"});
    CHECK(heard_with("before", "") == std::vector<std::string>{"first before"});
}

TEST_CASE("a hook that throws after the work fails the item for those that hear of it later") {
    CHECK(heard_with("", "after") == std::vector<std::string>{"first before", "second before", "work",
                                                              "second after", "first after a failure"});
}
