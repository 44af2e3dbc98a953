#include <weir/cuda/reactor.hpp>

#include "cuda/support.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/platform/platform.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

using namespace cuda_tests;
using weir::cuda::completion_by;
using weir::cuda::context_options;
using weir::cuda::detail::completion;
using weir::cuda::detail::device_status;
using weir::cuda::detail::event_pool;
using weir::cuda::detail::mailbox;
using weir::cuda::detail::reactor;
using weir::cuda::detail::usual_times;

namespace {

// A reactor on a thread, as a context has it; what it finishes is written down.
class running_reactor {
  public:
    explicit running_reactor(context_options options)
        : thread_([this, options] { reactor(*box, events, broken, options).run(); }) {}
    running_reactor(const running_reactor&) = delete;
    running_reactor& operator=(const running_reactor&) = delete;
    ~running_reactor() {
        box->ask_to_end();
        thread_.join();
    }

    // Work of which the reactor is told when it's queued.
    void begin(cudaStream_t s) {
        cudaEvent_t event = events.take();
        if (event == nullptr) REQUIRE(cudaEventCreateWithFlags(&event, events.flags()) == cudaSuccess);
        REQUIRE(cudaEventRecord(event, s) == cudaSuccess);
        completion& c = completion::make(box, event, [](completion& done) noexcept {
            auto& mine = *static_cast<running_reactor*>(done.kept.get());
            mine.last_result = done.result;
            ++mine.finished;
        });
        c.kept = std::shared_ptr<void>(this, [](void*) {});
        REQUIRE(box->put(c));
    }

    std::shared_ptr<mailbox> box = std::make_shared<mailbox>();
    event_pool events{cudaEventDisableTiming};
    device_status broken;
    std::atomic<int> finished{0};
    std::atomic<int> last_result{-1};

  private:
    std::thread thread_;
};

// For `usual_times`.
constexpr std::int64_t us = 1'000;
constexpr std::int64_t lead = usual_times::lead;
constexpr std::size_t mib = std::size_t{1} << 20U;

}  // namespace

TEST_CASE("a reactor finishes work of several streams in whatever order it is done") {
    const fresh_runtime runtime;
    cudaStream_t held = nullptr;
    cudaStream_t free = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking) == cudaSuccess);
    {
        running_reactor r(either_way());
        stand_in::hold(held);
        REQUIRE(stand_in::launch(held, [] {}) == cudaSuccess);
        r.begin(held);
        for (int i = 0; i < 10; ++i) r.begin(free);
        wait_for([&] { return r.finished == 10; });
        CHECK(r.last_result == cudaSuccess);
        r.begin(held);
        stand_in::release(held);
        wait_for([&] { return r.finished == 12; });
    }
    CHECK(cudaStreamDestroy(held) == cudaSuccess);
    CHECK(cudaStreamDestroy(free) == cudaSuccess);
}

TEST_CASE("a reactor that is asked to end finishes what it has") {
    const fresh_runtime runtime;
    cudaStream_t s = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess);
    std::shared_ptr<mailbox> box;
    {
        running_reactor r(either_way());
        box = r.box;
        for (int i = 0; i < 5; ++i) r.begin(s);
    }
    completion& late = completion::make(box, nullptr, [](completion&) noexcept {});
    CHECK_FALSE(box->put(late));
    late.disown();
    CHECK(cudaStreamDestroy(s) == cudaSuccess);
}

TEST_CASE("the first error that breaks a device is the one that is kept") {
    device_status broken;
    CHECK(broken.get() == cudaSuccess);
    broken.set(cudaErrorIllegalAddress);
    broken.set(cudaErrorLaunchFailure);
    CHECK(broken.get() == cudaErrorIllegalAddress);
}

namespace {

// A reactor without a thread: only workers of pools find out that work is done.
class unguarded_reactor {
  public:
    unguarded_reactor() = default;
    unguarded_reactor(const unguarded_reactor&) = delete;
    unguarded_reactor& operator=(const unguarded_reactor&) = delete;
    ~unguarded_reactor() {
        box->ask_to_end();
        reactor_.run();
    }

    completion& record(cudaStream_t s, completion::reaction then, std::size_t bytes = 0) {
        cudaEvent_t event = events.take();
        if (event == nullptr && cudaEventCreateWithFlags(&event, events.flags()) != cudaSuccess) std::abort();
        if (cudaEventRecord(event, s) != cudaSuccess) std::abort();
        completion& c = completion::make(box, event, then);
        c.on = s;
        c.bytes = bytes;
        c.own();
        return c;
    }

