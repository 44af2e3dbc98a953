#include <weir/cuda/pinned_pool.hpp>

#include "cuda/support.hpp"

#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task_group.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>

using namespace cuda_tests;
using Catch::Matchers::ContainsSubstring;
using weir::cuda::context;
using weir::cuda::lease;
using weir::cuda::pinned_buffer;
using weir::cuda::pinned_pool;
using weir::cuda::stream;

namespace {

weir::task<> take_one(pinned_pool& pool, outcome& to) {
    try {
        const lease got = co_await pool.acquire(8);
        to.code = static_cast<int>(got.bytes().size());
    } catch (const weir::cuda::error& e) {
        to.code = -e.status();
    }
    ++to.resumed;
}

}  // namespace

TEST_CASE("a pool lends each block once, of the size that was asked for, and takes it back") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 100, 2);
    CHECK(pool.block_bytes() == 100);
    CHECK(pool.blocks() == 2);
    std::optional<lease> a = pool.try_acquire(100);
    std::optional<lease> b = pool.try_acquire(7);
    REQUIRE(a);
    REQUIRE(b);
    CHECK(a->bytes().size() == 100);
    CHECK(b->bytes().size() == 7);
    CHECK(a->bytes().data() != b->bytes().data());
    CHECK_FALSE(pool.try_acquire(1));
    const std::byte* const where = a->bytes().data();
    a.reset();
    a = pool.try_acquire(1);
    REQUIRE(a);
    CHECK(a->bytes().data() == where);
}

TEST_CASE("who finds no block free waits for one, and the pool's statistics tell of it") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::thread_pool home(1);
    pinned_pool pool(gpu, 8, 1, "blocks of 8");
    std::optional<lease> taken = pool.try_acquire(8);
    outcome end;
    weir::task_group group(home);
    group.spawn(take_one(pool, end));
    weir::sync_wait([](weir::thread_pool& on) -> weir::task<> { co_await weir::schedule(on); }(home));
    CHECK(end.resumed == 0);
    taken.reset();
    weir::sync_wait(group.join());
    CHECK(end.code == 8);
    const weir::channel_stats s = pool.stats();
    CHECK(s.name == "blocks of 8");
    CHECK(s.num_get == 2);
    CHECK(s.size == 1);
    CHECK(s.get_wait > weir::duration(0));
}

TEST_CASE("who waits for a block when the device breaks gets the error") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::thread_pool home(1);
    pinned_pool pool(gpu, 8, 1);
    const stream s(gpu);
    stand_in::hold(s.get());
    REQUIRE(stand_in::launch(s.get(), [] {}) == cudaSuccess);
    pool.try_acquire(8)->return_after(s);
    std::vector<outcome> ends(3);
    weir::task_group group(home);
    for (outcome& end : ends) group.spawn(take_one(pool, end));
    stand_in::poison(cudaErrorIllegalAddress);
    weir::sync_wait(group.join());
    for (const outcome& end : ends) {
        CHECK(end.resumed == 1);
        CHECK(end.code == -cudaErrorIllegalAddress);
    }
    CHECK_THROWS_AS(pool.try_acquire(8), weir::cuda::error);
    stand_in::release(s.get());
}

TEST_CASE("a deadlock report names the pool whose block is waited for") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 8, 1, "staging");
    const std::optional<lease> held = pool.try_acquire(8);
    weir::virtual_time time;
    outcome none;
    CHECK_THROWS_WITH(weir::sync_wait(time, take_one(pool, none)),
                      ContainsSubstring("channel 'staging' is empty, 0 of 1: a coroutine waits to get"));
}

TEST_CASE("a wait for a block can be stopped") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::thread_pool home(1);
    pinned_pool pool(gpu, 8, 1);
    const std::optional<lease> taken = pool.try_acquire(8);
    weir::stop_source stop;
    bool none = false;
    weir::task_group group(home);
    group.spawn([](pinned_pool& from, weir::stop_token token, bool& to) -> weir::task<> {
        to = !(co_await from.acquire(8, token));
    }(pool, stop.get_token(), none));
    stop.request_stop();
    weir::sync_wait(group.join());
    CHECK(none);
}

TEST_CASE("more than a block is refused, and a pool of nothing, with what to do") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 8, 1, "small");
    CHECK_THROWS_WITH(pool.try_acquire(9),
                      ContainsSubstring("9 bytes don't fit into a block of 'small', which has 8"));
    CHECK_THROWS_WITH(pool.acquire(9), ContainsSubstring("make the blocks of the pinned_pool larger"));
    CHECK_THROWS_WITH(pinned_pool(gpu, 0, 1), ContainsSubstring("a pinned_pool of 1 blocks of 0 bytes"));
    CHECK_THROWS_WITH(pinned_pool(gpu, 1, 0), ContainsSubstring("a pinned_pool of 0 blocks of 1 bytes"));
    CHECK_THROWS_AS(pinned_pool(gpu, std::numeric_limits<std::size_t>::max() / 2, 4), std::bad_alloc);
}

TEST_CASE("memory that can't be locked is an error that names the call") {
    const fresh_runtime runtime;
    context gpu(either_way());
    stand_in::fail_call_of("cudaHostAlloc", 1, cudaErrorMemoryAllocation);
    CHECK_THROWS_WITH(pinned_pool(gpu, 8, 1),
                      ContainsSubstring("cudaHostAlloc gave cudaErrorMemoryAllocation"));
}

