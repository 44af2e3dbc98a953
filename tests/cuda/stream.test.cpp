#include <weir/cuda/stream.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/device_pool.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task_group.hpp>

#include <array>
#include <atomic>
#include <coroutine>
#include <cstring>
#include <exception>
#include <numeric>
#include <optional>
#include <thread>

using namespace cuda_tests;
using Catch::Matchers::ContainsSubstring;
using weir::cuda::completion_by;
using weir::cuda::context;
using weir::cuda::context_options;
using weir::cuda::copy;
using weir::cuda::event;
using weir::cuda::piece;
using weir::cuda::stream;

namespace {

weir::task<> end_of(const stream& s, outcome& to) {
    return note([s] { return s.done(); }, to);
}

// A coroutine of somebody else, which begins at once.
struct plain {
    struct promise_type {
        std::exception_ptr error;
        plain get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { error = std::current_exception(); }
    };
    std::coroutine_handle<promise_type> handle;
};

weir::task<> wait_for_event(const event& e, outcome& to) {
    return note([&e] { return e.done(); }, to);
}

}  // namespace

TEST_CASE("who awaits a stream goes on when all that was queued is done, and not before") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::thread_pool home(1);
    const stream s(gpu);
    bool ran = false;
    bool saw = false;
    stand_in::hold(s.get());
    REQUIRE(stand_in::launch(s.get(), [&] { ran = true; }) == cudaSuccess);
    outcome end;
    weir::task_group group(home);
    group.spawn([](stream on, bool& done, bool& seen, outcome& to) -> weir::task<> {
        co_await end_of(on, to);
        seen = done;
    }(s, ran, saw, end));
    stand_in::wait_until_idle();
    CHECK(end.resumed == 0);
    stand_in::release(s.get());
    weir::sync_wait(group.join());
    CHECK(end.resumed == 1);
    CHECK(end.code == cudaSuccess);
    CHECK(saw);
}

TEST_CASE("a stream with nothing in it is done") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    outcome end;
    weir::sync_wait(end_of(s, end));
    CHECK(end.resumed == 1);
    CHECK(end.code == cudaSuccess);
}

TEST_CASE("a coroutine goes on where its executor is, and never inside the driver") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::thread_pool home(1);
    const stream s(gpu);
    const auto where = [&]() -> weir::task<bool> {
        co_await weir::schedule(home);
        const std::thread::id before = std::this_thread::get_id();
        co_await s.done();
        co_return before == std::this_thread::get_id();
    };
    for (int i = 0; i < 20; ++i) CHECK(weir::sync_wait(where()));
}

TEST_CASE("many coroutines that wait for many streams go on once each") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::thread_pool home(2);
    std::vector<stream> streams;
    for (int i = 0; i < 4; ++i) streams.emplace_back(gpu);
    std::vector<outcome> ends(200);
    weir::task_group group(home);
    for (std::size_t i = 0; i < ends.size(); ++i) {
        REQUIRE(stand_in::launch(streams[i % 4].get(), [] {}) == cudaSuccess);
        group.spawn(end_of(streams[i % 4], ends[i]));
    }
    weir::sync_wait(group.join());
    for (const outcome& end : ends) {
        CHECK(end.resumed == 1);
        CHECK(end.code == cudaSuccess);
    }
}

TEST_CASE("where the driver tells, nobody has to ask") {
    const fresh_runtime runtime;
    context gpu({.how = completion_by::host_function, .watchdog = std::chrono::hours(1)});
    const stream s(gpu);
    std::array<outcome, 3> ends;
    for (outcome& end : ends) weir::sync_wait(end_of(s, end));
    for (const outcome& end : ends) CHECK(end.code == cudaSuccess);
    CHECK(stand_in::calls("cudaEventQuery") <= 1);
}

TEST_CASE("a driver that never calls its host functions keeps nobody waiting") {
    const fresh_runtime runtime;
    stand_in::drop_host_functions(true);
    context gpu({.how = completion_by::host_function, .watchdog = std::chrono::milliseconds(1)});
    const stream s(gpu);
    outcome end;
    weir::sync_wait(end_of(s, end));
    CHECK(end.resumed == 1);
    CHECK(end.code == cudaSuccess);
}

