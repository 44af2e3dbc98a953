#include <weir/cuda/lease.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/pinned_pool.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task_group.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

using namespace cuda_tests;
using Catch::Matchers::ContainsSubstring;
using weir::cuda::context;
using weir::cuda::lease;
using weir::cuda::pinned_pool;
using weir::cuda::stream;
using weir::cuda::detail::offsets_of;

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

TEST_CASE("a lease that was moved is given back once") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 8, 2);
    {
        lease a = *pool.try_acquire(8);
        lease b = std::move(a);
        lease c = *pool.try_acquire(8);
        c = std::move(b);
        CHECK(c.bytes().size() == 8);
    }
    CHECK(pool.stats().size == 2);
    CHECK(pool.stats().num_get == 2);
}

TEST_CASE("a block that was given to the device comes back when the device is done with it, and not before") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::thread_pool home(1);
    pinned_pool pool(gpu, 8, 1);
    const stream s(gpu);
    const on_device there(8);
    {
        stand_in::hold(s.get());
        lease block = *pool.try_acquire(8);
        std::memcpy(block.bytes().data(), "weir is", 8);
        block.copy_to(s, there.get());
        CHECK(block.bytes().empty());
    }
    stand_in::wait_until_idle();
    CHECK_FALSE(pool.try_acquire(8));
    outcome end;
    weir::task_group group(home);
    group.spawn(take_one(pool, end));
    stand_in::release(s.get());
    weir::sync_wait(group.join());
    CHECK(end.code == 8);
    CHECK(std::memcmp(there.get(), "weir is", 8) == 0);
}

TEST_CASE("a block comes back also where the driver never says so, or the device breaks") {
    const fresh_runtime runtime;
    context gpu({.how = weir::cuda::completion_by::host_function, .watchdog = std::chrono::milliseconds(1)});
    pinned_pool pool(gpu, 8, 1);
    const stream s(gpu);
    const bool breaks = GENERATE(false, true);
    stand_in::drop_host_functions(true);
    stand_in::hold(s.get());
    pool.try_acquire(8)->return_after(s);
    if (breaks) stand_in::poison(cudaErrorIllegalAddress);
    stand_in::release(s.get());
    outcome end;
    weir::sync_wait(take_one(pool, end));
    CHECK(end.resumed == 1);
    if (breaks) {
        CHECK((end.code == 8 || end.code == -cudaErrorIllegalAddress));
        CHECK(gpu.status() == (end.code == 8 ? gpu.status() : cudaErrorIllegalAddress));
    } else {
        CHECK(end.code == 8);
    }
    wait_for([&] { return pool.stats().size == 1; });
}

TEST_CASE("a lease may outlive its pool and its context") {
    const fresh_runtime runtime;
    std::optional<lease> left;
    {
        context gpu(either_way());
        pinned_pool pool(gpu, 8, 1);
        left = pool.try_acquire(8);
    }
    std::memset(left->bytes().data(), 1, 8);
}

TEST_CASE("a block that the device still has keeps the pool's memory until it comes back") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const on_device there(8);
    stand_in::hold(s.get());
    {
        pinned_pool pool(gpu, 8, 1);
        lease block = *pool.try_acquire(8);
        std::memcpy(block.bytes().data(), "weir is", 8);
        block.copy_to(s, there.get());
    }
    stand_in::release(s.get());
    stand_in::wait_until_idle();
    CHECK(std::memcmp(there.get(), "weir is", 8) == 0);
    wait_for([] { return stand_in::calls("cudaFreeHost") == 1; });
}

TEST_CASE("whatever call fails while a block is on its way, it comes back, once") {
    const auto options = either_way();
    bool reached = true;
    for (std::size_t n = 1; reached && n < 1000; ++n) {
        const fresh_runtime runtime;
        context gpu(options);
        const stream s(gpu);
        pinned_pool pool(gpu, 8, 1);
        const on_device there(8);
        stand_in::fail_call(n, cudaErrorMemoryAllocation);
        try {
            pool.try_acquire(8)->copy_to(s, there.get());
        } catch (const weir::cuda::error& e) {
            CHECK(e.status() == cudaErrorMemoryAllocation);
        }
        wait_for([&] { return pool.stats().size == 1; });
        reached = stand_in::forget_faults() == 0;
        CHECK(pool.stats().num_put == 2);
    }
    CHECK_FALSE(reached);
}

TEST_CASE("a block whose way back can't be told of comes back when all is done that may use it") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    pinned_pool pool(gpu, 8, 1);
    const on_device there(8);
    stand_in::hold(s.get());
    stand_in::fail_call_of("cudaEventCreateWithFlags", 1, cudaErrorMemoryAllocation);
    std::atomic<bool> too_early{false};
    std::thread device([&] {
        const auto is_back = [&] { return pool.stats().size != 0; };
        wait_for([] { return stand_in::calls("cudaMemcpyAsync") != 0; });
        wait_for([&] { return is_back() || stand_in::calls("cudaStreamSynchronize") != 0; });
        too_early = is_back();
        stand_in::release(s.get());
    });
    CHECK_THROWS_AS(pool.try_acquire(8)->copy_to(s, there.get()), weir::cuda::error);
    device.join();
    CHECK_FALSE(too_early);
    CHECK(pool.stats().size == 1);
}

