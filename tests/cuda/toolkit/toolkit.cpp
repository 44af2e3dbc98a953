// Every public header of weir/cuda, compiled and linked with a real toolkit, by each compiler that a user
// may have for it. No test framework: nvcc takes this as a file of CUDA, too.
//
//     toolkit without_a_device    what has to work anywhere
//     toolkit with_a_device       ends with 77, and says why, where there is none
// SPDX-License-Identifier: BSL-1.0
#include <weir/weir.hpp>  // all of it, as nvcc has its own mind

#include <weir/cuda/awaited_work.hpp>
#include <weir/cuda/completion.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/copier.hpp>
#include <weir/cuda/device_allocator.hpp>
#include <weir/cuda/device_memory.hpp>
#include <weir/cuda/device_pool.hpp>
#include <weir/cuda/lease.hpp>
#include <weir/cuda/parts.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/reactor.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/to_device.hpp>
#include <weir/cuda/to_host.hpp>
#include <weir/cuda/transfer_log.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

// CCCL's, which says that it needs nvcc, or the host compilers that it knows.
#if __has_include(<cuda/stream_ref>)
#include <cuda/stream_ref>
#define TOOLKIT_HAS_STREAM_REF
#endif

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using weir::cuda::context;

constexpr int skipped = 77;
constexpr std::size_t batches = 20;
constexpr std::size_t bytes = 1 << 20;

void require(bool ok, const std::string& claim) {
    if (!ok) throw std::runtime_error("it does not hold that " + claim);
}

std::byte expected(std::size_t batch, std::size_t i) {
    return static_cast<std::byte>((batch * 31 + i * 7 + i / 4096) & 0xFF);
}

std::vector<std::byte> pattern(std::size_t batch) {
    std::vector<std::byte> made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) made[i] = expected(batch, i);
    return made;
}

bool is_pattern(const std::byte* found, std::size_t batch) {
    for (std::size_t i = 0; i < bytes; ++i) {
        if (found[i] != expected(batch, i)) return false;
    }
    return true;
}

// Refused with a sentence that says what is wrong, by a machine with devices and by one without.
void a_device_that_is_not_there_is_refused() {
    try {
        const context gpu(weir::cuda::device(1000));
    } catch (const weir::cuda::error& e) {
        const std::string_view said = e.what();
        std::printf("refused as it should be: %s\n", e.what());
        const bool has_devices = weir::cuda::device::count() > 0;
        require(e.code().category() == weir::cuda::error_category(), "the error is of the category 'cuda'");
        require(!e.sticky(), "a device that is not there has broken nothing");
        require(said.find(has_devices ? "there is no GPU 1000" : "needs an NVIDIA GPU and a driver") !=
                    said.npos,
                "the error says what is missing");
        return;
    }
    throw std::runtime_error("a context on GPU 1000 was not refused");
}

weir::task<> copies_and_waits(context& gpu, weir::cuda::pinned_pool& pool, std::byte* there) {
    const weir::cuda::stream copies(gpu);
    const weir::cuda::stream other(gpu);
    weir::cuda::event copied(gpu);
    const std::vector<std::byte> from = pattern(3);
    std::vector<std::byte> back(bytes);

    weir::cuda::lease block = co_await pool.acquire(bytes);
    for (std::size_t i = 0; i < bytes; ++i) block.bytes()[i] = from[i];
    block.copy_to(copies, there);
    copies.record(copied);
    other.wait(copied);
    co_await copied.done();
    require(copied.ready(), "an event that was awaited is ready");
    co_await weir::cuda::copy(other, back.data(), there, bytes);
    require(is_pattern(back.data(), 3), "what was copied there and back is the same");

    back.assign(bytes, std::byte{0});
    const std::vector<weir::cuda::piece> pieces{{back.data(), there, bytes / 2},
                                                {back.data() + bytes / 2, there + bytes / 2,
                                                 bytes - bytes / 2}};
    co_await weir::cuda::copy(copies, pieces);
    co_await copies.done();
    require(is_pattern(back.data(), 3), "what was copied back in pieces is the same");
}

void pipeline_to(context& gpu, weir::cuda::pinned_pool& pool, weir::thread_pool& workers,
                 weir::cuda::hand_on when) {
    std::size_t made = 0;
    auto pipeline = weir::source([&made]() -> std::optional<std::vector<std::byte>> {
                        if (made == batches) return std::nullopt;
                        return pattern(made++);
                    }) |
                    weir::cuda::to_device(gpu, pool, {.when = when}) | weir::sink(2);
    auto run = pipeline.start(workers);
    const weir::cuda::stream training(gpu);
    std::size_t taken = 0;
    for (auto& batch : run) {
        batch.hand_over(training);
        require(batch.size() == bytes && batch.on_device() == !gpu.on_host(), "a batch lies where it should");
        std::vector<std::byte> back(bytes);
        weir::sync_wait(workers, weir::cuda::copy(training, back.data(), batch.data(), bytes));
        require(is_pattern(back.data(), taken), "a batch arrives as it was, in its turn");
        ++taken;
    }
    require(taken == batches, "every batch arrives");
}

void use_all_of(context& gpu) {
    weir::thread_pool workers(2);
    weir::cuda::pinned_pool pool(gpu, bytes, 3);
    std::vector<std::byte> on_host(gpu.on_host() ? bytes : 0);
    void* there = on_host.data();
    if (!gpu.on_host()) require(cudaMalloc(&there, bytes) == cudaSuccess, "there is memory on the device");
    weir::sync_wait(workers, copies_and_waits(gpu, pool, static_cast<std::byte*>(there)));
    if (!gpu.on_host()) require(cudaFree(there) == cudaSuccess, "memory of the device is given back");
    for (const auto when : {weir::cuda::hand_on::at_once, weir::cuda::hand_on::when_copied}) {
        pipeline_to(gpu, pool, workers, when);
    }
}

void the_host_does_the_work() {
    context gpu(weir::cuda::device(1000), {.or_host = true});
    require(gpu.on_host(), "without its device, a context that may works on the host");
    use_all_of(gpu);
}

void borrows_a_stream_ref(context& gpu) {
#if defined(TOOLKIT_HAS_STREAM_REF)
    const weir::cuda::stream own(gpu);
    const weir::cuda::stream same(gpu, ::cuda::stream_ref(own.get()));
    require(same.get() == own.get(), "a stream_ref's stream is borrowed");
    weir::sync_wait(same.done());
#else
    std::printf("this toolkit has no <cuda/stream_ref>: it was left out\n");
    static_cast<void>(gpu);
#endif
}

int with_a_device() {
    if (weir::cuda::device::count() == 0) {
        std::printf("skipped: there is no CUDA device here, or no driver that is new enough\n");
        return skipped;
    }
    for (const auto how : {weir::cuda::completion_by::polling, weir::cuda::completion_by::host_function}) {
        context gpu(weir::cuda::device(0), {.how = how});
        require(!gpu.on_host(), "a context on GPU 0 works on it");
        use_all_of(gpu);
        borrows_a_stream_ref(gpu);
        require(gpu.status() == cudaSuccess, "nothing has broken the device");
    }
    return 0;
}

int without_a_device() {
    a_device_that_is_not_there_is_refused();
    the_host_does_the_work();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view part = argc == 2 ? argv[1] : "";
    try {
        if (part == "without_a_device") return without_a_device();
        if (part == "with_a_device") return with_a_device();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "toolkit: %s\n", e.what());
        return 1;
    }
    std::fprintf(stderr, "usage: toolkit without_a_device|with_a_device\n");
    return 2;
}