TEST_CASE("a host function that comes late, even after its context is gone, resumes nobody again") {
    const fresh_runtime runtime;
    stand_in::hold_host_functions();
    std::array<outcome, 3> ends;
    {
        context gpu({.how = completion_by::host_function, .watchdog = std::chrono::milliseconds(1)});
        const stream s(gpu);
        for (outcome& end : ends) weir::sync_wait(end_of(s, end));
    }
    stand_in::release_host_functions();
    stand_in::wait_until_idle();
    for (const outcome& end : ends) CHECK(end.resumed == 1);
}

TEST_CASE(
    "when the device breaks, all who wait get the error that broke it, once, and so do all who come later") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::thread_pool home(1);
    {
        const stream s(gpu);
        const stream other(gpu);
        std::vector<outcome> ends(10);
        weir::task_group group(home);
        stand_in::hold_all();
        REQUIRE(stand_in::launch(s.get(), [] {}) == cudaSuccess);
        REQUIRE(stand_in::launch(other.get(), [] {}) == cudaSuccess);
        const std::size_t records = stand_in::calls("cudaEventRecord");
        for (std::size_t i = 0; i < ends.size(); ++i) group.spawn(end_of(i % 2 == 0 ? s : other, ends[i]));
        wait_for([&] { return stand_in::calls("cudaEventRecord") == records + ends.size(); });
        stand_in::poison(cudaErrorIllegalAddress);
        weir::sync_wait(group.join());
        for (const outcome& end : ends) {
            CHECK(end.resumed == 1);
            CHECK(end.code == cudaErrorIllegalAddress);
        }
        CHECK(gpu.status() == cudaErrorIllegalAddress);
        outcome later;
        weir::sync_wait(end_of(s, later));
        CHECK(later.resumed == 1);
        CHECK(later.code == cudaErrorIllegalAddress);
        stand_in::release_all();
    }
}

TEST_CASE("a kernel that breaks the device is told of to who waits for it") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    stand_in::hold(s.get());
    REQUIRE(stand_in::fail_kernel(s.get(), cudaErrorLaunchFailure) == cudaSuccess);
    std::thread device([&s] {
        wait_for([] { return stand_in::calls("cudaEventQuery") != 0; });  // it is waited for
        stand_in::release(s.get());
    });
    outcome end;
    weir::sync_wait(end_of(s, end));
    device.join();
    CHECK(end.resumed == 1);
    CHECK(end.code == cudaErrorLaunchFailure);
}

TEST_CASE(
    "what one finds out about the device, all others hear at once, however seldom the rest is asked about") {
    const fresh_runtime runtime;
    context gpu({.how = completion_by::host_function, .watchdog = std::chrono::hours(1)});
    weir::thread_pool home(1);
    const stream s(gpu);
    const stream breaks(gpu);
    weir::cuda::event last(gpu);
    std::vector<outcome> ends(3);
    weir::task_group group(home);
    stand_in::hold(s.get());
    stand_in::hold(breaks.get());
    REQUIRE(stand_in::launch(s.get(), [] {}) == cudaSuccess);
    REQUIRE(stand_in::fail_kernel(breaks.get(), cudaErrorLaunchFailure) == cudaSuccess);
    breaks.record(last);
    const std::size_t records = stand_in::calls("cudaEventRecord");
    for (outcome& end : ends) group.spawn(end_of(s, end));
    wait_for([&] { return stand_in::calls("cudaLaunchHostFunc") == 3; });
    CHECK(stand_in::calls("cudaEventRecord") == records + 3);
    group.spawn([](weir::cuda::event e) -> weir::task<> {
        try {
            co_await e.done();
        } catch (const weir::cuda::error&) {
        }
    }(last));
    stand_in::release(breaks.get());
    weir::sync_wait(group.join());
    for (const outcome& end : ends) CHECK(end.code == cudaErrorLaunchFailure);
    stand_in::release(s.get());
}

TEST_CASE("who finds out that the device is broken tells those at whom a worker has promised to look later") {
    const fresh_runtime runtime;
    context gpu({.how = completion_by::host_function, .watchdog = std::chrono::hours(1)});
    weir::thread_pool home(1);
    const stream s(gpu);
    const stream other(gpu);
    weir::cuda::event pending(gpu);
    weir::cuda::event over(gpu);
    outcome end;
    weir::task_group group(home);
    stand_in::hold(s.get());
    REQUIRE(stand_in::launch(s.get(), [] {}) == cudaSuccess);
    s.record(pending);
    other.record(over);
    group.spawn(end_of(s, end));
    wait_for([&] { return stand_in::calls("cudaLaunchHostFunc") == 1; });
    weir::sync_wait(home, [](weir::cuda::event e) -> weir::task<> { co_await e.done(); }(over));
    stand_in::poison(cudaErrorLaunchFailure);
    CHECK(pending.ready());
    weir::sync_wait(group.join());
    CHECK(end.code == cudaErrorLaunchFailure);
    stand_in::release(s.get());
}