    // Waits for all that is queued on the stream; the result is that of the work.
    auto end_of(cudaStream_t s, weir::executor& on) {
        struct awaiter {
            awaiter(unguarded_reactor& reactor, cudaStream_t stream, weir::executor& home)
                : by(reactor), s(stream), on(home) {}
            unguarded_reactor& by;
            cudaStream_t s;
            weir::executor& on;
            completion* c = nullptr;
            bool await_ready() const noexcept { return false; }
            bool await_suspend(std::coroutine_handle<> h) {
                c = &by.record(s, [](completion& done) noexcept { done.waiting->answer(); });
                c->waiting.emplace(on, nullptr, h);
                completion& mine = *c;
                static_cast<void>(by.box->put(mine));
                return mine.waiting->wait();
            }
            cudaError_t await_resume() const noexcept {
                const cudaError_t result = c->result;
                c->disown();
                return result;
            }
        };
        return awaiter(*this, s, on);
    }

    std::shared_ptr<mailbox> box = std::make_shared<mailbox>();
    event_pool events{cudaEventDisableTiming};
    device_status broken;

  private:
    reactor reactor_{*box, events, broken, {}};
};

// A stream for one test.
struct own_stream {
    own_stream() { REQUIRE(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess); }
    own_stream(const own_stream&) = delete;
    own_stream& operator=(const own_stream&) = delete;
    ~own_stream() { CHECK(cudaStreamDestroy(s) == cudaSuccess); }
    cudaStream_t s = nullptr;
};

void until_idle(const weir::thread_pool& pool) {
    weir::detail::executor_view view;
    do pool.inspect(view);
    while (view.busy != 0);
}

}  // namespace

TEST_CASE(
    "from the end of work to the coroutine there is no other thread, no wake-up and no system call for one") {
    using weir::detail::standard_platform;
    const fresh_runtime runtime;
    stand_in::set_model({1e9, std::chrono::microseconds(30), stand_in::pace::in_real_time});
    const own_stream stream;
    const on_device there(1000);
    const std::array<std::byte, 1000> here{};
    struct {
        std::thread::id by;
        std::uint32_t wakes = 0;
    } seen;
    stand_in::when_an_end_is_seen([&] {
        seen.by = std::this_thread::get_id();
        seen.wakes = standard_platform::num_wakes();
    });
    {
        unguarded_reactor r;
        weir::thread_pool pool(GENERATE(1U, 3U));
        int hand_overs = 0;
        std::uint32_t wakes = 0;
        const auto copies = [&]() -> weir::task<> {
            for (int i = 0; i < 5; ++i) {
                const cudaError_t queued =
                    cudaMemcpyAsync(there.get(), here.data(), here.size(), cudaMemcpyHostToDevice, stream.s);
                const cudaError_t ended = co_await r.end_of(stream.s, pool);
                if (queued != cudaSuccess || ended != cudaSuccess) ++hand_overs;
                if (seen.by != std::this_thread::get_id()) ++hand_overs;
                wakes += standard_platform::num_wakes() - seen.wakes;
            }
        };
        until_idle(pool);
        weir::sync_wait(pool, copies());
        CHECK(hand_overs == 0);
        CHECK(wakes == 0);
    }
    stand_in::when_an_end_is_seen(nullptr);
}

TEST_CASE("one pool polls several devices, and each of them for several pools") {
    const fresh_runtime runtime;
    const own_stream first, second;
    unguarded_reactor one, other;
    weir::thread_pool pool(2), beside(1);
    const auto both = [&](weir::executor& on) -> weir::task<int> {
        int done = 0;
        for (int i = 0; i < 20; ++i) {
            const cudaError_t a = co_await one.end_of(first.s, on);
            const cudaError_t b = co_await other.end_of(second.s, on);
            done += a == cudaSuccess && b == cudaSuccess ? 1 : 0;
        }
        co_return done;
    };
    int found = 0;
    std::thread also([&] { found = weir::sync_wait(beside, both(beside)); });
    CHECK(weir::sync_wait(pool, both(pool)) == 20);
    also.join();
    CHECK(found == 20);
}

