#include <weir/stages/pipeline.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/stage_list.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iomanip>
#include <locale>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using items::message_of;
using items::take_all;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

int plus_1(int n) { return n + 1; }
int times_10(int n) { return 10 * n; }

auto simple() { return weir::source({1, 2, 3}) | weir::pipe(plus_1) | weir::sink(); }

template <class P>
std::vector<std::string> stage_names(const P& pipeline) {
    virtual_time time;
    std::vector<std::string> names;
    const auto run = pipeline.start(time);
    for (const auto& stage : run.stats().stages) names.push_back(stage.name);
    return names;
}

}  // namespace

static_assert(std::is_copy_constructible_v<decltype(simple())>);
static_assert(std::is_same_v<decltype(simple().start(std::declval<virtual_time&>()))::value_type, int>);

TEST_CASE("a part is a value that can be used twice") {
    virtual_time time;
    const auto twice = weir::pipe(plus_1) | weir::pipe(plus_1);
    CHECK(take_all((weir::source({1}) | twice | twice | weir::sink()).start(time)) == ints{5});
}

TEST_CASE("a pipeline starts again and again, on whatever executor") {
    const auto pipeline = simple();
    const ints expected = {2, 3, 4};
    virtual_time time;
    weir::thread_pool pool(2);
    weir::blocking_pool io(1);
    for (int i = 0; i < 3; ++i) {
        CHECK(take_all(pipeline.start(time)) == expected);
        CHECK(take_all(pipeline.start(pool)) == expected);
        CHECK(take_all(pipeline.start(io)) == expected);
    }
}

TEST_CASE("a pipeline runs on the thread of a loop, for a coroutine that consumes there") {
    weir::run_loop loop;
    const auto sum = [&loop](const auto& pipeline) -> weir::task<int> {
        auto run = pipeline.start(loop);
        int all = 0;
        while (const auto n = co_await run.next()) all += *n;
        co_return all;
    };
    const auto pipeline = simple();
    CHECK(weir::sync_wait(loop, sum(pipeline)) == 9);
}

TEST_CASE("a pipeline runs on the thread that takes its items, where the executor has no other") {
    weir::run_loop loop;
    const auto pipeline = simple();
    CHECK(take_all(pipeline.start(loop)) == ints{2, 3, 4});
    auto early = (weir::source(std::views::iota(0)) | weir::pipe(plus_1) | weir::sink()).start(loop);
    CHECK(early.get() == 1);
    auto timed = pipeline.start(loop);
    CHECK(*timed.get(1h) == 2);
}

TEST_CASE("a run holds its functions as long as it lives, and no longer") {
    virtual_time time;
    const auto held = std::make_shared<int>(1);
    const auto plus = [held](int n) { return n + *held; };
    const long before = held.use_count();
    {
        const auto pipeline = weir::source({1, 2}) | weir::pipe(plus, {.concurrency = 2}) | weir::sink();
        const long described = held.use_count();
        {
            auto run = pipeline.start(time, {.on_failure = [held](const weir::failure&) {}});
            CHECK(held.use_count() > described);
            CHECK(take_all(run).size() == 2);
        }
        CHECK(held.use_count() == described);
    }
    CHECK(held.use_count() == before);
}

TEST_CASE("a function that can't be copied this time keeps the run from starting, and no more") {
    class reluctant {
      public:
        explicit reluctant(int& copies) : copies_(&copies) {}
        reluctant(const reluctant& other) : copies_(other.copies_) {
            if (--*copies_ < 0) throw std::runtime_error("not now");
        }
        int operator()(int n) const { return n; }

      private:
        int* copies_;
    };
    virtual_time time;
    int copies = 1000;
    const auto pipeline =
        weir::source({1, 2}) | weir::pipe(reluctant(copies)) | weir::pipe(reluctant(copies)) | weir::sink();
    for (copies = 0;; ++copies) {
        const int allowed = copies;
        try {
            auto run = pipeline.start(time);
            CHECK(take_all(run).size() == 2);
            CHECK(allowed == 2);
            break;
        } catch (const std::runtime_error&) {
            REQUIRE(allowed < 2);
            copies = allowed;
        }
        time.run();
    }
}