TEST_CASE("a runtime that for once can't say whether work is done is asked again") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    stand_in::fail_call_of("cudaEventQuery", 1, cudaErrorInitializationError);
    outcome end;
    weir::sync_wait(end_of(s, end));
    CHECK(end.code == cudaSuccess);
    CHECK(gpu.status() == cudaSuccess);
}

TEST_CASE("a runtime that can't say whether work is done is asked until it says, and nobody else is harmed") {
    const fresh_runtime runtime;
    weir::cuda::context_options options = either_way();
    options.watchdog = std::chrono::microseconds(100);
    context gpu(options);
    weir::thread_pool home(1);
    const stream s(gpu);
    const stream other(gpu);
    bool ran = false;
    stand_in::hold(s.get());
    REQUIRE(stand_in::launch(s.get(), [&] { ran = true; }) == cudaSuccess);
    const cudaError_t says = GENERATE(cudaErrorStreamCaptureUnsupported, cudaErrorUnknown,
                                      cudaErrorInitializationError, cudaErrorMemoryAllocation);
    stand_in::fail_each_call_of("cudaEventQuery", says);
    outcome end;
    weir::task_group group(home);
    group.spawn(end_of(s, end));
    wait_for([&] { return stand_in::calls("cudaEventQuery") > 50 || end.resumed != 0; });
    CHECK(end.resumed == 0);
    CHECK(gpu.refusal() == says);
    static_cast<void>(stand_in::forget_faults());
    CHECK(gpu.status() == cudaSuccess);
    outcome meanwhile;
    weir::sync_wait(end_of(other, meanwhile));
    CHECK(meanwhile.code == cudaSuccess);
    wait_for([&] { return gpu.refusal() == cudaSuccess; });
    stand_in::release(s.get());
    weir::sync_wait(group.join());
    CHECK(ran);
    CHECK(end.code == cudaSuccess);
}

TEST_CASE("where the runtime can't wait for the end of work at first, it is asked to again") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    bool ran = false;
    REQUIRE(stand_in::launch(s.get(), [&] { ran = true; }) == cudaSuccess);
    stand_in::fail_call_of("cudaEventRecord", 1, cudaErrorMemoryAllocation);
    for (std::size_t n = 1; n <= 30; ++n)
        stand_in::fail_call_of("cudaStreamSynchronize", n, cudaErrorStreamCaptureUnsupported);
    outcome end;
    weir::sync_wait(end_of(s, end));
    CHECK(ran);
    CHECK(end.code == cudaErrorMemoryAllocation);
    CHECK(stand_in::calls("cudaStreamSynchronize") == 31);
    CHECK(gpu.status() == cudaSuccess);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("when somebody resets the device, all who wait are told, as there is nothing left to wait for") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    stand_in::hold(s.get());
    REQUIRE(stand_in::launch(s.get(), [] {}) == cudaSuccess);
    const cudaError_t gone = GENERATE(cudaErrorContextIsDestroyed, cudaErrorCudartUnloading);
    stand_in::fail_call_of("cudaEventQuery", 1, gone);
    outcome end;
    weir::sync_wait(end_of(s, end));
    CHECK(end.code == gone);
    CHECK(gpu.status() == gone);
    stand_in::release(s.get());
}

TEST_CASE("work that is put into a graph is never done, which only who waits for it is told") {
    const fresh_runtime runtime;
    context gpu(context_options{});
    const stream s(gpu);
    stand_in::fail_call_of("cudaEventQuery", 1, cudaErrorCapturedEvent);
    outcome end;
    weir::sync_wait(end_of(s, end));
    CHECK(end.code == cudaErrorCapturedEvent);
    CHECK(gpu.status() == cudaSuccess);
    weir::sync_wait(end_of(s, end));
    CHECK(end.code == cudaSuccess);
}

