#include <weir/stages/batch_slots.hpp>

#include "support/blocks.hpp"
#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using weir::block_pool;
using weir::output_order;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;
using lists = std::vector<ints>;

namespace {

ints first_numbers(int count) {
    ints all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

ints sorted(const lists& batches) {
    ints all;
    for (const ints& b : batches) all.insert(all.end(), b.begin(), b.end());
    std::sort(all.begin(), all.end());
    return all;
}

// The batches of a run. Each is destroyed before the next one is taken.
template <class Run>
lists lists_of(Run&& run) {
    lists all;
    for (auto& batch : run) all.emplace_back(batch.begin(), batch.end());
    return all;
}

void set(int n, std::span<int> place) { place[0] = n; }

// Takes longer over some items than over others.
weir::task<> write_slowly(int n, std::span<int> place) {
    co_await weir::sleep_for(weir::duration(n % 3));
    place[0] = n;
}

constexpr std::size_t four = 4 * sizeof(int);

// The first time there is no memory.
struct broken {
    template <class T>
    std::optional<std::vector<T>> try_acquire(std::size_t n) {
        if (asked++ == 0) throw std::runtime_error("no memory of this kind");
        return std::vector<T>(n);
    }
    template <class T>
    weir::task<std::optional<std::vector<T>>> acquire(std::size_t n, weir::stop_token) {
        co_return try_acquire<T>(n);
    }
    int asked = 0;
};

// Gives half of an array, or nothing.
struct stingy {
    template <class T>
    std::optional<std::vector<T>> try_acquire(std::size_t n) {
        if (!gives) return std::nullopt;
        return std::vector<T>(n / 2);
    }
    template <class T>
    weir::task<std::optional<std::vector<T>>> acquire(std::size_t n, weir::stop_token) {
        co_return try_acquire<T>(n);
    }
    bool gives = true;
};

}  // namespace

TEST_CASE("batch_slots writes each item into its place of a batch, and the last batch may be smaller") {
    virtual_time time;
    block_pool memory(4 * 2 * sizeof(int), 2);
    const auto both = [](int n, std::span<int> place) {
        CHECK(place.size() == 2);
        place[0] = n;
        place[1] = -n;
    };
    auto run = (weir::source(first_numbers(6)) |
                weir::batch_slots<int>(memory, {.places = 4, .elements = 2}, both) | weir::sink(1))
                   .start(time);
    CHECK(lists_of(run) == lists{{0, 0, 1, -1, 2, -2, 3, -3}, {4, -4, 5, -5}});
    const weir::pipeline_stats stats = run.stats();
    CHECK(stats.stages[1].kind == "batch_slots");
    CHECK(stats.stages[1].num_tasks == 6);
    CHECK(stats.channels[1].num_put == 2);
    CHECK(memory.stats().size == 2);
}

TEST_CASE("batch_slots drops the last batch if it is asked to, and gives none for no items") {
    for (const bool drops : {false, true}) {
        for (const int count : {0, 1, 3, 4, 5, 8}) {
            virtual_time time;
            block_pool memory(four, 2);
            auto run =
                (weir::source(first_numbers(count)) |
                 weir::batch_slots<int>(memory, {.places = 4}, set, {.drop_last = drops}) | weir::sink(1))
                    .start(time);
            std::vector<std::size_t> sizes;
            for (const ints& b : lists_of(run)) sizes.push_back(b.size());
            std::vector<std::size_t> expected(static_cast<std::size_t>(count / 4), 4);
            if (!drops && count % 4 != 0) expected.push_back(static_cast<std::size_t>(count % 4));
            CHECK(sizes == expected);
        }
    }
}

TEST_CASE("several slots write into one batch at the same time") {
    virtual_time time;
    block_pool memory(four, 2);
    int writing = 0, most = 0;
    const auto slow = [&](int n, std::span<int> place) -> weir::task<> {
        most = std::max(most, ++writing);
        co_await weir::sleep_for(1s);
        --writing;
        place[0] = n;
    };
    auto run = (weir::source(first_numbers(8)) |
                weir::batch_slots<int>(memory, {.places = 4}, slow, {.concurrency = 4}) | weir::sink(1))
                   .start(time);
    const lists all = lists_of(run);
    CHECK(sorted(all) == first_numbers(8));
    CHECK(all.size() == 2);
    CHECK(most == 4);
    CHECK(run.stats().elapsed == 2s);
}

TEST_CASE("in the order of the input, each item has the place of its number, whatever its time") {
    for (const std::size_t slots : {1U, 2U, 3U, 5U}) {
        virtual_time time(slots);
        block_pool memory(four, 3);
        auto run = (weir::source(first_numbers(18)) |
                    weir::batch_slots<int>(memory, {.places = 4}, write_slowly,
                                           {.concurrency = slots, .output_order = output_order::input}) |
                    weir::sink(1))
                       .start(time);
        CHECK(lists_of(run) == lists{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}, {16, 17}});
    }
}

