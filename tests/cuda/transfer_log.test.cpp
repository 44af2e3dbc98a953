#include <weir/cuda/transfer_log.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/device_pool.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/task/sync_wait.hpp>

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

using namespace cuda_tests;
using namespace std::chrono_literals;
using Catch::Approx;
using weir::cuda::context;
using weir::cuda::pinned_pool;
using weir::cuda::stream;
using weir::cuda::detail::device_account;
using weir::cuda::detail::device_memory;
using weir::cuda::detail::transfer_log;

namespace {

// A million bytes take 1 ms, on the device's clock.
constexpr std::size_t ms = 1'000'000;

// Batches that are all queued at once, so that the host's time plays no part; each is worked on for so long.
// `wrappers`: a new object for the consumer's stream each time.
weir::transfer_stats of_a_run(int batches, std::chrono::nanoseconds work, bool wrappers = false) {
    context gpu;
    pinned_pool pool(gpu, ms, static_cast<std::size_t>(batches));
    const stream copies(gpu);
    const stream consumer(gpu);
    std::vector<stream> kept;  // so that each has an address of its own
    const auto log = std::make_shared<transfer_log>();
    const auto memory = std::make_shared<device_account>(gpu.shared(), nullptr, 0, "");
    stand_in::hold_all();
    for (int i = 0; i < batches; ++i) {
        device_memory there = *device_memory::try_take(memory, copies, ms, log);
        weir::cuda::lease block = *pool.try_acquire(ms);
        std::memset(block.bytes().data(), i, ms);
        there.fill_from(block);
        kept.push_back(wrappers ? stream(gpu, consumer.get()) : consumer);
        there.hand_over(kept.back());
        REQUIRE(stand_in::launch(consumer.get(), [] {}, work) == cudaSuccess);
    }
    stand_in::release_all();
    weir::sync_wait([](stream a, stream b) -> weir::task<> {
        co_await a.done();
        co_await b.done();
    }(copies, consumer));
    return log->stats();
}

}  // namespace

TEST_CASE("a log knows how long the device copied, and at which rate") {
    const fresh_runtime runtime;
    const weir::transfer_stats s = of_a_run(5, 1ms);
    CHECK(s.num_copies == 5);
    CHECK(s.bytes == 5 * ms);
    CHECK(s.copying.count() == Approx(5e6).epsilon(1e-4));
    CHECK(s.rate() == Approx(1e9).epsilon(1e-4));
    CHECK(s.num_handed_over == 5);
    CHECK(s.handed_over == s.copying);
}

TEST_CASE("where the work takes longer than the copies, all but the first one are hidden") {
    const fresh_runtime runtime;
    const weir::transfer_stats s = of_a_run(10, 3ms);
    CHECK(s.exposed.count() == Approx(1e6).epsilon(1e-4));
    CHECK(s.hidden() == Approx(0.9).epsilon(1e-4));
}

TEST_CASE("where the copies take longer, what is left of each when the work is done is exposed") {
    const fresh_runtime runtime;
    const weir::transfer_stats s = of_a_run(10, 250us);
    // The first one, and of nine the three quarters during which the consumer waits.
    CHECK(s.exposed.count() == Approx(1e6 + 9 * 0.75e6).epsilon(1e-4));
    CHECK(s.hidden() == Approx(9 * 0.25 / 10).epsilon(1e-3));
}

TEST_CASE(
    "of a consumer that comes late for its own reasons, only what it would have waited for is exposed") {
    const fresh_runtime runtime;
    context gpu;
    pinned_pool pool(gpu, ms, 2);
    const stream copies(gpu);
    const stream consumer(gpu);
    const stream other(gpu);
    const auto log = std::make_shared<transfer_log>();
    const auto memory = std::make_shared<device_account>(gpu.shared(), nullptr, 0, "");
    const auto sent = [&] {
        device_memory there = *device_memory::try_take(memory, copies, ms, log);
        weir::cuda::lease block = *pool.try_acquire(ms);
        std::memset(block.bytes().data(), 1, ms);
        there.fill_from(block);
        return there;
    };
    stand_in::hold_all();
    std::optional<device_memory> first = sent();   // copied from 0 to 1 ms, worked on until 1.5
    std::optional<device_memory> second = sent();  // copied from 1 to 2 ms
    first->hand_over(consumer);
    REQUIRE(stand_in::launch(consumer.get(), [] {}, 500us) == cudaSuccess);
    first.reset();
    REQUIRE(stand_in::launch(other.get(), [] {}, 10ms) == cudaSuccess);
    stand_in::release_all();
    REQUIRE(cudaStreamSynchronize(other.get()) == cudaSuccess);
    second->hand_over(consumer);  // at 10 ms
    second.reset();
    weir::sync_wait([](stream s) -> weir::task<> { co_await s.done(); }(consumer));
    const weir::transfer_stats s = log->stats();
    CHECK(s.num_handed_over == 2);
    CHECK(s.exposed.count() == Approx(1.5e6).epsilon(1e-3));
}

