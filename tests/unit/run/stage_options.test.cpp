#include <weir/run/stage_options.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/merge.hpp>
#include <weir/report/log.hpp>
#include <weir/report/profile.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/simulation/explore.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/cache.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/retry.hpp>
#include <weir/stages/shuffle.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using items::message_of;
using items::take_all;
using weir::task;
using weir::virtual_time;
using ints = std::vector<int>;
using namespace std::chrono_literals;

namespace {

int same(int n) { return n; }

// A pipeline with each kind of stage, each under a name.
auto all_kinds() {
    return weir::source({1, 2, 3, 4}) | weir::pipe(same, {.name = "same"}) | weir::aggregate(2) |
           weir::disaggregate() | weir::sink(1);
}

// What a start says after `change` was made to the options of a stage.
template <class Change>
std::string refusal(const char* stage, Change change) {
    weir::virtual_time time;
    auto pipeline = all_kinds();
    change(pipeline.options(stage));
    return message_of([&] { auto run = pipeline.start(time); });
}

// Sets them for a scope.
class set_for_now {
  public:
    explicit set_for_now(weir::run_defaults now) : before_(weir::set_defaults(std::move(now))) {}
    set_for_now(const set_for_now&) = delete;
    set_for_now& operator=(const set_for_now&) = delete;
    ~set_for_now() { weir::set_defaults(before_); }

  private:
    weir::run_defaults before_;
};

class noted final : public weir::hook {
  public:
    noted(std::string name, std::vector<std::string>& book) : name_(std::move(name)), book_(book) {}
    void before(const weir::invocation& call) override { book_.push_back(name_ + " " + call.stage()); }

  private:
    std::string name_;
    std::vector<std::string>& book_;
};

int fails_on_2(int n) {
    if (n == 2) throw std::runtime_error("2");
    return n;
}

auto simple() {
    return weir::source({1, 2, 3}) | weir::pipe(fails_on_2, {.name = "work", .max_failures = 1}) |
           weir::sink();
}

}  // namespace

TEST_CASE("the default options of a stage and a run are the smallest that work") {
    const weir::stage_options stage;
    CHECK(stage.name.empty());
    CHECK(stage.concurrency == 1);
    CHECK(stage.capacity == 2);
    CHECK(stage.executor == nullptr);
    CHECK_FALSE(stage.max_failures.has_value());

    const weir::run_options run;
    CHECK(run.max_failures.exceeded(1, 1));
    CHECK(run.lap == 0ns);
    CHECK_FALSE(run.on_lap);
    CHECK_FALSE(run.on_failure);
    CHECK_FALSE(run.stop.stop_possible());
}

TEST_CASE("a queue of capacity 0 is refused at the start, with the stage's name and what to do") {
    for (const char* stage : {"src", "same", "aggregate#2", "disaggregate#3", "sink"}) {
        CAPTURE(stage);
        CHECK(refusal(stage, [](weir::stage_options& o) { o.capacity = 0; }) ==
              "weir: stage '" + std::string(stage) +
                  "' has a queue of capacity 0, which never takes an item; "
                  "give it .capacity = 1 or more");
    }
}

TEST_CASE("a sink without room is refused where nothing is measured, too, and it is no queue of its own") {
    weir::virtual_time time;
    for (const int wrong : {0, -1}) {
        auto pipeline = all_kinds();
        pipeline.options("sink").capacity = static_cast<std::size_t>(wrong);
        CHECK(items::contains(message_of([&] { auto run = pipeline.start<weir::unmeasured>(time); }),
                              "weir: stage 'sink' has a queue of"));
    }
}

TEST_CASE("a stage without a slot is refused at the start, with its name and what to do") {
    CHECK(refusal("same", [](weir::stage_options& o) { o.concurrency = 0; }) ==
          "weir: stage 'same' has no slot to work in; give it .concurrency = 1 or more");
}

