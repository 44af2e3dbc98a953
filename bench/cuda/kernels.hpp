// The functions of kernels.cu, which only nvcc can compile.
#ifndef BENCH_CUDA_KERNELS_HPP
#define BENCH_CUDA_KERNELS_HPP

#include <cuda_runtime_api.h>

namespace bench_cuda {

// Loads the kernels: otherwise the first launch may wait for running kernels.
cudaError_t load_kernels();

// Keeps one thread of the device busy for this time, by the device's own clock, without memory access.
cudaError_t launch_spin(cudaStream_t stream, unsigned long long ns);

// Writes to an invalid address. After that the process can't use the device.
cudaError_t launch_illegal_write(cudaStream_t stream);

}  // namespace bench_cuda

#endif
