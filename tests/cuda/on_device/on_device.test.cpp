// On a GPU, with the real runtime. What can be seen without one is tested with the stand-in for it.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include <weir/cuda/context.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/to_device.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

using namespace on_gpu;
using weir::cuda::context;
using weir::cuda::copy;
using weir::cuda::stream;

namespace {

weir::task<> there_and_back(stream s, std::byte* back, std::byte* there, const std::byte* from,
                            std::size_t bytes) {
    co_await copy(s, there, from, bytes);
    co_await copy(s, back, there, bytes);
}

}  // namespace

TEST_CASE("what is copied to a GPU and back is the same, whatever memory it comes from") {
    context gpu(either_way());
    weir::thread_pool workers(2);
    const stream s(gpu);
    const std::size_t bytes =
        GENERATE(std::size_t{1}, std::size_t{4095}, std::size_t{(1 << 20) + 3}, std::size_t{64} << 20);
    const on_device there(bytes);

    std::vector<std::byte> back(bytes);
    const std::vector<std::byte> from = pattern(bytes, 1);
    weir::sync_wait(workers, there_and_back(s, back.data(), there.get(), from.data(), bytes));
    CHECK(is_pattern(back.data(), bytes, 1));

    const page_locked locked(bytes);
    const page_locked locked_back(bytes);
    write_pattern(locked.get(), bytes, 2);
    std::memset(locked_back.get(), 0, bytes);
    weir::sync_wait(workers, there_and_back(s, locked_back.get(), there.get(), locked.get(), bytes));
    CHECK(is_pattern(locked_back.get(), bytes, 2));
}

TEST_CASE("a copy of nothing ends") {
    context gpu(either_way());
    weir::thread_pool workers(1);
    const stream s(gpu);
    std::byte one{};
    const on_device there(1);
    weir::sync_wait(workers, copy(s, there.get(), &one, 0));
    CHECK(gpu.status() == cudaSuccess);
}

TEST_CASE("many small pieces arrive where each belongs, and nothing beside them") {
    context gpu(either_way());
    weir::thread_pool workers(1);
    const stream s(gpu);
    constexpr std::size_t count = 64;
    constexpr std::size_t size = 4096;
    const page_locked from(count * size);
    write_pattern(from.get(), count * size, 5);
    const on_device there(2 * count * size);
    must(cudaMemsetAsync(there.get(), 0xEE, 2 * count * size, s.get()), "cudaMemsetAsync");
    std::vector<weir::cuda::piece> pieces;
    for (std::size_t i = 0; i < count; ++i) {
        // In reverse, and with gaps.
        pieces.push_back({there.get() + 2 * (count - 1 - i) * size, from.get() + i * size, size});
    }
    pieces.push_back({there.get(), from.get(), 0});
    weir::sync_wait(workers, copy(s, pieces));

    std::vector<std::byte> back(2 * count * size);
    weir::sync_wait(workers, copy(s, back.data(), there.get(), back.size()));
    bool all_there = true;
    bool gaps_as_before = true;
    for (std::size_t i = 0; i < count; ++i) {
        const std::byte* const piece = back.data() + 2 * (count - 1 - i) * size;
        all_there = all_there && std::equal(piece, piece + size, from.get() + i * size);
        gaps_as_before = gaps_as_before && std::all_of(piece + size, piece + 2 * size,
                                                       [](std::byte b) { return b == std::byte{0xEE}; });
    }
    CHECK(all_there);
    CHECK(gaps_as_before);
}

