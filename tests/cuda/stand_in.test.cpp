// The stand-in for the CUDA runtime keeps what it promises: the tests of weir/cuda build on it.
#include "cuda/stand_in/control.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

// The numbers are the real runtime's, whichever header this is compiled with.
static_assert(CUDART_VERSION == 13000);
static_assert(cudaErrorInsufficientDriver == 35 && cudaErrorNoDevice == 100 &&
              cudaErrorInvalidResourceHandle == 400 && cudaErrorNotReady == 600 &&
              cudaErrorIllegalAddress == 700 && cudaErrorLaunchFailure == 719 &&
              cudaErrorNotPermitted == 800);
static_assert(cudaErrorMemoryAllocation == 2 && cudaErrorDevicesUnavailable == 46 &&
              cudaErrorECCUncorrectable == 214 && cudaErrorNvlinkUncorrectable == 220 &&
              cudaErrorContained == 226 && cudaErrorContextIsDestroyed == 709 && cudaErrorAssert == 710 &&
              cudaErrorTensorMemoryLeak == 721 && cudaErrorNotSupported == 801 &&
              cudaErrorExternalDevice == 911);
static_assert(cudaErrorCallRequiresNewerDriver == 36 && cudaErrorCapturedEvent == 907 &&
              cudaStreamCaptureModeRelaxed == 2);
static_assert(cudaDevAttrAsyncEngineCount == 40 && cudaDevAttrMemoryPoolsSupported == 115);
static_assert(cudaMemPoolAttrReleaseThreshold == 4 && cudaMemcpySrcAccessOrderAny == 3);
static_assert(sizeof(cudaMemPoolProps) == 88 && sizeof(cudaMemcpyAttributes) == 24);

namespace {

struct fixture {
    fixture() { stand_in::reset(); }
};

cudaStream_t make_stream() {
    cudaStream_t s = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess);
    return s;
}

cudaEvent_t make_event(unsigned int flags = cudaEventDefault) {
    cudaEvent_t e = nullptr;
    REQUIRE(cudaEventCreateWithFlags(&e, flags) == cudaSuccess);
    return e;
}

std::byte* on_device(std::size_t size) {
    void* p = nullptr;
    REQUIRE(cudaMalloc(&p, size) == cudaSuccess);
    return static_cast<std::byte*>(p);
}

std::byte* page_locked(std::size_t size) {
    void* p = nullptr;
    REQUIRE(cudaHostAlloc(&p, size, cudaHostAllocDefault) == cudaSuccess);
    return static_cast<std::byte*>(p);
}

bool all_are(const std::byte* p, std::size_t size, std::byte value) {
    return std::vector<std::byte>(p, p + size) == std::vector<std::byte>(size, value);
}

void copy_up(std::byte* to, const std::byte* from, std::size_t size, cudaStream_t s) {
    REQUIRE(cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, s) == cudaSuccess);
}

void copy_down(std::byte* to, const std::byte* from, std::size_t size, cudaStream_t s) {
    REQUIRE(cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToHost, s) == cudaSuccess);
}

cudaMemPool_t make_pool() {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t pool = nullptr;
    REQUIRE(cudaMemPoolCreate(&pool, &properties) == cudaSuccess);
    return pool;
}

std::byte* from_pool(cudaMemPool_t pool, std::size_t size, cudaStream_t s) {
    void* p = nullptr;
    REQUIRE(cudaMallocFromPoolAsync(&p, size, pool, s) == cudaSuccess);
    return static_cast<std::byte*>(p);
}

// A host function that counts.
void count(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

// The only misuse so far, or what else there is.
std::string misuse() {
    const auto all = stand_in::misuses();
    return all.size() == 1 ? all.front() : std::to_string(all.size()) + " misuses";
}

cudaGraph_t make_graph() {
    const cudaStream_t s = make_stream();
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed) == cudaSuccess);
    REQUIRE(cudaStreamEndCapture(s, &graph) == cudaSuccess);
    REQUIRE(cudaStreamDestroy(s) == cudaSuccess);
    return graph;
}

cudaGraphExec_t make_executable(cudaGraph_t graph) {
    cudaGraphExec_t executable = nullptr;
    REQUIRE(cudaGraphInstantiate(&executable, graph) == cudaSuccess);
    return executable;
}

// Each function of the runtime that counts, but for those that begin and end a capture, with arguments that it can be called with.
struct everything {
    cudaStream_t s = make_stream();
    cudaEvent_t e = make_event();
    cudaMemPool_t pool = make_pool();
    std::byte* there = on_device(8);
    std::byte* here = page_locked(8);
    cudaGraph_t graph = make_graph();
    cudaGraphExec_t executable = make_executable(graph);

    std::vector<std::pair<std::string, std::function<cudaError_t()>>> calls() const {
        return {
            {"cudaRuntimeGetVersion", [n = 0]() mutable { return cudaRuntimeGetVersion(&n); }},
            {"cudaDriverGetVersion", [n = 0]() mutable { return cudaDriverGetVersion(&n); }},
            {"cudaGetDeviceCount", [n = 0]() mutable { return cudaGetDeviceCount(&n); }},
            {"cudaGetDevice", [n = 0]() mutable { return cudaGetDevice(&n); }},
            {"cudaSetDevice", [] { return cudaSetDevice(0); }},
            {"cudaDeviceGetAttribute",
             [n = 0]() mutable { return cudaDeviceGetAttribute(&n, cudaDevAttrAsyncEngineCount, 0); }},
            {"cudaDeviceGetStreamPriorityRange",
             [n = 0]() mutable { return cudaDeviceGetStreamPriorityRange(&n, nullptr); }},
            {"cudaDeviceSynchronize", [] { return cudaDeviceSynchronize(); }},
            {"cudaStreamCreateWithFlags",
             [made = cudaStream_t{}]() mutable {
                 return cudaStreamCreateWithFlags(&made, cudaStreamDefault);
             }},
            {"cudaStreamCreateWithPriority",
             [made = cudaStream_t{}]() mutable {
                 return cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, -1);
             }},
            {"cudaStreamSynchronize", [*this] { return cudaStreamSynchronize(s); }},
            {"cudaStreamQuery", [*this] { return cudaStreamQuery(s); }},
            {"cudaStreamWaitEvent", [*this] { return cudaStreamWaitEvent(s, e); }},
            {"cudaStreamGetDevice", [*this, n = 0]() mutable { return cudaStreamGetDevice(s, &n); }},
            {"cudaStreamIsCapturing",
             [*this, status = cudaStreamCaptureStatusNone]() mutable {
                 return cudaStreamIsCapturing(s, &status);
             }},
            {"cudaGraphInstantiate",
             [*this, made = cudaGraphExec_t{}]() mutable { return cudaGraphInstantiate(&made, graph); }},
            {"cudaGraphLaunch", [*this] { return cudaGraphLaunch(executable, s); }},
            {"cudaPointerGetAttributes",
             [*this, of = cudaPointerAttributes{}]() mutable {
                 return cudaPointerGetAttributes(&of, there);
             }},
            {"cudaThreadExchangeStreamCaptureMode",
             [mode = cudaStreamCaptureModeRelaxed]() mutable {
                 return cudaThreadExchangeStreamCaptureMode(&mode);
             }},
            {"cudaLaunchHostFunc", [*this] { return cudaLaunchHostFunc(s, [](void*) {}, nullptr); }},
            {"cudaEventCreateWithFlags",
             [made = cudaEvent_t{}]() mutable { return cudaEventCreateWithFlags(&made, cudaEventDefault); }},
            {"cudaEventRecord", [*this] { return cudaEventRecord(e, s); }},
            {"cudaEventQuery", [*this] { return cudaEventQuery(e); }},
            {"cudaEventSynchronize", [*this] { return cudaEventSynchronize(e); }},
            {"cudaEventElapsedTime",
             [*this, ms = 0.0F]() mutable { return cudaEventElapsedTime(&ms, e, e); }},
            {"cudaHostAlloc",
             [p = static_cast<void*>(nullptr)]() mutable { return cudaHostAlloc(&p, 8, 0); }},
            {"cudaMalloc", [p = static_cast<void*>(nullptr)]() mutable { return cudaMalloc(&p, 8); }},
            {"cudaMemPoolCreate",
             [made = cudaMemPool_t{}]() mutable {
                 cudaMemPoolProps properties{};
                 properties.allocType = cudaMemAllocationTypePinned;
                 properties.location = {cudaMemLocationTypeDevice, 0};
                 return cudaMemPoolCreate(&made, &properties);
             }},
            {"cudaMemPoolSetAttribute",
             [*this, n = std::uint64_t{0}]() mutable {
                 return cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &n);
             }},
            {"cudaMallocFromPoolAsync",
             [*this, p = static_cast<void*>(nullptr)]() mutable {
                 return cudaMallocFromPoolAsync(&p, 8, pool, s);
             }},
            {"cudaMemcpyAsync", [*this] { return cudaMemcpyAsync(there, here, 8, cudaMemcpyDefault, s); }},
            {"cudaMemcpyBatchAsync",
             [*this] {
                 void* const to[] = {there};
                 const void* const from[] = {here};
                 const std::size_t size = 8;
                 cudaMemcpyAttributes how{};
                 how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
                 std::size_t first = 0;
                 return cudaMemcpyBatchAsync(to, from, &size, 1, &how, &first, 1, s);
             }},
            {"cudaMemsetAsync", [*this] { return cudaMemsetAsync(there, 0, 8, s); }},
            // What ends something comes last.
            {"cudaGraphExecDestroy", [*this] { return cudaGraphExecDestroy(executable); }},
            {"cudaGraphDestroy", [*this] { return cudaGraphDestroy(graph); }},
            {"cudaFreeAsync", [*this] { return cudaFreeAsync(there, s); }},
            {"cudaFreeHost", [*this] { return cudaFreeHost(here); }},
            {"cudaFree", [] { return cudaFree(nullptr); }},
            {"cudaMemPoolDestroy", [*this] { return cudaMemPoolDestroy(pool); }},
            {"cudaEventDestroy", [*this] { return cudaEventDestroy(e); }},
            {"cudaStreamDestroy", [*this] { return cudaStreamDestroy(s); }},
        };
    }
};

}  // namespace

