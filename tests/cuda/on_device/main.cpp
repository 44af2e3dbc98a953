// Without a device there is nothing to test: the program says so, and ends with 77.
// SPDX-License-Identifier: BSL-1.0
#if !defined(WEIR_TESTS_CATCH2) && __has_include(<catch2/catch_session.hpp>)
#define WEIR_TESTS_CATCH2 3
#endif

#if defined(WEIR_TESTS_CATCH2) && WEIR_TESTS_CATCH2 >= 3
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include <cuda_runtime_api.h>

#include <cstdio>

namespace {

int attribute(cudaDeviceAttr which) {
    int value = -1;
    static_cast<void>(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

// What a failure may depend on.
void say_where() {
    cudaDeviceProp device{};
    int driver = 0;
    int runtime = 0;
    static_cast<void>(cudaGetDeviceProperties(&device, 0));
    static_cast<void>(cudaDriverGetVersion(&driver));
    static_cast<void>(cudaRuntimeGetVersion(&runtime));
    std::printf("%s, driver %d, runtime %d; memory pools %d, copy engines %d, reads pageable memory %d\n",
                device.name, driver, runtime, attribute(cudaDevAttrMemoryPoolsSupported),
                attribute(cudaDevAttrAsyncEngineCount), attribute(cudaDevAttrPageableMemoryAccess));
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    int devices = 0;
    const cudaError_t code = cudaGetDeviceCount(&devices);
    if (code == cudaSuccess && devices > 0) {
        if (argc == 1) say_where();
        return Catch::Session().run(argc, argv);
    }
    std::printf("skipped: there is no CUDA device here (cudaGetDeviceCount: %s, %d devices)\n",
                cudaGetErrorString(code), devices);
    return 77;
}
