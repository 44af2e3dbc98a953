// `run_options::max_bytes`: how many bytes lie in all queues of a run, and who waits for that.
#include <weir/run/run_context.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/split.hpp>
#include <weir/graph/tee.hpp>
#include <weir/graph/zip.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using items::contains;
using items::message_of;
using items::take_all;
using items::take_until_failure;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

using blob = std::vector<char>;

// n blobs of so many bytes, the first byte of each its number.
auto blobs(int n, std::size_t bytes, std::size_t capacity = 100) {
    return weir::source(std::views::iota(0, n) | std::views::transform([bytes](int i) {
                            blob b(bytes);
                            b.at(0) = static_cast<char>(i);
                            return b;
                        }),
                        {.capacity = capacity});
}

auto slowly(weir::duration d) {
    return weir::pipe(
        [d](blob b) -> task<blob> {
            co_await weir::sleep_for(d);
            co_return b;
        },
        {.capacity = 100});
}

std::size_t bytes_in(const weir::pipeline_stats& stats) {
    std::size_t sum = 0;
    for (const auto& queue : stats.channels) sum += queue.bytes;
    return sum;
}

// Takes everything, and tells how many bytes there were at most.
template <class Run>
std::size_t most_bytes(Run& run, std::size_t expected) {
    std::size_t most = 0;
    std::size_t taken = 0;
    while (run.get()) {
        ++taken;
        most = std::max(most, bytes_in(run.stats()));
    }
    CHECK(taken == expected);
    CHECK(bytes_in(run.stats()) == 0);
    return most;
}

}  // namespace

TEST_CASE("a source makes no item while there are as many bytes in the queues as may be") {
    virtual_time time;
    const auto pipeline = blobs(100, 10) | slowly(1ms) | weir::sink(100);
    auto without = pipeline.start(time);
    time.run_until(time.now() + 5ms + 1ns);
    CHECK(without.stats().channels.at(0).num_put == 100);
    CHECK(take_all(without).size() == 100);

    auto run = pipeline.start(time, {.max_bytes = 50});
    time.run_until(time.now() + 1ms / 2);
    // Five in its queue or behind, one in work, and the last one that it began before.
    CHECK(run.stats().channels.at(0).num_put <= 7);
    CHECK(bytes_in(run.stats()) >= 50);
    CHECK(bytes_in(run.stats()) <= 60);
    CHECK(run.stats().stages.at(0).times().wait_turn == 1ms / 2);
    // Nobody takes anything: all that may pass has passed to the last queue, and it stays. Three stages
    // had one in hand.
    time.run_until(time.now() + 10s);
    CHECK(run.stats().channels.at(2).size <= 8);
    CHECK(most_bytes(run, 100) <= 80);
    CHECK(flows::add_up(run.stats()));
}

