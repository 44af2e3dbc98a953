#include <weir/run/run_graph.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/later.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>
#include <weir/weir.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

using items::message_of;
using weir::duration;
using weir::task;
using weir::time_point;
using weir::virtual_time;
using weir::detail::fused_sink;
using namespace std::chrono_literals;

namespace {

// Seconds of virtual time, and a run that makes an item each second until it is asked to stand still.
duration idle_at(virtual_time& time, const auto& run, std::int64_t second) {
    time.run_until(time_point(std::chrono::seconds(second)));
    return run.stats().idle;
}
task<int> slow(int x) {
    co_await weir::sleep_for(1s);
    co_return x;
}

}  // namespace

TEST_CASE("a run whose consumer takes nothing stands still since the last slot began to wait") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0, 100)) | weir::pipe(slow) | weir::sink(1)).start(time);
    CHECK(idle_at(time, run, 3) == 1s);    // the pipe awaits since 2 s, as the clock stands before 3 s
    CHECK(idle_at(time, run, 8) == 3s);    // four items fit in, and the fifth is done at 5 s
    CHECK(idle_at(time, run, 30) == 25s);  // no snapshot splits that
    const weir::pipeline_stats lap = run.stats() - run.stats();
    CHECK(lap.elapsed == 0s);
    CHECK(lap.idle == 25s);
    CHECK(run.get() == 0);
    CHECK(idle_at(time, run, 31) == 1s);  // it goes on at 30 s
}

TEST_CASE("an item that a consumer takes from the middle of a queue is a change of the run in snapshots") {
    virtual_time time;
    const auto rests = [](int x) -> task<int> {  // after three items
        co_await weir::sleep_for(x < 3 ? 0s : 1000s);
        co_return x;
    };
    auto run = (weir::source(std::views::iota(0, 100)) | weir::pipe(rests) | weir::sink(10)).start(time);
    CHECK(idle_at(time, run, 100) == 100s);
    CHECK(run.get() == 0);
    CHECK(run.stats().idle == 0s);
    CHECK(idle_at(time, run, 150) == 50s);
    CHECK(run.get() == 1);
    CHECK(idle_at(time, run, 170) == 0s);
    CHECK(idle_at(time, run, 175) == 5s);
    CHECK(run.get() == 2);  // the last one: of that the queue knows when it was
    CHECK(idle_at(time, run, 180) == 5s);
    run.pause();
    CHECK(idle_at(time, run, 190) == 0s);  // it is to stand still
    run.resume();
    CHECK(idle_at(time, run, 200) == 25s);
}

TEST_CASE("a run is at work while a function has its thread, and stands still where one awaits") {
    virtual_time time;
    std::vector<duration> seen;
    weir::run<int>* self = nullptr;
    const auto asks = [&](int x) -> task<int> {
        co_await weir::sleep_for(20s);
        seen.push_back(self->stats().idle);
        co_return x;
    };
    auto run = (weir::source({1, 2}) | weir::pipe(asks) | weir::sink()).start(time);
    self = &run;
    CHECK(idle_at(time, run, 15) == 15s);
    CHECK(idle_at(time, run, 25) == 5s);
    CHECK(idle_at(time, run, 100) == 0s);  // all stages have ended, and their items are still to be taken
    CHECK(run.get() == 1);
    CHECK(run.get() == 2);
    CHECK_FALSE(run.get());
    CHECK(idle_at(time, run, 200) == 0s);
    CHECK(seen == std::vector<duration>{0s, 0s});
}

TEST_CASE(
    "how long a run stands still is known with sums only, too, and without a consumer, but by statistics") {
    virtual_time time;
    const auto with_sink = weir::source({1, 2}) | weir::pipe(slow) | weir::sink(4);
    const auto without =
        weir::source({1, 2}) | weir::for_each([](int) -> task<> { co_await weir::sleep_for(1h); });
    auto sums = with_sink.start<weir::summed>(time);
    auto nothing = with_sink.start<weir::unmeasured>(time);
    auto acts = without.start(time);
    time.run_until(time_point(1500ms));
    CHECK(sums.stats().idle == 500ms);
    CHECK(nothing.stats().idle == 0s);
    CHECK(acts.stats().idle == 1500ms);
}

