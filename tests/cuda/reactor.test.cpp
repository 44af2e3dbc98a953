#include <weir/cuda/reactor.hpp>

#include "cuda/support.hpp"

#include <array>
#include <memory>
#include <thread>

using namespace cuda_tests;
using weir::cuda::completion_by;
using weir::cuda::context_options;
using weir::cuda::detail::completion;
using weir::cuda::detail::device_status;
using weir::cuda::detail::event_pool;
using weir::cuda::detail::mailbox;
using weir::cuda::detail::reactor;

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

TEST_CASE("events are used again, so that there are as many as were in use at once") {
    const fresh_runtime runtime;
    event_pool events(cudaEventDisableTiming);
    std::array<cudaEvent_t, 2> made{};
    for (cudaEvent_t& each : made) {
        CHECK(events.take() == nullptr);
        REQUIRE(cudaEventCreateWithFlags(&each, events.flags()) == cudaSuccess);
    }
    for (int i = 0; i < 10; ++i) {
        for (const cudaEvent_t each : made) events.give(each);
        CHECK(events.take() == made[1]);
        CHECK(events.take() == made[0]);
    }
    for (const cudaEvent_t each : made) events.give(each);
}

TEST_CASE("the first error that breaks a device is the one that is kept") {
    device_status broken;
    CHECK(broken.get() == cudaSuccess);
    broken.set(cudaErrorIllegalAddress);
    broken.set(cudaErrorLaunchFailure);
    CHECK(broken.get() == cudaErrorIllegalAddress);
}