TEST_CASE("a batch that is full leaves before an earlier one, unless the order is to be kept") {
    for (const bool keeps : {false, true}) {
        virtual_time time;
        block_pool memory(2 * sizeof(int), 3);
        const auto first_is_slow = [](int n, std::span<int> place) -> weir::task<> {
            co_await weir::sleep_for(n == 0 ? 10s : 1s);
            place[0] = n;
        };
        auto run = (weir::source(first_numbers(6)) |
                    weir::batch_slots<int>(memory, {.places = 2}, first_is_slow,
                                           {.concurrency = 2,
                                            .output_order =
                                                keeps ? output_order::input : output_order::completion}) |
                    weir::sink(1))
                       .start(time);
        const lists all = lists_of(run);
        CHECK(all == (keeps ? lists{{0, 1}, {2, 3}, {4, 5}} : lists{{2, 3}, {4, 5}, {0, 1}}));
    }
}

TEST_CASE("the next item gets the place of a failed or dropped one, so that no batch has a hole") {
    for (const bool throws : {false, true}) {
        for (const std::size_t slots : {1U, 2U, 3U, 4U}) {
            for (const auto order : {output_order::completion, output_order::input}) {
                virtual_time time(slots);
                block_pool memory(four, 3);
                const auto some = [throws](int n, std::span<int> place) -> weir::task<bool> {
                    place[0] = -1;  // half of the work
                    co_await weir::sleep_for(weir::duration(n % 3));
                    if (n % 5 == 3 && throws) throw std::runtime_error("odd");
                    if (n % 5 == 3) co_return false;
                    place[0] = n;
                    co_return true;
                };
                auto run = (weir::source(first_numbers(20)) |
                            weir::batch_slots<int>(memory, {.places = 4}, some,
                                                   {.concurrency = slots,
                                                    .output_order = order,
                                                    .max_failures = weir::unlimited}) |
                            weir::sink(1))
                               .start(time);
                const lists all = lists_of(run);
                ints expected = first_numbers(20);
                std::erase_if(expected, [](int n) { return n % 5 == 3; });
                CHECK(sorted(all) == expected);
                for (const ints& b : all) CHECK(b.size() == 4);
                CHECK(run.stats().stages[1].num_failures == (throws ? 4 : 0));
                CHECK(memory.stats().size == 3);
            }
        }
    }
}

TEST_CASE("a place that is left empty at the end is closed: the items behind it move up") {
    virtual_time time;
    block_pool memory(4 * 2 * sizeof(int), 2);
    const auto second_fails = [](int n, std::span<int> place) -> weir::task<> {
        co_await weir::sleep_for(1s);
        if (n == 1) throw std::runtime_error("the second");
        place[0] = place[1] = n;
    };
    auto run = (weir::source(first_numbers(4)) |
                weir::batch_slots<int>(memory, {.places = 4, .elements = 2}, second_fails,
                                       {.concurrency = 4,
                                        .output_order = output_order::input,
                                        .max_failures = weir::unlimited}) |
                weir::sink(1))
                   .start(time);
    CHECK(lists_of(run) == lists{{0, 0, 2, 2, 3, 3}});
}