TEST_CASE("a pipeline may go while its run goes on") {
    virtual_time time;
    auto pipeline = std::make_unique<decltype(simple())>(simple());
    auto run = pipeline->start(time);
    pipeline.reset();
    CHECK(take_all(run) == ints{2, 3, 4});
}

TEST_CASE("a stage is found by its name and changed for the starts that follow") {
    virtual_time time;
    auto pipeline = weir::source({1, 2}) | weir::pipe(plus_1, {.name = "plus"}) | weir::sink();
    auto before = pipeline.start(time);
    pipeline.options("plus").concurrency = 4;
    pipeline.options("plus").name = "add";
    pipeline.options("src").capacity = 9;
    const auto after = pipeline.start(time);
    CHECK(before.stats().stages.at(1).concurrency == 1);
    CHECK(after.stats().stages.at(1).concurrency == 4);
    CHECK(after.stats().stages.at(1).name == "add");
    CHECK(after.stats().channels.at(0).capacity == 9);
    CHECK(take_all(before) == ints{2, 3});
}

TEST_CASE("a stage without a name has that of its function's class, or of its kind and place") {
    struct halve {
        int operator()(int n) const { return n / 2; }
    };
    virtual_time time;
    const auto part = weir::pipe(plus_1) | weir::pipe(halve());
    auto pipeline = weir::source({1, 2, 3}) | weir::filter([](int n) { return n > 1; }) | part | part |
                    weir::aggregate(2) | weir::disaggregate({.name = "pipe#4"}) | weir::pipe(plus_1) |
                    weir::sink();
    const auto printed = [](const auto& p) {
        std::ostringstream out;
        out << p;
        return out.str();
    };
    CHECK(printed(part) == "pipe#1 | halve");
    CHECK(printed(pipeline) ==
          "src | filter#1 | pipe#2 | halve | pipe#4 | halve | aggregate#6 | pipe#4 | pipe#8 | sink");
    pipeline.options("pipe#2").name = "plus";
    pipeline.options("pipe#8").concurrency = 2;
    auto run = pipeline.start(time);
    CHECK(run.stages() == std::vector<std::string>{"src", "filter#1", "plus", "halve", "pipe#4", "halve",
                                                   "aggregate#6", "pipe#4", "pipe#8", "sink"});
    CHECK(run.stats().channels.at(2).name == "plus");
}

TEST_CASE("a place is counted from the source on, once there is one; a name that was given stays") {
    auto part = weir::pipe(plus_1) | weir::pipe(plus_1);
    part.options("pipe#2").name = "second";
    auto pipeline = weir::source({1}) | weir::pipe(plus_1) | part | weir::sink();
    std::ostringstream out;
    out << pipeline;
    CHECK(out.str() == "src | pipe#1 | pipe#2 | second | sink");
    weir::stage_list<int> list;
    list.add(weir::pipe(plus_1)).add(weir::pipe(plus_1));
    std::ostringstream more;
    more << (weir::source({1}) | weir::pipe(plus_1) | list | weir::sink());
    CHECK(more.str() == "src | pipe#1 | pipe#2 | pipe#3 | sink");
}