TEST_CASE_METHOD(fixture, "bytes go to the device and back, in the order of the stream") {
    const auto s = make_stream();
    std::byte* const there = on_device(64);
    std::byte* const from = page_locked(64);
    std::byte* const back = page_locked(64);
    CHECK(all_are(there, 64, stand_in::never_written));
    std::memset(from, 7, 64);
    CHECK(cudaMemcpyAsync(there, from, 64, cudaMemcpyHostToDevice, s) == cudaSuccess);
    CHECK(cudaMemsetAsync(there + 32, 9, 32, s) == cudaSuccess);
    CHECK(cudaMemcpyAsync(back, there, 64, cudaMemcpyDefault, s) == cudaSuccess);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(all_are(back, 32, std::byte{7}));
    CHECK(all_are(back + 32, 32, std::byte{9}));
    CHECK(stand_in::misuses().empty());
}

// --- Streams.

TEST_CASE_METHOD(fixture, "a stream that was destroyed still does its work") {
    const auto s = make_stream();
    stand_in::hold(s);
    int done = 0;
    stand_in::launch(s, [&] { ++done; });
    CHECK(cudaStreamDestroy(s) == cudaSuccess);
    CHECK(stand_in::leaks().empty());
    stand_in::release(s);
    stand_in::wait_until_idle();
    CHECK(done == 1);
    CHECK(stand_in::misuses().empty());
}

TEST_CASE_METHOD(fixture, "streams don't wait for each other, unless for an event") {
    const auto a = make_stream(), b = make_stream();
    const auto e = make_event();
    stand_in::hold(a);
    std::string order;
    stand_in::launch(a, [&] { order += 'a'; });
    CHECK(cudaEventRecord(e, a) == cudaSuccess);
    stand_in::launch(a, [&] { order += 'c'; });
    stand_in::launch(b, [&] { order += '1'; });
    stand_in::wait_until_idle();
    CHECK(order == "1");
    CHECK(cudaStreamQuery(a) == cudaErrorNotReady);
    CHECK(cudaStreamQuery(b) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(b, e) == cudaSuccess);
    std::promise<void> first_c;
    stand_in::launch(b, [&] {
        first_c.get_future().wait();
        order += '2';
    });
    stand_in::launch(a, [&] { first_c.set_value(); });
    stand_in::wait_until_idle();
    CHECK(order == "1");
    stand_in::release(a);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(order == "1ac2");
    CHECK(stand_in::misuses().empty());
}

TEST_CASE_METHOD(fixture, "a wait for an event is for its latest record before the wait") {
    const auto a = make_stream(), b = make_stream();
    const auto e = make_event();
    int done = 0;
    CHECK(cudaEventRecord(e, a) == cudaSuccess);
    stand_in::hold(a);
    CHECK(cudaStreamWaitEvent(b, e) == cudaSuccess);
    stand_in::launch(a, [] {});
    CHECK(cudaEventRecord(e, a) == cudaSuccess);
    stand_in::launch(b, [&] { ++done; });
    CHECK(cudaStreamSynchronize(b) == cudaSuccess);
    CHECK(done == 1);
    CHECK(cudaEventQuery(e) == cudaErrorNotReady);
    stand_in::release(a);
    CHECK(cudaEventSynchronize(e) == cudaSuccess);
}

TEST_CASE_METHOD(fixture, "the default stream and the blocking streams of its device wait for each other") {
    cudaStream_t blocking = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&blocking, cudaStreamDefault) == cudaSuccess);
    const auto other = make_stream();
    stand_in::hold(blocking);
    const auto e = make_event();
    std::string order;
    stand_in::launch(blocking, [&] { order += 'a'; });
    CHECK(cudaStreamQuery(nullptr) == cudaErrorNotReady);
    CHECK(cudaEventRecord(e) == cudaSuccess);
    CHECK(cudaEventQuery(e) == cudaErrorNotReady);
    stand_in::launch(nullptr, [&] { order += 'b'; });
    stand_in::launch(blocking, [&] { order += 'c'; });
    CHECK(cudaStreamQuery(other) == cudaSuccess);
    stand_in::release(blocking);
    CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
    CHECK(order == "abc");
    std::promise<void> go, go_on;
    stand_in::launch(blocking, [&] {
        go.get_future().wait();
        order += 'd';
    });
    go.set_value();
    CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
    CHECK(order == "abcd");
    stand_in::launch(nullptr, [&] {
        go_on.get_future().wait();
        order += 'e';
    });
    go_on.set_value();
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(order == "abcde");
    CHECK(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
    CHECK_THAT(misuse(), ContainsSubstring("cudaStreamDestroy: the default stream can't be destroyed"));
}

TEST_CASE_METHOD(fixture, "each thread has its current device, to which what it creates belongs") {
    stand_in::set_device_count(2);
    int count = 0, device = -1;
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
    CHECK(count == 2);
    CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice);
    CHECK(cudaSetDevice(1) == cudaSuccess);
    const auto s = make_stream();
    std::thread([&] { (void)cudaGetDevice(&device); }).join();
    CHECK(device == 0);
    CHECK(cudaGetDevice(&device) == cudaSuccess);
    CHECK(device == 1);
    CHECK(cudaSetDevice(0) == cudaSuccess);
    CHECK(cudaStreamGetDevice(s, &device) == cudaSuccess);
    CHECK(device == 1);
    const auto e = make_event();
    CHECK(cudaEventRecord(e, s) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamWaitEvent(s, e) == cudaSuccess);
    CHECK(stand_in::misuses().empty());
}

TEST_CASE_METHOD(fixture, "what a device can is told") {
    int value = -1, least = -100, greatest = 100;
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrAsyncEngineCount, 0) == cudaSuccess);
    CHECK(value == 2);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMemoryPoolsSupported, 0) == cudaSuccess);
    CHECK(value == 1);
    stand_in::support_memory_pools(false);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMemoryPoolsSupported, 0) == cudaSuccess);
    CHECK(value == 0);
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
    CHECK(greatest < 0);
    CHECK(least == 0);
    CHECK(cudaRuntimeGetVersion(&value) == cudaSuccess);
    CHECK(value == CUDART_VERSION);
    CHECK(cudaDriverGetVersion(&value) == cudaSuccess);
    CHECK(value == CUDART_VERSION);
}

// --- Events.

TEST_CASE_METHOD(fixture, "an event tells of the work before its latest record") {
    const auto s = make_stream();
    const auto e = make_event();
    CHECK(cudaEventQuery(e) == cudaSuccess);
    CHECK(cudaEventSynchronize(e) == cudaSuccess);
    CHECK(cudaEventRecord(e, s) == cudaSuccess);
    stand_in::hold(s);
    stand_in::launch(s, [] {});
    CHECK(cudaEventQuery(e) == cudaSuccess);
    CHECK(cudaEventRecord(e, s) == cudaSuccess);
    CHECK(cudaEventQuery(e) == cudaErrorNotReady);
    CHECK(cudaGetLastError() == cudaSuccess);
    stand_in::release(s);
    CHECK(cudaEventSynchronize(e) == cudaSuccess);
    CHECK(cudaEventQuery(e) == cudaSuccess);
}

TEST_CASE_METHOD(fixture, "who waits for an event doesn't wait for what comes after it in the stream") {
    const auto s = make_stream();
    const auto e = make_event();
    std::promise<void> go, go_on;
    stand_in::launch(s, [&] { go.get_future().wait(); });
    CHECK(cudaEventRecord(e, s) == cudaSuccess);
    stand_in::launch(s, [&] { go_on.get_future().wait(); });
    const std::size_t before = stand_in::calls();
    auto waiting = std::async(std::launch::async, [=] { return cudaEventSynchronize(e); });
    while (stand_in::calls() == before) std::this_thread::yield();
    go.set_value();
    CHECK(waiting.get() == cudaSuccess);
    CHECK(cudaStreamQuery(s) == cudaErrorNotReady);
    go_on.set_value();
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
}

