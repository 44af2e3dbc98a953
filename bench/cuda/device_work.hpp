// Work on the device that takes a given time: a kernel, if nvcc was found to compile it.
#ifndef BENCH_CUDA_DEVICE_WORK_HPP
#define BENCH_CUDA_DEVICE_WORK_HPP

#include "measure.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <string>

#if defined(BENCH_CUDA_KERNELS)
#include "kernels.hpp"
#endif

namespace bench_cuda {

#if defined(BENCH_CUDA_KERNELS)

class device_work {
  public:
    static std::string what() { return "The work on the device is a kernel of one thread that spins"; }
    void queue(cudaStream_t s, double seconds) const {
        must(launch_spin(s, static_cast<unsigned long long>(seconds * 1e9)), "the kernel that spins");
    }
};

#else

class device_work {
  public:
    device_work() {
        cudaStream_t s = nullptr;
        must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
        fill(s, fills_);  // the first launches take longer
        must(cudaStreamSynchronize(s), "cudaStreamSynchronize");
        const double start = bench::seconds_now();
        fill(s, fills_);
        must(cudaStreamSynchronize(s), "cudaStreamSynchronize");
        a_fill_ = (bench::seconds_now() - start) / static_cast<double>(fills_);
        must(cudaStreamDestroy(s), "cudaStreamDestroy");
    }
    static std::string what() {
        return "The work on the device is a row of cudaMemsetAsync, as this program was built without nvcc: "
               "it "
               "takes bandwidth of the device's memory from the copies, and its length is a whole number of "
               "fills";
    }
    void queue(cudaStream_t s, double seconds) const {
        fill(s, std::max<std::size_t>(1, static_cast<std::size_t>(seconds / a_fill_ + 0.5)));
    }

  private:
    void fill(cudaStream_t s, std::size_t times) const {
        for (std::size_t i = 0; i < times; ++i) {
            must(cudaMemsetAsync(memory_.get(), static_cast<int>(i & 0x7F), bytes, s), "cudaMemsetAsync");
        }
    }

    static constexpr std::size_t bytes = std::size_t{32} << 20;
    static constexpr std::size_t fills_ = 100;
    device_memory memory_{bytes};
    double a_fill_ = 0;
};

#endif

}  // namespace bench_cuda

#endif