TEST_CASE("a stream that is captured is refused with a sentence, before anything is put into the graph") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::cuda::pinned_pool pool(gpu, 64, 1);
    const stream mine(gpu), other(gpu);
    cudaStream_t somebodys = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&somebodys, cudaStreamDefault) == cudaSuccess);
    const on_device there(64);
    const std::array<std::byte, 64> here{};
    const std::array<weir::cuda::piece, 1> pieces{{{there.get(), here.data(), 64}}};
    weir::cuda::event e(gpu);
    weir::cuda::device_pool memory(gpu);
    auto buffer = weir::sync_wait(memory.acquire<int>(2, mine));
    const auto refused = [&](const stream& s) {
        const auto says = ContainsSubstring(
            "is captured into a graph: what is put into it isn't done, and has no end; end the "
            "capture first, or use another stream");
        CHECK_THROWS_WITH(weir::sync_wait(s.done()), says);
        CHECK_THROWS_WITH(weir::sync_wait(weir::cuda::copy(s, there.get(), here.data(), 64)), says);
        CHECK_THROWS_WITH(weir::sync_wait(weir::cuda::copy(s, pieces)), says);
        CHECK_THROWS_WITH(s.record(e), says);
        CHECK_THROWS_WITH(s.wait(e), says);
        weir::cuda::lease block = *pool.try_acquire(64);
        CHECK_THROWS_WITH(block.copy_to(s, there.get()), says);
        CHECK_THROWS_WITH(block.return_after(s), says);
        CHECK_THROWS_WITH(buffer.hand_over(s), says);
        CHECK(cudaPeekAtLastError() == cudaSuccess);
    };
    {
        const captured_meanwhile graph(mine.get());
        refused(mine);
        CHECK_THROWS_WITH(buffer.hand_over(other), ContainsSubstring("is captured into a graph"));
        CHECK_FALSE(weir::cuda::detail::is_captured(other.get()));
    }
    {
        const stream borrowed(gpu, somebodys);
        const captured_meanwhile graph(somebodys);
        refused(borrowed);
        refused(stream(gpu, cudaStream_t(nullptr)));  // which waits for that one
    }
    CHECK(gpu.status() == cudaSuccess);
    CHECK(pool.stats().size == 1);
    weir::sync_wait(mine.done());
    buffer = weir::sync_wait(memory.acquire<int>(1, mine));
    CHECK(cudaStreamDestroy(somebodys) == cudaSuccess);
}

TEST_CASE("a capture of another thread is neither noticed by who awaits another stream, nor spoilt") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream captured(gpu);
    const stream s(gpu);
    const captured_meanwhile graph(captured.get(), cudaStreamCaptureModeGlobal);
    outcome end;
    std::thread([&] { weir::sync_wait(end_of(s, end)); }).join();
    CHECK(end.code == cudaSuccess);
}

TEST_CASE("where no event can be set behind the work, its end is waited for, and then the error is told") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    stand_in::hold(s.get());
    REQUIRE(stand_in::launch(s.get(), [] {}) == cudaSuccess);
    stand_in::fail_call_of("cudaEventRecord", 1, cudaErrorMemoryAllocation);
    outcome end;
    std::atomic<bool> too_early{false};
    std::thread device([&] {
        wait_for([&] { return end.resumed != 0 || stand_in::calls("cudaStreamSynchronize") != 0; });
        too_early = end.resumed != 0;
        stand_in::release(s.get());
    });
    weir::sync_wait(end_of(s, end));
    device.join();
    CHECK_FALSE(too_early);
    CHECK(end.resumed == 1);
    CHECK(end.code == cudaErrorMemoryAllocation);
    CHECK(end.call == "cudaEventRecord");
    CHECK(gpu.status() == cudaSuccess);
}

TEST_CASE("where the end is waited for, a capture of another thread isn't spoilt") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    stand_in::capture_elsewhere(true);
    stand_in::fail_call_of("cudaEventRecord", 1, cudaErrorMemoryAllocation);
    outcome end;
    weir::sync_wait(end_of(s, end));
    CHECK(end.code == cudaErrorMemoryAllocation);
    CHECK(gpu.status() == cudaSuccess);
    stand_in::capture_elsewhere(false);
}

TEST_CASE("where the driver takes no host function, the event is polled") {
    const fresh_runtime runtime;
    context gpu({.how = completion_by::host_function, .watchdog = std::chrono::hours(1)});
    const stream s(gpu);
    for (int i = 0; i < 3; ++i) {
        stand_in::fail_call_of("cudaLaunchHostFunc", 1, cudaErrorMemoryAllocation);
        outcome end;
        weir::sync_wait(end_of(s, end));
        CHECK(end.code == cudaSuccess);
        CHECK(cudaPeekAtLastError() == cudaSuccess);
    }
}

