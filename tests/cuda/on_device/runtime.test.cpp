// What weir and the stand-in take for granted of the runtime: here it is asked itself.
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

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

using namespace on_gpu;
using weir::cuda::context;
using weir::cuda::copy;
using weir::cuda::piece;
using weir::cuda::stream;

TEST_CASE("to ask for what isn't done yet leaves no error behind") {
    context gpu;
    const stream s(gpu);
    const delay slow(10);
    cudaEvent_t before = nullptr;
    cudaEvent_t after = nullptr;
    must(cudaEventCreateWithFlags(&before, cudaEventDefault), "cudaEventCreateWithFlags");
    must(cudaEventCreateWithFlags(&after, cudaEventDefault), "cudaEventCreateWithFlags");
    CHECK(cudaEventQuery(after) == cudaSuccess);  // it was never recorded
    must(cudaEventRecord(before, s.get()), "cudaEventRecord");
    slow.on(s);
    must(cudaEventRecord(after, s.get()), "cudaEventRecord");
    float ms = 0;
    CHECK(cudaEventQuery(after) == cudaErrorNotReady);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(cudaStreamQuery(s.get()) == cudaErrorNotReady);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(cudaEventElapsedTime(&ms, before, after) == cudaErrorNotReady);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    must(cudaEventSynchronize(after), "cudaEventSynchronize");
    CHECK(cudaEventElapsedTime(&ms, before, after) == cudaSuccess);
    CHECK(ms > 0);
    CHECK(cudaEventDestroy(before) == cudaSuccess);
    CHECK(cudaEventDestroy(after) == cudaSuccess);
}

TEST_CASE("nothing is copied from nowhere to nowhere") {
    context gpu(either_way());
    const stream s(gpu);
    weir::sync_wait(copy(s, nullptr, nullptr, 0));
    const std::vector<piece> pieces{{nullptr, nullptr, 0}};
    weir::sync_wait(copy(s, pieces));
    weir::sync_wait(copy(stream(gpu, cudaStream_t(nullptr)), pieces));
    CHECK(gpu.status() == cudaSuccess);
}

TEST_CASE("pieces of ordinary memory arrive, on any stream") {
    context gpu(either_way());
    const stream own(gpu);
    const cudaStream_t borrowed = GENERATE(cudaStream_t(nullptr), cudaStreamLegacy);
    const stream s = GENERATE(true, false) ? own : stream(gpu, borrowed);
    constexpr std::size_t count = 32;
    constexpr std::size_t size = 5000;
    const std::vector<std::byte> from = pattern(count * size, 3);
    std::vector<std::byte> back(count * size);
    const on_device there(count * size);
    std::vector<piece> up;
    std::vector<piece> down;
    for (std::size_t i = 0; i < count; ++i) {
        up.push_back({there.get() + i * size, from.data() + i * size, size});
        down.push_back({back.data() + i * size, there.get() + i * size, size});
    }
    weir::sync_wait(copy(s, up));
    weir::sync_wait(copy(s, down));
    CHECK(is_pattern(back.data(), back.size(), 3));
}

TEST_CASE("what the runtime refuses harms nothing else") {
    context gpu(either_way());
    const stream s(gpu);
    void* memory = nullptr;
    CHECK(gpu.shared()->allocate(memory, std::size_t{1} << 50, s.get()) == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaSuccess);
    const on_device there(8);
    const std::vector<std::byte> from = pattern(8, 1);
    std::vector<std::byte> back(8);
    weir::sync_wait(copy(s, there.get(), from.data(), 8));
    weir::sync_wait(copy(s, back.data(), there.get(), 8));
    CHECK(back == from);
    CHECK(gpu.status() == cudaSuccess);
}

TEST_CASE("batches use the memory of those before them again") {
    context gpu(either_way());
    weir::thread_pool workers(2);
    constexpr std::size_t bytes = std::size_t{16} << 20;
    constexpr std::size_t batches = 400;
    weir::cuda::pinned_pool pool(gpu, bytes, 3);
    const stream training(gpu);
    const std::vector<std::byte> batch(bytes);
    std::size_t made = 0;
    auto pipeline = weir::source([&]() -> std::optional<std::span<const std::byte>> {
                        if (made == batches) return std::nullopt;
                        ++made;
                        return std::span<const std::byte>(batch);
                    }) |
                    weir::cuda::to_device(gpu, pool) | weir::sink(2);
    std::size_t free_before = 0;
    std::size_t free_after = 0;
    std::size_t all = 0;
    must(cudaMemGetInfo(&free_before, &all), "cudaMemGetInfo");
    auto run = pipeline.start(workers);
    std::size_t taken = 0;
    for (auto& each : run) {
        each.hand_over(training);
        ++taken;
    }
    must(cudaMemGetInfo(&free_after, &all), "cudaMemGetInfo");
    CHECK(taken == batches);
    INFO((free_before - free_after) / bytes << " batches lay there at once, of " << batches);
    CHECK(free_before < free_after + batches / 4 * bytes);
}

TEST_CASE("a context may stay until the program has ended") {
    static context gpu(weir::cuda::device(0));
    static const stream s(gpu);
    static weir::cuda::pinned_pool pool(gpu, 4096, 1);
    static std::optional<weir::cuda::lease> block = pool.try_acquire(4096);
    REQUIRE(block);
    weir::sync_wait(s.done());
    CHECK(gpu.status() == cudaSuccess);
}