TEST_CASE_METHOD(fixture, "an event can be destroyed while its record is queued") {
    const auto s = make_stream();
    const auto e = make_event();
    stand_in::hold(s);
    stand_in::launch(s, [] {});
    CHECK(cudaEventRecord(e, s) == cudaSuccess);
    CHECK(cudaEventDestroy(e) == cudaSuccess);
    stand_in::release(s);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(stand_in::misuses().empty());
    CHECK(cudaEventQuery(e) == cudaErrorInvalidResourceHandle);
    CHECK_THAT(misuse(), ContainsSubstring("cudaEventQuery: the event was destroyed"));
}

TEST_CASE_METHOD(fixture, "the time between events is told once both are done, if they were to record it") {
    const auto s = make_stream();
    const auto a = make_event(), b = make_event(), untimed = make_event(cudaEventDisableTiming);
    float ms = -1;
    CHECK(cudaEventRecord(a, s) == cudaSuccess);
    CHECK(cudaEventElapsedTime(&ms, a, b) == cudaErrorInvalidResourceHandle);
    stand_in::hold(s);
    stand_in::launch(s, [] {}, 3ms);
    CHECK(cudaEventRecord(b, s) == cudaSuccess);
    CHECK(cudaEventRecord(untimed, s) == cudaSuccess);
    CHECK(cudaEventElapsedTime(&ms, a, b) == cudaErrorNotReady);
    CHECK(cudaEventElapsedTime(&ms, a, untimed) == cudaErrorInvalidResourceHandle);
    stand_in::release(s);
    CHECK(cudaEventSynchronize(b) == cudaSuccess);
    CHECK(cudaEventElapsedTime(&ms, a, b) == cudaSuccess);
    CHECK(ms == 3.0F);
    CHECK(stand_in::misuses().empty());
}

// --- Copies.

TEST_CASE_METHOD(fixture, "page-locked memory is read when the copy is done, pageable memory before") {
    const auto s = make_stream();
    std::byte* const there = on_device(2);
    std::byte* const locked = page_locked(1);
    std::byte pageable{1};
    *locked = std::byte{1};
    stand_in::hold(s);
    copy_up(there, locked, 1, s);
    copy_up(there + 1, &pageable, 1, s);
    *locked = pageable = std::byte{2};
    stand_in::release(s);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(there[0] == std::byte{2});
    CHECK(there[1] == std::byte{1});
}

TEST_CASE_METHOD(fixture, "a copy to pageable memory, and one from host to host, is done when it returns") {
    const auto s = make_stream();
    std::byte* const there = on_device(4);
    std::array<std::byte, 4> back{}, further{};
    CHECK(cudaMemsetAsync(there, 5, 4, s) == cudaSuccess);
    copy_down(back.data(), there, 4, s);
    CHECK(all_are(back.data(), 4, std::byte{5}));
    CHECK(cudaMemcpyAsync(further.data(), back.data(), 4, cudaMemcpyHostToHost, s) == cudaSuccess);
    CHECK(further == back);
    CHECK(cudaMemcpyAsync(nullptr, nullptr, 0, cudaMemcpyHostToDevice, s) == cudaSuccess);
    CHECK(stand_in::misuses().empty());
}