TEST_CASE("a coroutine that is destroyed while it waits is waited for, and not resumed") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    bool ran = false;
    bool resumed = false;
    stand_in::hold(s.get());
    REQUIRE(stand_in::launch(s.get(), [&] { ran = true; }) == cudaSuccess);
    const auto wait_and_destroy = [&]() -> weir::task<> {
        const plain p = [](stream on, bool& to) -> plain {
            co_await on.done();
            to = true;
        }(s, resumed);
        std::thread releases([&] { stand_in::release(s.get()); });
        p.handle.destroy();
        CHECK(ran);
        releases.join();
        co_return;
    };
    weir::sync_wait(wait_and_destroy());
    CHECK_FALSE(resumed);
}

TEST_CASE("a borrowed stream is used and not destroyed; so is what only has one") {
    const fresh_runtime runtime;
    context gpu(either_way());
    cudaStream_t mine = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking) == cudaSuccess);
    struct reference {
        cudaStream_t one;
        cudaStream_t get() const { return one; }
    };
    {
        const stream s(gpu, mine);
        const stream t(gpu, reference{mine});
        CHECK(s.get() == mine);
        CHECK(t.get() == mine);
        outcome end;
        weir::sync_wait(end_of(s, end));
        weir::sync_wait(end_of(t, end));
        CHECK(end.resumed == 2);
    }
    CHECK(cudaStreamDestroy(mine) == cudaSuccess);
}

TEST_CASE("an owned stream that is destroyed while it is waited for does its work") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::thread_pool home(1);
    bool ran = false;
    outcome end;
    weir::task_group group(home);
    {
        const stream s(gpu);
        REQUIRE(stand_in::launch(s.get(), [&] { ran = true; }) == cudaSuccess);
        group.spawn(end_of(s, end));
    }
    weir::sync_wait(group.join());
    CHECK(ran);
    CHECK(end.code == cudaSuccess);
}

TEST_CASE("awaiting a stream whose context is gone says so, and its work is done") {
    const fresh_runtime runtime;
    std::optional<context> gpu(std::in_place, either_way());
    const stream s(*gpu);
    gpu.reset();
    bool ran = false;
    REQUIRE(stand_in::launch(s.get(), [&] { ran = true; }) == cudaSuccess);
    CHECK_THROWS_WITH(weir::sync_wait([](stream on) -> weir::task<> { co_await on.done(); }(s)),
                      ContainsSubstring("the weir::cuda::context of this stream was destroyed"));
    CHECK(ran);
}

TEST_CASE("awaiting an event whose context is gone says so, and the work before it is done, no other") {
    const fresh_runtime runtime;
    std::optional<context> gpu(std::in_place, either_way());
    const stream s(*gpu);
    event e(*gpu);
    bool ran = false;
    gpu.reset();
    REQUIRE(stand_in::launch(s.get(), [&] { ran = true; }) == cudaSuccess);
    s.record(e);
    const std::size_t waits = stand_in::calls("cudaStreamSynchronize");
    CHECK_THROWS_WITH(weir::sync_wait([](event on) -> weir::task<> { co_await on.done(); }(e)),
                      ContainsSubstring("the weir::cuda::context of this stream was destroyed"));
    CHECK(ran);
    CHECK(stand_in::calls("cudaStreamSynchronize") == waits);
}

TEST_CASE("destroying a context waits for those who wait for the device") {
    const fresh_runtime runtime;
    weir::thread_pool home(1);
    outcome end;
    weir::task_group group(home);
    {
        context gpu(either_way());
        const stream s(gpu);
        stand_in::hold(s.get());
        REQUIRE(stand_in::launch(s.get(), [] {}) == cudaSuccess);
        const std::size_t records = stand_in::calls("cudaEventRecord");
        group.spawn(end_of(s, end));
        wait_for([&] { return stand_in::calls("cudaEventRecord") > records; });
        if (GENERATE(true, false)) {
            stand_in::release(s.get());
        } else {
            std::thread([h = s.get()] { stand_in::release(h); }).join();
        }
    }
    weir::sync_wait(group.join());
    CHECK(end.resumed == 1);
    CHECK(end.code == cudaSuccess);
}