TEST_CASE("without a device the blocks are ordinary memory, and copies are done at once") {
    stand_in::reset();
    stand_in::no_device(cudaErrorNoDevice);
    {
        context gpu({.or_host = true});
        pinned_pool pool(gpu, 8, 1);
        const stream s(gpu);
        char there[8] = {};
        lease block = *pool.try_acquire(8);
        std::memcpy(block.bytes().data(), "weir is", 8);
        block.copy_to(s, there);
        CHECK(std::memcmp(there, "weir is", 8) == 0);
        CHECK(pool.try_acquire(8));
    }
    stand_in::reset();
}

TEST_CASE("a pool never needs an executor again whose coroutines waited for its blocks") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 8, 1);
    const stream s(gpu);
    mortal_executor home;
    std::optional<lease> taken = pool.try_acquire(8);
    outcome end;
    {
        weir::task_group group(home);
        group.spawn(take_one(pool, end));
        taken.reset();
        weir::sync_wait(group.join());
        CHECK(end.code == 8);
    }
    home.die();
    pool.try_acquire(8)->return_after(s);
    wait_for([&] { return pool.stats().size == 1; });
    CHECK(pool.try_acquire(8));
    CHECK(home.calls_after_its_death() == 0);
}

static_assert(std::ranges::contiguous_range<pinned_buffer<float>>);
static_assert(std::ranges::sized_range<const pinned_buffer<float>>);

TEST_CASE("elements lie in a block of a pool, which comes back when they go, or are given away") {
    const fresh_runtime runtime;
    weir::cuda::context gpu;
    weir::cuda::pinned_pool pool(gpu, 64, 1);
    {
        pinned_buffer<int> first = weir::sync_wait(pool.acquire<int>(16));
        CHECK(first.size() == 16);
        CHECK_FALSE(first.empty());
        std::iota(first.begin(), first.end(), 1);
        CHECK(first[15] == 16);
        CHECK(pool.stats().size == 0);
        const weir::cuda::lease block = std::move(first).release();
        CHECK(block.bytes().size() == 64);
    }
    CHECK(pool.stats().size == 1);
    CHECK_THROWS_WITH(pool.acquire<double>(9), ContainsSubstring("72 bytes don't fit into a block"));
    CHECK_THROWS_WITH(pool.acquire<double>(SIZE_MAX / 4), ContainsSubstring("don't fit into a block"));
    CHECK(weir::sync_wait(pool.acquire<int>(0)).empty());
}

TEST_CASE("parts lie in a block one behind the other, until it is given away") {
    const fresh_runtime runtime;
    weir::cuda::context gpu(either_way());
    weir::cuda::pinned_pool pool(gpu, 1024, 1);
    weir::cuda::pinned_buffers<char, float> both(*pool.try_acquire(256 + 8),
                                                 std::array<std::size_t, 2>{3, 2});
    const auto [names, values] = both.parts();
    CHECK(names.size() == 3);
    CHECK(values.size() == 2);
    CHECK(static_cast<void*>(values.data()) == names.data() + 256);
    {
        const weir::cuda::lease block = std::move(both).release();
        CHECK(static_cast<void*>(block.bytes().data()) == names.data());
        CHECK(std::get<1>(both.parts()).empty());
        CHECK(pool.stats().size == 0);
    }
    CHECK(pool.stats().size == 1);
}

TEST_CASE(
    "an array to which another one was assigned has that one's block and size, and the other has its own") {
    const fresh_runtime runtime;
    context gpu;
    pinned_pool small(gpu, 300, 2);
    pinned_pool large(gpu, 4000, 2);
    pinned_buffer<int> few = *small.try_acquire<int>(2);
    pinned_buffer<int> many = *large.try_acquire<int>(1000);
    few = std::move(many);
    CHECK(few.size() == 1000);
    CHECK(many.size() == 2);  // not 1000, which would be more than the block has
    using both = weir::cuda::pinned_buffers<char, int>;
    both a(*small.try_acquire(256 + 4), std::array<std::size_t, 2>{3, 1});
    both b(*large.try_acquire(256 + 400), std::array<std::size_t, 2>{3, 100});
    a = std::move(b);
    CHECK(std::get<1>(a.parts()).size() == 100);
    CHECK(std::get<1>(b.parts()).size() == 1);
}

TEST_CASE("a pool lends arrays without a wait, or until a stop, and an array can be cut with its block") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 100, 1);
    std::optional<pinned_buffer<int>> a = pool.try_acquire<int>(20);
    REQUIRE(a);
    CHECK(a->size() == 20);
    CHECK_FALSE(pool.try_acquire<int>(1));
    weir::stop_source stop;
    stop.request_stop();
    weir::thread_pool threads(1);
    CHECK_FALSE(weir::sync_wait(threads, pool.acquire<int>(1, stop.get_token())));
    a->resize(5);
    a->resize(50);
    CHECK(a->size() == 5);
    const lease block = std::move(*a).release();
    CHECK(block.bytes().size() == 5 * sizeof(int));
}
