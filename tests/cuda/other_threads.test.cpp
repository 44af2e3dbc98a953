#include <weir/cuda/other_threads.hpp>

#include "cuda/support.hpp"

#include <atomic>
#include <memory>
#include <thread>

using namespace cuda_tests;
using weir::cuda::detail::blocking_threads;
using weir::cuda::detail::mailbox;
using weir::cuda::detail::run_on_context_thread;

TEST_CASE(
    "a call that needs a current device is made by the thread of the context, which has chosen the device") {
    const fresh_runtime runtime;
    stand_in::set_device_count(2);
    const weir::cuda::context gpu(weir::cuda::device(1));
    std::thread::id here;
    int current = -1;
    const auto call = [&]() noexcept {
        here = std::this_thread::get_id();
        return cudaGetDevice(&current);
    };
    CHECK(gpu.shared()->call_on_context_thread(call) == cudaSuccess);
    const std::thread::id first = here;
    CHECK(gpu.shared()->call_on_context_thread(call) == cudaSuccess);
    CHECK(here == first);
    CHECK(here != std::this_thread::get_id());
    CHECK(current == 1);
    CHECK(gpu.shared()->call_on_context_thread([]() noexcept { return cudaErrorInvalidValue; }) ==
          cudaErrorInvalidValue);
}

TEST_CASE("after the end of the thread of a context, such a call is made by a new thread") {
    const fresh_runtime runtime;
    stand_in::set_device_count(2);
    const auto box = std::make_shared<mailbox>();
    REQUIRE(box->try_close());
    int current = -1;
    CHECK(run_on_context_thread(box, 1, [&]() noexcept { return cudaGetDevice(&current); }) == cudaSuccess);
    CHECK(current == 1);
    CHECK(run_on_context_thread(box, 7, []() noexcept { return cudaSuccess; }) == cudaErrorInvalidDevice);
}

TEST_CASE("each blocking call has a thread, so that one may wait for the next; and all are waited for") {
    blocking_threads threads;
    std::atomic<int> begun{0};
    std::atomic<int> over{0};
    for (int i = 0; i < 8; ++i) {
        CHECK(threads.start([&] {
            ++begun;
            wait_for([&] { return begun == 8; });
            ++over;
        }));
    }
    threads.end();
    CHECK(over == 8);
    CHECK_FALSE(threads.start([] {}));
    threads.end();
}