TEST_CASE("where there is no work at all, nothing is hidden") {
    const fresh_runtime runtime;
    CHECK(of_a_run(4, 0ms).hidden() == Approx(0).margin(1e-4));
}

TEST_CASE("a copy that no consumer's stream took over is counted, and says nothing about what was hidden") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, ms, 1);
    const stream copies(gpu);
    const auto log = std::make_shared<transfer_log>();
    const auto memory = std::make_shared<device_account>(gpu.shared(), nullptr, 0, "");
    {
        device_memory there = *device_memory::try_take(memory, copies, ms, log);
        weir::cuda::lease block = *pool.try_acquire(ms);
        std::memset(block.bytes().data(), 1, ms);
        there.fill_from(block);
        weir::sync_wait([](stream a) -> weir::task<> { co_await a.done(); }(copies));
        CHECK(log->stats().num_copies == 0);  // somebody still has it
    }
    const weir::transfer_stats s = log->stats();
    CHECK(s.num_copies == 1);
    CHECK(s.num_handed_over == 0);
    CHECK(s.hidden() == 0);
}

TEST_CASE("waits for a block and for memory are counted, with their time") {
    transfer_log log;
    log.waited_for_block(3ms);
    log.waited_for_block(2ms);
    log.waited_for_memory(7ms);
    CHECK(log.stats().num_block_waits == 2);
    CHECK(log.stats().block_wait == 5ms);
    CHECK(log.stats().num_memory_waits == 1);
    CHECK(log.stats().memory_wait == 7ms);
    CHECK((log.stats() - log.stats()).memory_wait == 0ms);
}

TEST_CASE("what was hidden doesn't depend on how many objects stand for the consumer's stream") {
    const fresh_runtime runtime;
    CHECK(of_a_run(10, 3ms, true).hidden() == Approx(0.9).epsilon(1e-4));
}

TEST_CASE("the calls for a batch don't grow with the number of those that are on their way") {
    const fresh_runtime runtime;
    // The driver tells of blocks: so who asks is the log alone.
    context gpu({.how = weir::cuda::completion_by::host_function, .watchdog = 100s});
    pinned_pool pool(gpu, 8, 2);
    const stream copies(gpu);
    const stream consumer(gpu);
    const auto log = std::make_shared<transfer_log>();
    const auto memory = std::make_shared<device_account>(gpu.shared(), nullptr, 0, "");
    stand_in::hold(consumer.get());
    for (int i = 0; i < 500; ++i) {
        device_memory there = *device_memory::try_take(memory, copies, 8, log);
        weir::cuda::lease block = *pool.try_acquire(8);
        std::memset(block.bytes().data(), 1, 8);
        there.fill_from(block);
        there.hand_over(consumer);
        wait_for([&] { return pool.stats().size == 2; });
    }
    CHECK(stand_in::calls("cudaEventQuery") < 3000);
    stand_in::release(consumer.get());
    stand_in::wait_until_idle();
    CHECK(log->stats().num_copies == 500);
}

TEST_CASE("a consumer that has a new stream for each batch leaves nothing behind") {
    const fresh_runtime runtime;
    context gpu;
    pinned_pool pool(gpu, 8, 1);
    const stream copies(gpu);
    const auto log = std::make_shared<transfer_log>();
    const auto memory = std::make_shared<device_account>(gpu.shared(), nullptr, 0, "");
    for (int i = 0; i < 200; ++i) {
        device_memory there = *device_memory::try_take(memory, copies, 8, log);
        wait_for([&] { return pool.stats().size != 0; });
        weir::cuda::lease block = *pool.try_acquire(8);
        std::memset(block.bytes().data(), 1, 8);
        there.fill_from(block);
        there.hand_over(stream(gpu));
        stand_in::wait_until_idle();
    }
    // Sixteen streams' last points, and what is on its way, are kept as events.
    CHECK(stand_in::calls("cudaEventCreateWithFlags") < 120);
    CHECK(log->stats().num_copies == 200);
}