TEST_CASE("a pipeline prints one text, whatever the stream's locale and format") {
    struct grouping : std::numpunct<char> {
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    const auto part = weir::pipe(plus_1, {.name = "f", .concurrency = 1234}) | weir::sink();
    std::ostringstream out;
    out.imbue(std::locale(out.getloc(), new grouping));
    out << std::hex << std::showbase << std::setw(16) << part;
    CHECK(out.str() == "  f[1234] | sink");
}

TEST_CASE("asking for a stage that isn't there lists those that are") {
    auto pipeline = weir::source({1}) | weir::pipe(plus_1, {.name = "plus"}) | weir::pipe(times_10) |
                    weir::pipe(times_10) | weir::sink();
    CHECK_THROWS_AS(pipeline.options("unknown"), std::invalid_argument);
    CHECK(message_of([&] { static_cast<void>(pipeline.options("unknown")); }) ==
          "weir: no stage of this pipeline is named 'unknown'; its stages are 'src', 'plus', 'pipe#2', "
          "'pipe#3', 'sink'");
    pipeline.options("pipe#2").name = pipeline.options("pipe#3").name = "twin";
    CHECK(message_of([&] { static_cast<void>(pipeline.options("twin")); }) ==
          "weir: more than one stage of this pipeline is named 'twin'; its stages are 'src', 'plus', "
          "'twin', 'twin', 'sink'");
}

TEST_CASE("a copy of a pipeline is changed for itself") {
    auto one = weir::source({1}) | weir::pipe(plus_1, {.name = "a"}) | weir::sink();
    auto two = one;
    two.options("a").name = "b";
    CHECK(stage_names(one) == std::vector<std::string>{"src", "a", "sink"});
    CHECK(stage_names(two) == std::vector<std::string>{"src", "b", "sink"});
    one = two;
    CHECK(stage_names(one) == std::vector<std::string>{"src", "b", "sink"});
}

TEST_CASE("queues are named as the stage that puts into them") {
    virtual_time time;
    const auto run = (weir::source({1}) | weir::pipe(plus_1, {.name = "plus"}) | weir::aggregate(2) |
                      weir::disaggregate() | weir::sink())
                         .start(time);
    const auto stats = run.stats();
    REQUIRE(stats.stages.size() == stats.channels.size());
    for (std::size_t i = 0; i < stats.stages.size(); ++i) {
        CHECK(stats.channels.at(i).name == stats.stages.at(i).name);
    }
}

TEST_CASE("without histograms a run does the same and knows all but quantiles") {
    const auto slow = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(n * 1ms);
        co_return n;
    };
    const auto pipeline = weir::source(std::views::iota(1, 11)) | weir::pipe(slow, {.name = "slow"}) |
                          weir::pipe(plus_1, {.concurrency = 2}) | weir::sink();
    virtual_time time, other;
    auto run = pipeline.start<weir::summed>(time);
    auto measured = pipeline.start(other);
    CHECK(take_all(run) == take_all(measured));
    const auto stats = run.stats();
    const auto expected = measured.stats();
    const auto& stage = stats.stages.at(1);
    CHECK(stage.num_tasks == 10);
    CHECK(stage.task_time == 55ms);
    CHECK(stage.ave_time() == 5'500us);
    CHECK(stage.rate() == expected.stages.at(1).rate());
    CHECK(stage.per_slot == expected.stages.at(1).per_slot);
    CHECK(stage.task_times == weir::histogram::without_quantiles(10, 55ms, 10ms));
    CHECK(expected.stages.at(1).task_times.p50() > 0ms);
    CHECK(stage.task_times.p50() == 0ms);
    const auto& queue = stats.channels.at(1);
    CHECK(queue.get_wait == expected.channels.at(1).get_wait);
    CHECK(queue.ave_get_gap() == expected.channels.at(1).ave_get_gap());
    CHECK(queue.get_waits.max() == expected.channels.at(1).get_waits.max());
    CHECK(queue.get_waits.max() > 0ms);
    CHECK(queue.get_waits.count() == 10);
    CHECK_FALSE(queue.get_waits.has_quantiles());
    CHECK_FALSE(queue.put_waits.has_quantiles());
}

TEST_CASE("without statistics a run does the same and knows only what passed") {
    virtual_time time;
    const auto pipeline = weir::source(std::views::iota(0, 10)) | weir::pipe(plus_1, {.concurrency = 2}) |
                          weir::aggregate(3) | weir::disaggregate() | weir::sink();
    auto run = pipeline.start<weir::unmeasured>(time);
    const ints all = take_all(run);
    CHECK(std::accumulate(all.begin(), all.end(), 0) == 55);
    const auto stats = run.stats();
    CHECK(stats.channels.at(0).num_put == 10);
    CHECK(stats.channels.at(4).num_get == 10);
    CHECK(stats.channels.at(2).num_get == 4);
    CHECK(stats.stages.at(1).num_tasks == 0);
    CHECK(stats.stages.at(1).per_slot.size() == 2);
    CHECK(stats.stages.at(1).per_slot.at(0).total() == 0ns);
}

TEST_CASE("items pass that can be moved to a new place but not assigned") {
    class fixed {
      public:
        explicit fixed(int n) : number(n) {}
        const int number;
    };
    virtual_time time;
    const auto numbers = [left = 3]() mutable -> std::optional<fixed> {
        if (left == 0) return std::nullopt;
        return fixed(left--);
    };
    const auto pipeline = weir::source(numbers) | weir::pipe([](fixed f) { return fixed(10 * f.number); }) |
                          weir::aggregate(2) | weir::disaggregate() | weir::sink();
    ints given;
    auto run = pipeline.start(time);
    for (const fixed& f : run) given.push_back(f.number);
    CHECK(given == ints{30, 20, 10});
}

TEST_CASE("a pipeline runs ahead of an idle consumer as far as there is room, and no further") {
    // Items that are pulled from a source without an end before everything waits.
    const auto pulled = [](auto middle, std::size_t room) {
        virtual_time time;
        std::size_t count = 0;
        const auto endless = [&count]() -> std::optional<int> { return static_cast<int>(count++); };
        const auto run = (weir::source(endless) | middle | weir::sink(room)).start(time);
        CHECK_THROWS_AS(time.run(), weir::deadlock_error);
        return count;
    };
    const auto slots = [](std::size_t n) { return weir::pipe(plus_1, {.concurrency = n}); };
    // The source's hand and queue: 3; each pipe's hands and queue: c + 2; the sink's: 1 + its room.
    CHECK(pulled(weir::stage_list<int>(), 3) == 3 + 1 + 3);
    CHECK(pulled(slots(1), 3) == 3 + 3 + 1 + 3);
    CHECK(pulled(slots(4), 3) == 3 + 6 + 1 + 3);
    CHECK(pulled(slots(4) | slots(2), 1) == 3 + 6 + 4 + 1 + 1);
}

TEST_CASE("pipelines run inside of a stage of another pipeline") {
    virtual_time time;
    const auto inner = [&time](int n) -> weir::task<int> {
        auto run = (weir::source(std::views::iota(0, n)) | weir::pipe(plus_1) | weir::sink()).start(time);
        int sum = 0;
        while (const auto m = co_await run.next()) sum += *m;
        co_return sum;
    };
    const auto pipeline = weir::source({1, 2, 3}) | weir::pipe(inner, {.concurrency = 2}) | weir::sink();
    ints sums = take_all(pipeline.start(time));
    std::ranges::sort(sums);
    CHECK(sums == ints{1, 3, 6});
}

TEST_CASE("what goes into an aggregate is counted where it comes from, item by item") {
    // SPDL takes what has gathered before an aggregate past its counters.
    virtual_time time;
    const auto wait = [](int i) -> weir::task<int> {
        co_await weir::sleep_for(6ms);
        co_return i;
    };
    auto pipeline = weir::source(std::views::iota(0, 400)) | weir::pipe(wait, {.name = "wait"}) |
                    weir::aggregate(4) | weir::sink();
    auto run = pipeline.start(time);
    int batches = 0;
    while (run.get()) ++batches;
    const auto stats = run.stats();
    CHECK(batches == 100);
    CHECK(stats.channels[1].num_put == 400);
    CHECK(stats.channels[1].num_get == 400);
    CHECK(stats.stages[2].num_tasks == 400);
}

TEST_CASE("stopping takes no longer than what is under way") {
    virtual_time time;
    const auto wait = [](int i) -> weir::task<int> {
        co_await weir::sleep_for(7ms);
        co_return i;
    };
    auto pipeline = weir::source(std::views::iota(0)) | weir::pipe(wait, {.concurrency = 3}) | weir::sink(1);
    auto run = pipeline.start(time);
    static_cast<void>(run.get());
    const auto before = time.now();
    run.stop();
    CHECK(time.now() - before <= 7ms);
}
