// Graphs are captured by one thread while others copy: neither is to disturb the other.
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

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>
#include <vector>

using namespace on_gpu;
using weir::cuda::context;
using weir::cuda::stream;

namespace {

// A thread that captures one graph after the other, in the mode in which the runtime is strict with all threads.
class capturing_thread {
  public:
    capturing_thread() {
        must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
        thread_ = std::thread([this] {
            while (!over_) capture();
        });
    }
    capturing_thread(const capturing_thread&) = delete;
    capturing_thread& operator=(const capturing_thread&) = delete;
    ~capturing_thread() { end(); }

    void end() {
        if (!thread_.joinable()) return;
        over_ = true;
        thread_.join();
        static_cast<void>(cudaStreamDestroy(stream_));
    }
    void wait_until_it_captures() const {
        while (captured + spoilt == 0) std::this_thread::yield();
    }

    std::atomic<std::size_t> captured{0};
    std::atomic<std::size_t> spoilt{0};
    std::atomic<int> code{cudaSuccess};  // of one that was spoilt

  private:
    void capture() {
        cudaGraph_t graph = nullptr;
        cudaError_t result = cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal);
        for (int i = 0; i < 20 && result == cudaSuccess; ++i) {
            result = cudaMemsetAsync(memory_.get(), i, 256, stream_);
            std::this_thread::yield();
        }
        const cudaError_t ended = cudaStreamEndCapture(stream_, &graph);
        if (result == cudaSuccess) result = ended;
        if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
        if (result == cudaSuccess) {
            ++captured;
        } else {
            ++spoilt;
            code = result;
            static_cast<void>(cudaGetLastError());
        }
    }

    cudaStream_t stream_ = nullptr;
    on_device memory_{256};
    std::atomic<bool> over_{false};
    std::thread thread_;
};

}  // namespace

TEST_CASE("batches come to the device while another thread captures graphs, and none is spoilt") {
    context gpu(either_way());
    const weir::cuda::hand_on when = GENERATE(weir::cuda::hand_on::at_once, weir::cuda::hand_on::when_copied);
    weir::thread_pool workers(4);
    constexpr std::size_t bytes = 1 << 20;
    constexpr std::size_t batches = 200;
    weir::cuda::pinned_pool pool(gpu, bytes, 4);
    const stream training(gpu);
    weir::cuda::event taken_over(gpu);
    std::size_t made = 0;
    auto pipeline = weir::source([&made]() -> std::optional<std::vector<std::byte>> {
                        if (made == batches) return std::nullopt;
                        return pattern(bytes, made++);
                    }) |
                    weir::cuda::to_device(gpu, pool, {.depth = 3, .when = when}) | weir::sink(2);
    std::size_t taken = 0;
    capturing_thread graphs;
    graphs.wait_until_it_captures();
    {
        auto run = pipeline.start(workers);
        for (auto& batch : run) {
            batch.hand_over(training);
            training.record(taken_over);
            while (!taken_over.ready()) std::this_thread::yield();
            ++taken;
        }
        const auto stats = run.stats();
        const auto copies = std::find_if(stats.stages.begin(), stats.stages.end(),
                                         [](const weir::stage_stats& s) { return s.transfers.has_value(); });
        REQUIRE(copies != stats.stages.end());
        CHECK(copies->transfers->num_copies == batches);
    }
    graphs.end();
    CHECK(taken == batches);
    INFO("of " << graphs.captured + graphs.spoilt << " graphs; the last one that was spoilt: "
               << cudaGetErrorName(static_cast<cudaError_t>(graphs.code.load())));
    CHECK(graphs.spoilt == 0);
    CHECK(gpu.status() == cudaSuccess);
}

TEST_CASE("what a context has is made and given back while another thread captures graphs") {
    const weir::cuda::context_options options = either_way();
    capturing_thread graphs;
    graphs.wait_until_it_captures();
    for (int i = 0; i < 5; ++i) {
        context gpu(options);
        weir::cuda::pinned_pool pool(gpu, 4096, 2);
        const stream s(gpu);
        const weir::cuda::event e(gpu);
        weir::sync_wait(s.done());
        weir::sync_wait(e.done());
    }
    graphs.end();
    INFO("of " << graphs.captured + graphs.spoilt << " graphs; the last one that was spoilt: "
               << cudaGetErrorName(static_cast<cudaError_t>(graphs.code.load())));
    CHECK(graphs.spoilt == 0);
}

TEST_CASE("who awaits a stream that is captured is told so, and nobody else") {
    context gpu(weir::cuda::context_options{});
    const stream s(gpu);
    const stream other(gpu);
    cudaGraph_t graph = nullptr;
    must(cudaStreamBeginCapture(s.get(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    CHECK_THROWS_AS(weir::sync_wait(s.done()), weir::cuda::error);
    static_cast<void>(cudaStreamEndCapture(s.get(), &graph));
    if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    static_cast<void>(cudaGetLastError());
    CHECK(gpu.status() == cudaSuccess);
    weir::sync_wait(other.done());
    weir::sync_wait(s.done());
}