TEST_CASE("a name of no stage, or of several stages, is refused") {
    virtual_time time;
    const auto same = [](int x) { return x; };
    auto run = (weir::source({1}) | weir::pipe(same, {.name = "a"}) | weir::pipe(same, {.name = "a"}) |
                weir::pipe(same, {.name = "b"}) | weir::sink())
                   .start(time);
    CHECK(run.stages() == std::vector<std::string>{"src", "a", "a", "b", "sink"});
    CHECK_NOTHROW(run.set_capacity("b", 5));
    CHECK(message_of([&] { run.set_capacity("c", 5); }) ==
          "weir: no queue of this run is named 'c'; a queue has the name of the stage before it, or of the "
          "branch that begins with it");
    CHECK(message_of([&] { run.set_concurrency("a", 5); }) ==
          "weir: more than one stage of this run is named 'a'; run.stages() lists them");
}

#if !defined(_WIN32)  // where Wine takes memory itself for each page that it is asked for
TEST_CASE("the error for a capacity or a concurrency without enough memory names the stage") {
    using Catch::Matchers::ContainsSubstring;
    constexpr std::size_t most = std::size_t{1} << 58;
    virtual_time time;
    const auto too_wide = weir::source({1}, {.name = "files", .capacity = most}) | weir::sink();
    CHECK_THROWS_AS(too_wide.start(time), std::bad_alloc);
    CHECK_THROWS_WITH(too_wide.start(time),
                      ContainsSubstring("weir: stage 'files' of capacity 288230376151711744: no memory for "
                                        "288230376151711744 places of "));
    auto run = (weir::source({1}, {.name = "files"}) | weir::sink(1)).start(time);
    CHECK_THROWS_WITH(run.set_capacity("files", most),
                      ContainsSubstring("weir: stage 'files' of capacity 2882"));
    CHECK_THROWS_AS(run.set_capacity("sink", most), std::bad_alloc);
    CHECK(run.stats().channels.at(0).capacity == 2);
    CHECK(run.stats().channels.at(1).capacity == 1);
    CHECK_NOTHROW(run.set_capacity("files", 5));
    CHECK(run.stats().channels.at(0).capacity == 5);
    CHECK(run.get() == 1);

    // Refused at once: one slot after the other would take all memory of the machine.
    constexpr std::size_t far_too_many = SIZE_MAX / 4;
    const std::string lack = "no memory for a list of " + std::to_string(far_too_many) + " slots";
    const auto same = [](int x) { return x; };
    const auto crowded =
        weir::source({1}) | weir::pipe(same, {.name = "work", .concurrency = far_too_many}) | weir::sink();
    CHECK_THROWS_WITH(crowded.start(time), "weir: stage 'work': " + lack);
    auto other = (weir::source({1}) | weir::pipe(same, {.name = "work"}) | weir::sink()).start(time);
    CHECK_THROWS_WITH(other.set_concurrency("work", far_too_many), "weir: stage 'work': " + lack);
    CHECK(other.get() == 1);
}
#endif

namespace {

// Loads for 20 s, then makes an item each second; the first of them takes a second, too.
auto loads_first() {
    const auto loads = [](int x) -> task<int> {
        co_await weir::sleep_for(x == 0 ? 21s : 1s);
        co_return x;
    };
    return weir::source(std::views::iota(0, 10)) | weir::pipe(loads);
}
weir::first_item_stats first_item(duration after, duration since, std::uint64_t num_items) {
    return {.after = after, .since = since, .num_items = num_items};
}

}  // namespace

TEST_CASE(
    "statistics have the time of the first item that the consumer took, and the number of items since") {
    virtual_time time;
    time.run_until(time_point(5s));
    auto run = (loads_first() | weir::sink(2)).start(time);
    CHECK_FALSE(run.stats().first_item);
    time.run_until(time_point(15s));
    CHECK_FALSE(run.stats().first_item);
    CHECK(run.stats().num_items == 0);
    CHECK(run.get() == 0);  // waits for it
    CHECK(run.stats().first_item == first_item(21s, 0s, 0));
    CHECK(run.get() == 1);
    CHECK(run.stats().first_item == first_item(21s, 1s, 1));
    const weir::pipeline_stats before = run.stats();
    while (run.get()) {
    }
    const weir::pipeline_stats all = run.stats();
    CHECK(all.elapsed == 30s);
    CHECK(all.num_items == 10);
    CHECK(all.first_item == first_item(21s, 9s, 9));
    CHECK(all.first_item->rate() == 1);
    CHECK(all.rate() == Approx(1.0 / 3));
    CHECK((all - before).first_item == first_item(21s, 8s, 8));
    time.run_until(time_point(100s));
    CHECK(run.stats() == all);  // stands still
}

