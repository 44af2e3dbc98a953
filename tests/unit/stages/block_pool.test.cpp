#include <weir/stages/block_pool.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

using weir::block_pool;
using weir::pooled_block;
using namespace std::chrono_literals;

TEST_CASE("a block_pool lends each block once, at a page, and takes it back") {
    block_pool pool(100, 2, "frames");
    CHECK(pool.block_bytes() == 100);
    CHECK(pool.blocks() == 2);
    std::optional<pooled_block<int>> a = pool.try_acquire<int>(25);
    std::optional<pooled_block<char>> b = pool.try_acquire<char>(7);
    REQUIRE(a);
    REQUIRE(b);
    CHECK(a->size() == 25);
    CHECK(b->size() == 7);
    CHECK(reinterpret_cast<std::uintptr_t>(a->data()) % 4096 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(b->data()) % 4096 == 0);
    CHECK_FALSE(pool.try_acquire<char>(1));
    const int* const where = a->data();
    a.reset();
    CHECK(pool.stats().size == 1);
    CHECK(pool.stats().name == "frames");
    a = pool.try_acquire<int>(1);
    REQUIRE(a);
    CHECK(a->data() == where);
}

TEST_CASE("a pooled_block is a range of its elements, can be cut, and moves") {
    block_pool pool(16, 1);
    pooled_block<int> a = *pool.try_acquire<int>(4);
    int next = 0;
    for (int& each : a) each = next++;
    a.resize(3);
    a.resize(9);
    CHECK(a.size() == 3);
    CHECK(a.end() - a.begin() == 3);
    CHECK(a[2] == 2);
    const pooled_block<int> b = std::move(a);
    CHECK(a.empty());  // NOLINT(bugprone-use-after-move): what it is then is documented
    CHECK(b.size() == 3);
}

TEST_CASE("a coroutine waits for a block of a block_pool, until there is one, or a stop") {
    weir::virtual_time time;
    block_pool pool(8, 1);
    const auto keep = [&pool]() -> weir::task<> {
        const auto held = co_await pool.acquire<char>(8);
        co_await weir::sleep_for(3s);
    };
    const auto want = [&]() -> weir::task<weir::duration> {
        const auto got = co_await pool.acquire<char>(1);
        CHECK(got->size() == 1);
        co_return time.now().time_since_epoch();
    };
    const auto give_up = [&pool](weir::stop_token stop) -> weir::task<bool> {
        const auto got = co_await pool.acquire<char>(1, std::move(stop));
        co_return got.has_value();
    };
    const weir::stop_source stop;
    const auto end = [&stop]() -> weir::task<> {
        co_await weir::sleep_for(1s);
        stop.request_stop();
    };
    const auto all = weir::sync_wait(time, weir::when_all(keep(), want(), give_up(stop.get_token()), end()));
    CHECK(std::get<1>(all) == 3s);
    CHECK_FALSE(std::get<2>(all));
    CHECK(pool.stats().size == 1);
    CHECK(pool.stats().get_wait == 4s);
}

TEST_CASE("a deadlock report names the pool whose block a coroutine waits for") {
    weir::virtual_time time;
    block_pool pool(8, 1, "frames");
    const auto held = pool.try_acquire<char>(8);
    const auto want = [&pool]() -> weir::task<> { static_cast<void>(co_await pool.acquire<char>(1)); };
    CHECK(items::message_of([&] { weir::sync_wait(time, want()); }) ==
          "weir: deadlock: nothing can run, no timer is left, and somebody waits:"
          "\n  channel 'frames' is empty, 0 of 1: a coroutine waits to get");
    CHECK(pool.stats().name == "frames");
}

TEST_CASE("a pooled_block may outlive its pool") {
    std::optional<pooled_block<int>> kept;
    {
        block_pool pool(4, 1);
        kept = pool.try_acquire<int>(1);
    }
    (*kept)[0] = 7;
    CHECK((*kept)[0] == 7);
}

TEST_CASE("a block_pool refuses what it can't give") {
    using items::message_of;
    CHECK(
        message_of([] { block_pool(0, 1); }) ==
        "weir: a block_pool of no blocks, or of blocks of no bytes, has nothing to give; give it one or more "
        "of each");
    CHECK(message_of([] { block_pool(static_cast<std::size_t>(-1), 1); }) ==
          "weir: the size of a block was negative; give it 1 byte or more");
    CHECK(message_of([] { weir::block_pool none(1, static_cast<std::size_t>(-1)); }) ==
          "weir: the number of blocks was negative; give the pool 1 or more");
    block_pool pool(8, 1, "small");
    CHECK(message_of([&] { static_cast<void>(pool.try_acquire<int>(3)); }) ==
          "weir: 3 elements of 4 bytes don't fit into a block of 'small', which has 8 bytes; make the blocks "
          "of "
          "the pool larger");
    CHECK_THROWS_AS(pool.acquire<int>(SIZE_MAX), std::invalid_argument);
}