TEST_CASE_METHOD(fixture, "a batch of copies reads its sources as each one's attributes say") {
    const auto s = make_stream();
    std::byte* const there = on_device(3);
    std::array<std::byte, 3> from{std::byte{1}, std::byte{1}, std::byte{1}};
    void* const to[] = {there, there + 1, there + 2};
    const void* const sources[] = {&from[0], &from[1], &from[2]};
    const std::size_t sizes[] = {1, 1, 1};
    cudaMemcpyAttributes how[2]{};
    how[0].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    how[1].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first[] = {0, 2};
    stand_in::hold(s);
    CHECK(cudaMemcpyBatchAsync(to, sources, sizes, 3, how, first, 2, s) == cudaSuccess);
    from.fill(std::byte{2});
    stand_in::release(s);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(all_are(there, 2, std::byte{1}));
    CHECK(there[2] == std::byte{2});

    CHECK(cudaMemcpyBatchAsync(to, sources, sizes, 3, how, first, 2, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyBatchAsync(to, sources, sizes, 2, how, first, 2, s) == cudaErrorInvalidValue);
    std::size_t twice_the_same[] = {0, 0};
    CHECK(cudaMemcpyBatchAsync(to, sources, sizes, 3, how, twice_the_same, 2, s) == cudaErrorInvalidValue);
    how[1].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
    CHECK(cudaMemcpyBatchAsync(to, sources, sizes, 3, how, first, 2, s) == cudaErrorInvalidValue);
    CHECK(stand_in::misuses().empty());
}

TEST_CASE_METHOD(fixture, "a batch with one bad copy does none of them") {
    const auto s = make_stream();
    std::byte* const there = on_device(2);
    const std::byte from{};
    void* const to[] = {there, there + 1};
    const void* const sources[] = {&from, &from};
    const std::size_t sizes[] = {1, 2};
    cudaMemcpyAttributes how{};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    std::size_t first = 0;
    CHECK(cudaMemcpyBatchAsync(to, sources, sizes, 2, &how, &first, 1, s) == cudaErrorInvalidValue);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(all_are(there, 2, stand_in::never_written));
}

// --- Memory.

TEST_CASE_METHOD(fixture, "memory of a pool is there, and gone, in the order of the stream") {
    const auto s = make_stream(), other = make_stream();
    const auto pool = make_pool();
    std::byte* const back = page_locked(3);
    stand_in::hold(s);
    std::byte* const p = from_pool(pool, 1, s);
    CHECK(cudaMemsetAsync(p, 1, 1, other) == cudaSuccess);  // too early: lost
    CHECK(cudaStreamSynchronize(other) == cudaSuccess);
    copy_down(back, p, 1, s);
    CHECK(cudaMemsetAsync(p, 2, 1, s) == cudaSuccess);
    copy_down(back + 1, p, 1, s);
    CHECK(cudaFreeAsync(p, s) == cudaSuccess);
    stand_in::launch(s, [=] { back[2] = *p; });  // too late
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
    stand_in::release(s);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(back[0] == stand_in::never_written);
    CHECK(back[1] == std::byte{2});
    CHECK(back[2] == stand_in::already_freed);
    CHECK(stand_in::misuses().empty());
}

TEST_CASE_METHOD(fixture, "memory that was freed shows it") {
    std::byte* const there = on_device(8);
    std::byte* const here = page_locked(8);
    CHECK(cudaFree(there) == cudaSuccess);
    CHECK(cudaFreeHost(here) == cudaSuccess);
    CHECK(all_are(there, 8, stand_in::already_freed));
    CHECK(all_are(here, 8, stand_in::already_freed));
    CHECK(cudaFree(nullptr) == cudaSuccess);
    CHECK(cudaFreeHost(nullptr) == cudaSuccess);
    void* none = here;
    CHECK(cudaMalloc(&none, 0) == cudaSuccess);
    CHECK(none == nullptr);
    CHECK(stand_in::misuses().empty());
    CHECK(stand_in::leaks().empty());
}

TEST_CASE_METHOD(fixture, "of what was freed, only the latest is kept") {
    constexpr std::size_t size = std::size_t{40} << 20;
    std::byte* const first = on_device(size);
    std::byte* const second = on_device(size);
    CHECK(cudaFree(first) == cudaSuccess);
    CHECK(cudaFree(second) == cudaSuccess);
    CHECK(cudaFree(first) == cudaErrorInvalidValue);
    CHECK(misuse() == "cudaFree: no allocation begins at this address");
    CHECK(cudaFree(second) == cudaErrorInvalidValue);
    CHECK(stand_in::misuses().back() == "cudaFree: the memory was freed before");
    CHECK(cudaFree(on_device(size)) == cudaSuccess);
    CHECK(cudaFree(second) == cudaErrorInvalidValue);
    CHECK(stand_in::misuses().back() == "cudaFree: no allocation begins at this address");
}

// --- Misuse.

TEST_CASE_METHOD(fixture, "freeing wrongly is a misuse") {
    std::byte* const there = on_device(8);
    std::byte* const here = page_locked(8);
    std::byte local{};
    const auto s = make_stream();
    SECTION("twice") {
        CHECK(cudaFree(there) == cudaSuccess);
        CHECK(cudaFree(there) == cudaErrorInvalidValue);
        CHECK(misuse() == "cudaFree: the memory was freed before");
    }
    SECTION("twice, in stream order") {
        CHECK(cudaFreeAsync(there, s) == cudaSuccess);
        CHECK(cudaFreeAsync(there, s) == cudaErrorInvalidValue);
        CHECK(misuse() == "cudaFreeAsync: the memory was freed before");
    }
    SECTION("what was never allocated") {
        CHECK(cudaFreeHost(&local) == cudaErrorInvalidValue);
        CHECK(misuse() == "cudaFreeHost: no allocation begins at this address");
    }
    SECTION("nothing, in stream order") {
        CHECK(cudaFreeAsync(nullptr, s) == cudaErrorInvalidValue);
        CHECK(misuse() == "cudaFreeAsync: no allocation begins at this address");
    }
    SECTION("not by its beginning") {
        CHECK(cudaFree(there + 1) == cudaErrorInvalidValue);
        CHECK(misuse() == "cudaFree: no allocation begins at this address");
    }
    SECTION("as another kind of memory") {
        CHECK(cudaFree(here) == cudaErrorInvalidValue);
        CHECK(misuse() == "cudaFree: this is page-locked memory");
    }
    SECTION("as another kind of memory, the other way round") {
        CHECK(cudaFreeHost(there) == cudaErrorInvalidValue);
        CHECK(misuse() == "cudaFreeHost: this is device memory");
    }
    SECTION("page-locked memory, in stream order") {
        CHECK(cudaFreeAsync(here, s) == cudaErrorInvalidValue);
        CHECK(misuse() == "cudaFreeAsync: this is page-locked memory");
    }
    SECTION("a pool's memory, not in stream order") {
        CHECK(cudaFree(from_pool(make_pool(), 8, s)) == cudaSuccess);
        CHECK(misuse() != "0 misuses");
    }
    SECTION("while a copy needs it") {
        stand_in::hold(s);
        copy_up(there, here, 8, s);
        CHECK(cudaFreeHost(here) == cudaSuccess);
        CHECK(misuse() == "cudaFreeHost: the memory is freed while queued work still uses it");
        stand_in::release(s);
        CHECK(cudaStreamSynchronize(s) == cudaSuccess);
        CHECK(all_are(there, 8, stand_in::already_freed));
    }
    SECTION("while another stream's copy needs it") {
        const auto other = make_stream();
        stand_in::hold(other);
        copy_up(there, here, 8, other);
        CHECK(cudaFreeAsync(there, s) == cudaSuccess);
        CHECK(cudaStreamSynchronize(s) == cudaSuccess);
        CHECK(misuse() == "cudaFreeAsync: the memory is freed while work of another stream still uses it");
        stand_in::release(other);
        CHECK(cudaStreamSynchronize(other) == cudaSuccess);
        CHECK(all_are(there, 8, stand_in::already_freed));
    }
}

TEST_CASE_METHOD(fixture, "copying wrongly is a misuse, and nothing is copied") {
    const auto s = make_stream();
    std::byte* const there = on_device(8);
    std::byte* const here = page_locked(8);
    std::byte local[8]{};
    SECTION("beyond an allocation's end") {
        CHECK(cudaMemcpyAsync(there + 4, here, 5, cudaMemcpyHostToDevice, s) == cudaErrorInvalidValue);
        CHECK(misuse() == "cudaMemcpyAsync: 5 bytes are asked for from byte 4 of an allocation of 8 bytes");
    }
    SECTION("from beyond an allocation's end") {
        CHECK(cudaMemcpyAsync(there, here + 7, 2, cudaMemcpyHostToDevice, s) == cudaErrorInvalidValue);
        CHECK(misuse() == "cudaMemcpyAsync: 2 bytes are asked for from byte 7 of an allocation of 8 bytes");
    }
    SECTION("in another direction than said") {
        CHECK(cudaMemcpyAsync(local, here, 8, cudaMemcpyHostToDevice, s) == cudaErrorInvalidMemcpyDirection);
        CHECK(misuse() ==
              "cudaMemcpyAsync: the copy is said to be from host to device, and is from host to host");
    }
    SECTION("with memory that is to be freed") {
        CHECK(cudaFreeAsync(there, s) == cudaSuccess);
        CHECK(cudaMemcpyAsync(there, here, 8, cudaMemcpyDefault, s) == cudaErrorInvalidValue);
        CHECK(misuse() == "cudaMemcpyAsync: the memory was freed before");
    }
    SECTION("filling what is just behind an allocation") {
        CHECK(cudaMemsetAsync(there + 8, 0, 1, s) == cudaErrorInvalidValue);
        CHECK(misuse() == "cudaMemsetAsync: this is not device memory");
    }
    SECTION("filling what isn't device memory") {
        CHECK(cudaMemsetAsync(here, 0, 8, s) == cudaErrorInvalidValue);
        CHECK(misuse() == "cudaMemsetAsync: this is not device memory");
    }
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
}

TEST_CASE_METHOD(fixture, "using what was destroyed is a misuse, also where another took its place") {
    const auto s = make_stream();
    const auto pool = make_pool();
    CHECK(cudaStreamDestroy(s) == cudaSuccess);
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
    make_stream();
    make_pool();
    CHECK(cudaStreamSynchronize(s) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamDestroy(s) == cudaErrorInvalidResourceHandle);
    CHECK(cudaMemPoolDestroy(pool) == cudaErrorInvalidValue);
    CHECK_THROWS_AS(stand_in::hold(s), std::invalid_argument);
    const auto all = stand_in::misuses();
    REQUIRE(all.size() == 4);
    CHECK(all[0] == "cudaStreamSynchronize: the stream was destroyed, or never was one");
    CHECK(all[1] == "cudaStreamDestroy: the stream was destroyed, or never was one");
    CHECK(all[2] == "cudaMemPoolDestroy: the pool was destroyed, or never was one");
    CHECK(all[3] == "stand_in: the stream was destroyed, or never was one");
}

TEST_CASE_METHOD(fixture, "in a host function, no function of the runtime may be called") {
    const auto s = make_stream();
    struct seen {
        everything all;
        std::vector<cudaError_t> codes{};
    } it;
    CHECK(cudaLaunchHostFunc(
              s,
              [](void* p) {
                  auto& mine = *static_cast<seen*>(p);
                  for (const auto& [name, call] : mine.all.calls()) mine.codes.push_back(call());
                  mine.codes.push_back(cudaGetLastError());
              },
              &it) == cudaSuccess);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    const auto names = it.all.calls();
    const auto misuses = stand_in::misuses();
    REQUIRE(misuses.size() == names.size() + 1);
    REQUIRE(it.codes.size() == names.size() + 1);
    for (std::size_t i = 0; i < names.size(); ++i) {
        CHECK(misuses[i] == names[i].first + ": was called inside of a host function");
        CHECK(it.codes[i] == cudaErrorNotPermitted);
    }
    CHECK(misuses.back() == "cudaGetLastError: was called inside of a host function");
}

TEST_CASE_METHOD(fixture, "what could spoil a capture is refused while another thread captures") {
    const everything all;
    CHECK(cudaEventRecord(all.e, all.s) == cudaSuccess);
    CHECK(cudaStreamSynchronize(all.s) == cudaSuccess);
    stand_in::capture_elsewhere(true);
    cudaStreamCaptureMode before = cudaStreamCaptureModeThreadLocal;
    CHECK(cudaThreadExchangeStreamCaptureMode(&before) == cudaSuccess);
    CHECK(before == cudaStreamCaptureModeGlobal);
    CHECK(cudaMemcpyAsync(all.there, all.here, 8, cudaMemcpyDefault, all.s) == cudaSuccess);
    CHECK(cudaEventRecord(all.e, all.s) == cudaSuccess);
    CHECK(cudaEventQuery(all.e) == cudaErrorStreamCaptureUnsupported);
    CHECK(misuse() == "cudaEventQuery: spoils what another thread captures");
    CHECK(cudaFreeAsync(all.there, all.s) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamSynchronize(all.s) == cudaErrorStreamCaptureUnsupported);
    CHECK(stand_in::misuses().size() == 3);
    SECTION("but not from a thread that says that it has nothing to do with it") {
        before = cudaStreamCaptureModeRelaxed;
        CHECK(cudaThreadExchangeStreamCaptureMode(&before) == cudaSuccess);
        CHECK(before == cudaStreamCaptureModeThreadLocal);
    }
    SECTION("and not afterwards") { stand_in::capture_elsewhere(false); }
    for (const auto& [name, call] : all.calls()) {
        INFO(name);
        if (name == "cudaThreadExchangeStreamCaptureMode") continue;
        stand_in::wait_until_idle();
        CHECK(call() == cudaSuccess);
    }
    CHECK(stand_in::misuses().size() == 3);
}

TEST_CASE_METHOD(fixture, "what is left behind is listed") {
    CHECK(stand_in::leaks().empty());
    const everything all;
    const std::vector<std::string> expected{"a stream of device 0 was not destroyed",
                                            "an event of device 0 was not destroyed",
                                            "a memory pool of device 0 was not destroyed",
                                            "a graph was not destroyed",
                                            "an instantiated graph was not destroyed"};
    auto leaks = stand_in::leaks();
    REQUIRE(leaks.size() == 7);
    CHECK(std::vector(leaks.begin(), leaks.begin() + 5) == expected);
    std::sort(leaks.begin() + 5, leaks.end());
    CHECK(leaks[5] == "8 bytes of memory of device 0 were not freed");
    CHECK(leaks[6] == "8 bytes of page-locked memory were not freed");
    CHECK(cudaFreeAsync(all.there, all.s) == cudaSuccess);
    CHECK(cudaFreeHost(all.here) == cudaSuccess);
    CHECK(cudaGraphExecDestroy(all.executable) == cudaSuccess);
    CHECK(cudaGraphDestroy(all.graph) == cudaSuccess);
    CHECK(cudaMemPoolDestroy(all.pool) == cudaSuccess);
    CHECK(cudaEventDestroy(all.e) == cudaSuccess);
    CHECK(cudaStreamDestroy(all.s) == cudaSuccess);
    CHECK(stand_in::leaks().empty());
}

TEST_CASE_METHOD(fixture, "what the documentation forbids as an argument is refused") {
    const everything all;
    cudaStream_t s = nullptr;
    cudaEvent_t e = nullptr;
    void* p = nullptr;
    int n = 0;
    CHECK(cudaStreamCreateWithFlags(&s, 2) == cudaErrorInvalidValue);
    CHECK(cudaStreamCreateWithFlags(nullptr, cudaStreamDefault) == cudaErrorInvalidValue);
    CHECK(cudaStreamWaitEvent(all.s, all.e, 2) == cudaErrorInvalidValue);
    CHECK(cudaLaunchHostFunc(all.s, nullptr, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaEventCreateWithFlags(&e, 8) == cudaErrorInvalidValue);
    CHECK(cudaEventCreateWithFlags(&e, cudaEventInterprocess) == cudaErrorInvalidValue);
    CHECK(cudaEventCreateWithFlags(nullptr, cudaEventDefault) == cudaErrorInvalidValue);
    CHECK(cudaHostAlloc(&p, 8, 8) == cudaErrorInvalidValue);
    CHECK(cudaMalloc(nullptr, 8) == cudaErrorInvalidValue);
    CHECK(cudaMallocFromPoolAsync(&p, 0, all.pool, all.s) == cudaErrorInvalidValue);
    CHECK(cudaMemPoolCreate(nullptr, nullptr) == cudaErrorInvalidValue);
    cudaMemPool_t pool = nullptr;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    const auto refuses = [&](auto member, auto value, cudaError_t code) {
        cudaMemPoolProps wrong = properties;
        wrong.*member = value;
        CHECK(cudaMemPoolCreate(&pool, &wrong) == code);
    };
    refuses(&cudaMemPoolProps::allocType, cudaMemAllocationTypeManaged, cudaErrorInvalidValue);
    refuses(&cudaMemPoolProps::handleTypes, cudaMemHandleTypePosixFileDescriptor, cudaErrorInvalidValue);
    refuses(&cudaMemPoolProps::location, cudaMemLocation{cudaMemLocationTypeHost, 0}, cudaErrorInvalidValue);
    refuses(&cudaMemPoolProps::location, cudaMemLocation{cudaMemLocationTypeDevice, 1},
            cudaErrorInvalidDevice);
    CHECK(cudaMemPoolSetAttribute(all.pool, cudaMemPoolAttrReleaseThreshold, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(cudaMemPoolSetAttribute(all.pool, cudaMemPoolAttrReservedMemCurrent, &n) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyAsync(nullptr, all.here, 8, cudaMemcpyDefault, all.s) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyAsync(all.there, all.here, 8, static_cast<cudaMemcpyKind>(5), all.s) ==
          cudaErrorInvalidMemcpyDirection);
    CHECK(cudaGetDevice(nullptr) == cudaErrorInvalidValue);
    CHECK(cudaRuntimeGetVersion(nullptr) == cudaErrorInvalidValue);
    CHECK(cudaDriverGetVersion(nullptr) == cudaErrorInvalidValue);
    CHECK(cudaDeviceGetAttribute(nullptr, cudaDevAttrAsyncEngineCount, 0) == cudaErrorInvalidValue);
    CHECK(cudaGetDeviceCount(nullptr) == cudaErrorInvalidValue);
    CHECK(cudaDeviceGetAttribute(&n, cudaDevAttrAsyncEngineCount, -1) == cudaErrorInvalidDevice);
    CHECK(cudaStreamGetDevice(all.s, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaThreadExchangeStreamCaptureMode(nullptr) == cudaErrorInvalidValue);
    cudaStreamCaptureMode mode = static_cast<cudaStreamCaptureMode>(3);
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode) == cudaErrorInvalidValue);
    CHECK(cudaEventElapsedTime(nullptr, all.e, all.e) == cudaErrorInvalidValue);
    CHECK(stand_in::misuses().empty());
    CHECK(stand_in::leaks().size() == 7);
    CHECK_THROWS_AS(stand_in::set_device_count(0), std::invalid_argument);
    stand_in::support_memory_pools(false);
    CHECK(cudaMemPoolCreate(&pool, &properties) == cudaErrorNotSupported);
}

// --- Faults.

TEST_CASE_METHOD(fixture, "each function can be told to fail, does nothing then, and is counted") {
    const everything all;
    CHECK(cudaEventRecord(all.e, all.s) == cudaSuccess);
    for (const auto& [name, call] : all.calls()) {
        INFO(name);
        const std::size_t before = stand_in::calls(name), any = stand_in::calls();
        stand_in::fail_call_of(name, 1, cudaErrorUnknown);
        CHECK(call() == cudaErrorUnknown);
        CHECK(cudaPeekAtLastError() == cudaErrorUnknown);
        CHECK(cudaGetLastError() == cudaErrorUnknown);
        CHECK(cudaGetLastError() == cudaSuccess);
        CHECK(stand_in::leaks().size() == 7);
        CHECK(stand_in::calls(name) == before + 1);
        CHECK(stand_in::calls() == any + 1);
    }
    // Those that end something failed; what they left can be left out.
    CHECK(stand_in::leaks(stand_in::after_a_failed_free::left_out).empty());
    for (const auto& [name, call] : all.calls()) {
        INFO(name);
        stand_in::wait_until_idle();
        CHECK(call() == cudaSuccess);
    }
    CHECK(stand_in::misuses().empty());
}

TEST_CASE_METHOD(fixture, "each call of a function can be told to fail, until that is forgotten") {
    const auto s = make_stream();
    stand_in::fail_each_call_of("cudaStreamQuery", cudaErrorUnknown);
    for (int i = 0; i < 3; ++i) CHECK(cudaStreamQuery(s) == cudaErrorUnknown);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(stand_in::forget_faults() == 1);
    CHECK(cudaStreamQuery(s) == cudaSuccess);
}

TEST_CASE_METHOD(fixture, "the n-th call from now fails, and only that one") {
    stand_in::fail_call(2, cudaErrorMemoryAllocation);
    stand_in::fail_call_of("cudaMalloc", 1, cudaErrorUnknown);
    int device = -1;
    void* p = nullptr;
    CHECK(cudaGetDevice(&device) == cudaSuccess);
    CHECK(cudaGetDevice(&device) == cudaErrorMemoryAllocation);
    CHECK(cudaGetDevice(&device) == cudaSuccess);
    CHECK(cudaMalloc(&p, 8) == cudaErrorUnknown);
    CHECK(p == nullptr);
    CHECK(cudaMalloc(&p, 8) == cudaSuccess);
    CHECK_THROWS_AS(stand_in::fail_call(0, cudaErrorUnknown), std::invalid_argument);
}

TEST_CASE_METHOD(fixture, "after a sticky error all calls of the device fail, and what they end is gone") {
    stand_in::set_device_count(2);
    const everything all;
    std::atomic<int> called = 0;
    bool ran = false;
    stand_in::hold(all.s);
    stand_in::hold(nullptr);
    stand_in::launch(all.s, [&] { ran = true; });
    stand_in::launch(nullptr, [&] { ran = true; });
    CHECK(cudaLaunchHostFunc(all.s, count, &called) == cudaSuccess);
    CHECK(cudaEventRecord(all.e, all.s) == cudaSuccess);
    SECTION("told") { stand_in::poison(cudaErrorIllegalAddress); }
    SECTION("of a call") {
        stand_in::fail_call(1, cudaErrorIllegalAddress, true);
        CHECK(cudaStreamQuery(all.s) == cudaErrorIllegalAddress);
    }
    SECTION("of a kernel") {
        const auto other = make_stream();
        CHECK(stand_in::fail_kernel(other, cudaErrorIllegalAddress) == cudaSuccess);
        CHECK(cudaStreamSynchronize(other) == cudaErrorIllegalAddress);
        CHECK(cudaStreamDestroy(other) == cudaErrorIllegalAddress);
    }
    stand_in::release_all();
    stand_in::wait_until_idle();
    CHECK(stand_in::launch(all.s, [&] { ran = true; }) == cudaErrorIllegalAddress);
    for (const auto& [name, call] : all.calls()) {
        INFO(name);
        const bool of_no_device =
            name.ends_with("Version") || name == "cudaGetDeviceCount" || name == "cudaGetDevice";
        CHECK(call() == (of_no_device ? cudaSuccess : cudaErrorIllegalAddress));
    }
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK(stand_in::leaks().empty());
    CHECK(stand_in::misuses().empty());
    CHECK(called == 0);
    CHECK_FALSE(ran);

    CHECK(cudaSetDevice(1) == cudaSuccess);
    const auto healthy = make_stream();
    stand_in::launch(healthy, [&] { ran = true; });
    CHECK(cudaStreamSynchronize(healthy) == cudaSuccess);
    CHECK(ran);
}

TEST_CASE_METHOD(fixture, "what a sticky error drops is no misuse, in whatever order it goes") {
    const auto frees = make_stream(), copies = make_stream();
    const auto copied = make_event();
    std::byte* const there = on_device(8);
    std::byte* const here = page_locked(8);
    stand_in::hold(copies);
    copy_up(there, here, 8, copies);
    CHECK(cudaEventRecord(copied, copies) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(frees, copied) == cudaSuccess);
    CHECK(cudaFreeAsync(there, frees) == cudaSuccess);
    stand_in::poison(cudaErrorLaunchFailure);
    CHECK(cudaFreeHost(here) == cudaErrorLaunchFailure);
    CHECK(stand_in::misuses().empty());
    CHECK(all_are(there, 8, stand_in::already_freed));
    CHECK(all_are(here, 8, stand_in::already_freed));
}

TEST_CASE_METHOD(fixture, "a thread that waits is told of a sticky error") {
    const auto s = make_stream();
    stand_in::launch(s, [] {});
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    stand_in::hold(s);
    stand_in::launch(s, [] {});
    const std::size_t before = stand_in::calls();
    auto waiting = std::async(std::launch::async, [=] { return cudaStreamSynchronize(s); });
    while (stand_in::calls() == before) std::this_thread::yield();
    stand_in::poison(cudaErrorLaunchFailure);
    CHECK(waiting.get() == cudaErrorLaunchFailure);
}

TEST_CASE_METHOD(fixture, "a thread that waits is told of a sticky error when what was running is over") {
    const auto s = make_stream();
    std::promise<void> begun, go;
    std::atomic<bool> over = false;
    stand_in::launch(s, [&] {
        begun.set_value();
        go.get_future().wait();
        over = true;
    });
    begun.get_future().wait();
    const std::size_t before = stand_in::calls();
    auto waiting = std::async(std::launch::async, [&] {
        const cudaError_t code = cudaStreamSynchronize(s);
        return std::pair(code, over.load());
    });
    while (stand_in::calls() == before) std::this_thread::yield();
    stand_in::poison(cudaErrorLaunchFailure);
    go.set_value();
    CHECK(waiting.get() == std::pair(cudaErrorLaunchFailure, true));
}

TEST_CASE_METHOD(fixture, "without a device everything says why, but for the versions") {
    const everything all;
    const auto why = GENERATE(cudaErrorNoDevice, cudaErrorInsufficientDriver);
    stand_in::no_device(why);
    for (const auto& [name, call] : all.calls()) {
        INFO(name);
        CHECK(call() == (name.ends_with("Version") ? cudaSuccess : why));
    }
    int value = -1;
    CHECK(cudaGetDeviceCount(&value) == why);
    CHECK(value == 0);
    CHECK(cudaDriverGetVersion(&value) == cudaSuccess);
    CHECK(value == (why == cudaErrorNoDevice ? CUDART_VERSION : 0));
    CHECK(stand_in::misuses().empty());
}

TEST_CASE_METHOD(fixture, "errors have their names") {
    CHECK(cudaGetErrorName(cudaErrorIllegalAddress) == std::string("cudaErrorIllegalAddress"));
    CHECK(cudaGetErrorName(cudaSuccess) == std::string("cudaSuccess"));
    CHECK(cudaGetErrorString(cudaErrorNotReady) == std::string("the work is not done yet"));
    CHECK(cudaGetErrorString(static_cast<cudaError_t>(12)) == std::string("unrecognized error code"));
    CHECK(stand_in::calls() == 0);
}

// --- Host functions.

TEST_CASE_METHOD(fixture, "a host function holds up its stream, and no other one") {
    const auto s = make_stream(), other = make_stream();
    struct gate {
        std::promise<void> begun{}, go{};
        std::string order{};
    } g;
    const auto wait = [](void* p) {
        auto& mine = *static_cast<gate*>(p);
        mine.begun.set_value();
        mine.go.get_future().wait();
        mine.order += '1';
    };
    CHECK(cudaLaunchHostFunc(s, wait, &g) == cudaSuccess);
    g.begun.get_future().wait();
    stand_in::launch(s, [&] { g.order += '2'; });
    stand_in::launch(other, [] {});
    CHECK(cudaStreamSynchronize(other) == cudaSuccess);
    CHECK(cudaStreamQuery(s) == cudaErrorNotReady);
    g.go.set_value();
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(g.order == "12");
}

TEST_CASE_METHOD(fixture, "host functions can be dropped, though the work is done") {
    const auto s = make_stream();
    std::atomic<int> called = 0;
    stand_in::drop_host_functions(true);
    CHECK(cudaLaunchHostFunc(s, count, &called) == cudaSuccess);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(called == 0);
    stand_in::drop_host_functions(false);
    CHECK(cudaLaunchHostFunc(s, count, &called) == cudaSuccess);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(called == 1);
}

TEST_CASE_METHOD(fixture, "host functions can be called late, by another thread, or then never") {
    const auto s = make_stream();
    std::atomic<int> called = 0;
    stand_in::hold_host_functions();
    for (int i = 0; i < 3; ++i) CHECK(cudaLaunchHostFunc(s, count, &called) == cudaSuccess);
    stand_in::launch(s, [] {});
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(cudaStreamDestroy(s) == cudaSuccess);
    CHECK(called == 0);
    int expected = 3;
    SECTION("") {}
    SECTION("after an error") { stand_in::poison(cudaErrorLaunchFailure), expected = 0; }
    SECTION("after they are to be dropped") { stand_in::drop_host_functions(true), expected = 0; }
    stand_in::release_host_functions();
    stand_in::wait_until_idle();
    CHECK(called == expected);
}

// --- Gates.

TEST_CASE_METHOD(fixture, "all streams can be held, those of the future, too") {
    const auto a = make_stream();
    stand_in::hold_all();
    const auto b = make_stream();
    std::atomic<int> done = 0;
    for (const auto s : {a, b, cudaStream_t{}}) stand_in::launch(s, [&] { ++done; });
    stand_in::wait_until_idle();
    CHECK(done == 0);
    stand_in::release_all();
    stand_in::wait_until_idle();
    CHECK(done == 3);
}

TEST_CASE("what is still held at a reset is dropped, and that is an error") {
    stand_in::reset();
    const auto s = make_stream();
    stand_in::hold(s);
    bool ran = false;
    stand_in::launch(s, [&] { ran = true; });
    stand_in::fail_call(100, cudaErrorUnknown);
    CHECK_THROWS_WITH(stand_in::reset(), ContainsSubstring("work was still held"));
    CHECK(stand_in::leaks().empty());
    CHECK(stand_in::calls() == 0);
    stand_in::reset();
    CHECK_FALSE(ran);
    CHECK(cudaStreamQuery(s) == cudaErrorInvalidResourceHandle);
    stand_in::reset();
    CHECK(stand_in::misuses().empty());
}

TEST_CASE_METHOD(fixture, "after a reset, nothing is as it was told to be") {
    std::atomic<int> called = 0;
    int value = -1;
    stand_in::set_device_count(2);
    CHECK(cudaSetDevice(1) == cudaSuccess);
    CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice);
    stand_in::set_model({1e6, 1ms, stand_in::pace::at_once});
    stand_in::support_memory_pools(false);
    stand_in::drop_host_functions(true);
    stand_in::hold_host_functions();
    stand_in::hold_all();
    stand_in::capture_elsewhere(true);
    stand_in::no_device(cudaErrorNoDevice);
    stand_in::poison(cudaErrorLaunchFailure);
    stand_in::reset();
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(cudaGetDevice(&value) == cudaSuccess);
    CHECK(value == 0);
    CHECK(cudaGetDeviceCount(&value) == cudaSuccess);
    CHECK(value == 1);
    const auto s = make_stream();
    const auto e = make_event();
    make_pool();
    CHECK(cudaMemsetAsync(on_device(8), 0, 8, s) == cudaSuccess);
    CHECK(cudaLaunchHostFunc(s, count, &called) == cudaSuccess);
    CHECK(cudaEventRecord(e, s) == cudaSuccess);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(called == 1);
    CHECK(stand_in::stamp(e) == 8ns);
}

// --- Captures, and graphs.

TEST_CASE_METHOD(fixture, "what is captured isn't done, and a graph does it at each launch, on any stream") {
    const auto s = make_stream(), other = make_stream();
    std::byte* const there = on_device(8);
    std::byte* const here = page_locked(8);
    std::memset(here, 1, 8);
    std::atomic<int> called = 0;
    int kernels = 0;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusInvalidated;
    CHECK(cudaStreamIsCapturing(s, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusNone);
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == cudaErrorIllegalState);
    CHECK(cudaStreamIsCapturing(s, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusActive);
    copy_up(there, here, 8, s);
    CHECK(cudaLaunchHostFunc(s, count, &called) == cudaSuccess);
    CHECK(stand_in::launch(s, [&] { ++kernels; }) == cudaSuccess);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(s, &graph) == cudaSuccess);
    CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorIllegalState);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(all_are(there, 8, stand_in::never_written));
    CHECK(called + kernels == 0);

    CHECK(stand_in::work_in(graph) == 3);
    const cudaGraphExec_t executable = make_executable(graph);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    for (const auto on : {s, other, other}) CHECK(cudaGraphLaunch(executable, on) == cudaSuccess);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(cudaStreamSynchronize(other) == cudaSuccess);
    CHECK(all_are(there, 8, std::byte{1}));
    CHECK(called == 3);
    CHECK(kernels == 3);
    CHECK(stand_in::work_done() == 9);
    CHECK(stand_in::leaks().size() == 5);
    CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
    CHECK(cudaGraphLaunch(executable, s) == cudaErrorInvalidValue);
    CHECK(misuse() == "cudaGraphLaunch: the graph was destroyed, or never was one");
}

TEST_CASE_METHOD(fixture, "a capture is spoilt by who asks for an end of what is captured") {
    const auto s = make_stream();
    const auto e = make_event();
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed) == cudaSuccess);
    CHECK(cudaEventRecord(e, s) == cudaSuccess);
    SECTION("of the stream, by waiting") {
        CHECK(cudaStreamSynchronize(s) == cudaErrorStreamCaptureUnsupported);
    }
    SECTION("of the stream, by asking") { CHECK(cudaStreamQuery(s) == cudaErrorStreamCaptureUnsupported); }
    SECTION("of an event, by waiting") { CHECK(cudaEventSynchronize(e) == cudaErrorCapturedEvent); }
    SECTION("of an event, by asking") { CHECK(cudaEventQuery(e) == cudaErrorCapturedEvent); }
    CHECK(misuse().ends_with("captured") != misuse().ends_with("its work has no end to ask for"));
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    CHECK(cudaStreamIsCapturing(s, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusInvalidated);
    CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated);
    CHECK(graph == nullptr);
    CHECK(cudaEventQuery(e) == cudaErrorCapturedEvent);
    CHECK(cudaEventRecord(e, s) == cudaSuccess);
    CHECK(cudaEventQuery(e) == cudaSuccess);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(stand_in::misuses().size() == 1);
}

