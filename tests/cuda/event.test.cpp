#include <weir/cuda/event.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/stream.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task_group.hpp>

#include <optional>

using namespace cuda_tests;
using weir::cuda::context;
using weir::cuda::event;
using weir::cuda::stream;

namespace {

weir::task<> wait_for_event(const event& e, outcome& to) {
    return note([&e] { return e.done(); }, to);
}

}  // namespace

TEST_CASE("an event is over when what was queued before it is done, whatever was queued after it") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::thread_pool home(1);
    const stream s(gpu);
    event e(gpu);
    CHECK(e.ready());
    bool first = false;
    bool second = false;
    stand_in::hold(s.get());
    REQUIRE(stand_in::launch(s.get(), [&] { first = true; }) == cudaSuccess);
    s.record(e);
    CHECK_FALSE(e.ready());
    outcome end;
    weir::task_group group(home);
    group.spawn(wait_for_event(e, end));
    stand_in::wait_until_idle();
    CHECK(end.resumed == 0);
    stand_in::release(s.get());
    weir::sync_wait(group.join());
    CHECK(first);
    CHECK(e.ready());
    stand_in::hold(s.get());
    REQUIRE(stand_in::launch(s.get(), [&] { second = true; }) == cudaSuccess);
    weir::sync_wait(wait_for_event(e, end));
    CHECK_FALSE(second);
    CHECK(end.resumed == 2);
    stand_in::release(s.get());
}

TEST_CASE("an event that was never recorded is over") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const event e(gpu);
    outcome end;
    weir::sync_wait(wait_for_event(e, end));
    CHECK(end.code == cudaSuccess);
}

TEST_CASE("a stream waits for an event of another, and the host for neither") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream before(gpu);
    const stream after(gpu);
    event e(gpu);
    int seen = 0;
    int value = 0;
    stand_in::hold(before.get());
    REQUIRE(stand_in::launch(before.get(), [&] { value = 7; }) == cudaSuccess);
    before.record(e);
    after.wait(e);
    REQUIRE(stand_in::launch(after.get(), [&] { seen = value; }) == cudaSuccess);
    stand_in::release(before.get());
    weir::sync_wait([](stream on) -> weir::task<> { co_await on.done(); }(after));
    CHECK(seen == 7);
}

TEST_CASE("who waits for an event that somebody destroyed in the runtime is told so, and nobody else") {
    const fresh_runtime runtime;
    context gpu;
    const event e(gpu);
    stand_in::fail_call_of("cudaEventQuery", 1, cudaErrorInvalidResourceHandle);
    outcome end;
    weir::sync_wait(wait_for_event(e, end));
    CHECK(end.code == cudaErrorInvalidResourceHandle);
    CHECK(gpu.status() == cudaSuccess);
}

TEST_CASE("an event may be destroyed while it is waited for") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::thread_pool home(1);
    const stream s(gpu);
    outcome end;
    weir::task_group group(home);
    stand_in::hold(s.get());
    REQUIRE(stand_in::launch(s.get(), [] {}) == cudaSuccess);
    std::optional<event> e(gpu);
    s.record(*e);
    const std::size_t queries = stand_in::calls("cudaEventQuery");
    group.spawn(wait_for_event(*e, end));
    wait_for([&] { return stand_in::calls("cudaEventQuery") > queries; });
    e.reset();
    // Another one that is over at once has nothing to do with it.
    event other(gpu);
    const stream elsewhere(gpu);
    elsewhere.record(other);
    const std::size_t asked = stand_in::calls("cudaEventQuery");
    wait_for([&] { return stand_in::calls("cudaEventQuery") > asked + 2; });
    CHECK(end.resumed == 0);
    stand_in::release(s.get());
    weir::sync_wait(group.join());
    CHECK(end.code == cudaSuccess);
}

TEST_CASE("an event of which the runtime can't say whether it is over isn't taken for over") {
    const fresh_runtime runtime;
    context gpu;
    const stream s(gpu);
    event e(gpu);
    stand_in::hold(s.get());
    REQUIRE(stand_in::launch(s.get(), [] {}) == cudaSuccess);
    s.record(e);
    stand_in::fail_call_of("cudaEventQuery", 1,
                           GENERATE(cudaErrorMemoryAllocation, cudaErrorUnknown, cudaErrorCapturedEvent));
    CHECK_FALSE(e.ready());
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(gpu.status() == cudaSuccess);
    stand_in::release(s.get());
    stand_in::wait_until_idle();
    CHECK(e.ready());
}

TEST_CASE("asking an event leaves no error behind, and takes none of others away") {
    const fresh_runtime runtime;
    context gpu;
    const stream s(gpu);
    event e(gpu);
    stand_in::hold(s.get());
    REQUIRE(stand_in::launch(s.get(), [] {}) == cudaSuccess);
    s.record(e);
    CHECK(cudaSetDevice(7) == cudaErrorInvalidDevice);
    CHECK_FALSE(e.ready());
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    stand_in::remember_not_ready(true);
    CHECK_FALSE(e.ready());
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    stand_in::release(s.get());
}

TEST_CASE("an event that finds out that the device is broken is over, and the context knows it") {
    const fresh_runtime runtime;
    context gpu;
    event e(gpu);
    stand_in::poison(cudaErrorIllegalAddress);
    CHECK(e.ready());
    CHECK(gpu.status() == cudaErrorIllegalAddress);
}

TEST_CASE("who waits for an event of a device that breaks gets its error") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    event e(gpu);
    REQUIRE(stand_in::fail_kernel(s.get(), cudaErrorIllegalAddress) == cudaSuccess);
    try {
        s.record(e);
    } catch (const weir::cuda::error& error) {
        CHECK(error.status() == cudaErrorIllegalAddress);  // it was that fast
    }
    outcome end;
    weir::sync_wait(wait_for_event(e, end));
    CHECK(end.code == cudaErrorIllegalAddress);
}

TEST_CASE("without a device an event is always over") {
    stand_in::reset();
    stand_in::no_device(cudaErrorNoDevice);
    {
        context gpu({.or_host = true});
        const stream s(gpu);
        event e(gpu);
        s.record(e);
        s.wait(e);
        CHECK(e.ready());
        outcome end;
        weir::sync_wait(wait_for_event(e, end));
        CHECK(end.code == cudaSuccess);
    }
    stand_in::reset();
}
