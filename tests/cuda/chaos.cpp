// chaos [--runs N] [--seed S]: pipelines with copies to a device, and some of them back, on which, by turns, a call
// fails, the driver says nothing or says it late, the device breaks or has little memory, or the consumer leaves. Each run has to end, with each batch whole
// or failed, everything given back, and nothing done that the runtime doesn't allow. A seed that fails is printed,
// and by `--runs 1 --seed S` it is run again.
// SPDX-License-Identifier: BSL-1.0
#include "cuda/stand_in/control.hpp"

#include <weir/cuda/device_pool.hpp>
#include <weir/cuda/to_device.hpp>
#include <weir/cuda/to_host.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sync_wait.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using weir::cuda::context;
using weir::cuda::device_buffer;

// What happens in a run, by its seed.
struct plan {
    explicit plan(std::uint64_t seed) : random(seed) {}

    std::mt19937_64 random;
    std::size_t up_to(std::size_t n) { return random() % (n + 1); }
    bool one_in(std::size_t n) { return random() % n == 0; }

    const int batches = static_cast<int>(up_to(12));
    const std::size_t size = 1 + up_to(300);
    const std::size_t depth = 1 + up_to(3);
    const std::size_t blocks = 1 + up_to(3);
    const bool host_functions = one_in(2);
    const bool when_copied = one_in(2);
    const bool takes_over = one_in(2);
    const bool drops = one_in(4);
    const bool holds = !drops && one_in(4);
    const std::size_t fails_at = one_in(2) ? 1 + up_to(150) : 0;
    const bool sticky = one_in(3);
    const std::size_t poisons_after = one_in(4) ? 1 + up_to(static_cast<std::size_t>(batches)) : 0;
    const std::size_t leaves_after = one_in(4) ? up_to(static_cast<std::size_t>(batches)) : 1000;
    const unsigned threads = 1 + static_cast<unsigned>(up_to(1));
    const std::size_t epochs = 1 + up_to(1);  // each on threads of its own, which the blocks outlive
    const bool addresses_come_back = one_in(2);
    const bool remembers_not_ready = one_in(2);
    const bool comes_back = one_in(4);
    // In batches; 0: as much as anybody wants. The loop has one while it waits for the next.
    const std::size_t memory = one_in(3) ? 2 + up_to(2) : 0;
    const bool timed = !one_in(4);
};

// What the consumer saw.
struct findings {
    std::size_t taken = 0;
    std::atomic<std::size_t> failed{0};
    std::atomic<std::size_t> wrong{0};
    bool threw = false;
};

auto loader(const plan& p, context& gpu, weir::cuda::pinned_pool& pool, weir::cuda::device_pool& memory) {
    std::vector<int> numbers(static_cast<std::size_t>(p.batches));
    std::iota(numbers.begin(), numbers.end(), 0);
    return weir::source(numbers) | weir::pipe([n = p.size](int i) { return std::vector<int>(n, i); }) |
           weir::cuda::to_device(gpu, pool,
                                 {.depth = p.depth,
                                  .when = p.when_copied ? weir::cuda::hand_on::when_copied
                                                        : weir::cuda::hand_on::at_once,
                                  .memory = &memory,
                                  .timed = p.timed});
}
weir::run_options tolerant(findings& found) {
    return {.max_failures = weir::unlimited,
            .on_failure = [&found](const weir::failure&) { ++found.failed; }};
}

void consume_results(const plan& p, context& gpu, weir::thread_pool& workers, weir::cuda::pinned_pool& pool,
                     weir::cuda::device_pool& memory, findings& found) {
    auto run =
        (loader(p, gpu, pool, memory) | weir::cuda::to_vectors(gpu, pool, {.depth = p.depth}) | weir::sink(2))
            .start(workers, tolerant(found));
    int last = -1;
    for (const std::vector<int>& b : run) {
        for (const int each : b) {
            if (each != b[0]) ++found.wrong;
        }
        if (b[0] <= last) ++found.wrong;
        last = b[0];
        ++found.taken;
        if (found.taken == p.poisons_after) stand_in::poison(cudaErrorIllegalAddress);
        if (found.taken == p.leaves_after) break;
    }
}