TEST_CASE_METHOD(fixture,
                 "a stream that waits for a captured event is captured, too; and none waits for others") {
    const auto a = make_stream(), b = make_stream(), c = make_stream();
    const auto of_a = make_event(), of_c = make_event();
    int ran = 0;
    cudaGraph_t graph = nullptr;
    CHECK(cudaEventRecord(of_c, c) == cudaSuccess);
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(a, of_c) == cudaErrorStreamCaptureIsolation);
    CHECK(cudaEventRecord(of_a, a) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(b, of_a) == cudaSuccess);
    CHECK(stand_in::launch(b, [&] { ++ran; }) == cudaSuccess);
    CHECK(cudaStreamEndCapture(b, &graph) == cudaErrorIllegalState);
    CHECK(cudaStreamEndCapture(a, &graph) == cudaSuccess);
    CHECK(cudaStreamSynchronize(b) == cudaSuccess);
    CHECK(ran == 0);
    const cudaGraphExec_t executable = make_executable(graph);
    CHECK(cudaGraphLaunch(executable, c) == cudaSuccess);
    CHECK(cudaStreamSynchronize(c) == cudaSuccess);
    CHECK(ran == 1);
    CHECK(stand_in::misuses().empty());
}

TEST_CASE_METHOD(fixture, "what isn't put into a graph is refused, and only who began a capture ends it") {
    const auto s = make_stream();
    const auto pool = make_pool();
    std::byte* const there = on_device(8);
    std::byte* const in_pool = from_pool(pool, 8, s);
    std::byte local{};
    void* p = nullptr;
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    cudaStreamCaptureMode relaxed = cudaStreamCaptureModeRelaxed;
    CHECK(cudaThreadExchangeStreamCaptureMode(&relaxed) == cudaSuccess);
    CHECK(cudaMallocFromPoolAsync(&p, 8, pool, s) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaFreeAsync(in_pool, s) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaMemcpyAsync(there, &local, 1, cudaMemcpyDefault, s) == cudaErrorStreamCaptureUnsupported);
    std::thread([&] { CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureWrongThread); }).join();
    CHECK(cudaStreamEndCapture(s, &graph) == cudaSuccess);
    CHECK(cudaFreeAsync(in_pool, s) == cudaSuccess);
    CHECK(stand_in::misuses().empty());
}