TEST_CASE("a slot that waits for a block takes the place that another item leaves") {
    // One block: the fifth item waits for another, and the first one fails. Else all would wait for ever.
    virtual_time time;
    block_pool memory(four, 1);
    const auto first_fails = [](int n, std::span<int> place) -> weir::task<> {
        co_await weir::sleep_for(n == 0 ? 5s : 1s);
        if (n == 0) throw std::runtime_error("the first");
        place[0] = n;
    };
    auto run = (weir::source(first_numbers(5)) |
                weir::batch_slots<int>(memory, {.places = 4}, first_fails,
                                       {.concurrency = 5, .max_failures = weir::unlimited}) |
                weir::sink(1))
                   .start(time);
    const lists all = lists_of(run);
    REQUIRE(all.size() == 1);
    CHECK(sorted(all) == ints{1, 2, 3, 4});
}

TEST_CASE("an item that ends the stage refuses the mark of its epoch at once, also behind items that wait") {
    virtual_time time;
    block_pool memory(2 * sizeof(int), 1);
    // Items 0 and 1 have the block; all others, and the mark, wait for a place.
    const auto one_fails = [](int n, std::span<int> place) -> weir::task<> {
        const weir::duration needed = n == 1 ? weir::duration(1ms) : weir::duration(1h);
        co_await weir::sleep_for(needed);
        if (n == 1) throw std::runtime_error("one");
        place[0] = n;
    };
    auto run = (weir::source(weir::epochs([](std::uint64_t) { return first_numbers(6); }, 1)) |
                weir::batch_slots<int>(memory, {.places = 2}, one_fails,
                                       {.concurrency = 7, .output_order = output_order::completion}) |
                weir::sink(1))
                   .start(time);
    CHECK_THROWS_AS(lists_of(run), weir::pipeline_failure);
    const weir::stage_stats all = run.stats().stages[1];
    CHECK(std::ranges::count_if(all.per_slot, [](const auto& slot) { return slot.wait_turn == 1ms; }) == 1);
}

TEST_CASE("without a free block the stage waits, and its statistics tell for how long") {
    virtual_time time;
    block_pool memory(2 * sizeof(int), 1);
    auto run = (weir::source(first_numbers(6)) |
                weir::batch_slots<int>(memory, {.places = 2}, set, {.name = "write", .concurrency = 2}) |
                weir::sink(1))
                   .start(time);
    const auto consume = [](auto& from) -> weir::task<int> {
        int count = 0;
        while (auto batch = co_await from.next()) {
            co_await weir::sleep_for(1s);  // meanwhile the one block is in use
            count += static_cast<int>(batch->size());
        }
        co_return count;
    };
    CHECK(weir::sync_wait(time, consume(run)) == 6);
    const weir::stage_stats stage = run.stats().stages[1];
    REQUIRE(stage.transfers);
    CHECK(stage.transfers->num_block_waits == 2);
    CHECK(stage.transfers->block_wait == 2s);
    CHECK(stage.transfers->num_copies == 0);
    CHECK(stage.times().await == 2s);
    CHECK(stage.task_time == 0s);
    CHECK(memory.stats().get_wait == 2s);
}

TEST_CASE("no batch holds items of two epochs, and each epoch ends once, behind its batches") {
    for (const std::size_t slots : {1U, 2U, 3U, 4U}) {
        for (const auto order : {output_order::completion, output_order::input}) {
            for (const bool drops : {false, true}) {
                virtual_time time(slots);
                block_pool memory(four, 2);
                const auto numbers = [](std::uint64_t epoch) {
                    ints all = first_numbers(static_cast<int>(3 * epoch));
                    for (int& n : all) n += 100 * static_cast<int>(epoch);
                    return all;
                };
                const auto some = [](int n, std::span<int> place) -> weir::task<bool> {
                    co_await weir::sleep_for(weir::duration(n % 3));
                    place[0] = n;
                    co_return n % 7 != 1;
                };
                auto run = (weir::source(weir::epochs(numbers, 4)) |
                            weir::batch_slots<int>(
                                memory, {.places = 4}, some,
                                {.drop_last = drops, .concurrency = slots, .output_order = order}) |
                            weir::sink(1))
                               .start(time);
                std::uint64_t number = 0;
                for (auto& epoch : run.epochs()) {
                    CHECK(epoch.number() == number);
                    ints expected = numbers(number++);
                    std::erase_if(expected, [](int n) { return n % 7 == 1; });
                    lists batches;
                    for (auto& b : epoch) batches.emplace_back(b.begin(), b.end());
                    if (drops) {
                        CHECK(batches.size() == expected.size() / 4);
                    } else {
                        CHECK(sorted(batches) == expected);
                        CHECK(batches.size() == (expected.size() + 3) / 4);
                    }
                }
                CHECK(number == 4);
            }
        }
    }
}