TEST_CASE("without a device the host does the work, and a stream is always done") {
    stand_in::reset();
    stand_in::no_device(cudaErrorInsufficientDriver);
    {
        context gpu({.or_host = true});
        CHECK(gpu.on_host());
        const stream s(gpu);
        CHECK(s.get() == nullptr);
        outcome end;
        weir::sync_wait(end_of(s, end));
        CHECK(end.code == cudaSuccess);
    }
    stand_in::reset();
}

TEST_CASE("who awaits work on a device where no executor is goes on on a thread of the library's own") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    weir::executor* where = nullptr;
    weir::detail::parker done;
    const auto waits = [&]() -> plain {
        co_await s.done();
        where = weir::detail::current_executor();
        done.set();
        co_await std::suspend_always();
    };
    stand_in::hold(s.get());  // else it may be done before it is waited for, and nobody has to go elsewhere
    REQUIRE(stand_in::launch(s.get(), [] {}) == cudaSuccess);
    const plain p = waits();
    stand_in::release(s.get());
    while (!done.wait()) {
    }
    CHECK(where == &weir::detail::foreign_run_loop::get());
    const auto leaves = []() -> weir::task<> { co_return; };
    weir::sync_wait(weir::detail::foreign_run_loop::get(), leaves());  // it is suspended now
    CHECK_FALSE(p.handle.promise().error);
    p.handle.destroy();
}

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

namespace {

weir::task<> copied(const stream& s, void* to, const void* from, std::size_t bytes, outcome& end) {
    return note([=] { return copy(s, to, from, bytes); }, end);
}

weir::task<> all_copied(const stream& s, std::span<const piece> pieces, outcome& end) {
    return note([=] { return copy(s, pieces); }, end);
}

}  // namespace

TEST_CASE("what is copied to the device and back is the same") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const std::size_t n = GENERATE(0U, 1U, 1000U, 100'000U);
    const std::vector<int> before = counting_up<int>(n);
    std::vector<int> after(n);
    const on_device there(n * sizeof(int) + 1);
    outcome end;
    weir::sync_wait(copied(s, there.get(), before.data(), n * sizeof(int), end));
    weir::sync_wait(copied(s, after.data(), there.get(), n * sizeof(int), end));
    CHECK(end.resumed == 2);
    CHECK(end.code == cudaSuccess);
    CHECK(before == after);
}

TEST_CASE("many pieces are copied by one call, those of nothing left out") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const std::vector<int> before = counting_up<int>(64);
    std::vector<int> after(64);
    const on_device there(64 * sizeof(int));
    std::vector<piece> to;
    std::vector<piece> back;
    for (std::size_t i = 0; i < 64; i += 4) {
        to.push_back({there.at(i * sizeof(int)), &before[i], 4 * sizeof(int)});
        to.push_back({nullptr, nullptr, 0});
        back.push_back({&after[i], there.at(i * sizeof(int)), 4 * sizeof(int)});
    }
    const std::size_t single = stand_in::calls("cudaMemcpyAsync");
    outcome end;
    weir::sync_wait(all_copied(s, to, end));
    weir::sync_wait(all_copied(s, back, end));
    CHECK(end.resumed == 2);
    CHECK(end.code == cudaSuccess);
    CHECK(before == after);
    CHECK(stand_in::calls("cudaMemcpyBatchAsync") == 2);
    CHECK(stand_in::calls("cudaMemcpyAsync") == single);
}

TEST_CASE("no pieces, or only such of nothing, are copied at once") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const std::array<piece, 2> nothing{{{nullptr, nullptr, 0}, {nullptr, nullptr, 0}}};
    outcome end;
    weir::sync_wait(all_copied(s, {}, end));
    weir::sync_wait(all_copied(s, nothing, end));
    CHECK(end.code == cudaSuccess);
}

TEST_CASE("on the default stream, which takes no batches, the pieces are copied one by one") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu, cudaStream_t(nullptr));
    const std::array<int, 2> before{1, 2};
    const on_device there(2 * sizeof(int));
    const std::array<piece, 2> pieces{
        {{there.get(), before.data(), sizeof(int)}, {there.at(sizeof(int)), &before[1], sizeof(int)}}};
    outcome end;
    weir::sync_wait(all_copied(s, pieces, end));
    CHECK(end.code == cudaSuccess);
    CHECK(stand_in::calls("cudaMemcpyBatchAsync") == 0);
    CHECK(std::memcmp(there.get(), before.data(), sizeof(before)) == 0);
}