TEST_CASE_METHOD(fixture, "a capture is spoilt by what its mode forbids, to its thread or to all") {
    const auto s = make_stream(), other = make_stream();
    cudaGraph_t graph = nullptr;
    const auto synchronised_elsewhere = [&] {
        return std::async(std::launch::async, [&] { return cudaStreamSynchronize(other); }).get();
    };
    SECTION("all") {
        CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == cudaSuccess);
        CHECK(synchronised_elsewhere() == cudaErrorStreamCaptureUnsupported);
        CHECK(misuse() == "cudaStreamSynchronize: spoils what another thread captures");
        CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated);
    }
    SECTION("its own") {
        CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
        CHECK(synchronised_elsewhere() == cudaSuccess);
        CHECK(cudaStreamSynchronize(other) == cudaErrorStreamCaptureUnsupported);
        CHECK(misuse() == "cudaStreamSynchronize: spoils what this thread captures");
        CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated);
    }
    SECTION("none") {
        CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed) == cudaSuccess);
        CHECK(synchronised_elsewhere() == cudaSuccess);
        CHECK(cudaStreamSynchronize(other) == cudaSuccess);
        CHECK(cudaStreamEndCapture(s, &graph) == cudaSuccess);
        CHECK(stand_in::misuses().empty());
    }
}