TEST_CASE("a checkpoint counts the draws of a batch when the batch is taken, and dropped ones at once") {
    virtual_time time;
    block_pool memory(2 * sizeof(std::uint64_t), 4);
    const auto all_but_two = [](const weir::draw& d, std::span<std::uint64_t> place) {
        place[0] = d.position;
        return d.position != 1;
    };
    auto run = (weir::source(weir::draws(weir::sampler({.size = 6, .seed = 3}), 1)) |
                weir::batch_slots<std::uint64_t>(memory, {.places = 2}, all_but_two) | weir::sink(1))
                   .start(time);
    std::vector<std::uint64_t> watermarks;
    while (auto batch = run.get()) watermarks.push_back(run.checkpoint().watermark());
    CHECK(watermarks == std::vector<std::uint64_t>{3, 5, 6});
}

TEST_CASE("the draws of a batch are known one by one behind a disaggregate") {
    virtual_time time;
    block_pool memory(3 * sizeof(std::uint64_t), 4);
    const auto keep = [](const weir::draw& d, std::span<std::uint64_t> place) { place[0] = d.position; };
    auto run =
        (weir::source(weir::draws(weir::sampler({.size = 6, .seed = 3}), 1)) |
         weir::batch_slots<std::uint64_t>(memory, {.places = 3}, keep) | weir::disaggregate() | weir::sink(1))
            .start(time);
    for (std::uint64_t taken = 1; auto position = run.get(); ++taken) {
        CHECK(*position == taken - 1);
        CHECK(run.checkpoint().watermark() == taken);
    }
}

TEST_CASE("a failure that is not tolerated stops the run, and what was filled before reaches the consumer") {
    for (const auto order : {output_order::completion, output_order::input}) {
        for (const std::size_t slots : {1U, 3U}) {
            virtual_time time(slots);
            block_pool memory(four, 2);
            const auto seventh_fails = [](int n, std::span<int> place) -> weir::task<> {
                co_await weir::sleep_for(1s);
                if (n == 6) throw std::runtime_error("the seventh");
                place[0] = n;
            };
            auto run =
                (weir::source(first_numbers(20)) |
                 weir::batch_slots<int>(memory, {.places = 4}, seventh_fails,
                                        {.name = "write", .concurrency = slots, .output_order = order}) |
                 weir::sink(1))
                    .start(time);
            lists all;
            std::string why;
            try {
                while (auto batch = run.get()) all.emplace_back(batch->begin(), batch->end());
            } catch (const weir::pipeline_failure& e) {
                why = e.failures().front().stage + ": " + items::message_inside(e);
            }
            CHECK(why == "write: the seventh");
            if (order == output_order::input) {
                CHECK(all == lists{{0, 1, 2, 3}, {4, 5}});
            } else {
                REQUIRE(all.size() >= 2);
                ints found = sorted(all);
                found.resize(6);
                CHECK(found == first_numbers(6));
            }
        }
    }
}

