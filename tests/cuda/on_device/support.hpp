// What the tests on a GPU share.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_CUDA_ON_DEVICE_SUPPORT_HPP
#define WEIR_TESTS_CUDA_ON_DEVICE_SUPPORT_HPP

#include "support/catch.hpp"

#include <weir/cuda/context.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>

#include <cstddef>
#include <vector>

namespace on_gpu {

inline void must(cudaError_t code, const char* call) {
    if (code != cudaSuccess) throw weir::cuda::error(code, call);
}

// Each test that asks for it runs once for each way in which a context hears of the end of work.
inline weir::cuda::context_options either_way() {
    return {.how = GENERATE(weir::cuda::completion_by::polling, weir::cuda::completion_by::host_function)};
}

// Memory of the device, or page-locked memory of the host, for one test.
class on_device {
  public:
    explicit on_device(std::size_t bytes) { must(cudaMalloc(&memory_, bytes), "cudaMalloc"); }
    on_device(const on_device&) = delete;
    on_device& operator=(const on_device&) = delete;
    ~on_device() { static_cast<void>(cudaFree(memory_)); }
    std::byte* get() const { return static_cast<std::byte*>(memory_); }

  private:
    void* memory_ = nullptr;
};

class page_locked {
  public:
    explicit page_locked(std::size_t bytes) {
        must(cudaHostAlloc(&memory_, bytes, cudaHostAllocPortable), "cudaHostAlloc");
    }
    page_locked(const page_locked&) = delete;
    page_locked& operator=(const page_locked&) = delete;
    ~page_locked() { static_cast<void>(cudaFreeHost(memory_)); }
    std::byte* get() const { return static_cast<std::byte*>(memory_); }

  private:
    void* memory_ = nullptr;
};

// Differs from batch to batch at every place.
inline void write_pattern(std::byte* to, std::size_t bytes, std::size_t batch) {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>((i * 7 + i / 251 + batch) & 0xFF);
}

inline bool is_pattern(const std::byte* found, std::size_t bytes, std::size_t batch) {
    for (std::size_t i = 0; i < bytes; ++i) {
        if (found[i] != static_cast<std::byte>((i * 7 + i / 251 + batch) & 0xFF)) return false;
    }
    return true;
}

inline std::vector<std::byte> pattern(std::size_t bytes, std::size_t batch) {
    std::vector<std::byte> made(bytes);
    write_pattern(made.data(), bytes, batch);
    return made;
}

// Keeps a stream busy for at least so long, whatever the device: how many fills of memory that takes is measured.
class delay {
  public:
    explicit delay(float ms) : fills_(fills_for(ms)) {}
    void on(const weir::cuda::stream& s) const { fill(fills_, s.get()); }

  private:
    static constexpr std::size_t bytes = std::size_t{256} << 20;

    void fill(std::size_t times, cudaStream_t s) const {
        for (std::size_t i = 0; i < times; ++i) {
            must(cudaMemsetAsync(memory_.get(), static_cast<int>(i & 0x7F), bytes, s), "cudaMemsetAsync");
        }
    }
    std::size_t fills_for(float ms) const {
        constexpr std::size_t measured = 32;
        cudaEvent_t begin = nullptr;
        cudaEvent_t end = nullptr;
        must(cudaEventCreateWithFlags(&begin, cudaEventDefault), "cudaEventCreateWithFlags");
        must(cudaEventCreateWithFlags(&end, cudaEventDefault), "cudaEventCreateWithFlags");
        fill(1, nullptr);
        must(cudaEventRecord(begin, nullptr), "cudaEventRecord");
        fill(measured, nullptr);
        must(cudaEventRecord(end, nullptr), "cudaEventRecord");
        must(cudaEventSynchronize(end), "cudaEventSynchronize");
        float took = 0;
        must(cudaEventElapsedTime(&took, begin, end), "cudaEventElapsedTime");
        must(cudaEventDestroy(begin), "cudaEventDestroy");
        must(cudaEventDestroy(end), "cudaEventDestroy");
        // Twice as many: it may be faster the next time.
        return 1 + static_cast<std::size_t>(2 * ms * static_cast<float>(measured) / took);
    }

    on_device memory_{bytes};
    std::size_t fills_;
};

}  // namespace on_gpu

#endif
