// Without a device there is nothing to test: the program says so, and ends with 77.
// SPDX-License-Identifier: BSL-1.0
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include <cuda_runtime_api.h>

#include <cstdio>

int main(int argc, char** argv) {
    int devices = 0;
    const cudaError_t code = cudaGetDeviceCount(&devices);
    if (code == cudaSuccess && devices > 0) return Catch::Session().run(argc, argv);
    std::printf("skipped: there is no CUDA device here (cudaGetDeviceCount: %s, %d devices)\n",
                cudaGetErrorString(code), devices);
    return 77;
}