TEST_CASE("a worker that asks leaves no error behind") {
    const fresh_runtime runtime;
    stand_in::remember_not_ready(true);
    const own_stream held;
    unguarded_reactor r;
    weir::thread_pool pool(1);
    stand_in::hold(held.s);
    REQUIRE(stand_in::launch(held.s, [] {}) == cudaSuccess);
    const auto waits = [&]() -> weir::task<cudaError_t> {
        static_cast<void>(co_await r.end_of(held.s, pool));
        co_return cudaPeekAtLastError();
    };
    cudaError_t left = cudaErrorUnknown;
    std::thread other([&] { left = weir::sync_wait(pool, waits()); });
    wait_for([&] { return stand_in::calls("cudaEventQuery") > 20; });
    stand_in::release(held.s);
    other.join();
    CHECK(left == cudaSuccess);
}

TEST_CASE("a worker that finds out that the device is broken tells all at once") {
    const fresh_runtime runtime;
    cudaStream_t held = nullptr;
    cudaStream_t breaks = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithFlags(&breaks, cudaStreamNonBlocking) == cudaSuccess);
    unguarded_reactor r;
    weir::thread_pool pool(1);
    stand_in::hold(held);
    stand_in::hold(breaks);
    REQUIRE(stand_in::launch(held, [] {}) == cudaSuccess);
    REQUIRE(stand_in::fail_kernel(breaks, cudaErrorLaunchFailure) == cudaSuccess);
    std::vector<cudaError_t> ends;
    const auto waits = [&](cudaStream_t s) -> weir::task<> {
        const cudaError_t end = co_await r.end_of(s, pool);
        ends.push_back(end);
    };
    weir::task_group group(pool);
    for (int i = 0; i < 3; ++i) group.spawn(waits(held));
    group.spawn(waits(breaks));
    wait_for([&] { return stand_in::calls("cudaEventQuery") > 20; });
    stand_in::release(breaks);
    weir::sync_wait(group.join());
    CHECK(ends == std::vector<cudaError_t>(4, cudaErrorLaunchFailure));
    stand_in::release(held);
    CHECK(cudaStreamDestroy(held) == cudaErrorLaunchFailure);
    CHECK(cudaStreamDestroy(breaks) == cudaErrorLaunchFailure);
}

TEST_CASE("a worker spoils no capture, and leaves calls that need the device to the context's thread") {
    const fresh_runtime runtime;
    const own_stream stream;
    bool called = false;
    std::shared_ptr<mailbox> box;
    {
        unguarded_reactor r;
        box = r.box;
        weir::thread_pool pool(1);
        completion& call = completion::make(r.box, nullptr, [](completion& c) noexcept {
            *static_cast<bool*>(c.kept.get()) = true;
        });
        call.returns_event = false;
        call.kept = std::shared_ptr<void>(std::shared_ptr<void>(), &called);
        REQUIRE(r.box->put(call));
        stand_in::capture_elsewhere(true);
        const auto waits = [&]() -> weir::task<cudaError_t> {
            const cudaError_t end = co_await r.end_of(stream.s, pool);
            co_return end;
        };
        // What the test itself calls is exempt, too.
        const auto exempt = [&]() -> weir::task<cudaError_t> {
            const weir::cuda::detail::exempt_from_captures creating;
            cudaEvent_t event = nullptr;
            if (cudaEventCreateWithFlags(&event, r.events.flags()) == cudaSuccess) {
                static_cast<void>(r.events.take());
                r.events.give(event);
            }
            co_return cudaSuccess;
        };
        CHECK(weir::sync_wait(pool, exempt()) == cudaSuccess);
        CHECK(weir::sync_wait(pool, waits()) == cudaSuccess);
        stand_in::capture_elsewhere(false);
        CHECK_FALSE(called);
        CHECK(box->has_work_for_guard());
    }
    CHECK(called);
    CHECK_FALSE(box->has_work_for_guard());
}

