#include "kernels.hpp"

namespace bench_cuda {
namespace {

__device__ unsigned long long device_ns() {
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

__global__ void spin(unsigned long long ns) {
    const unsigned long long begin = device_ns();
    while (device_ns() - begin < ns) {
    }
}

__global__ void illegal_write(int* nowhere) { *static_cast<volatile int*>(nowhere) = 1; }

}  // namespace

cudaError_t load_kernels() {
    cudaFuncAttributes about{};
    const cudaError_t code = cudaFuncGetAttributes(&about, spin);
    return code == cudaSuccess ? cudaFuncGetAttributes(&about, illegal_write) : code;
}

cudaError_t launch_spin(cudaStream_t stream, unsigned long long ns) {
    spin<<<1, 1, 0, stream>>>(ns);
    return cudaGetLastError();
}

cudaError_t launch_illegal_write(cudaStream_t stream) {
    illegal_write<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(0x10));
    return cudaGetLastError();
}

}  // namespace bench_cuda
