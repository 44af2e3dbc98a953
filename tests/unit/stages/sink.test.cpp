#include <weir/stages/sink.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

using weir::virtual_time;
using namespace std::chrono_literals;

TEST_CASE("a sink without room is refused with what to do") {
    CHECK_THROWS_AS(weir::sink(0), std::invalid_argument);
    CHECK(items::message_of([] { static_cast<void>(weir::sink(0)); }) ==
          "weir: sink(0) could never take an item; give it a capacity of 1 or more");
    CHECK(items::message_of([] { static_cast<void>(weir::sink(static_cast<std::size_t>(-1))); }) ==
          "weir: the capacity of a sink was negative; give it 1 or more");
}

TEST_CASE("a sink lets the pipeline run ahead of the consumer by its capacity, and by one in hand") {
    for (const std::size_t capacity : {1U, 2U, 3U, 50U}) {
        CAPTURE(capacity);
        virtual_time time;
        auto run = (weir::source(std::views::iota(0)) | weir::sink(capacity)).start(time);
        CHECK_THROWS_AS(time.run(), weir::deadlock_error);
        const auto stats = run.stats();
        REQUIRE(stats.channels.size() == 2);
        CHECK(stats.channels.at(1).size == capacity);
        CHECK(stats.channels.at(1).capacity == capacity);
        // The source's queue takes two; one each waits in the hands of source and sink.
        CHECK(stats.channels.at(0).num_put == capacity + 1 + 2);
        CHECK(stats.stages.at(0).num_tasks == capacity + 1 + 2 + 1);
    }
}

TEST_CASE("a consumer that pauses holds up what is before it, and misses nothing") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0, 20)) | weir::sink(1)).start(time);
    for (std::uint64_t n = 0; n < 20; ++n) {
        CHECK(run.get() == static_cast<int>(n));
        time.run_until(time.now() + 1h);
        // Ahead of the consumer: the sink's queue and hand, and two in the source's queue.
        CHECK(run.stats().channels.at(0).num_put == std::min<std::uint64_t>(n + 1 + 1 + 1 + 2, 20));
    }
    CHECK_FALSE(run.get().has_value());
    CHECK(time.now() == weir::time_point(20h));
}

TEST_CASE(
    "a sink holds 32 small values if nothing is said, and three items of which it isn't known what they "
    "hold") {
    struct large {
        std::array<char, 65> bytes;
    };
    struct small {
        std::array<char, 64> bytes;
    };
    const auto room_for = [](auto item) {
        return (weir::source({item}) | weir::sink()).options("sink").capacity;
    };
    static int number = 0;
    CHECK(room_for(1) == 32);
    CHECK(room_for(small{}) == 32);
    CHECK(room_for(large{}) == 3);
    CHECK(room_for(&number) == 3);
    CHECK(room_for(std::string("1")) == 3);
}

TEST_CASE("what a sink has room for is known once a source stands before it, unless it is given") {
    auto part = weir::pipe([](int n) { return std::to_string(n); }) | weir::sink();
    CHECK(part.options("sink").capacity == 0);
    CHECK((weir::source({1}) | part).options("sink").capacity == 3);
    part.options("sink").capacity = 7;
    CHECK((weir::source({1}) | part).options("sink").capacity == 7);
    CHECK((weir::source({1}) | weir::sink(3)).options("sink").capacity == 3);
}

TEST_CASE("a sink is a stage of its own") {
    virtual_time time;
    auto run = (weir::source({1}) | weir::sink()).start(time);
    const auto stats = run.stats();
    CHECK(stats.channels.at(1).capacity == 32);
    CHECK(stats.channels.at(1).name == "sink");
    CHECK(stats.stages.at(1).name == "sink");
    CHECK(stats.stages.at(1).kind == "sink");
    CHECK(stats.stages.at(1).per_slot.size() == 1);
}

TEST_CASE("a sink passes on what only moves, in order") {
    virtual_time time;
    std::vector<std::unique_ptr<int>> from;
    for (int i = 0; i < 5; ++i) from.push_back(std::make_unique<int>(i));
    auto pipeline = weir::source(std::move(from)) | weir::sink(1);
    int next = 0;
    auto run = std::move(pipeline).start(time);
    for (const auto& p : run) CHECK(*p == next++);
    CHECK(next == 5);
}
