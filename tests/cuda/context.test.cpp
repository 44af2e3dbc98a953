#include <weir/cuda/context.hpp>

#include "cuda/support.hpp"

#include <weir/channel/channel.hpp>
#include <weir/cuda/device_pool.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/executor/executor.hpp>
#include <weir/task/sync_wait.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace cuda_tests;
using Catch::Matchers::ContainsSubstring;
using weir::cuda::context;
using weir::cuda::device;
using weir::cuda::detail::blocking_threads;
using weir::cuda::detail::clock_executor;
using weir::cuda::detail::mailbox;
using weir::cuda::detail::run_on_context_thread;

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

TEST_CASE("nothing begins to use another GPU, from whichever thread it is made and used") {
    const fresh_runtime runtime;
    stand_in::set_device_count(2);
    stand_in::support_memory_pools(GENERATE(true, false));
    std::thread([] {
        context gpu(device(1), either_way());
        weir::cuda::pinned_pool pool(gpu, 64, 1);
        const weir::cuda::stream s(gpu);
        weir::cuda::event e(gpu);
        {
            weir::cuda::device_pool memory(gpu);
            const auto there = weir::sync_wait(memory.acquire<std::byte>(64, s));
            std::array<std::byte, 64> ordinary{};
            weir::cuda::lease block = *pool.try_acquire(64);
            s.record(e);
            weir::sync_wait(e.done());
            weir::sync_wait(weir::cuda::copy(s, there.data(), ordinary.data(), 64));
            weir::sync_wait(weir::cuda::copy(s, ordinary.data(), there.data(), 64));
            block.copy_to(s, there.data());
            weir::sync_wait(s.done());
        }
        int current = -1;
        CHECK(cudaGetDevice(&current) == cudaSuccess);
        CHECK(current == 0);
    }).join();
    CHECK(stand_in::contexts() == std::vector{1});
}

TEST_CASE("what is made when its context is gone belongs to the device all the same") {
    const fresh_runtime runtime;
    stand_in::set_device_count(2);
    std::optional<context> gpu(std::in_place, device(1));
    const weir::cuda::stream s(*gpu);
    const std::shared_ptr<weir::cuda::detail::context_state> shared = gpu->shared();
    gpu.reset();
    {
        const weir::cuda::detail::pooled_event late(shared, true);
        CHECK(cudaEventRecord(late.get(), s.get()) == cudaSuccess);
    }
    CHECK(stand_in::contexts() == std::vector{1});
}

TEST_CASE("in a forked process nothing waits for a context of before the fork") {
    const fresh_runtime runtime;
    std::optional<context> gpu(std::in_place);
    const weir::cuda::stream s(*gpu);
    const weir::cuda::event e(*gpu);
    weir::cuda::pinned_pool blocks(*gpu, 64, 1);
    weir::sync_wait(e.done());  // leaves an event in the context's pool
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        int refused = 0;
        const auto count = [&refused](const auto& attempt) {
            try {
                attempt();
            } catch (const weir::forked_error&) {
                ++refused;
            }
        };
        count([&] { const weir::cuda::stream another(*gpu); });
        count([&] { const weir::cuda::event another(*gpu); });
        count([&] { weir::sync_wait(e.done()); });
        count([&] { weir::sync_wait(s.done()); });
        count([&] { weir::sync_wait(weir::cuda::copy(s, &refused, &refused, 0)); });
        count([&] { static_cast<void>(weir::sync_wait(blocks.acquire(1))); });
        gpu.reset();
        _exit(refused);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 6);
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

TEST_CASE("a queue measures by its own clock from the beginning, and nobody's executor is needed") {
    clock_executor time;
    weir::channel<int> queue(1, time);
    CHECK(queue.try_get().status() == weir::channel_status::empty);
    const weir::time_point before = time.now();
    CHECK(queue.try_put(1) == weir::channel_status::success);
    CHECK(time.now() >= before);
    weir::executor::flag none;
    CHECK_FALSE(time.drive(none, weir::time_point::max()));
    CHECK(queue.stats().empty <= queue.stats().elapsed);
}

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