TEST_CASE(
    "after a failure in order, only the last batch is not full, also if a later item took a free place") {
    virtual_time time;
    block_pool memory(2 * sizeof(int), 3);
    const auto second_and_fourth_fail = [](int n, std::span<int> place) -> weir::task<> {
        // Item 4 gets the place of item 1 after a second, and still writes when item 3 fails.
        constexpr std::chrono::milliseconds times[] = {1500ms, 1s, 1500ms, 2s, 2s};
        co_await weir::sleep_for(n < 5 ? times[n] : 1s);
        if (n == 1 || n == 3) throw std::runtime_error("no");
        place[0] = n;
    };
    auto run =
        (weir::source(first_numbers(9)) |
         weir::batch_slots<int>(memory, {.places = 2}, second_and_fourth_fail,
                                {.concurrency = 4, .output_order = output_order::input, .max_failures = 1}) |
         weir::sink(1))
            .start(time);
    lists all;
    CHECK_THROWS_AS(
        [&] {
            while (auto batch = run.get()) all.emplace_back(batch->begin(), batch->end());
        }(),
        weir::pipeline_failure);
    CHECK(all == lists{{0, 2}});
}

TEST_CASE("one block is enough: a loop over the run returns the block of a batch before it waits") {
    virtual_time time;
    block_pool memory(2 * sizeof(int), 1);
    auto run =
        (weir::source(first_numbers(5)) | weir::batch_slots<int>(memory, {.places = 2}, set) | weir::sink(1))
            .start(time);
    CHECK(lists_of(run) == lists{{0, 1}, {2, 3}, {4}});
}

TEST_CASE("a run that is stopped returns its blocks, also one for which a slot waits") {
    for (const std::size_t slots : {1U, 3U}) {
        virtual_time time;
        block_pool memory(2 * sizeof(int), 2);
        std::vector<weir::pooled_block<int>> kept;
        {
            auto run = (weir::source(first_numbers(100)) |
                        weir::batch_slots<int>(memory, {.places = 2}, write_slowly, {.concurrency = slots}) |
                        weir::sink(1))
                           .start(time);
            for (int i = 0; i < 2; ++i) kept.push_back(*run.get());
            time.run_until(weir::time_point(1s));
            CHECK(memory.stats().size == 0);
            run.stop();
        }
        kept.clear();
        CHECK(memory.stats().size == 2);
    }
}

TEST_CASE("a stage behind that has enough ends batch_slots, whether or not a block is free") {
    for (const std::size_t slots : {1U, 4U}) {
        for (const auto order : {output_order::completion, output_order::input}) {
            virtual_time time(slots);
            block_pool memory(sizeof(int), 2);
            auto run = (weir::source(first_numbers(100)) |
                        weir::batch_slots<int>(memory, {.places = 1}, write_slowly,
                                               {.concurrency = slots, .output_order = order}) |
                        weir::take(3) | weir::sink(1))
                           .start(time);
            CHECK(lists_of(run).size() == 3);
        }
    }
}

TEST_CASE("the concurrency of batch_slots can be changed while it runs") {
    virtual_time time;
    block_pool memory(four, 3);
    auto run =
        (weir::source(first_numbers(60)) |
         weir::batch_slots<int>(memory, {.places = 4}, write_slowly, {.name = "write"}) | weir::sink(1))
            .start(time);
    lists all;
    const std::size_t slots[] = {1, 3, 5, 2, 4, 1};
    while (auto batch = run.get()) {
        run.set_concurrency("write", slots[all.size() % 6]);
        all.emplace_back(batch->begin(), batch->end());
    }
    CHECK(sorted(all) == first_numbers(60));
    CHECK(all.size() == 15);
}

TEST_CASE("an item that takes too long fails, and its place goes to another") {
    virtual_time time;
    block_pool memory(four, 2);
    const auto one_is_late = [](int n, std::span<int> place) -> weir::task<> {
        co_await weir::sleep_for(n == 2 ? 10s : 1s);
        place[0] = n;
    };
    auto run =
        (weir::source(first_numbers(5)) |
         weir::batch_slots<int>(memory, {.places = 4}, one_is_late, {.max_failures = 1, .time_limit = 2s}) |
         weir::sink(1))
            .start(time);
    CHECK(lists_of(run) == lists{{0, 1, 3, 4}});
}