TEST_CASE("the end of a copy is looked for shortly before the time that the last one took") {
    constexpr std::int64_t us = 1'000;
    const fresh_runtime runtime;
    const own_stream stream;
    unguarded_reactor r;
    const weir::thread_pool pool(1);
    const auto begin = [&](std::size_t bytes) -> completion& {
        stand_in::hold(stream.s);
        REQUIRE(stand_in::launch(stream.s, [] {}) == cudaSuccess);
        completion& c = r.record(stream.s, [](completion&) noexcept {}, bytes);
        REQUIRE(r.box->put(c));
        return c;
    };
    const auto end = [&] {
        stand_in::release(stream.s);
        stand_in::wait_until_idle();
    };
    constexpr std::size_t mib = std::size_t{1} << 20U;

    // Of the first one nothing is known.
    completion& first = begin(32 * mib);
    const std::int64_t start = first.submitted;
    CHECK(r.box->poll_for(pool, start + 1) == start + 1);
    CHECK(r.box->poll_for(pool, start + 30 * us) == start + 80 * us);
    CHECK(r.box->poll_for(pool, start + 550 * us) == start + 600 * us);
    end();
    CHECK(r.box->poll_for(pool, start + 600 * us) == mailbox::never);
    first.disown();

    completion& second = begin(32 * mib);
    const std::int64_t then = second.submitted;
    CHECK(r.box->poll_for(pool, then) == then + 600 * us - (100 * us + 600 * us / 32));
    CHECK(r.box->poll_for(pool, then + 500 * us) == then + 500 * us);
    CHECK(r.box->poll_for(pool, then + 800 * us) == then + 850 * us);
    end();
    CHECK(r.box->poll_for(pool, then + 801 * us) == mailbox::never);
    second.disown();

    // Two in one stream: the second begins when the first has ended. That was seen late.
    completion& third = begin(16 * mib);
    const std::int64_t last = third.submitted;
    const std::int64_t half = (600 * us + 201 * us / 8) / 2;
    const std::int64_t looks = r.box->poll_for(pool, last);
    CHECK(looks < last + half);
    CHECK(looks > last + half - 130 * us);
    end();
    completion& fourth = begin(16 * mib);
    const std::int64_t seen = fourth.submitted + 300 * us;
    CHECK(r.box->poll_for(pool, seen) == seen);
    CHECK(fourth.begun == seen);
    CHECK(fourth.begun_late);
    completion& fifth = r.record(stream.s, [](completion&) noexcept {}, 16 * mib);
    REQUIRE(r.box->put(fifth));
    CHECK(r.box->poll_for(pool, seen + 30 * us) == seen + 30 * us);
    CHECK(r.box->poll_for(pool, seen + 60 * us) == seen + 110 * us);
    CHECK(fifth.begun == 0);
    end();
    CHECK(r.box->poll_for(pool, seen + 90 * us) == mailbox::never);
    third.disown();
    fourth.disown();
    fifth.disown();
}

TEST_CASE("nothing is known at first; then the shortest time that was seen") {
    usual_times times;
    CHECK(times.of(0) == usual_times::unknown);
    CHECK(times.of(mib) == usual_times::unknown);
    times.learn(0, 700 * us, 0);
    CHECK(times.of(0) == 700 * us);
    times.learn(0, 600 * us, 0);
    CHECK(times.of(0) == 600 * us);
    CHECK(times.of(4) == usual_times::unknown);
}

TEST_CASE("a longer time counts for an eighth, and not at all if the end may have been much earlier") {
    usual_times times;
    times.learn(0, 600 * us, 0);
    times.learn(0, 680 * us, lead);
    CHECK(times.of(0) == 610 * us);
    times.learn(0, 1690 * us, 3 * lead);
    CHECK(times.of(0) == 610 * us);
    times.learn(0, 0, 0);
    times.learn(0, -1, 0);
    CHECK(times.of(0) == 610 * us);
}

TEST_CASE(
    "a copy of a size that was never seen takes as long as its bytes do by the rate of the last large one") {
    usual_times times;
    times.learn(100, 9 * us, 0);
    CHECK(times.of(32 * mib) == usual_times::unknown);
    times.learn(mib, 20 * us, 0);
    CHECK(times.of(mib) == 20 * us);
    CHECK(times.of(32 * mib) == 640 * us);
    CHECK(times.of(1000) == usual_times::unknown);
    times.learn(32 * mib, 600 * us, 0);
    CHECK(times.of(32 * mib) == 600 * us);
    CHECK(times.of(16 * mib) == 300 * us);
}

TEST_CASE(
    "whoever waits sleeps until shortly before the end, looks all the time for a while, and then seldom") {
    constexpr std::int64_t begun = 1'000'000'000;
    constexpr std::int64_t usual = 1600 * us;
    constexpr std::int64_t before = lead + 50 * us;
    constexpr std::int64_t behind = lead + 200 * us;
    constexpr std::int64_t period = 50 * us;
    const auto next = [](std::int64_t now) { return usual_times::next_look(begun, usual, now, period); };
    CHECK(next(begun) == begun + usual - before);
    CHECK(next(begun + usual - before - 1) == begun + usual - before);
    for (const std::int64_t at : {-before, std::int64_t{0}, behind - 1}) {
        CHECK(next(begun + usual + at) == begun + usual + at);
    }
    CHECK(next(begun + usual + behind) == begun + usual + behind + period);
    // What takes less than the margin is looked at all the time.
    CHECK(usual_times::next_look(begun, 20 * us, begun + 1, period) == begun + 1);
}
