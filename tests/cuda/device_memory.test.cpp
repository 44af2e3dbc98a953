#include <weir/cuda/device_memory.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/device_pool.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task_group.hpp>

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

using namespace cuda_tests;
using Catch::Matchers::ContainsSubstring;
using weir::cuda::context;
using weir::cuda::device_buffer;
using weir::cuda::device_pool;
using weir::cuda::lease;
using weir::cuda::pinned_pool;
using weir::cuda::stream;
using weir::cuda::detail::device_account;
using weir::cuda::detail::device_memory;
using weir::cuda::detail::transfer_log;

namespace {

std::shared_ptr<device_account> account_of(context& gpu) {
    return std::make_shared<device_account>(gpu.shared(), nullptr, 0, "memory");
}

// Gets so many bytes on a stream, and keeps them.
weir::task<> get(device_pool& from, std::size_t bytes, stream s, std::optional<device_buffer<char>>& to,
                 std::atomic<int>& got) {
    to = co_await from.acquire<char>(bytes, s);
    ++got;
}

device_buffer<char> now(device_pool& from, std::size_t bytes, const stream& s) {
    return weir::sync_wait(from.acquire<char>(bytes, s));
}

}  // namespace

TEST_CASE("who takes memory over that no copy filled comes behind what its first stream has queued") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream first(gpu);
    const stream second(gpu);
    std::vector<char> seen;
    stand_in::hold(first.get());
    {
        device_memory there = *device_memory::try_take(account_of(gpu), first, 8, nullptr);
        auto* const p = static_cast<char*>(there.data());
        REQUIRE(stand_in::launch(first.get(), [p] { std::memcpy(p, "weir is", 8); }) == cudaSuccess);
        there.hand_over(second);
        REQUIRE(stand_in::launch(second.get(), [&seen, p] { seen.assign(p, p + 7); }) == cudaSuccess);
    }
    stand_in::release(first.get());
    stand_in::wait_until_idle();
    CHECK(seen == std::vector{'w', 'e', 'i', 'r', ' ', 'i', 's'});
}

TEST_CASE("without a log, a copy is queued without events that have times, and waited for all the same") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 8, 1);
    const stream copies(gpu);
    device_memory there = *device_memory::try_take(account_of(gpu), copies, 8, nullptr);
    lease block = *pool.try_acquire(8);
    std::memcpy(block.bytes().data(), "weir is", 8);
    there.fill_from(block);
    weir::sync_wait([](const device_memory& m) -> weir::task<> { co_await m.filled(); }(there));
    CHECK(std::memcmp(there.data(), "weir is", 8) == 0);
    there.hand_over(stream(gpu));
    CHECK(stand_in::calls("cudaEventElapsedTime") == 0);
}

TEST_CASE("the way back comes behind the work that fills the memory") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 8, 1);
    const stream work(gpu);
    const stream copies(gpu);
    const auto log = std::make_shared<transfer_log>();
    stand_in::hold(work.get());
    device_memory there = *device_memory::try_take(account_of(gpu), work, 8, nullptr);
    auto* const p = static_cast<char*>(there.data());
    REQUIRE(stand_in::launch(work.get(), [p] { std::memcpy(p, "weir is", 8); }) == cudaSuccess);
    lease block = *pool.try_acquire(8);
    there.hand_over(copies);
    there.queue_copy_to(block.bytes().data(), log.get());
    stand_in::release(work.get());
    weir::sync_wait([](const device_memory& m) -> weir::task<> { co_await m.filled(); }(there));
    CHECK(std::memcmp(block.bytes().data(), "weir is", 8) == 0);
    CHECK(log->stats().bytes == 8);
}

TEST_CASE("memory of one GPU isn't handed over to another one's stream") {
    const fresh_runtime runtime;
    stand_in::set_device_count(2);
    context gpu(weir::cuda::device(0), either_way());
    context other(weir::cuda::device(1));
    device_memory there = *device_memory::try_take(account_of(gpu), stream(gpu), 8, nullptr);
    CHECK_THROWS_WITH(there.hand_over(stream(other)),
                      ContainsSubstring("what lies on GPU 0 can't be handed over to a stream of GPU 1"));
}

TEST_CASE("who wants more than is left waits until as much has come back, first come, first served") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    device_pool memory(gpu, 100);
    std::optional<device_buffer<char>> first = now(memory, 60, s);
    CHECK(memory.bytes_in_use() == 60);
    weir::thread_pool home(1);
    weir::task_group group(home);
    std::optional<device_buffer<char>> large;
    std::optional<device_buffer<char>> small;
    std::atomic<int> got{0};
    group.spawn(get(memory, 90, s, large, got));
    wait_for([&] { return memory.shared()->news.stats().get_wait > weir::duration(0); });
    group.spawn(get(memory, 10, s, small, got));
    wait_for([&] { return memory.shared()->turn.stats().get_wait > weir::duration(0) || got != 0; });
    CHECK(got == 0);
    first.reset();
    weir::sync_wait(group.join());
    CHECK(got == 2);
    CHECK(memory.bytes_in_use() == 100);
    CHECK(stand_in::most_device_memory_used() <= 160);
}