TEST_CASE("with fewer bytes than one item has, a run goes on one by one") {
    virtual_time time;
    auto run = (blobs(20, 1'000) | slowly(1ms) | slowly(2ms) | weir::sink(9)).start(time, {.max_bytes = 1});
    CHECK(most_bytes(run, 20) <= 2'000);
}

TEST_CASE("bytes of what grows on its way, or is in several queues, all count") {
    virtual_time time;
    const auto grows = weir::pipe([](blob b) {
        b.resize(b.size() * 10);
        return b;
    });
    const auto first = [](const blob& b) { return b.at(0) % 2; };
    auto run =
        (blobs(40, 10) | grows | weir::route(first, weir::branch("even", slowly(3ms)), weir::branch("odd")) |
         weir::tee(slowly(1ms)) | weir::sink(50))
            .start(time, {.max_bytes = 300});
    CHECK(most_bytes(run, 40) <= 1'500);
    CHECK(flows::add_up(run.stats()));
}

TEST_CASE("epochs and batches go through a run with few bytes") {
    for (const std::size_t most : {std::size_t(1), std::size_t(30), std::size_t(1'000)}) {
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            virtual_time time(seed);
            std::vector<blob> some(7, blob(10));
            auto run =
                (weir::source(weir::epochs(some, 3), {.capacity = 50}) | slowly(1ms) | weir::aggregate(3) |
                 weir::split([](const blob&) { return 0; }, weir::branch("a"), weir::branch("b")) |
                 weir::sink())
                    .start(time, {.max_bytes = most});
            const auto all = flows::by_epoch(run);
            REQUIRE(all.size() == 3);
            for (const auto& each : all) CHECK(each.second.size() == 3);
            CHECK(bytes_in(run.stats()) == 0);
        }
    }
}

TEST_CASE("no source waits for another one's bytes for ever, however they come together") {
    const auto left = [] { return blobs(30, 100); };
    const auto right = [] { return blobs(30, 7) | slowly(1ms); };
    for (const std::size_t most : {std::size_t(1), std::size_t(50), std::size_t(150), std::size_t(1'000)}) {
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            CAPTURE(most, seed);
            virtual_time time(seed);
            auto rows = (weir::zip(left(), right()) | weir::sink()).start(time, {.max_bytes = most});
            CHECK(take_all(rows).size() == 30);
            auto swapped =
                (weir::zip(right(), left(), right()) | weir::sink()).start(time, {.max_bytes = most});
            CHECK(take_all(swapped).size() == 30);
            for (const auto order : {weir::merge_order::arrival, weir::merge_order::round_robin,
                                     weir::merge_order::weighted, weir::merge_order::priority}) {
                auto run = (weir::merge({.order = order}, left(), right(), left()) | weir::sink())
                               .start(time, {.max_bytes = most});
                CHECK(take_all(run).size() == 90);
                CHECK(bytes_in(run.stats()) == 0);
            }
            auto nested = (weir::zip(weir::merge({.order = weir::merge_order::round_robin}, left(), right()),
                                     weir::zip(right(), left()), left() | weir::aggregate(1)) |
                           weir::sink())
                              .start(time, {.max_bytes = most});
            CHECK(take_all(nested).size() == 30);
        }
    }
}

TEST_CASE("merged epochs wait for each other, and for no bytes") {
    const auto some = [](int n, std::size_t bytes) {
        return weir::source(weir::epochs(std::vector<blob>(static_cast<std::size_t>(n), blob(bytes)), 3),
                            {.capacity = 100});
    };
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        virtual_time time(seed);
        auto run = (weir::merge(some(1, 100), some(20, 10) | slowly(1ms), some(0, 1)) | weir::sink())
                       .start(time, {.max_bytes = 60});
        const auto all = flows::by_epoch(run);
        REQUIRE(all.size() == 3);
        for (const auto& each : all) CHECK(each.second.size() == 21);
    }
}

TEST_CASE("several sources together keep to about the limit") {
    virtual_time time;
    auto run = (weir::merge(blobs(100, 10), blobs(100, 10), blobs(100, 10), blobs(100, 10)) | slowly(1ms) |
                weir::sink(100))
                   .start(time, {.max_bytes = 200});
    // And what each of them, and each stage, had begun.
    CHECK(most_bytes(run, 400) <= 200 + 10 * 10);
}

TEST_CASE("a run with a limit in bytes fails, and is left, as any") {
    virtual_time time;
    const auto fails = weir::pipe([](blob b) {
        if (b.at(0) == 5) throw std::runtime_error("five");
        return b;
    });
    const auto end =
        take_until_failure((weir::merge(blobs(50, 10), blobs(4, 10) | slowly(1h)) | fails | weir::sink())
                               .start(time, {.max_bytes = 10}));
    REQUIRE(end.failed);
    CHECK(end.inside == "five");
    {
        auto run = (blobs(50, 10) | weir::sink(50)).start(time, {.max_bytes = 20});
        CHECK(run.get().has_value());
    }
    weir::thread_pool pool(2);
    auto run = (weir::merge(blobs(100, 10), blobs(100, 10)) | weir::sink()).start(pool, {.max_bytes = 20});
    CHECK(run.get().has_value());
}

TEST_CASE("without statistics the bytes are counted all the same") {
    virtual_time time;
    auto run =
        (blobs(100, 10) | slowly(1ms) | weir::sink(100)).start<weir::unmeasured>(time, {.max_bytes = 50});
    time.run_until(time.now() + 1s);
    CHECK(bytes_in(run.stats()) <= 80);
    CHECK(most_bytes(run, 100) <= 80);
}

TEST_CASE("a source that waits for bytes is named in a deadlock report") {
    virtual_time time;
    auto run = (blobs(100, 10) | weir::sink(100)).start(time, {.max_bytes = 20});
    const std::string said = message_of([&time] { time.run(); });
    CHECK(contains(said, "stage 'src', slot 0"));
    CHECK(contains(said, " waits for the run's queues to hold fewer bytes"));
}

TEST_CASE("a stage's queue has a limit in bytes of its own") {
    virtual_time time;
    auto run =
        (blobs(20, 10) |
         weir::pipe([](blob b) { return b; }, {.name = "p", .capacity = 50, .max_bytes = 35}) | weir::sink(1))
            .start(time);
    time.run_until(time.now() + 1s);
    // Three of ten bytes: one in the sink's queue, which counts too, and one in its hand.
    CHECK(run.stats().channels.at(1).max_bytes == 35);
    CHECK(run.stats().channels.at(1).size == 1);
    CHECK(run.stats().channels.at(1).bytes == 10);
    CHECK(run.stats().channels.at(2).size == 1);
    CHECK(take_all(run).size() == 20);
    CHECK(bytes_in(run.stats()) == 0);
}

namespace {

// Before and behind a sink, no queue has lost or invented an item, and none counts the bytes of destroyed items.
void check_sink(const weir::pipeline_stats& stats, std::size_t most) {
    const weir::channel_stats& before = stats.channels.at(stats.channels.size() - 2);
    const weir::channel_stats& behind = stats.channels.back();
    for (const weir::channel_stats* const q : {&before, &behind}) {
        CHECK(q->num_get <= q->num_put);
        CHECK(q->num_discarded == 0);
        CHECK(q->num_put == q->num_get + q->size);
        CHECK(q->bytes == 10 * q->size);
    }
    CHECK(before.num_get - behind.num_put <= 1);
    CHECK(before.size + behind.size <= most);
}

}  // namespace

TEST_CASE("a sink with room passes on what a get admits to a queue that its bytes fill") {
    virtual_time time;
    auto run =
        (blobs(20, 10) |
         weir::pipe([](blob b) { return b; }, {.name = "p", .capacity = 50, .max_bytes = 35}) | weir::sink(3))
            .start(time);
    for (std::size_t n = 0; run.get(); ++n) {
        CAPTURE(n);
        time.run_until(time.now() + 1ms);
        const weir::pipeline_stats stats = run.stats();
        check_sink(stats, 3);
        CHECK(stats.channels.back().num_get == n + 1);
        CHECK(stats.channels.back().size == std::min(std::size_t(3), 19 - n));
        CHECK(stats.channels.back().put_wait == 0ns);
        CHECK(stats.stages.back().times().wait_put == 0ns);
    }
}

TEST_CASE("the sums of a sink with room and few bytes are right behind epochs, too") {
    virtual_time time;
    auto run =
        (weir::source(weir::epochs(std::vector<blob>(7, blob(10)), 3), {.capacity = 50}) |
         weir::pipe([](blob b) { return b; }, {.name = "p", .capacity = 50, .max_bytes = 35}) | weir::sink(5))
            .start(time);
    CHECK(flows::by_epoch(run).size() == 3);
    check_sink(run.stats(), 0);
    CHECK(run.stats().channels.back().num_put == 21);
}

TEST_CASE("the figures of a sink whose capacity was lowered below its items go on") {
    virtual_time time;
    const auto work = [](int i) -> task<int> {
        co_await weir::sleep_for(1ms);
        co_return i;
    };
    auto run = (weir::source(std::views::iota(0, 40)) | weir::pipe(work, {.capacity = 2}) | weir::sink(32))
                   .start(time);
    time.run_until(time.now() + 10ms + 1ns);
    CHECK(run.stats().channels.back().size == 10);
    run.set_capacity("sink", 1);
    for (std::size_t n = 0; run.get(); ++n) {
        CAPTURE(n);
        time.run_until(time.now() + 5ms);
        const weir::pipeline_stats stats = run.stats();
        const weir::channel_stats& behind = stats.channels.back();
        CHECK(behind.num_get == n + 1);
        // Of the items that wait behind the one in the sink, none counts as one that the sink has passed on.
        CHECK(behind.size == std::min(std::max(std::size_t(1), n < 10 ? 9 - n : 0), 39 - n));
        CHECK(behind.num_put == behind.num_get + behind.size);
        CHECK(flows::add_up(stats));
    }
}

TEST_CASE("on threads many sources and few bytes end, and leave none") {
    weir::thread_pool pool(3);
    for (int i = 0; i < 20; ++i) {
        auto run = (weir::zip(blobs(300, 50), blobs(300, 5)) |
                    weir::pipe([](std::tuple<blob, blob> row) { return std::get<0>(std::move(row)); },
                               {.concurrency = 2}) |
                    weir::sink())
                       .start(pool, {.max_bytes = 60});
        CHECK(take_all(run).size() == 300);
        CHECK(bytes_in(run.stats()) == 0);
        auto merged = (weir::merge({.order = weir::merge_order::round_robin}, blobs(200, 50), blobs(100, 5),
                                   blobs(300, 1)) |
                       weir::sink())
                          .start<weir::unmeasured>(pool, {.max_bytes = 60});
        CHECK(take_all(merged).size() == 600);
        CHECK(bytes_in(merged.stats()) == 0);
    }
}