TEST_CASE("where the driver is older than the call for many pieces, they are copied one by one") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const std::array<int, 2> before{1, 2};
    const on_device there(2 * sizeof(int));
    const std::array<piece, 2> pieces{
        {{there.get(), before.data(), sizeof(int)}, {there.at(sizeof(int)), &before[1], sizeof(int)}}};
    outcome end;
    stand_in::fail_call_of("cudaMemcpyBatchAsync", 1, cudaErrorCallRequiresNewerDriver);
    weir::sync_wait(all_copied(s, pieces, end));
    CHECK(end.code == cudaSuccess);
    CHECK(stand_in::calls("cudaMemcpyAsync") == 2);
    CHECK(std::memcmp(there.get(), before.data(), sizeof(before)) == 0);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("a copy that the runtime refuses is an error at once, with its call, and harms nothing else") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const on_device there(16);
    const int value = 7;
    outcome end;
    stand_in::fail_call_of("cudaMemcpyAsync", 1, cudaErrorInvalidValue);
    weir::sync_wait(copied(s, there.get(), &value, sizeof(value), end));
    CHECK(end.resumed == 1);
    CHECK(end.code == cudaErrorInvalidValue);
    CHECK(end.call == "cudaMemcpyAsync");
    CHECK(gpu.status() == cudaSuccess);
    weir::sync_wait(copied(s, there.get(), &value, sizeof(value), end));
    CHECK(end.code == cudaSuccess);
    CHECK(std::memcmp(there.get(), &value, sizeof(value)) == 0);
}

TEST_CASE("pieces that the runtime refuses are an error, with its call") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const on_device there(16);
    const int value = 7;
    const std::array<piece, 1> pieces{{{there.get(), &value, sizeof(value)}}};
    outcome end;
    stand_in::fail_call_of("cudaMemcpyBatchAsync", 1, cudaErrorInvalidValue);
    weir::sync_wait(all_copied(s, pieces, end));
    CHECK(end.code == cudaErrorInvalidValue);
    CHECK(end.call == "cudaMemcpyBatchAsync");
}

TEST_CASE("whatever call fails, a copy ends once; and where it failed, the memory is free to be used again") {
    const auto options = either_way();
    const bool page_locked = GENERATE(true, false);
    bool reached = true;
    for (std::size_t n = 1; reached && n < 1000; ++n) {
        const fresh_runtime runtime;
        context gpu(options);
        const stream s(gpu);
        weir::cuda::pinned_pool pool(gpu, 64, 1);
        std::array<std::byte, 64> ordinary{};
        void* there = nullptr;
        REQUIRE(cudaMalloc(&there, 64) == cudaSuccess);
        const std::array<char, 64> text{"the bytes that are copied to the device"};
        weir::cuda::lease block = *pool.try_acquire(64);
        std::byte* const from = page_locked ? block.bytes().data() : ordinary.data();
        std::memcpy(from, text.data(), text.size());
        outcome end;
        stand_in::fail_call(n, cudaErrorMemoryAllocation);
        weir::sync_wait(copied(s, there, from, 64, end));
        reached = stand_in::forget_faults() == 0;
        CHECK(end.resumed == 1);
        std::memset(from, 0, 64);  // nothing reads it any more
        stand_in::wait_until_idle();
        const bool all = std::memcmp(there, text.data(), 64) == 0;
        const bool none = *static_cast<std::byte*>(there) == stand_in::never_written;
        CHECK((all || (none && end.code != cudaSuccess)));
        CHECK(cudaFree(there) == cudaSuccess);
    }
    CHECK_FALSE(reached);
}

TEST_CASE("a copy from or to ordinary memory, which blocks, leaves its worker to others") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::thread_pool home(1);
    const stream s(gpu);
    const on_device there(64);
    std::array<std::byte, 64> ordinary{};
    const std::array<piece, 1> pieces{{{ordinary.data(), there.get(), 64}}};
    const bool many = GENERATE(false, true);
    stand_in::hold(s.get());
    REQUIRE(cudaMemsetAsync(there.get(), 7, 64, s.get()) == cudaSuccess);
    std::array<outcome, 3> ends;  // each of them blocks until the stream goes on
    weir::task_group group(home);
    for (outcome& end : ends) {
        if (many) {
            group.spawn(all_copied(s, pieces, end));
        } else {
            group.spawn(copied(s, ordinary.data(), there.get(), 64, end));
        }
    }
    group.spawn([](cudaStream_t held) -> weir::task<> {
        stand_in::release(held);
        co_return;
    }(s.get()));
    weir::sync_wait(group.join());
    for (const outcome& end : ends) CHECK(end.code == cudaSuccess);
    CHECK(ordinary[63] == std::byte{7});
}

