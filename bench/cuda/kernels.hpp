// The functions of kernels.cu, which only nvcc can compile.
#ifndef BENCH_CUDA_KERNELS_HPP
#define BENCH_CUDA_KERNELS_HPP

#include <cuda_runtime_api.h>

namespace bench_cuda {

// Else the first launch of a kernel may wait for those that run.
cudaError_t load_kernels();

// One thread of the device is busy for so long, by the device's own clock: it takes nothing from the memory.
cudaError_t launch_spin(cudaStream_t stream, unsigned long long ns);

// Writes to where there is nothing: the process can't use the device any more.
cudaError_t launch_illegal_write(cudaStream_t stream);

}  // namespace bench_cuda

#endif