TEST_CASE("each of many coroutines on many streams is resumed once for each copy that it awaits") {
    context gpu(either_way());
    weir::thread_pool workers(4);
    constexpr std::size_t num_streams = 8;
    constexpr std::size_t each = 8;  // coroutines to a stream
    constexpr std::size_t times = 100;
    constexpr std::size_t bytes = 4096;
    constexpr std::size_t coroutines = num_streams * each;
    const page_locked from(coroutines * bytes);
    const page_locked back(coroutines * bytes);
    const on_device there(coroutines * bytes);
    std::vector<std::atomic<std::size_t>> resumed(coroutines);
    std::vector<std::atomic<std::size_t>> wrong(coroutines);

    const auto work = [&](stream s, std::size_t which) -> weir::task<> {
        std::byte* const mine = from.get() + which * bytes;
        std::byte* const my_back = back.get() + which * bytes;
        for (std::size_t i = 0; i < times; ++i) {
            write_pattern(mine, bytes, which + i);
            co_await copy(s, there.get() + which * bytes, mine, bytes);
            ++resumed[which];
            co_await copy(s, my_back, there.get() + which * bytes, bytes);
            ++resumed[which];
            if (!is_pattern(my_back, bytes, which + i)) ++wrong[which];
        }
    };
    std::vector<weir::task<>> all;
    for (std::size_t i = 0; i < num_streams; ++i) {
        const stream s(gpu);
        for (std::size_t k = 0; k < each; ++k) all.push_back(work(s, i * each + k));
    }
    weir::sync_wait(workers, weir::when_all(std::move(all)));
    for (std::size_t i = 0; i < coroutines; ++i) {
        CHECK(resumed[i] == 2 * times);
        CHECK(wrong[i] == 0);
    }
}

TEST_CASE("one stream waits for another on the device") {
    context gpu(either_way());
    weir::thread_pool workers(1);
    const stream first(gpu);
    const stream second(gpu);
    weir::cuda::event filled(gpu);
    constexpr std::size_t bytes = 1 << 20;
    const page_locked from(bytes);
    const page_locked back(bytes);
    const on_device there(bytes);
    const delay slow(5);
    write_pattern(from.get(), bytes, 9);
    std::memset(back.get(), 0, bytes);

    slow.on(first);
    must(cudaMemcpyAsync(there.get(), from.get(), bytes, cudaMemcpyHostToDevice, first.get()),
         "cudaMemcpyAsync");
    first.record(filled);
    second.wait(filled);
    weir::sync_wait(workers, copy(second, back.get(), there.get(), bytes));
    CHECK(filled.ready());
    CHECK(is_pattern(back.get(), bytes, 9));
}

TEST_CASE("a block of page-locked memory is not given away before the device has read it") {
    context gpu(either_way());
    weir::thread_pool workers(2);
    const stream s(gpu);
    constexpr std::size_t bytes = 1 << 20;
    constexpr std::size_t batches = 200;
    const on_device there(batches * bytes);
    const delay slow(5);
    weir::cuda::pinned_pool pool(gpu, bytes, 2);

    slow.on(s);
    const auto fill = [&]() -> weir::task<> {
        for (std::size_t i = 0; i < batches; ++i) {
            weir::cuda::lease block = co_await pool.acquire(bytes);
            write_pattern(block.bytes().data(), bytes, i);
            block.copy_to(s, there.get() + i * bytes);
        }
        co_await s.done();
    };
    weir::sync_wait(workers, fill());
    std::vector<std::byte> back(bytes);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < batches; ++i) {
        weir::sync_wait(workers, copy(s, back.data(), there.get() + i * bytes, bytes));
        if (!is_pattern(back.data(), bytes, i)) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE(
    "batches arrive in order and intact on a consumer's stream that is late, though they are dropped at "
    "once") {
    context gpu(either_way());
    weir::thread_pool workers(4);
    const stream training(gpu);
    const delay slow(2);
    constexpr std::size_t bytes = std::size_t{2} << 20;
    constexpr std::size_t batches = 100;
    const page_locked back(batches * bytes);
    std::memset(back.get(), 0, batches * bytes);
    weir::cuda::pinned_pool pool(gpu, bytes, 4);
    std::size_t made = 0;
    auto pipeline = weir::source([&made]() -> std::optional<std::vector<std::byte>> {
                        if (made == batches) return std::nullopt;
                        return pattern(bytes, made++);
                    }) |
                    weir::cuda::to_device(gpu, pool, {.depth = 3}) | weir::sink(2);
    auto run = pipeline.start(workers);
    std::size_t taken = 0;
    for (auto& batch : run) {
        batch.hand_over(training);
        slow.on(training);  // memory that was freed too early would be overwritten by then
        must(cudaMemcpyAsync(back.get() + taken * bytes, batch.data(), bytes, cudaMemcpyDeviceToHost,
                             training.get()),
             "cudaMemcpyAsync");
        ++taken;
    }
    weir::sync_wait(workers, training.done());
    CHECK(taken == batches);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < batches; ++i) {
        if (!is_pattern(back.get() + i * bytes, bytes, i)) ++wrong;
    }
    CHECK(wrong == 0);

    const auto stats = run.stats();
    const auto copies = std::find_if(stats.stages.begin(), stats.stages.end(),
                                     [](const weir::stage_stats& s) { return s.transfers.has_value(); });
    REQUIRE(copies != stats.stages.end());
    CHECK(copies->transfers->num_copies == batches);
    CHECK(copies->transfers->num_handed_over == batches);
    CHECK(copies->transfers->bytes == batches * bytes);
    CHECK(copies->transfers->rate() > 0);
}

