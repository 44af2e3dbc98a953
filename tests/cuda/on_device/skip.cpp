// Without a device there is nothing to test: the program says so, and ends with 77. With one, it says what a
// failure may depend on.
// SPDX-License-Identifier: BSL-1.0
#if !defined(WEIR_TESTS_CATCH2) && __has_include(<catch2/catch_session.hpp>)
#define WEIR_TESTS_CATCH2 3
#endif

#if defined(WEIR_TESTS_CATCH2) && WEIR_TESTS_CATCH2 >= 3
#include <catch2/catch_test_run_info.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#else
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
namespace Catch {
using EventListenerBase = TestEventListenerBase;
}
#endif

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

namespace {

int attribute(cudaDeviceAttr which) {
    int value = -1;
    static_cast<void>(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

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
}

class looks_for_a_device : public Catch::EventListenerBase {
  public:
    using Catch::EventListenerBase::EventListenerBase;

    void testRunStarting(const Catch::TestRunInfo&) override {
        int devices = 0;
        const cudaError_t code = cudaGetDeviceCount(&devices);
        if (code == cudaSuccess && devices > 0) {
            say_where();
            std::fflush(stdout);
            return;
        }
        std::printf("skipped: there is no CUDA device here (cudaGetDeviceCount: %s, %d devices)\n",
                    cudaGetErrorString(code), devices);
        std::fflush(stdout);
        std::_Exit(77);
    }
};

CATCH_REGISTER_LISTENER(looks_for_a_device)

}  // namespace