TEST_CASE("a stream that was destroyed too early gives an error, and is not waited for") {
    stand_in::reset();
    {
        context gpu(either_way());
        pinned_pool pool(gpu, 64, 1);
        cudaStream_t borrowed = nullptr;
        REQUIRE(cudaStreamCreateWithPriority(&borrowed, cudaStreamNonBlocking, 0) == cudaSuccess);
        const stream s(gpu, borrowed);
        REQUIRE(cudaStreamDestroy(borrowed) == cudaSuccess);
        weir::cuda::lease block = *pool.try_acquire(8);
        CHECK_THROWS_AS(block.return_after(s), weir::cuda::error);
        CHECK(block.bytes().size() == 8);
    }
    CHECK_FALSE(stand_in::misuses().empty());
    stand_in::reset();
}

TEST_CASE("a stream of another GPU copies from a pool's blocks, which come back by its own context") {
    const fresh_runtime runtime;
    stand_in::set_device_count(2);
    const auto options = either_way();
    context first(weir::cuda::device(0), options);
    context second(weir::cuda::device(1), options);
    pinned_pool pool(first, 8, 1);
    const stream s(second);
    const on_device there(8, 1);
    stand_in::hold(s.get());
    lease block = *pool.try_acquire(8);
    std::memcpy(block.bytes().data(), "weir is", 8);
    block.copy_to(s, there.get());
    CHECK_FALSE(pool.try_acquire(8));
    stand_in::release(s.get());
    wait_for([&] { return pool.stats().size == 1; });
    CHECK(std::memcmp(there.get(), "weir is", 8) == 0);
}

TEST_CASE("a GPU is to copy from ordinary memory: that is refused, with what to do") {
    const fresh_runtime runtime;
    stand_in::no_device(cudaErrorNoDevice);
    context none({.or_host = true});
    pinned_pool pool(none, 8, 1);
    CHECK_FALSE(pool.page_locked());
    stand_in::no_device(cudaSuccess);
    context gpu;
    const stream s(gpu);
    const on_device there(8);
    lease block = *pool.try_acquire(8);
    CHECK_THROWS_WITH(block.copy_to(s, there.get()),
                      ContainsSubstring("this block's pinned_pool was made from a context without a device"));
    CHECK(block.bytes().size() == 8);
    CHECK(stand_in::calls("cudaMemcpyAsync") == 0);
}

TEST_CASE("a lease whose block was given away or moved away is refused, and its pool keeps all blocks") {
    const fresh_runtime runtime;
    const bool on_host = GENERATE(false, true);
    if (on_host) stand_in::no_device(cudaErrorNoDevice);
    context gpu({.or_host = true});
    stand_in::no_device(cudaSuccess);
    pinned_pool pool(gpu, 8, 2);
    const stream s(gpu);
    const on_device there(8);
    const lease other = *pool.try_acquire(8);
    lease given = *pool.try_acquire(8);
    lease taken = std::move(given);
    CHECK_THROWS_WITH(given.return_after(s), ContainsSubstring("this lease has no block"));
    CHECK_THROWS_AS(given.copy_to(s, there.get()), std::invalid_argument);
    taken.return_after(s);
    CHECK_THROWS_AS(taken.return_after(s), std::invalid_argument);
    CHECK_THROWS_AS(taken.copy_to(s, there.get()), std::invalid_argument);
    wait_for([&] { return pool.stats().size == 1; });
    CHECK(pool.try_acquire(8)->bytes().data() != nullptr);
}

TEST_CASE("a page-locked block may be copied where there is no device") {
    const fresh_runtime runtime;
    context gpu;
    pinned_pool pool(gpu, 8, 1);
    stand_in::no_device(cudaErrorNoDevice);
    context none({.or_host = true});
    stand_in::no_device(cudaSuccess);
    char there[8] = {};
    lease block = *pool.try_acquire(8);
    std::memcpy(block.bytes().data(), "weir is", 8);
    block.copy_to(stream(none), there);
    CHECK(std::memcmp(there, "weir is", 8) == 0);
    CHECK(pool.stats().size == 1);
}

TEST_CASE("each part begins at a multiple of 256 bytes, and nothing comes behind the last one") {
    using sizes = std::array<std::size_t, 3>;
    CHECK(offsets_of<char, float, double>(sizes{1, 65, 2}) == std::array<std::size_t, 4>{0, 256, 768, 784});
    CHECK(offsets_of<char, float, double>(sizes{0, 64, 0}) == std::array<std::size_t, 4>{0, 0, 256, 256});
}