TEST_CASE("each slot may have a function of its own, which knows its invocation") {
    virtual_time time;
    block_pool memory(four, 2);
    int made = 0;
    const auto make = [&made] {
        ++made;
        return [](int n, std::span<int> place, const weir::invocation& call) {
            place[0] = n + static_cast<int>(call.item());
        };
    };
    auto run = (weir::source(first_numbers(8)) |
                weir::batch_slots<int>(memory, {.places = 4}, weir::per_slot(make), {.concurrency = 3}) |
                weir::sink(1))
                   .start(time);
    CHECK(sorted(lists_of(run)) == ints{0, 2, 4, 6, 8, 10, 12, 14});
    CHECK(made == 3);
}

TEST_CASE("the blocks may be arrays of the user, whose elements need not be trivial") {
    virtual_time time;
    blocks::vectors pool;
    const auto name = [](int n, std::span<std::string> place) -> weir::task<bool> {
        co_await weir::sleep_for(weir::duration(n % 2));
        place[0] = "number " + std::to_string(n);
        co_return n != 1;
    };
    auto run = (weir::source(first_numbers(3)) |
                weir::batch_slots<std::string>(pool, {.places = 3}, name, {.concurrency = 3}) | weir::sink(1))
                   .start(time);
    const std::vector<std::string> only = *run.get();
    CHECK(only == std::vector<std::string>{"number 0", "number 2"});
    CHECK(!run.get());
}

TEST_CASE("an error of the pool fails the item that needs a block") {
    for (const auto order : {output_order::completion, output_order::input}) {
        virtual_time time;
        broken pool;
        auto run = (weir::source(first_numbers(5)) |
                    weir::batch_slots<int>(
                        pool, {.places = 4}, set,
                        {.concurrency = 2, .output_order = order, .max_failures = weir::unlimited}) |
                    weir::sink(1))
                       .start(time);
        CHECK(sorted(lists_of(run)) == ints{1, 2, 3, 4});
        CHECK(run.stats().stages[1].num_failures == 1);
    }
}

TEST_CASE("a pool that gives too little, or nothing without a stop, is refused with a sentence") {
    for (const bool gives : {true, false}) {
        virtual_time time;
        stingy pool{gives};
        auto run = (weir::source(first_numbers(5)) | weir::batch_slots<int>(pool, {.places = 4}, set) |
                    weir::sink(1))
                       .start(time);
        std::string why;
        try {
            while (run.get()) continue;
        } catch (const weir::pipeline_failure& e) {
            why = items::message_inside(e);
        }
        CHECK(why.starts_with(gives ? "weir: the pool of this batch_slots gave an array that has fewer"
                                    : "weir: the pool of this batch_slots gave no block though"));
    }
}

TEST_CASE("batches that make no sense are refused with a sentence") {
    block_pool memory(four, 2);
    using items::message_of;
    CHECK(
        message_of([&] { static_cast<void>(weir::batch_slots<int>(memory, {.places = 0}, set)); }) ==
        "weir: a batch without places, or with places of no elements, has room for nothing; give batch_slots "
        ".places and .elements of 1 or more");
    CHECK(message_of([&] { static_cast<void>(weir::batch_slots<int>(memory, {.places = 5}, set)); }) ==
          "weir: a full batch of this batch_slots is larger than a block of its pool; make the blocks of the "
          "pool larger, or the batches smaller");
    CHECK(message_of([&] {
              static_cast<void>(
                  weir::batch_slots<int>(memory, {.places = static_cast<std::size_t>(-1)}, set));
          }) == "weir: the places of a batch, or the elements of a place, were negative or far too many");
}

TEST_CASE("threads fill the places of batches, and each item is in one") {
    for (const auto order : {output_order::completion, output_order::input}) {
        weir::thread_pool pool(4);
        block_pool memory(8 * sizeof(int), 3);
        const auto some = [](int n, std::span<int> place) {
            place[0] = n;
            return n % 11 != 5;
        };
        auto run =
            (weir::source(first_numbers(5'000)) |
             weir::batch_slots<int>(memory, {.places = 8}, some, {.concurrency = 4, .output_order = order}) |
             weir::sink(1))
                .start(pool);
        const lists all = lists_of(run);
        ints expected = first_numbers(5'000);
        std::erase_if(expected, [](int n) { return n % 11 == 5; });
        CHECK(sorted(all) == expected);
        CHECK(all.size() == (expected.size() + 7) / 8);
    }
}