TEST_CASE(
    "the first item is taken by the consumer, be it ready long before, and be the queue long or short") {
    for (const std::size_t capacity : {1U, 2U, 20U}) {
        CAPTURE(capacity);
        virtual_time time;
        auto run = (loads_first() | weir::sink(capacity)).start(time);
        time.run_until(time_point(50s));
        CHECK(run.stats().channels.back().size == (capacity < 10 ? capacity : 10));
        CHECK_FALSE(run.stats().first_item);
        CHECK(run.get() == 0);
        CHECK(run.stats().first_item == first_item(50s, 0s, 0));
        CHECK(run.get() == 1);
        CHECK(run.stats().first_item == first_item(50s, 0s, 1));
    }
}

TEST_CASE("of a run that ends with a for_each the first item is the one that its last stage takes first") {
    virtual_time time;
    const auto slow_end = [](int) -> task<> { co_await weir::sleep_for(2s); };
    auto run = (loads_first() | weir::for_each(slow_end)).start(time);
    time.run_until(time_point(21s));
    CHECK_FALSE(run.stats().first_item);
    time.run_until(time_point(22s));
    CHECK(run.stats().first_item == first_item(21s, 1s, 0));
    run.wait();
    CHECK(run.stats().first_item == first_item(21s, 20s, 9));  // which it has taken by then, and done
    CHECK(run.stats().num_items == 10);
}

TEST_CASE("without items, and without statistics, a run has no first item, and with sums it has") {
    virtual_time time;
    auto none =
        (weir::source(std::views::iota(0, 3)) | weir::filter([](int) { return false; }) | weir::sink())
            .start(time);
    CHECK_FALSE(none.get());
    CHECK_FALSE(none.stats().first_item);
    auto unmeasured = (loads_first() | weir::sink()).start<weir::unmeasured>(time);
    CHECK(unmeasured.get() == 0);
    CHECK_FALSE(unmeasured.stats().first_item);
    CHECK(unmeasured.stats().num_items == 1);
    auto sums = (loads_first() | weir::sink()).start<weir::summed>(time);
    CHECK(sums.get() == 0);
    CHECK(sums.stats().first_item == first_item(21s, 0s, 0));
}

TEST_CASE("the end of an epoch is no first item, and each run has its own") {
    virtual_time time;
    const auto late = [](int x) -> task<int> {
        co_await weir::sleep_for(3s);
        co_return x;
    };
    const auto empty_first = [](std::uint64_t epoch) { return std::vector<int>(epoch == 0 ? 0 : 2); };
    const auto pipeline = weir::source(weir::epochs(empty_first, 2)) | weir::pipe(late) | weir::sink();
    for (int i = 0; i < 2; ++i) {
        auto run = pipeline.start(time);
        CHECK_FALSE(run.get_in_epoch());
        CHECK_FALSE(run.stats().first_item);
        CHECK(run.get() == 0);
        CHECK(run.stats().first_item == first_item(3s, 0s, 0));
        CHECK(run.get() == 0);
        CHECK_FALSE(run.get());
        CHECK(run.stats().first_item == first_item(3s, 3s, 1));
    }
}

TEST_CASE("laps tell the first item where it came, and the parts of the time since then") {
    virtual_time time;
    std::vector<weir::pipeline_stats> laps;
    const auto keep = [&laps](const weir::pipeline_stats& lap) { laps.push_back(lap); };
    auto run = (loads_first() | weir::sink()).start(time, {.lap = 8s, .on_lap = keep});
    while (run.get()) {
    }
    REQUIRE(laps.size() == 3);
    CHECK_FALSE(laps[0].first_item);
    CHECK_FALSE(laps[1].first_item);
    CHECK(laps[2].first_item == first_item(21s, 3s, 2));  // at 22 and 23 s
    CHECK(laps[2].num_items == 3);
    CHECK((run.stats() - laps[0]).first_item == first_item(21s, 9s, 9));
}

