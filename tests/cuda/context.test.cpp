#include <weir/cuda/context.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/stream.hpp>
#include <weir/sync_wait.hpp>

#include <optional>

using namespace cuda_tests;
using Catch::Matchers::ContainsSubstring;
using weir::cuda::context;
using weir::cuda::device;

TEST_CASE("without a driver a context isn't made, and says what is needed") {
    stand_in::reset();
    const cudaError_t why = GENERATE(cudaErrorNoDevice, cudaErrorInsufficientDriver);
    stand_in::no_device(why);
    CHECK_THROWS_WITH(context(), ContainsSubstring(cudaGetErrorName(why)) &&
                                     ContainsSubstring("needs an NVIDIA GPU") &&
                                     ContainsSubstring("or_host"));
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    stand_in::reset();
}

TEST_CASE("a context on a device that isn't there says how many there are") {
    const fresh_runtime runtime;
    stand_in::set_device_count(2);
    CHECK_THROWS_WITH(context(device(2)), ContainsSubstring("there is no GPU 2: this process sees 2"));
    CHECK_THROWS_WITH(context(device(-1)), ContainsSubstring("there is no GPU -1"));
    const context last(device(1));
    CHECK(last.device_index() == 1);
    CHECK_FALSE(last.on_host());
}

TEST_CASE("where there is a device, a context that would do without uses it") {
    const fresh_runtime runtime;
    const context gpu({.or_host = true});
    CHECK_FALSE(gpu.on_host());
    CHECK(gpu.status() == cudaSuccess);
}

TEST_CASE("what is made from a context belongs to its device, whichever is the thread's current one") {
    const fresh_runtime runtime;
    stand_in::set_device_count(2);
    context second(device(1), either_way());
    const weir::cuda::stream s(second);
    int of = -1;
    REQUIRE(cudaStreamGetDevice(s.get(), &of) == cudaSuccess);
    CHECK(of == 1);
    int current = -1;
    REQUIRE(cudaGetDevice(&current) == cudaSuccess);
    CHECK(current == 0);
    weir::sync_wait([](weir::cuda::stream on) -> weir::task<> { co_await on.done(); }(s));
}

TEST_CASE("whatever call fails while a context is made, the error names it, and nothing is left") {
    const fresh_runtime runtime;
    std::size_t calls = 0;
    {
        const std::size_t before = stand_in::calls();
        const context gpu(device(0));
        calls = stand_in::calls() - before;
    }
    for (std::size_t n = 1; n <= calls; ++n) {
        stand_in::fail_call(n, cudaErrorMemoryAllocation);
        try {
            const context gpu(device(0));
        } catch (const weir::cuda::error& e) {
            CHECK(e.status() == cudaErrorMemoryAllocation);
            CHECK_THAT(e.call(), Catch::Matchers::StartsWith("cuda"));
        }
        stand_in::wait_until_idle();
        CHECK(stand_in::leaks(stand_in::after_a_failed_free::left_out) == sentences{});
        stand_in::reset();
    }
    CHECK(calls > 3);
}

TEST_CASE("a device without memory pools is used all the same") {
    const fresh_runtime runtime;
    stand_in::support_memory_pools(false);
    context gpu(either_way());
    const weir::cuda::stream s(gpu);
    void* memory = nullptr;
    REQUIRE(gpu.shared()->allocate(memory, 100, s.get()) == cudaSuccess);
    REQUIRE(memory != nullptr);
    gpu.shared()->free(memory, s.get());
}

TEST_CASE("an error isn't left for the next one who asks the runtime for its last one") {
    const fresh_runtime runtime;
    context gpu(either_way());
    stand_in::fail_call_of("cudaStreamCreateWithPriority", 1, cudaErrorMemoryAllocation);
    CHECK_THROWS_AS(weir::cuda::stream(gpu), weir::cuda::error);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}