TEST_CASE("memory comes back in the order of any of the streams behind which it was freed") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream slow(gpu);
    const stream fast(gpu);
    device_pool memory(gpu, 100);
    stand_in::hold(slow.get());
    stand_in::hold(fast.get());
    REQUIRE(stand_in::launch(slow.get(), [] {}) == cudaSuccess);
    REQUIRE(stand_in::launch(fast.get(), [] {}) == cudaSuccess);
    static_cast<void>(now(memory, 50, slow));
    static_cast<void>(now(memory, 30, fast));
    CHECK(memory.bytes_in_use() == 80);
    weir::thread_pool home(1);
    weir::task_group group(home);
    std::optional<device_buffer<char>> there;
    std::atomic<int> got{0};
    group.spawn(get(memory, 40, slow, there, got));
    wait_for([&] { return memory.shared()->turn.stats().size == 0; });
    CHECK(got == 0);
    stand_in::release(fast.get());
    weir::sync_wait(group.join());
    CHECK(got == 1);
    stand_in::release(slow.get());
}

TEST_CASE("where the device has no more, who wants some waits for what is in use") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    stand_in::set_device_memory(100);
    device_pool memory(gpu);
    std::optional<device_buffer<char>> first = now(memory, 60, s);
    weir::thread_pool home(1);
    weir::task_group group(home);
    std::optional<device_buffer<char>> there;
    std::atomic<int> got{0};
    group.spawn(get(memory, 60, s, there, got));
    wait_for([&] { return memory.shared()->turn.stats().size == 0; });
    CHECK(got == 0);
    first.reset();
    weir::sync_wait(group.join());
    CHECK(got == 1);
    CHECK(gpu.status() == cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE(
    "where nothing is in use that could come back, that there is too little is an error, and how much") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    stand_in::set_device_memory(100);
    device_pool memory(gpu);
    CHECK_THROWS_WITH(now(memory, 101, s),
                      ContainsSubstring("cudaErrorMemoryAllocation") &&
                          ContainsSubstring("there is no memory for 101 bytes, and nothing is in use here"));
    CHECK(memory.bytes_in_use() == 0);
    CHECK(now(memory, 100, s).size() == 100);
}

TEST_CASE("a lack that is over when it is looked at again is none") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    device_pool memory(gpu);
    stand_in::fail_call_of("cudaMallocFromPoolAsync", 1, cudaErrorMemoryAllocation);
    CHECK(now(memory, 100, s).size() == 100);
}

TEST_CASE("more than there may be at all is refused") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    device_pool memory(gpu, 100, "inputs");
    CHECK_THROWS_WITH(now(memory, 101, s),
                      ContainsSubstring("101 bytes are more than 'inputs' may have at all, which is 100"));
    CHECK_THROWS_WITH(weir::sync_wait(memory.acquire<double>(SIZE_MAX, s)), ContainsSubstring("'inputs'"));
}

TEST_CASE("a wait for memory can be stopped, and the next one is served") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    device_pool memory(gpu, 100);
    std::optional<device_buffer<char>> first = now(memory, 60, s);
    weir::stop_source stop;
    bool none = false;
    weir::thread_pool home(1);
    weir::task_group group(home);
    std::optional<device_buffer<char>> small;
    std::atomic<int> got{0};
    group.spawn([](device_pool& from, stream on, weir::stop_token token, bool& to) -> weir::task<> {
        const auto there = co_await from.acquire<char>(90, on, token);
        to = !there;
    }(memory, s, stop.get_token(), none));
    wait_for([&] { return memory.shared()->turn.stats().size == 0; });
    group.spawn(get(memory, 40, s, small, got));
    stop.request_stop();
    weir::sync_wait(group.join());
    CHECK(none);
    CHECK(got == 1);
}

TEST_CASE("who waits for memory when the device breaks gets the error") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    device_pool memory(gpu, 100);
    stand_in::hold(s.get());
    REQUIRE(stand_in::launch(s.get(), [] {}) == cudaSuccess);
    static_cast<void>(now(memory, 60, s));
    weir::thread_pool home(1);
    weir::task_group group(home);
    outcome end;
    group.spawn(
        note([&]() -> weir::task<> { static_cast<void>(co_await memory.acquire<char>(60, s)); }, end));
    wait_for([&] { return memory.shared()->turn.stats().size == 0; });
    stand_in::poison(cudaErrorIllegalAddress);
    weir::sync_wait(group.join());
    CHECK(end.code == cudaErrorIllegalAddress);
    stand_in::release(s.get());
}