namespace {

// Of a queue that took `size` items more than it gave away, 10.
weir::pipeline_stats stats_of(std::size_t size) {
    weir::pipeline_stats s;
    s.channels.resize(1);
    s.channels[0].name = "work";
    s.channels[0].num_get = 10;
    s.channels[0].num_put = 10 + size;
    s.channels[0].size = size;
    s.channels[0].bytes = 8 * size;
    return s;
}

fused_sink sink_of(std::size_t capacity, std::size_t before) {
    weir::stage_options options;
    options.name = "sink";
    options.capacity = capacity;
    return fused_sink(options, before);
}

}  // namespace

TEST_CASE("a merged sink's queue holds what both would, and the item between them") {
    fused_sink sink = sink_of(3, 2);
    std::size_t total = 0;
    const auto set = [&total](std::size_t n) { total = n; };
    sink.set_capacity_before(5, set);
    CHECK(total == 5 + 1 + 3);
    sink.set_capacity_behind(7, set);
    CHECK(total == 5 + 1 + 7);
    CHECK(sink.total_capacity() == 5 + 1 + 7);
}

TEST_CASE("the statistics show a merged sink as a stage between two queues") {
    weir::pipeline_stats s = stats_of(0);
    sink_of(3, 2).split(s, 0, {});
    REQUIRE(s.stages.size() == 1);
    CHECK(s.stages[0].name == "sink");
    CHECK(s.stages[0].inputs == std::vector<std::size_t>{0});
    CHECK(s.stages[0].outputs == std::vector<std::size_t>{1});
    REQUIRE(s.channels.size() == 2);
    CHECK(s.channels[0].name == "work");
    CHECK(s.channels[0].capacity == 2);
    CHECK(s.channels[1].name == "sink");
    CHECK(s.channels[1].capacity == 3);
}

TEST_CASE(
    "what a cancel discarded was discarded before a merged sink whose work isn't measured, else where it "
    "was") {
    for (const std::uint64_t taken : {10U, 13U, 14U}) {
        CAPTURE(taken);
        weir::pipeline_stats s = stats_of(6);
        s.channels[0].size = s.channels[0].bytes = 0;
        s.channels[0].num_discarded = 6;
        weir::detail::sink_figures kept;
        kept.num_taken = taken;
        kept.num_passed = taken - (taken == 14 ? 1 : 0);  // its queue was full
        weir::detail::later<weir::detail::sink_figures> given;
        if (taken != 10) given.emplace(kept);
        sink_of(3, 2).split(s, 0, given);
        CHECK(s.channels[0].num_discarded == 16 - taken);
        CHECK(s.channels[1].num_discarded == (taken == 10 ? 0 : 3));
        for (const weir::channel_stats& q : s.channels) {
            CHECK(q.num_put == q.num_get + q.num_discarded + q.size);
        }
    }
}

TEST_CASE("items are behind a merged sink first, then in it, then before it") {
    struct {
        std::size_t size, before, behind, passed;
    } const expected[] = {{0, 0, 0, 0}, {2, 0, 2, 2}, {3, 0, 3, 3}, {4, 0, 3, 4}, {6, 2, 3, 4}};
    for (const auto& each : expected) {
        CAPTURE(each.size);
        weir::pipeline_stats s = stats_of(each.size);
        sink_of(3, 2).split(s, 0, {});
        CHECK(s.channels[0].size == each.before);
        CHECK(s.channels[1].size == each.behind);
        CHECK(s.channels[0].num_put == 10 + each.size);
        CHECK(s.channels[0].num_get == 10 + each.passed);
        CHECK(s.channels[1].num_put == 10 + each.behind);
        CHECK(s.channels[1].num_get == 10);
        CHECK(s.channels[0].bytes == 8 * each.before);
        CHECK(s.channels[0].bytes + s.channels[1].bytes == 8 * each.size);
    }
}

namespace {

weir::task<> consume(weir::run<int>& run, const std::vector<duration>& times) {
    std::size_t i = 0;
    while (true) {
        const auto item = co_await run.next();
        if (!item) break;
        co_await weir::sleep_for(times[i++ % times.size()]);
    }
}

weir::pipeline_stats stats_of(const std::vector<duration>& times, int items, std::size_t recording) {
    weir::virtual_time clock;
    auto run =
        (weir::source(std::views::iota(0, items)) | weir::sink()).start(clock, {.recording = recording});
    weir::sync_wait(clock, consume(run, times));
    return run.stats();
}

}  // namespace