TEST_CASE("a negative number that became a capacity or a concurrency is refused, with the stage's name") {
    const int n = -1;
    const auto wrong = static_cast<std::size_t>(n);
    CHECK(refusal("same", [&](weir::stage_options& o) { o.capacity = wrong; }) ==
          "weir: stage 'same' has a queue of a negative capacity; give it .capacity = 1 or more");
    CHECK(refusal("same", [&](weir::stage_options& o) { o.concurrency = wrong; }) ==
          "weir: stage 'same' was given a negative concurrency; give it .concurrency = 1 or more");
    weir::virtual_time time;
    auto run = all_kinds().start(time);
    CHECK(message_of([&] { run.set_capacity("same", wrong); }) ==
          "weir: stage 'same' can't have a queue of a negative capacity; give it 1 or more");
    CHECK(message_of([&] { run.set_concurrency("same", wrong); }) ==
          "weir: stage 'same' can't have a negative concurrency; give it 1 or more");
    CHECK(take_all(std::move(run)).size() == 4);
}

TEST_CASE("a negative number is refused wherever a number of things is given") {
    for (const int k : {-1, -4, INT32_MIN}) {
        CAPTURE(k);
        const auto n = static_cast<std::size_t>(k);
        const auto u = static_cast<std::uint64_t>(static_cast<std::int64_t>(k));
        const auto refused = [](auto make, const std::string& what) {
            try {
                static_cast<void>(make());
            } catch (const std::invalid_argument& e) {
                CHECK(items::contains(e.what(), what));
                CHECK(items::contains(e.what(), "negative"));
                return;
            }
            FAIL_CHECK("not refused: " << what);
        };
        const auto one = [](int) { return 1; };
        refused([&] { return weir::take(u); }, "take");
        refused([&] { return weir::skip(u); }, "skip");
        refused([&] { return weir::aggregate(n); }, "batch");
        refused([&] { return weir::aggregate(n, true); }, "batch");
        refused([&] { return weir::aggregate_by_weight(u, one); }, "max_weight");
        refused([&] { return weir::shuffle(n, 7); }, "shuffle");
        refused([&] { return weir::cache(u); }, "cache");
        refused([&] { return weir::epochs(std::vector<int>{1}, u); }, "epochs");
        refused([&] { return weir::repeat(std::vector<int>{1}, u); }, "times");
        refused([&] { return weir::draws(weir::sampler({.size = 3}), u); }, "epochs");
        refused([&] { return weir::retry(one, {.attempts = n}); }, "attempts");
        refused(
            [&] {
                weir::channel<int> c(1);
                c.set_max_bytes(n);
                return 0;
            },
            "bytes");
        weir::virtual_time time;
        refused([&] { return all_kinds().start(time, {.max_bytes = n}); }, "max_bytes");
        refused(
            [&] {
                auto p = all_kinds();
                p.options("same").max_bytes = n;
                return p.start(time);
            },
            "stage 'same'");
        const weir::merge_options by_weight{.order = weir::merge_order::weighted, .weights = {1, -1}};
        refused(
            [&] {
                return (weir::merge(by_weight, weir::source({1}), weir::source({2})) | weir::sink())
                    .start(time);
            },
            "stage 'merge#2'");
        refused([&] { return weir::profile(all_kinds(), time, n); }, "profile");
        std::ostringstream out;
        refused([&] { return weir::failure_log(out, {.first = u}); }, "failure_log");
        refused([&] { return weir::failure_log(out, {.every = u}); }, "failure_log");
        refused([&] { return weir::failure_log(out, {.most_kinds = n}); }, "failure_log");
        const auto nothing = [](weir::simulation::world&) {};
        refused([&] { return weir::simulation::explore(nothing, {.schedules = n}); }, "explore");
        refused([&] { return weir::simulation::explore(nothing, {.most_steps = n}); }, "explore");
        refused([&] { return weir::simulation::explore(nothing, {.attempts_to_shrink = n}); }, "explore");
    }
    // As large as they may be.
    static_cast<void>(weir::take(INT64_MAX));
    static_cast<void>(weir::repeat(std::vector<int>{1}, weir::endless));
    static_cast<void>(weir::cache(weir::endless));
}