void consume(const plan& p, context& gpu, weir::thread_pool& workers, weir::cuda::pinned_pool& pool,
             weir::cuda::device_pool& memory, findings& found) {
    const weir::cuda::stream consumer(gpu);
    auto run = (loader(p, gpu, pool, memory) | weir::sink(2)).start(workers, tolerant(found));
    int last = -1;
    for (device_buffer<int>& b : run) {
        if (p.takes_over) b.hand_over(consumer);
        const int* const data = b.data();
        // Reads, on the device, whether the batch is whole; and on the host which one it is, when it is there.
        if (p.takes_over || p.when_copied) {
            static_cast<void>(stand_in::launch(consumer.get(), [&found, data, n = b.size()] {
                for (std::size_t i = 1; i < n; ++i) {
                    if (data[i] != data[0]) ++found.wrong;
                }
                if (data[0] < 0 || data[0] > 20) ++found.wrong;
            }));
        }
        if (p.when_copied && gpu.status() == cudaSuccess) {
            if (data[0] <= last) ++found.wrong;
            last = data[0];
        }
        // Without it, what the buffer is freed behind might not have been read yet.
        while (!p.takes_over && p.when_copied &&
               cudaStreamSynchronize(consumer.get()) == cudaErrorMemoryAllocation) {
        }
        ++found.taken;
        if (found.taken == p.poisons_after) stand_in::poison(cudaErrorIllegalAddress);
        if (found.taken == p.leaves_after) break;
    }
}

// Nothing, or what was wrong.
std::string run_once(std::uint64_t seed) {
    stand_in::reset();
    plan p(seed);
    findings found;
    std::string wrong;
    try {
        stand_in::reuse_addresses(p.addresses_come_back);
        stand_in::remember_not_ready(p.remembers_not_ready);
        context gpu({.how = p.host_functions ? weir::cuda::completion_by::host_function
                                             : weir::cuda::completion_by::polling,
                     .watchdog = std::chrono::microseconds(200)});
        weir::cuda::pinned_pool pool(gpu, 2048, p.blocks);
        if (p.drops) stand_in::drop_host_functions(true);
        if (p.holds) stand_in::hold_host_functions();
        if (p.fails_at != 0) {
            stand_in::fail_call(p.fails_at, p.sticky ? cudaErrorLaunchFailure : cudaErrorMemoryAllocation,
                                p.sticky);
        }
        try {
            weir::cuda::device_pool memory(gpu, p.memory * p.size * sizeof(int));
            for (std::size_t epoch = 0; epoch < p.epochs; ++epoch) {
                weir::thread_pool workers(p.threads);
                (p.comes_back ? consume_results : consume)(p, gpu, workers, pool, memory, found);
            }
        } catch (const weir::cuda::error&) {
            found.threw = true;  // by a call of the consumer's
        }
        while (pool.stats().size != p.blocks) std::this_thread::yield();
    } catch (const std::exception& e) {
        wrong += std::string("an exception that nobody expects: ") + e.what() + "\n";
    }
    static_cast<void>(stand_in::forget_faults());
    if (p.holds) stand_in::release_host_functions();
    stand_in::wait_until_idle();
    const std::size_t batches = p.epochs * static_cast<std::size_t>(p.batches);
    const bool whole = found.taken + found.failed == batches;
    if (!whole && p.leaves_after == 1000 && !found.threw) {
        wrong += "of " + std::to_string(batches) + " batches " + std::to_string(found.taken) + " came and " +
                 std::to_string(found.failed) + " failed\n";
    }
    if (found.wrong != 0) wrong += std::to_string(found.wrong) + " wrong bytes, or batches out of order\n";
    for (const std::string& each : stand_in::misuses()) wrong += each + "\n";
    for (const std::string& each : stand_in::leaks(stand_in::after_a_failed_free::left_out))
        wrong += each + "\n";
    return wrong;
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t runs = 2000;
    std::uint64_t seed = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        (std::string(argv[i]) == "--runs" ? runs : seed) = std::strtoull(argv[i + 1], nullptr, 10);
    }
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t failures = 0;
    for (std::uint64_t i = 0; i < runs; ++i) {
        // Where it hangs, the last line says with which seed.
        if (i % 1000 == 0) std::printf("from seed %llu\n", static_cast<unsigned long long>(seed + i));
        std::fflush(stdout);
        const std::string wrong = run_once(seed + i);
        if (wrong.empty()) continue;
        ++failures;
        std::printf("seed %llu FAILED:\n%s", static_cast<unsigned long long>(seed + i), wrong.c_str());
        if (failures == 10) break;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("%llu runs, %llu failures, %.1f s\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(failures), took.count());
    return failures == 0 ? 0 : 1;
}
