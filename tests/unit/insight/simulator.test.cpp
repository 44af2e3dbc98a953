#include <weir/insight/simulator.hpp>

#include <weir/insight/predict.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "support/catch.hpp"
#include "support/recordings.hpp"

// tests/programs/explain/predict.test.cpp compares simulations with runs on virtual time. These pipelines are
// computed by hand.
using Catch::Approx;
using namespace std::chrono_literals;
using recordings::awaiting;
using recordings::builder;
using recordings::running;
using weir::output_order;
using weir::prediction;
using weir::recording;
using weir::detail::fifo;

namespace {

// The whole run of a source with this number of items.
prediction whole(recording from, std::uint64_t items) {
    from.settings.num_items = items;
    return weir::predict(from.settings, from, {.items = 1'000'000, .skipped = 1});
}

}  // namespace

TEST_CASE("one slot of 10 ms gives 100 items per second") {
    const prediction p = whole(builder().stage({.name = "a"}, awaiting({10})).consumed(), 50);
    CHECK(p.rate == Approx(100));
    CHECK(p.num_items == 50);
    CHECK(p.elapsed == 500ms);
    CHECK(p.stages[1].num_tasks == 50);
    CHECK(p.stages[1].times.await == 500ms);
    CHECK(p.stages[4 - 1].times.wait_get > 0ms);
}

TEST_CASE("the states of a stage sum to the elapsed time of its slots") {
    const prediction p = whole(builder()
                                   .stage({.name = "a", .concurrency = 3}, awaiting({10, 25}))
                                   .stage({.name = "b", .output_order = output_order::input}, running({7}))
                                   .consumed(awaiting({3})),
                               40);
    CHECK(p.stages[1].times.total() == 3 * p.elapsed);
    CHECK(p.stages[2].times.total() == p.elapsed);
    CHECK(p.stages[2].times.run == 40 * 7ms);
}

TEST_CASE("items beyond the room of the queues wait: a put lasts until the consumer takes an item") {
    const prediction p =
        whole(builder().stage({.name = "a", .capacity = 1}, awaiting({1})).consumed(awaiting({10}), 1), 20);
    CHECK(p.rate == Approx(100));
    CHECK(p.queues[1].put_wait > 100ms);
    CHECK(p.queues[1].num_put == 20);
    CHECK(p.queues[2].num_get == 20);
}

TEST_CASE("two threads run two of four slots at once") {
    recording four = builder().stage({.name = "a", .concurrency = 4, .pool = 1}, running({10})).consumed();
    four.settings.pools = {0, 2};
    const prediction p = whole(four, 100);
    CHECK(p.rate == Approx(200).epsilon(0.03));
    CHECK(p.stages[1].times.runnable > 500ms);
    CHECK(p.stages[1].times.run == 1s);
}

TEST_CASE("a slot needs a thread for the time in which it runs, and none while it awaits") {
    recording four = builder().stage({.name = "a", .concurrency = 4, .pool = 1}, {}).consumed();
    four.stages[1] = {.tasks = {{5ms, 15ms, 1}}, .num_tasks = 100, .in_sequence = true};
    four.settings.pools = {0, 1};
    CHECK(whole(four, 100).rate == Approx(200).epsilon(0.03));  // limited by the thread
    four.settings.pools = {0, 2};
    CHECK(whole(four, 100).rate == Approx(200).epsilon(0.03));  // limited by the slots
}

TEST_CASE("in order, a slow item holds back the items behind it only if the queue has no place for them") {
    const auto rate = [](output_order order, std::size_t capacity) {
        return whole(builder()
                         .stage({.name = "a", .concurrency = 2, .capacity = capacity, .output_order = order},
                                awaiting({40, 10, 10, 10}))
                         .consumed(),
                     400)
            .rate;
    };
    CHECK(rate(output_order::completion, 1) == Approx(114.3).epsilon(0.02));
    CHECK(rate(output_order::input, 16) == Approx(114.3).epsilon(0.02));
    CHECK(rate(output_order::input, 1) < 100);
}

TEST_CASE("in order, a dropped item takes its place, and leaves nothing in it") {
    recording some =
        builder().stage({.name = "a", .concurrency = 2, .output_order = output_order::input}, {}).consumed();
    some.stages[1] = {.tasks = {{0ms, 30ms, 1}, {0ms, 10ms, 0}, {0ms, 10ms, 1}},
                      .num_tasks = 100,
                      .in_sequence = true};
    const prediction p = whole(some, 30);
    CHECK(p.stages[1].num_tasks == 30);
    CHECK(p.num_items == 20);
}

TEST_CASE("a function may give several items for one") {
    recording some = builder().stage({.name = "a"}, {}).consumed();
    some.stages[1] = {.tasks = {{0ms, 10ms, 3}, {0ms, 10ms, 0}}, .num_tasks = 100, .in_sequence = true};
    CHECK(whole(some, 10).num_items == 15);
    some.settings.stage("a").concurrency = 2;
    some.settings.stage("a").output_order = output_order::input;
    CHECK(whole(some, 10).num_items == 15);
}

TEST_CASE("batches are gathered, taken apart, and given or dropped when the source ends") {
    CHECK(whole(builder().aggregate("b", 4).consumed(), 10).num_items == 3);
    CHECK(whole(builder().aggregate("b", 4, true).consumed(), 10).num_items == 2);
    const auto both = [](bool drop) {
        return whole(builder()
                         .aggregate("b", 4, drop)
                         .aggregate("c", 2)
                         .disaggregate("d")
                         .disaggregate("e")
                         .consumed(awaiting({1})),
                     10)
            .num_items;
    };
    CHECK(both(false) == 10);
    CHECK(both(true) == 8);
}

TEST_CASE("a source that takes time limits the rate") {
    CHECK(whole(builder(awaiting({20})).stage({.name = "a"}, awaiting({10})).consumed(), 50).rate ==
          Approx(50));
}

TEST_CASE("a pipeline in which nothing takes time ends, with a rate as if a nanosecond had passed") {
    const prediction p = whole(builder().stage({.name = "a"}, {}).consumed(), 10);
    CHECK(p.num_items == 10);
    CHECK(p.rate == Approx(9e9));
}

TEST_CASE("a fifo gives its values in the order in which they came, while it grows and wraps around") {
    fifo<int> queue;
    int next_in = 0, next_out = 0;
    for (int round = 1; round < 40; ++round) {
        for (int i = 0; i < round; ++i) queue.push(next_in++);
        for (int i = 0; i < round / 2; ++i) REQUIRE(queue.pop() == next_out++);
    }
    while (!queue.empty()) REQUIRE(queue.pop() == next_out++);
    CHECK(next_out == next_in);
    CHECK(queue.size() == 0);
}

TEST_CASE("an order of draws has each number once, and depends on the seed") {
    const std::vector<std::uint32_t> one = weir::detail::shuffled(100, 1);
    CHECK(std::set<std::uint32_t>(one.begin(), one.end()).size() == 100);
    CHECK(*std::set<std::uint32_t>(one.begin(), one.end()).rbegin() == 99);
    CHECK(one == weir::detail::shuffled(100, 1));
    CHECK(one != weir::detail::shuffled(100, 2));
    CHECK(weir::detail::shuffled(0, 1).empty());
}