TEST_CASE_METHOD(fixture, "the default stream is of no use while a stream that it waits for is captured") {
    cudaStream_t blocking = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&blocking, cudaStreamDefault) == cudaSuccess);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = nullptr;
    const auto e = make_event();
    CHECK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed) == cudaSuccess);
    CHECK(cudaStreamIsCapturing(nullptr, &status) == cudaErrorStreamCaptureImplicit);
    CHECK(cudaEventRecord(e, nullptr) == cudaErrorStreamCaptureImplicit);
    CHECK(cudaStreamEndCapture(blocking, &graph) == cudaSuccess);
    CHECK(cudaStreamIsCapturing(nullptr, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusNone);
    CHECK(stand_in::misuses().empty());
}

// --- What hides mistakes where there is enough of everything.

TEST_CASE_METHOD(fixture,
                 "device memory can be limited, and what is freed is there for others once that is done") {
    const auto s = make_stream(), other = make_stream();
    const auto pool = make_pool();
    stand_in::set_device_memory(100);
    void* p = nullptr;
    std::byte* const first = from_pool(pool, 60, s);
    CHECK(cudaMallocFromPoolAsync(&p, 60, pool, s) == cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&p, 41) == cudaErrorMemoryAllocation);
    CHECK(stand_in::device_memory_used() == 60);
    CHECK(cudaHostAlloc(&p, 1000, 0) == cudaSuccess);
    stand_in::hold(s);
    CHECK(cudaFreeAsync(first, s) == cudaSuccess);
    CHECK(cudaMallocFromPoolAsync(&p, 60, pool, other) == cudaErrorMemoryAllocation);
    std::byte* const behind = from_pool(pool, 100, s);
    CHECK(cudaMallocFromPoolAsync(&p, 1, pool, s) == cudaErrorMemoryAllocation);
    stand_in::release(s);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(cudaFreeAsync(behind, s) == cudaSuccess);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(cudaFree(on_device(100)) == cudaSuccess);
    CHECK(stand_in::device_memory_used() == 0);
    CHECK(stand_in::most_device_memory_used() == 160);  // in the order of the streams, 100
    CHECK(stand_in::misuses().empty());
}

TEST_CASE_METHOD(fixture, "a device has a context once something needs one, and no sooner") {
    stand_in::set_device_count(3);
    int value = 0;
    CHECK(cudaGetDeviceCount(&value) == cudaSuccess);
    CHECK(cudaGetDevice(&value) == cudaSuccess);
    CHECK(stand_in::contexts().empty());
    CHECK(cudaSetDevice(1) == cudaSuccess);
    CHECK(stand_in::contexts() == std::vector{1});
    const auto s = make_stream();
    std::thread([&] { CHECK(cudaStreamSynchronize(s) == cudaSuccess); }).join();
    CHECK(stand_in::contexts() == std::vector{1});
    SECTION("by an event") {
        std::thread([] { make_event(); }).join();
    }
    SECTION("by memory") {
        std::thread([] { page_locked(1); }).join();
    }
    SECTION("by its default stream") {
        std::thread([] { (void)cudaStreamQuery(nullptr); }).join();
    }
    CHECK(stand_in::contexts() == std::vector{0, 1});
}

TEST_CASE_METHOD(fixture, "that work isn't done can be remembered as an error") {
    const auto s = make_stream();
    stand_in::hold(s);
    stand_in::launch(s, [] {});
    CHECK(cudaStreamQuery(s) == cudaErrorNotReady);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    stand_in::remember_not_ready(true);
    CHECK(cudaStreamQuery(s) == cudaErrorNotReady);
    CHECK(cudaGetLastError() == cudaErrorNotReady);
    CHECK(cudaGetLastError() == cudaSuccess);
    stand_in::release(s);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
}

TEST_CASE_METHOD(fixture, "handles and addresses can come back") {
    std::byte* const there = on_device(8);
    const auto e = make_event();
    const auto s = make_stream();
    CHECK(cudaFree(there) == cudaSuccess);
    CHECK(on_device(8) != there);
    stand_in::reuse_addresses(true);
    CHECK(on_device(16) != there);
    CHECK(on_device(8) == there);
    CHECK(all_are(there, 8, stand_in::never_written));
    CHECK(cudaEventDestroy(e) == cudaSuccess);
    CHECK(make_event() == e);
    CHECK(cudaStreamDestroy(s) == cudaSuccess);
    CHECK(make_stream() == s);
    CHECK(stand_in::misuses().empty());
}