TEST_CASE(
    "whatever call fails while somebody waits for memory, he gets it or an error, and nothing is lost") {
    const auto options = either_way();
    bool reached = true;
    for (std::size_t n = 1; reached && n < 200; ++n) {
        const fresh_runtime runtime;
        context gpu(options);
        const stream s(gpu);
        {
            device_pool memory(gpu, 100);
            std::optional<device_buffer<char>> first = now(memory, 60, s);
            weir::thread_pool home(1);
            weir::task_group group(home);
            outcome end;
            stand_in::hold(s.get());
            group.spawn(
                note([&]() -> weir::task<> { static_cast<void>(co_await memory.acquire<char>(60, s)); },
                     end));
            wait_for([&] { return memory.shared()->turn.stats().size == 0 || end.resumed != 0; });
            stand_in::fail_call(n, cudaErrorInvalidValue);
            first.reset();
            stand_in::release(s.get());
            weir::sync_wait(group.join());
            CHECK((end.code == cudaSuccess || end.code == cudaErrorInvalidValue));
            reached = stand_in::forget_faults() == 0;
            stand_in::wait_until_idle();
            wait_for([&] { return memory.bytes_in_use() == 0; });
        }
    }
    CHECK_FALSE(reached);
}

TEST_CASE(
    "memory that goes while its stream is captured is freed behind the work before, when that has ended") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    device_pool memory(gpu, 100);
    std::vector<char> seen;
    std::optional<device_buffer<char>> there = now(memory, 60, s);
    stand_in::hold(s.get());
    const auto reads = [&seen, p = there->data()] { seen.assign(p, p + 60); };
    REQUIRE(cudaMemsetAsync(there->data(), 7, 60, s.get()) == cudaSuccess);
    REQUIRE(stand_in::launch(s.get(), reads) == cudaSuccess);
    weir::thread_pool home(1);
    weir::task_group group(home);
    std::optional<device_buffer<char>> waits;
    std::atomic<int> got{0};
    {
        const captured_meanwhile graph(s.get());
        there.reset();
        CHECK(memory.bytes_in_use() == 60);
        group.spawn(get(memory, 90, stream(gpu), waits, got));
        wait_for([&] { return memory.shared()->news.stats().get_wait > weir::duration(0); });
        stand_in::release(s.get());
        stand_in::wait_until_idle();
        CHECK(stand_in::calls("cudaFreeAsync") == 0);
        CHECK(got == 0);
    }
    weir::sync_wait(group.join());
    CHECK(got == 1);
    CHECK(memory.bytes_in_use() == 90);
    CHECK(seen == std::vector<char>(60, 7));
}

TEST_CASE("memory comes back behind what its stream had to do when the capture of that ended") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    device_pool memory(gpu);
    std::optional<device_buffer<char>> there = now(memory, 60, s);
    stand_in::hold(s.get());
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(s.get(), cudaStreamCaptureModeGlobal) == cudaSuccess);
    const std::size_t asked = stand_in::calls("cudaStreamIsCapturing");
    there.reset();
    // This thread has asked once; then the context's.
    wait_for([&] { return stand_in::calls("cudaStreamIsCapturing") >= asked + 2; });
    REQUIRE(cudaStreamEndCapture(s.get(), &graph) == cudaSuccess);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
    wait_for([] { return stand_in::calls("cudaFreeAsync") == 1; });
    CHECK(memory.bytes_in_use() == 60);
    stand_in::release(s.get());
    wait_for([&] { return memory.bytes_in_use() == 0; });
}

TEST_CASE("a context may end while a stream is captured; what was freed for that one is lost") {
    stand_in::reset();
    cudaStream_t somebodys = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&somebodys, cudaStreamNonBlocking) == cudaSuccess);
    std::optional<context> gpu(either_way());
    {
        device_pool memory(*gpu);
        std::optional<device_buffer<char>> before = now(memory, 60, stream(*gpu, somebodys));
        std::optional<device_buffer<char>> behind = now(memory, 60, stream(*gpu, somebodys));
        const captured_meanwhile graph(somebodys);
        before.reset();
        gpu.reset();
        behind.reset();
    }
    CHECK(cudaStreamDestroy(somebodys) == cudaSuccess);
    CHECK(stand_in::misuses() == sentences{});
    CHECK(stand_in::calls("cudaFreeAsync") == 0);
    CHECK(stand_in::device_memory_used() == 120);
    stand_in::reset();
}

TEST_CASE("without a device, the limit holds for ordinary memory") {
    stand_in::reset();
    stand_in::no_device(cudaErrorNoDevice);
    {
        context gpu({.or_host = true});
        const stream s(gpu);
        device_pool memory(gpu, 100);
        std::optional<device_buffer<char>> first = now(memory, 60, s);
        weir::thread_pool home(1);
        weir::task_group group(home);
        std::optional<device_buffer<char>> there;
        std::atomic<int> got{0};
        group.spawn(get(memory, 60, s, there, got));
        wait_for([&] { return memory.shared()->turn.stats().size == 0; });
        CHECK(got == 0);
        first.reset();
        weir::sync_wait(group.join());
        CHECK(got == 1);
    }
    stand_in::reset();
}
