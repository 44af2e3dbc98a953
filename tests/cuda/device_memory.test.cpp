#include <weir/cuda/device_memory.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/pinned_pool.hpp>
#include <weir/task/sync_wait.hpp>

#include <cstring>
#include <memory>
#include <vector>

using namespace cuda_tests;
using Catch::Matchers::ContainsSubstring;
using weir::cuda::context;
using weir::cuda::lease;
using weir::cuda::pinned_pool;
using weir::cuda::stream;
using weir::cuda::detail::device_account;
using weir::cuda::detail::device_memory;
using weir::cuda::detail::transfer_log;

namespace {

std::shared_ptr<device_account> account_of(context& gpu) {
    return std::make_shared<device_account>(gpu.shared(), nullptr, 0, "memory");
}

}  // namespace

TEST_CASE("who takes memory over that no copy filled comes behind what its first stream has queued") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream first(gpu);
    const stream second(gpu);
    std::vector<char> seen;
    stand_in::hold(first.get());
    {
        device_memory there = *device_memory::try_take(account_of(gpu), first, 8, nullptr);
        auto* const p = static_cast<char*>(there.data());
        REQUIRE(stand_in::launch(first.get(), [p] { std::memcpy(p, "weir is", 8); }) == cudaSuccess);
        there.hand_over(second);
        REQUIRE(stand_in::launch(second.get(), [&seen, p] { seen.assign(p, p + 7); }) == cudaSuccess);
    }
    stand_in::release(first.get());
    stand_in::wait_until_idle();
    CHECK(seen == std::vector{'w', 'e', 'i', 'r', ' ', 'i', 's'});
}

TEST_CASE("without a log, a copy is queued without events that have times, and waited for all the same") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 8, 1);
    const stream copies(gpu);
    device_memory there = *device_memory::try_take(account_of(gpu), copies, 8, nullptr);
    lease block = *pool.try_acquire(8);
    std::memcpy(block.bytes().data(), "weir is", 8);
    there.fill_from(block);
    weir::sync_wait([](const device_memory& m) -> weir::task<> { co_await m.filled(); }(there));
    CHECK(std::memcmp(there.data(), "weir is", 8) == 0);
    there.hand_over(stream(gpu));
    CHECK(stand_in::calls("cudaEventElapsedTime") == 0);
}

TEST_CASE("the way back comes behind the work that fills the memory") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 8, 1);
    const stream work(gpu);
    const stream copies(gpu);
    const auto log = std::make_shared<transfer_log>();
    stand_in::hold(work.get());
    device_memory there = *device_memory::try_take(account_of(gpu), work, 8, nullptr);
    auto* const p = static_cast<char*>(there.data());
    REQUIRE(stand_in::launch(work.get(), [p] { std::memcpy(p, "weir is", 8); }) == cudaSuccess);
    lease block = *pool.try_acquire(8);
    there.hand_over(copies);
    there.queue_copy_to(block.bytes().data(), log.get());
    stand_in::release(work.get());
    weir::sync_wait([](const device_memory& m) -> weir::task<> { co_await m.filled(); }(there));
    CHECK(std::memcmp(block.bytes().data(), "weir is", 8) == 0);
    CHECK(log->stats().bytes == 8);
}

TEST_CASE("memory of one GPU isn't handed over to another one's stream") {
    const fresh_runtime runtime;
    stand_in::set_device_count(2);
    context gpu(weir::cuda::device(0), either_way());
    context other(weir::cuda::device(1));
    device_memory there = *device_memory::try_take(account_of(gpu), stream(gpu), 8, nullptr);
    CHECK_THROWS_WITH(there.hand_over(stream(other)),
                      ContainsSubstring("what lies on GPU 0 can't be handed over to a stream of GPU 1"));
}
