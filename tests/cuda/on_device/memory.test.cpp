// Memory of the device that is limited, freed, or captured into a graph; and what goes there in parts.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include <weir/cuda/context.hpp>
#include <weir/cuda/device_pool.hpp>
#include <weir/cuda/parts.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/to_device.hpp>
#include <weir/cuda/to_host.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace on_gpu;
using weir::cuda::context;
using weir::cuda::copy;
using weir::cuda::device_buffer;
using weir::cuda::device_pool;
using weir::cuda::stream;

namespace {

// Ends the capture of a stream: how many nodes its graph has; none: it was spoilt.
std::optional<std::size_t> nodes_captured(const stream& s) {
    cudaGraph_t graph = nullptr;
    std::size_t nodes = 0;
    if (cudaStreamEndCapture(s.get(), &graph) != cudaSuccess) return std::nullopt;
    must(cudaGraphGetNodes(graph, nullptr, &nodes), "cudaGraphGetNodes");
    must(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return nodes;
}

}  // namespace

TEST_CASE("with a limit of memory, batches wait for those that a slow consumer has, and all arrive intact") {
    context gpu(either_way());
    weir::thread_pool workers(2);
    const stream training(gpu);
    const delay slow(2);
    constexpr std::size_t bytes = std::size_t{4} << 20;
    constexpr std::size_t batches = 50;
    const page_locked back(batches * bytes);
    weir::cuda::pinned_pool pool(gpu, bytes, 3);
    device_pool memory(gpu, 3 * bytes);
    std::size_t made = 0;
    std::size_t most = 0;
    std::size_t taken = 0;
    {
        auto pipeline = weir::source([&made]() -> std::optional<std::vector<std::byte>> {
                            if (made == batches) return std::nullopt;
                            return pattern(bytes, made++);
                        }) |
                        weir::cuda::to_device(gpu, pool, {.memory = &memory}) | weir::sink(1);
        auto run = pipeline.start(workers);
        for (auto& each : run) {
            const device_buffer<std::byte> batch = [&] {
                each.hand_over(training);
                return std::move(each);
            }();
            slow.on(training);
            must(cudaMemcpyAsync(back.get() + taken * bytes, batch.data(), bytes, cudaMemcpyDeviceToHost,
                                 training.get()),
                 "cudaMemcpyAsync");
            most = std::max(most, memory.bytes_in_use());
            ++taken;
        }
    }
    weir::sync_wait(workers, training.done());
    CHECK(taken == batches);
    CHECK(most <= 3 * bytes);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < batches; ++i) {
        if (!is_pattern(back.get() + i * bytes, bytes, i)) ++wrong;
    }
    CHECK(wrong == 0);
    while (memory.bytes_in_use() != 0) std::this_thread::yield();
}

TEST_CASE("memory that goes while its stream is captured spoils nothing, and comes back afterwards") {
    context gpu(either_way());
    weir::thread_pool workers(1);
    const stream s(gpu);
    device_pool memory(gpu);
    const cudaStreamCaptureMode mode = GENERATE(cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed);
    std::optional<device_buffer<char>> there = weir::sync_wait(workers, memory.acquire<char>(1 << 20, s));
    must(cudaMemsetAsync(there->data(), 1, there->size(), s.get()), "cudaMemsetAsync");
    must(cudaStreamBeginCapture(s.get(), mode), "cudaStreamBeginCapture");
    there.reset();
    CHECK(memory.bytes_in_use() == 1 << 20);
    CHECK(nodes_captured(s) == std::size_t{0});
    while (memory.bytes_in_use() != 0) std::this_thread::yield();
    weir::sync_wait(workers, s.done());
    CHECK(gpu.status() == cudaSuccess);
}

