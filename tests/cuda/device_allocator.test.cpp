#include <weir/cuda/device_allocator.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/device_pool.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/task/sync_wait.hpp>

#include <optional>
#include <vector>

using namespace cuda_tests;
using Catch::Matchers::ContainsSubstring;
using weir::cuda::context;
using weir::cuda::device_blocks;
using weir::cuda::device_buffer;
using weir::cuda::device_pool;
using weir::cuda::stream;

TEST_CASE("blocks at fixed addresses are used again, behind the work that used them, without the host") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream copies(gpu);
    const stream consumer(gpu);
    const on_device memory(512);
    device_blocks places(gpu, memory.get(), 256, 2);
    device_pool inputs(gpu, places);
    std::vector<int> order;
    std::optional<device_buffer<int>> first = weir::sync_wait(inputs.acquire<int>(64, copies));
    const device_buffer<int> second = weir::sync_wait(inputs.acquire<int>(1, copies));
    CHECK(static_cast<void*>(first->data()) == memory.get());
    CHECK(static_cast<void*>(second.data()) == memory.at(256));
    first->hand_over(consumer);
    stand_in::hold(consumer.get());
    REQUIRE(stand_in::launch(consumer.get(), [&order] { order.push_back(1); }) == cudaSuccess);
    first.reset();
    // Though its consumer's stream is held, the host has got the block again; the device waits.
    const device_buffer<int> third = weir::sync_wait(inputs.acquire<int>(64, copies));
    CHECK(static_cast<void*>(third.data()) == memory.get());
    REQUIRE(stand_in::launch(copies.get(), [&order] { order.push_back(2); }) == cudaSuccess);
    stand_in::release(consumer.get());
    stand_in::wait_until_idle();
    CHECK(order == std::vector{1, 2});
}

TEST_CASE("who finds no block waits for one, and is told what doesn't fit") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const on_device memory(256);
    device_blocks places(gpu, memory.get(), 256, 1);
    device_pool inputs(gpu, places);
    std::optional<device_buffer<char>> first = weir::sync_wait(inputs.acquire<char>(256, s));
    outcome end;
    std::thread other([&] {
        weir::sync_wait(
            note([&]() -> weir::task<> { static_cast<void>(co_await inputs.acquire<char>(1, s)); }, end));
    });
    wait_for([&] { return inputs.shared()->turn.stats().size == 0; });
    CHECK(end.resumed == 0);
    first.reset();
    other.join();
    CHECK(end.code == cudaSuccess);
    CHECK_THROWS_WITH(weir::sync_wait(inputs.acquire<char>(257, s)),
                      ContainsSubstring("257 bytes don't fit into a block of 256"));
    CHECK_THROWS_WITH(device_blocks(gpu, memory.get(), 256, 0),
                      ContainsSubstring("device_blocks of 0 blocks of 256 bytes have nothing to give"));
}

TEST_CASE("a block whose last use can't be noted is free when that is done") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const on_device memory(256);
    device_blocks places(gpu, memory.get(), 256, 1);
    device_pool inputs(gpu, places);
    bool done = false;
    {
        const device_buffer<char> first = weir::sync_wait(inputs.acquire<char>(256, s));
        REQUIRE(stand_in::launch(s.get(), [&done] { done = true; }) == cudaSuccess);
        stand_in::fail_call_of("cudaEventRecord", 1, cudaErrorInvalidValue);
    }
    CHECK(done);
    CHECK(weir::sync_wait(inputs.acquire<char>(256, s)).size() == 256);
}