TEST_CASE_METHOD(fixture, "host functions are called one at a time, whatever streams they are in") {
    const auto a = make_stream(), b = make_stream();
    struct gate {
        std::promise<void> begun{}, go{};
        std::atomic<bool> over{false};
    } g;
    std::atomic<int> called = 0;
    CHECK(cudaLaunchHostFunc(
              a,
              [](void* p) {
                  auto& mine = *static_cast<gate*>(p);
                  mine.begun.set_value();
                  mine.go.get_future().wait();
                  mine.over = true;
              },
              &g) == cudaSuccess);
    g.begun.get_future().wait();
    CHECK(cudaLaunchHostFunc(b, count, &called) == cudaSuccess);
    CHECK(cudaStreamQuery(b) == cudaErrorNotReady);
    CHECK(called == 0);
    g.go.set_value();
    CHECK(cudaStreamSynchronize(b) == cudaSuccess);
    CHECK(g.over);
    CHECK(called == 1);
    CHECK(stand_in::misuses().empty());
}

TEST_CASE_METHOD(fixture, "the runtime tells of what kind memory is") {
    cudaPointerAttributes of{};
    const int local = 0;
    CHECK(cudaPointerGetAttributes(&of, &local) == cudaSuccess);
    CHECK(of.type == cudaMemoryTypeUnregistered);
    CHECK(cudaPointerGetAttributes(&of, page_locked(8) + 7) == cudaSuccess);
    CHECK(of.type == cudaMemoryTypeHost);
    std::byte* const there = on_device(8);
    CHECK(cudaPointerGetAttributes(&of, there + 1) == cudaSuccess);
    CHECK(of.type == cudaMemoryTypeDevice);
    CHECK(of.device == 0);
}

// --- Time.

namespace {
// A kilobyte takes a microsecond and a bit: 1000 ns for `unit` bytes.
constexpr stand_in::model simple(1e9, 10ns, stand_in::pace::at_once);
constexpr std::size_t unit = 990;
constexpr auto stamp_after = [](cudaStream_t s) {
    const auto e = make_event();
    REQUIRE(cudaEventRecord(e, s) == cudaSuccess);
    return stand_in::stamp(e);
};
}  // namespace

TEST_CASE_METHOD(fixture,
                 "on the device's clock, copies overlap with kernels and with those of the other direction") {
    stand_in::set_model(simple);
    const auto copies = make_stream(), kernels = make_stream(), results = make_stream();
    for (int i = 0; i < 3; ++i) {
        std::byte* const there = on_device(unit);
        std::byte* const here = page_locked(2 * unit);
        const auto copied = make_event(), computed = make_event();
        copy_up(there, here, unit, copies);
        CHECK(cudaEventRecord(copied, copies) == cudaSuccess);
        CHECK(cudaStreamWaitEvent(kernels, copied) == cudaSuccess);
        stand_in::launch(kernels, [] {}, 2000ns);
        CHECK(cudaEventRecord(computed, kernels) == cudaSuccess);
        CHECK(cudaStreamWaitEvent(results, computed) == cudaSuccess);
        copy_down(here + unit, there, unit, results);
        CHECK(stand_in::stamp(copied) == (i + 1) * 1000ns);
        CHECK(stand_in::stamp(computed) == 1000ns + (i + 1) * 2000ns);
        CHECK(stamp_after(results) == 2000ns + (i + 1) * 2000ns);
    }
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE_METHOD(fixture,
                 "on the device's clock, copies of one direction have one engine, and use its gaps") {
    stand_in::set_model(simple);
    const auto a = make_stream(), b = make_stream(), c = make_stream(), d = make_stream();
    std::byte* const there = on_device(3 * unit);
    std::byte* const here = page_locked(3 * unit);
    std::byte* const from = on_device(2 * unit + 10);
    std::byte* const back = page_locked(2 * unit + 10);
    stand_in::launch(a, [] {}, 1500ns);
    copy_up(there, here, unit, a);
    CHECK(stamp_after(a) == 2500ns);
    copy_up(there + unit, here, unit, b);
    CHECK(stamp_after(b) == 1000ns);
    copy_up(there + 2 * unit, here, unit, c);  // from 1000 on it doesn't fit in before a's
    CHECK(stamp_after(c) == 3500ns);
    const auto late = make_stream();
    stand_in::launch(late, [] {}, 5000ns);
    copy_up(on_device(unit), here, unit, late);
    CHECK(stamp_after(late) == 6000ns);
    copy_up(there + unit, here, unit, b);  // behind c's
    CHECK(stamp_after(b) == 4500ns);
    copy_down(back, from, 2 * unit + 10, d);
    CHECK(stamp_after(d) == 2000ns);
    const auto e = make_stream(), f = make_stream();
    copy_down(page_locked(unit), from, unit, e);
    CHECK(stamp_after(e) == 3000ns);
    CHECK(cudaMemcpyAsync(on_device(unit), from, unit, cudaMemcpyDeviceToDevice, f) == cudaSuccess);
    CHECK(stamp_after(f) == 1000ns);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE_METHOD(fixture, "on the device's clock, nothing begins before what the host has seen the end of") {
    stand_in::set_model(simple);
    const auto a = make_stream(), b = make_stream();
    const auto e = make_event();
    stand_in::launch(a, [] {}, 1000ns);
    CHECK(stamp_after(b) == 0ns);
    SECTION("by synchronising") { CHECK(cudaStreamSynchronize(a) == cudaSuccess); }
    SECTION("by a query of the stream") {
        stand_in::wait_until_idle();
        CHECK(cudaStreamQuery(a) == cudaSuccess);
    }
    SECTION("by a query of an event") {
        CHECK(cudaEventRecord(e, a) == cudaSuccess);
        stand_in::wait_until_idle();
        CHECK(cudaEventQuery(e) == cudaSuccess);
    }
    SECTION("by a host function") {
        CHECK(cudaLaunchHostFunc(a, [](void*) {}, nullptr) == cudaSuccess);
        stand_in::wait_until_idle();
    }
    CHECK(stamp_after(b) == 1000ns);
    stand_in::launch(b, [] {}, 500ns);
    CHECK(stamp_after(b) == 1500ns);
}

TEST_CASE_METHOD(fixture, "on the device's clock, a batch has one latency") {
    stand_in::set_model(simple);
    const auto s = make_stream();
    std::byte* const there = on_device(2 * unit);
    std::byte* const here = page_locked(2 * unit);
    void* const to[] = {there, there + unit};
    const void* const from[] = {here, here + unit};
    const std::size_t sizes[] = {unit, unit};
    cudaMemcpyAttributes how{};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, &first, 1, s) == cudaSuccess);
    CHECK(stamp_after(s) == 1990ns);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
}

TEST_CASE_METHOD(fixture, "in real time, copies of one direction take at least what their bytes take") {
    stand_in::set_model({1e9, 1ms});
    const auto a = make_stream(), b = make_stream();
    std::byte* const there = on_device(2000000);
    std::byte* const here = page_locked(1000000);
    const auto before = std::chrono::steady_clock::now();
    copy_up(there, here, 1000000, a);
    copy_up(there + 1000000, here, 1000000, b);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(std::chrono::steady_clock::now() - before >= 4ms);
}

// --- Threads.

TEST_CASE_METHOD(fixture, "all of it may be used by several threads at the same time") {
    std::atomic<int> wrong = 0, called = 0;
    const auto use = [&](int seed) {
        const auto expect = [&](cudaError_t code) { wrong += code != cudaSuccess; };
        cudaStream_t a = nullptr, b = nullptr;
        cudaEvent_t e = nullptr;
        void *there = nullptr, *here = nullptr;
        expect(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
        expect(cudaStreamCreateWithFlags(&b, cudaStreamDefault));
        expect(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
        expect(cudaMalloc(&there, 64));
        expect(cudaHostAlloc(&here, 64, 0));
        std::memset(here, seed, 64);
        for (int i = 0; i < 20; ++i) {
            expect(cudaMemcpyAsync(there, here, 64, cudaMemcpyHostToDevice, a));
            expect(cudaEventRecord(e, a));
            expect(cudaStreamWaitEvent(b, e));
            expect(cudaMemcpyAsync(here, there, 64, cudaMemcpyDeviceToHost, b));
            expect(cudaLaunchHostFunc(b, count, &called));
            expect(cudaEventRecord(e, b));
            while (cudaEventQuery(e) == cudaErrorNotReady) std::this_thread::yield();
        }
        wrong += !all_are(static_cast<std::byte*>(here), 64, std::byte(seed));
        expect(cudaFreeAsync(there, b));
        expect(cudaFreeHost(here));
        expect(cudaEventDestroy(e));
        expect(cudaStreamDestroy(a));
        expect(cudaStreamDestroy(b));
    };
    std::vector<std::thread> threads;
    for (int i = 1; i <= 4; ++i) threads.emplace_back(use, i);
    for (auto& t : threads) t.join();
    stand_in::wait_until_idle();
    CHECK(wrong == 0);
    CHECK(called == 80);
    CHECK(stand_in::misuses().empty());
    CHECK(stand_in::leaks().empty());
}