TEST_CASE("the consumer's time for each item is kept, to the nanosecond, in the order of the items") {
    const std::optional<weir::task_samples> kept = stats_of({3ms, 7ns, 1s}, 6, 100).consumer;
    REQUIRE(kept);
    REQUIRE(kept->tasks.size() == 6);
    const duration expected[] = {3ms, 7ns, 1s, 3ms, 7ns, 1s};
    duration at{};
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(kept->tasks[i] == weir::task_sample{.at = at += expected[i], .run = expected[i]});
    }
}

TEST_CASE("of many items the consumer's times are a sample") {
    const std::optional<weir::task_samples> kept = stats_of({1ms, 2ms}, 10'000, 100).consumer;
    REQUIRE(kept);
    CHECK(kept->tasks.size() > 50);
    CHECK(kept->tasks.size() <= 100);
    CHECK(kept->one_in == 128);
    std::size_t short_ones = 0;
    for (const weir::task_sample& each : kept->tasks) short_ones += each.run == 1ms ? 1U : 0U;
    CHECK(short_ones > kept->tasks.size() / 4);
    CHECK(short_ones < kept->tasks.size() * 3 / 4);
}

TEST_CASE("no more times of the consumer are kept than the recording is to have") {
    for (const std::size_t most : {1U, 2U, 3U, 10U, 11U}) {
        CHECK(stats_of({1ms}, static_cast<int>(most), most).consumer->tasks.size() == most);
        const auto kept = stats_of({1ms}, static_cast<int>(most) + 1, most).consumer;
        CHECK(kept->one_in == 2);
        CHECK(kept->tasks.size() <= most);
        CHECK(kept->tasks.size() >= most / 2);
    }
}

TEST_CASE("a run without a recording, and one without a consumer, have no times of a consumer") {
    CHECK_FALSE(stats_of({1ms}, 9, 0).consumer);
    weir::virtual_time clock;
    auto run =
        (weir::source(std::views::iota(0, 9)) | weir::for_each([](int) {})).start(clock, {.recording = 9});
    run.wait();
    CHECK_FALSE(run.stats().consumer);
}

TEST_CASE("the time of an item goes on after a call that ran out of time") {
    weir::virtual_time clock;
    const auto slowly = [](int k) -> weir::task<int> {
        co_await weir::sleep_for(10ms);
        co_return k;
    };
    auto run = (weir::source(std::views::iota(0, 2)) | weir::pipe(slowly) | weir::sink())
                   .start(clock, {.recording = 9});
    REQUIRE(run.get());
    weir::sync_wait(clock, weir::sleep_for(4ms));
    REQUIRE_FALSE(run.get(1ms));
    weir::sync_wait(clock, weir::sleep_for(2ms));
    REQUIRE(run.get());
    REQUIRE_FALSE(run.get());
    const std::optional<weir::task_samples> kept = run.stats().consumer;
    REQUIRE(kept);
    REQUIRE(kept->tasks.size() == 2);
    CHECK(kept->tasks[0].run == 6ms);
    CHECK(kept->tasks[1].run == 0ms);
}

TEST_CASE("in a run with epochs, the end of an epoch is no item of the consumer") {
    weir::virtual_time clock;
    const std::vector<int> data{1, 2};
    auto run = (weir::source(weir::epochs(data, 2)) | weir::sink()).start(clock, {.recording = 9});
    const auto consume_epochs = [](auto& from) -> weir::task<> {
        for (int epoch = 0; epoch < 2; ++epoch) {
            while (true) {
                const auto item = co_await from.next_in_epoch();
                if (!item) break;
                co_await weir::sleep_for(5ms);
            }
        }
        static_cast<void>(co_await from.next());
    };
    weir::sync_wait(clock, consume_epochs(run));
    const std::optional<weir::task_samples> kept = run.stats().consumer;
    REQUIRE(kept);
    REQUIRE(kept->tasks.size() == 4);
    for (const weir::task_sample& each : kept->tasks) CHECK(each.run == 5ms);
}

TEST_CASE("consumers that take turns are one; of consumers that call at once no times are known") {
    weir::virtual_time clock;
    weir::detail::consumer_sampler turns(9, clock);
    for (int i = 0; i < 3; ++i) {
        turns.called();
        turns.returned(true);
    }
    turns.called();
    turns.ended();
    REQUIRE(turns.samples());
    CHECK(turns.samples()->tasks.size() == 3);

    weir::detail::consumer_sampler both(9, clock);
    both.called();
    both.called();
    both.returned(true);
    CHECK_FALSE(both.samples());
}