TEST_CASE("a consumer without a stream gets batches that were copied") {
    context gpu(either_way());
    weir::thread_pool workers(4);
    constexpr std::size_t bytes = std::size_t{4} << 20;
    constexpr std::size_t batches = 50;
    weir::cuda::pinned_pool pool(gpu, bytes, 3);
    std::size_t made = 0;
    auto pipeline = weir::source([&made]() -> std::optional<std::vector<std::byte>> {
                        if (made == batches) return std::nullopt;
                        return pattern(bytes, made++);
                    }) |
                    weir::cuda::to_device(gpu, pool, {.when = weir::cuda::hand_on::when_copied}) |
                    weir::sink(2);
    auto run = pipeline.start(workers);
    std::vector<std::byte> back(bytes);
    const stream plain(gpu);  // waits for nothing
    std::size_t taken = 0;
    std::size_t wrong = 0;
    for (auto& batch : run) {
        must(cudaMemcpyAsync(back.data(), batch.data(), bytes, cudaMemcpyDeviceToHost, plain.get()),
             "cudaMemcpyAsync");
        must(cudaStreamSynchronize(plain.get()), "cudaStreamSynchronize");
        if (!is_pattern(back.data(), bytes, taken++)) ++wrong;
    }
    CHECK(taken == batches);
    CHECK(wrong == 0);
}

TEST_CASE("a consumer that leaves early leaves nothing behind that breaks the device") {
    context gpu(either_way());
    weir::thread_pool workers(4);
    constexpr std::size_t bytes = 1 << 20;
    weir::cuda::pinned_pool pool(gpu, bytes, 4);
    const stream training(gpu);
    for (std::size_t leaves_after = 0; leaves_after < 10; ++leaves_after) {
        std::uint64_t made = 0;
        auto pipeline = weir::source([&made]() -> std::optional<std::vector<std::byte>> {
                            return pattern(bytes, made++);
                        }) |
                        weir::cuda::to_device(gpu, pool) | weir::sink(2);
        auto run = pipeline.start(workers);
        std::size_t taken = 0;
        for (auto& batch : run) {
            if (taken++ == leaves_after) break;
            batch.hand_over(training);
        }
    }
    weir::sync_wait(workers, training.done());
    CHECK(gpu.status() == cudaSuccess);
    std::vector<weir::cuda::lease> all;
    while (all.size() < pool.blocks()) all.push_back(weir::sync_wait(workers, pool.acquire(bytes)));
    CHECK(pool.stats().size == 0);
}

TEST_CASE("a context that is destroyed while work is under way waits for it") {
    const delay slow(10);
    auto gpu = std::make_unique<context>(either_way());
    const stream s(*gpu);
    weir::cuda::event last(*gpu);
    weir::cuda::pinned_pool pool(*gpu, 4096, 1);
    std::optional<weir::cuda::lease> block = pool.try_acquire(4096);
    REQUIRE(block);
    slow.on(s);
    s.record(last);
    block->return_after(s);
    gpu.reset();
    CHECK(last.ready());
    CHECK(pool.stats().size == 1);
}