TEST_CASE("a stream that is captured is refused, and its graph stays empty") {
    context gpu(either_way());
    weir::thread_pool workers(1);
    const stream s(gpu);
    const on_device there(8);
    const page_locked here(8);
    weir::cuda::event e(gpu);
    must(cudaStreamBeginCapture(s.get(), cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    CHECK_THROWS_AS(weir::sync_wait(workers, s.done()), weir::cuda::error);
    CHECK_THROWS_AS(weir::sync_wait(workers, copy(s, there.get(), here.get(), 8)), weir::cuda::error);
    CHECK_THROWS_AS(s.record(e), weir::cuda::error);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(nodes_captured(s) == std::size_t{0});
    weir::sync_wait(workers, s.done());
}

TEST_CASE("what goes to a GPU in several parts comes back in several parts") {
    struct sample {
        std::vector<float> pixels;
        std::vector<std::int64_t> labels;
    };
    using sent = weir::cuda::device_batch<sample, float, std::int64_t>;
    context gpu(either_way());
    weir::thread_pool workers(2);
    weir::cuda::pinned_pool pool(gpu, 1 << 20, 3);
    weir::cuda::pinned_pool results(gpu, 1 << 20, 4);
    int made = 0;
    auto pipeline =
        weir::source([&made]() -> std::optional<sample> {
            if (made == 20) return std::nullopt;
            const int i = made++;
            return sample{std::vector<float>(100'003, static_cast<float>(i)),
                          std::vector<std::int64_t>(17, i)};
        }) |
        weir::cuda::to_device(gpu, pool, {}, weir::cuda::parts(&sample::pixels, &sample::labels)) |
        weir::cuda::to_host(gpu, results, {}, &sent::data) | weir::sink(1);
    auto run = pipeline.start(workers);
    int taken = 0;
    for (auto& each : run) {
        const auto [pixels, labels] = each.data.parts();
        CHECK(std::equal(pixels.begin(), pixels.end(), each.rest.host.pixels.begin(),
                         each.rest.host.pixels.end()));
        CHECK(std::equal(labels.begin(), labels.end(), each.rest.host.labels.begin(),
                         each.rest.host.labels.end()));
        ++taken;
    }
    CHECK(taken == 20);
}

TEST_CASE("a copy of ordinary memory on a busy stream leaves the only worker to others") {
    context gpu(either_way());
    weir::thread_pool workers(1);
    const stream s(gpu);
    const delay slow(50);
    constexpr std::size_t bytes = std::size_t{8} << 20;
    const on_device there(bytes);
    std::vector<std::byte> back(bytes);
    std::atomic<bool> copied{false};
    std::atomic<bool> was_first{false};
    const auto copies = [&]() -> weir::task<> {
        co_await copy(s, back.data(), there.get(), bytes);
        copied = true;
    };
    const auto other = [&]() -> weir::task<> {
        was_first = !copied;
        co_return;
    };
    const std::vector<std::byte> from = pattern(bytes, 4);
    must(cudaMemcpy(there.get(), from.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    slow.on(s);
    weir::sync_wait(workers, weir::when_all(copies(), other()));
    CHECK(was_first);
    CHECK(back == from);
}

TEST_CASE("a block of one context's pool is copied by another context, and comes back") {
    context first(either_way());
    context second(first.shared()->uses_host_functions()
                       ? weir::cuda::context_options{.how = weir::cuda::completion_by::host_function}
                       : weir::cuda::context_options{});
    weir::thread_pool workers(1);
    constexpr std::size_t bytes = 1 << 20;
    weir::cuda::pinned_pool pool(first, bytes, 1);
    const stream s(second);
    const delay slow(2);
    const on_device there(2 * bytes);
    slow.on(s);
    const auto fill = [&]() -> weir::task<> {
        for (std::size_t i = 0; i < 2; ++i) {
            weir::cuda::lease block = co_await pool.acquire(bytes);
            write_pattern(block.bytes().data(), bytes, i);
            block.copy_to(s, there.get() + i * bytes);
        }
        co_await s.done();
    };
    weir::sync_wait(workers, fill());
    std::vector<std::byte> back(bytes);
    for (std::size_t i = 0; i < 2; ++i) {
        weir::sync_wait(workers, copy(s, back.data(), there.get() + i * bytes, bytes));
        CHECK(is_pattern(back.data(), bytes, i));
    }
}

TEST_CASE("an event of a busy stream isn't ready, and asking leaves no error behind") {
    context gpu(either_way());
    weir::thread_pool workers(1);
    const stream s(gpu);
    const delay slow(10);
    weir::cuda::event last(gpu);
    slow.on(s);
    s.record(last);
    CHECK_FALSE(last.ready());
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    weir::sync_wait(workers, last.done());
    CHECK(last.ready());
}