TEST_CASE("a context that ends waits for copies that block") {
    const fresh_runtime runtime;
    weir::thread_pool home(1);
    std::array<std::byte, 64> ordinary{};
    outcome end;
    weir::task_group group(home);
    cudaStream_t held = nullptr;
    {
        context gpu(either_way());
        const stream s(gpu);
        held = s.get();
        const on_device there(64);
        stand_in::hold(held);
        const std::size_t before = stand_in::calls("cudaMemcpyAsync");
        group.spawn(copied(s, ordinary.data(), there.get(), 64, end));
        wait_for([&] { return stand_in::calls("cudaMemcpyAsync") > before; });
        CHECK(end.resumed == 0);
        stand_in::release(held);
        stand_in::wait_until_idle();  // the memory goes before the context
    }
    weir::sync_wait(group.join());
    CHECK(end.code == cudaSuccess);
}

TEST_CASE("a copy of ordinary memory that fails says so when it is awaited, with its call and stage") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const stream s(gpu);
    const on_device there(64);
    const std::array<std::byte, 64> ordinary{};
    const std::array<piece, 1> pieces{{{there.get(), ordinary.data(), 64}}};
    outcome end;
    stand_in::fail_call_of("cudaMemcpyAsync", 1, cudaErrorMemoryAllocation);
    weir::sync_wait(copied(s, there.get(), ordinary.data(), 64, end));
    CHECK(end.code == cudaErrorMemoryAllocation);
    CHECK(end.call == "cudaMemcpyAsync");
    stand_in::fail_call_of("cudaMemcpyBatchAsync", 1, cudaErrorMemoryAllocation);
    weir::sync_wait(all_copied(s, pieces, end));
    CHECK(end.call == "cudaMemcpyBatchAsync");
    stand_in::fail_call_of("cudaMemcpyAsync", 1, cudaErrorLaunchFailure, true);
    weir::sync_wait(copied(s, there.get(), ordinary.data(), 64, end));
    CHECK(end.code == cudaErrorLaunchFailure);
    CHECK(end.resumed == 3);
    CHECK(gpu.status() == cudaErrorLaunchFailure);
}

TEST_CASE("a copy of ordinary memory whose context is gone says so") {
    const fresh_runtime runtime;
    std::optional<context> gpu(std::in_place);
    const stream s(*gpu);
    const on_device there(64);
    const std::array<std::byte, 64> ordinary{};
    gpu.reset();
    CHECK_THROWS_WITH(weir::sync_wait(copy(s, there.get(), ordinary.data(), 64)),
                      Catch::Matchers::ContainsSubstring(
                          "the weir::cuda::context of this stream was destroyed"));
}

TEST_CASE("without a device a copy is done by the host, at once") {
    stand_in::reset();
    stand_in::no_device(cudaErrorNoDevice);
    {
        context gpu({.or_host = true});
        const stream s(gpu);
        const std::array<int, 2> before{1, 2};
        std::array<int, 2> after{};
        outcome end;
        weir::sync_wait(copied(s, after.data(), before.data(), sizeof(before), end));
        CHECK(after == before);
        const std::array<piece, 2> pieces{{{after.data(), &before[1], sizeof(int)}, {nullptr, nullptr, 0}}};
        weir::sync_wait(all_copied(s, pieces, end));
        CHECK(after[0] == 2);
        CHECK(end.resumed == 2);
    }
    stand_in::reset();
}

TEST_CASE("a context whose intervals of polling are endless does not poll without a pause") {
    const fresh_runtime runtime;
    context gpu({.how = weir::cuda::completion_by::host_function,
                 .spin = {},
                 .period = weir::duration::max(),
                 .watchdog = weir::duration::max()});
    const stream held(gpu), other(gpu);
    stand_in::hold(held.get());
    std::thread waits([&] { weir::sync_wait(held.done()); });
    wait_for([] { return stand_in::calls("cudaLaunchHostFunc") == 1; });
    for (int i = 0; i < 30; ++i) weir::sync_wait(other.done());
    CHECK(stand_in::calls("cudaEventQuery") <= 2);
    stand_in::release(held.get());
    waits.join();
}
