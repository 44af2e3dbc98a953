#include <weir/report/run_record.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <cstdint>
#include <random>

using weir::duration;
using weir::pipeline_stats;
using namespace std::chrono_literals;

TEST_CASE("a record has the machine and the compiler") {
    const weir::machine_info machine = weir::this_machine();
    CHECK(machine == weir::this_machine());
#if defined(__linux__)
    CHECK(machine.system.find("Linux ") == 0);
    CHECK(machine.processors >= 1);
    CHECK(machine.memory > 1'000'000);
#endif
    const weir::build_info build = weir::this_build();
    CHECK_FALSE(build.compiler.empty());
    CHECK_FALSE(build.library.empty());
    CHECK(build.weir.find('.') != std::string::npos);
}

namespace {

// A run that goes on: each call adds to everything that grows.
void go_on(pipeline_stats& s, std::mt19937& random) {
    const auto more = [&random](auto& figure) {
        figure += std::remove_reference_t<decltype(figure)>(random() % 1000);
    };
    more(s.elapsed);
    more(s.num_items);
    more(s.first_item->since);
    more(s.first_item->num_items);
    for (auto& stage : s.stages) {
        if (random() % 4 == 0) stage.per_slot.push_back({.off = stage.elapsed});
        const auto d = duration(random() % 1000);
        stage.elapsed += d;
        for (auto& slot : stage.per_slot) (random() % 2 == 0 ? slot.run : slot.wait_get) += d;
        more(stage.num_tasks);
        more(stage.num_failures);
        more(stage.task_time);
        more(stage.failure_time);
        more(stage.busy);
        stage.task_times.record(duration(random() % 100));
        auto& t = *stage.transfers;
        for (auto* n : {&t.num_copies, &t.bytes, &t.num_handed_over, &t.num_block_waits, &t.num_memory_waits})
            more(*n);
        for (auto* x : {&t.copying, &t.handed_over, &t.exposed, &t.block_wait, &t.memory_wait}) more(*x);
        more(stage.added->num_added);
        more(stage.added->num_discarded);
        stage.added->num_waiting = random() % 9;
        stage.added->most_waiting = stage.added->num_waiting + 1;
        stage.concurrency = random() % 9;
    }
    for (auto& c : s.channels) {
        for (auto* d : {&c.elapsed, &c.put_wait, &c.get_wait, &c.put_blocked, &c.get_blocked, &c.empty})
            more(*d);
        more(c.num_put);
        more(c.num_get);
        more(c.num_discarded);
        c.put_waits.record(duration(random() % 100));
        c.get_waits.record(duration(random() % 100));
        c.size = random() % 9;
    }
    auto& p = *s.process;
    more(p.elapsed);
    more(*p.user_time);
    more(*p.system_time);
    for (auto* n : {&p.minor_faults, &p.major_faults, &p.voluntary_switches, &p.involuntary_switches,
                    &p.bytes_read, &p.bytes_written})
        more(**n);
    p.resident = random() % 1000;
}

pipeline_stats at_the_start() {
    pipeline_stats s;
    s.stages.resize(2);
    for (auto& stage : s.stages) {
        stage.per_slot.resize(1);
        stage.transfers.emplace();
        stage.added.emplace();
    }
    s.channels.resize(2);
    weir::process_stats p;
    p.user_time = p.system_time = duration(0);
    p.minor_faults = p.major_faults = p.voluntary_switches = p.involuntary_switches = 0;
    p.bytes_read = p.bytes_written = 0;
    s.process = p;
    s.first_item = {.after = 5s};
    return s;
}

}  // namespace

TEST_CASE("two joined laps are the lap from the begin of the first to the end of the second") {
    std::mt19937 random(7);
    for (int i = 0; i < 100; ++i) {
        pipeline_stats a = at_the_start();
        go_on(a, random);
        pipeline_stats b = a;
        go_on(b, random);
        pipeline_stats c = b;
        go_on(c, random);
        // All of these durations have a bucket of their own, or one of two: the maxima are as near.
        const pipeline_stats lap = c - a;
        pipeline_stats sum = weir::joined(b - a, c - b);
        for (std::size_t k = 0; k < 2; ++k) {
            CHECK(sum.stages[k].task_times.buckets() == lap.stages[k].task_times.buckets());
            sum.stages[k].task_times = lap.stages[k].task_times;
            sum.channels[k].put_waits = lap.channels[k].put_waits;
            sum.channels[k].get_waits = lap.channels[k].get_waits;
        }
        CHECK(sum == lap);
    }
}

TEST_CASE("a lap before the first item, joined with the lap of the first item, has the first item") {
    pipeline_stats before;
    before.elapsed = 3s;
    pipeline_stats with;
    with.elapsed = 1s;
    with.num_items = 4;
    with.first_item = {.after = 3400ms, .since = 600ms, .num_items = 3};
    const pipeline_stats both = weir::joined(before, with);
    CHECK(both.elapsed == 4s);
    CHECK(both.num_items == 4);
    CHECK(both.first_item == with.first_item);
    CHECK_FALSE(weir::joined(before, before).first_item);
}

TEST_CASE("a lap is empty if no time has passed and nothing was done") {
    using weir::detail::is_empty_lap;
    CHECK(is_empty_lap(at_the_start()));
    const auto with = [](auto change) {
        pipeline_stats lap = at_the_start();
        change(lap);
        return is_empty_lap(lap);
    };
    CHECK_FALSE(with([](pipeline_stats& lap) { lap.elapsed = 1ns; }));
    CHECK_FALSE(with([](pipeline_stats& lap) { lap.stages[1].num_tasks = 1; }));
    CHECK_FALSE(with([](pipeline_stats& lap) { lap.channels[0].num_put = 1; }));
    CHECK_FALSE(with([](pipeline_stats& lap) { lap.channels[1].num_get = 1; }));
    CHECK_FALSE(with([](pipeline_stats& lap) { lap.channels[1].num_discarded = 1; }));
}

TEST_CASE("a value of the process that one of two laps lacks is unknown for both together") {
    weir::process_stats known;
    known.user_time = 1s;
    known.minor_faults = 3;
    weir::process_stats other;
    other.user_time = 2s;
    CHECK(weir::joined(known, other).user_time == 3s);
    CHECK_FALSE(weir::joined(known, other).minor_faults.has_value());
    CHECK_FALSE(weir::joined(other, known).minor_faults.has_value());
}

TEST_CASE("the work of an invocation on a rank is its time at work and awaiting") {
    weir::stage_on_rank s;
    CHECK(s.work() <= 0);
    s.times.run = 30ms;
    s.times.await = 20ms;
    s.times.wait_get = 1s;
    CHECK(s.work() > 49'999'999);  // the one that has not ended
    s.num_tasks = 10;
    CHECK(s.work() > 4'999'999);
    CHECK(s.work() < 5'000'001);
}

TEST_CASE("the readiness of a queue on a rank is that of the queue") {
    weir::queue_on_rank q;
    CHECK(q.readiness() <= 0);
    q.elapsed = 4s;
    q.empty = 1s;
    CHECK(q.readiness() > 0.749);
    CHECK(q.readiness() < 0.751);
}