TEST_CASE("weights of a merge that no sum can hold are refused") {
    weir::virtual_time time;
    const double most = std::numeric_limits<double>::max();
    const auto start = [&](double one, double other) {
        auto run = (weir::merge({.order = weir::merge_order::weighted, .weights = {one, other}},
                                weir::source({1}), weir::source({2})) |
                    weir::sink())
                       .start(time);
        CHECK(take_all(run).size() == 2);
    };
    CHECK_THROWS_AS(start(most, most), std::invalid_argument);
    CHECK_THROWS_AS(start(1, std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
    CHECK_THROWS_AS(start(1, std::numeric_limits<double>::infinity()), std::invalid_argument);
    start(most, 1);
}

TEST_CASE("stages that work on one item after the other refuse any other concurrency") {
    for (const char* stage : {"src", "aggregate#2", "disaggregate#3", "sink"}) {
        for (const std::size_t wrong : {0U, 2U}) {
            const std::string said =
                refusal(stage, [wrong](weir::stage_options& o) { o.concurrency = wrong; });
            CAPTURE(stage, wrong, said);
            CHECK(items::contains(said, "weir: stage '" + std::string(stage) + "'"));
            CHECK(items::contains(said, "its concurrency is 1"));
        }
    }
}

TEST_CASE("a negative lap is refused; the message says that 0 means none") {
    weir::virtual_time time;
    const auto pipeline = all_kinds();
    CHECK_THROWS_AS(static_cast<void>(pipeline.start(time, {.lap = -1ns})), std::invalid_argument);
    CHECK(message_of([&] { auto run = pipeline.start(time, {.lap = -1ns}); }) ==
          "weir: a lap can't be negative; 0 means no laps");
}

TEST_CASE("a negative count of failures is refused where it is written") {
    CHECK_THROWS_AS(weir::pipe(same, {.max_failures = -1}), std::invalid_argument);
    CHECK_THROWS_AS(weir::run_options{.max_failures = -1}, std::invalid_argument);
}

TEST_CASE("a stage can't be sent to virtual time out of a run that is elsewhere") {
    weir::thread_pool pool(1);
    weir::virtual_time time;
    auto pipeline = all_kinds();
    pipeline.options("same").executor = &time;
    CHECK_THROWS_AS(static_cast<void>(pipeline.start(pool)), std::invalid_argument);
    CHECK(items::contains(message_of([&] { auto run = pipeline.start(pool); }),
                          "weir: stage 'same' names an executor that runs everything by itself"));
    CHECK(take_all(pipeline.start(time)).size() == 4);
}

TEST_CASE("a refused start leaves nothing behind, and the pipeline can be mended and started") {
    weir::virtual_time time;
    items::ledger book(1);
    auto pipeline = weir::source([book = &book, left = 1]() mutable -> std::optional<items::counted> {
                        if (left-- == 0) return std::nullopt;
                        return items::counted(*book);
                    }) |
                    weir::sink();
    pipeline.options("sink").capacity = 0;
    CHECK_THROWS_AS(static_cast<void>(pipeline.start(time)), std::invalid_argument);
    CHECK(book.born() == 0);
    pipeline.options("sink").capacity = 1;
    {
        auto run = pipeline.start(time);
        CHECK(take_all(run).size() == 1);
    }
    CHECK(book.born() == 1);
    CHECK(book.alive() == 0);
}

TEST_CASE("without defaults a run has its own options") {
    CHECK(weir::defaults().hooks.empty());
    CHECK_FALSE(weir::defaults().on_failure);
    virtual_time time;
    CHECK(take_all(simple().start(time)) == ints{1, 3});
}

TEST_CASE("hooks of the process come before those of the run") {
    std::vector<std::string> book;
    const set_for_now set({.hooks = {std::make_shared<noted>("all", book)}});
    virtual_time time;
    CHECK(take_all((weir::source({1}) | weir::pipe([](int n) { return n; }, {.name = "a"}) | weir::sink())
                       .start(time, {.hooks = {std::make_shared<noted>("one", book)}})) == ints{1});
    CHECK(std::erase_if(book, [](const std::string& line) { return line.ends_with(" src"); }) > 0);
    CHECK(book == std::vector<std::string>{"all a", "one a"});
}

TEST_CASE("a run without on_failure tells that of the process, another one its own") {
    int told = 0, own = 0;
    const set_for_now set({.on_failure = [&told](const weir::failure&) { ++told; }});
    virtual_time time;
    CHECK(take_all(simple().start(time)) == ints{1, 3});
    CHECK(told == 1);
    CHECK(take_all(simple().start(time, {.on_failure = [&own](const weir::failure&) { ++own; }})) ==
          ints{1, 3});
    CHECK(told == 1);
    CHECK(own == 1);
}

TEST_CASE("a run without laps has those of the process, and one with a length of its own keeps that") {
    int laps = 0;
    const set_for_now set({.lap = 10ms, .on_lap = [&laps](const weir::pipeline_stats&) { ++laps; }});
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(10ms);
        co_return n;
    };
    const auto pipeline = weir::source({1, 2, 3, 4}) | weir::pipe(slow) | weir::sink();
    virtual_time time;
    CHECK(take_all(pipeline.start(time)).size() == 4);
    CHECK(laps >= 3);
    CHECK(laps <= 4);
    laps = 0;
    CHECK(take_all(pipeline.start(time, {.lap = 20ms})).size() == 4);
    CHECK(laps >= 1);
    CHECK(laps <= 2);
}

TEST_CASE("a run that has begun keeps the defaults that it began with") {
    std::vector<std::string> book;
    virtual_time time;
    const auto start = [&] {
        const set_for_now set({.hooks = {std::make_shared<noted>("then", book)}});
        return (weir::source({1, 2}) | weir::sink()).start(time);
    };
    auto run = start();
    CHECK(take_all(run) == ints{1, 2});
    CHECK_FALSE(book.empty());
    book.clear();
    CHECK(take_all((weir::source({1, 2}) | weir::sink()).start(time)) == ints{1, 2});
    CHECK(book.empty());
}

TEST_CASE("defaults may be changed by one thread while others start runs") {
    const set_for_now set({});
    std::atomic<int> heard{0};
    class counts final : public weir::hook {
      public:
        explicit counts(std::atomic<int>& to) : to_(to) {}
        void before(const weir::invocation&) override { ++to_; }

      private:
        std::atomic<int>& to_;
    };
    weir::thread_pool pool(1);
    std::atomic<bool> done{false};
    std::thread changes([&] {
        while (!done) {
            weir::set_defaults({.hooks = {std::make_shared<counts>(heard)}});
            weir::set_defaults({});
        }
    });
    for (int i = 0; i < 100; ++i) {
        CHECK(take_all((weir::source({1, 2}) | weir::sink()).start(pool)) == ints{1, 2});
    }
    done = true;
    changes.join();
}

TEST_CASE("a run without on_end has that of the process") {
    int ends = 0;
    const set_for_now set(
        {.on_end = [&ends](const weir::pipeline_stats&, const weir::pipeline_stats&) { ++ends; }});
    virtual_time time;
    CHECK(take_all(simple().start(time, {.max_failures = 1})) == ints{1, 3});
    CHECK(ends == 1);
    weir::run_options own{.max_failures = 1};
    own.on_end = [](const weir::pipeline_stats&, const weir::pipeline_stats&) {};
    CHECK(take_all(simple().start(time, own)) == ints{1, 3});
    CHECK(ends == 1);
}
