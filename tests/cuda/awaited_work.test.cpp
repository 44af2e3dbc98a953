#include <weir/cuda/awaited_work.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/stream.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sync_wait.hpp>

#include <memory>
#include <stdexcept>

using namespace cuda_tests;
using weir::cuda::context;
using weir::cuda::stream;
using weir::cuda::detail::awaited_work;
using weir::cuda::detail::context_state;
using weir::cuda::detail::ticket;

namespace {

// Does what a test says, on the default stream.
struct scripted {
    static constexpr const char* call = "the work";
    bool throws = false;
    cudaError_t gives = cudaSuccess;

    void on_host() const {
        if (throws) throw std::runtime_error("no luck");
    }
    void begin(context_state& of, ticket& t, const weir::detail::slot* measured) const {
        if (throws) throw std::runtime_error("no luck");
        of.check_call(gives, call, measured);
        t.submit(nullptr, measured);
    }
};

weir::task<int> seven_after(const std::shared_ptr<context_state>& of, scripted work) {
    awaited_work<scripted> awaited(of, work);
    co_await awaited;
    co_return 7;
}

}  // namespace

TEST_CASE("who awaits work goes on when it is done") {
    const fresh_runtime runtime;
    context gpu(either_way());
    for (int i = 0; i < 10; ++i) CHECK(weir::sync_wait(seven_after(gpu.shared(), {})) == 7);
    CHECK(stand_in::calls("cudaEventCreateWithFlags") == 1);  // used again
}

TEST_CASE("work that can't begin throws where it is awaited, and nobody is resumed later") {
    const fresh_runtime runtime;
    context gpu(either_way());
    CHECK_THROWS_AS(weir::sync_wait(seven_after(gpu.shared(), {.throws = true})), std::runtime_error);
    CHECK_THROWS_AS(weir::sync_wait(seven_after(gpu.shared(), {.gives = cudaErrorInvalidValue})),
                    weir::cuda::error);
    CHECK(weir::sync_wait(seven_after(gpu.shared(), {})) == 7);
}

TEST_CASE("a stage that waits for work is named by the error, and its time counts as awaiting") {
    const fresh_runtime runtime;
    context gpu(either_way());
    weir::thread_pool workers(1);
    auto run = (weir::source({1, 2, 3}) |
                weir::pipe(
                    [of = gpu.shared()](int i) -> weir::task<int> {
                        scripted work;
                        if (i == 2) work.gives = cudaErrorInvalidValue;
                        awaited_work<scripted> awaited(of, work);
                        co_await awaited;
                        co_return i;
                    },
                    {.name = "upload"}) |
                weir::sink())
                   .start(workers, {.max_failures = 1});
    int sum = 0;
    for (const int i : run) sum += i;
    CHECK(sum == 4);
    CHECK(run.stats().stages[1].times().await > weir::duration(0));
    CHECK(run.stats().stages[1].num_failures == 1);
}

TEST_CASE("the same wait may be awaited again, and keeps nothing of the time before") {
    const fresh_runtime runtime;
    weir::cuda::context gpu(either_way());
    const stream s(gpu);
    const auto wait = [](const stream& on, int times) -> weir::task<> {
        auto work = on.done();
        for (int i = 0; i < times; ++i) co_await work;
    };
    weir::sync_wait(wait(s, 1));
    const auto others = gpu.shared()->box().use_count();
    weir::sync_wait(wait(s, 10));
    // The thread that polls lets go late.
    wait_for([&] { return gpu.shared()->box().use_count() <= others; });
}

TEST_CASE("without a device the work is done by the host, without suspending") {
    stand_in::reset();
    stand_in::no_device(cudaErrorNoDevice);
    {
        context gpu({.or_host = true});
        CHECK(weir::sync_wait(seven_after(gpu.shared(), {})) == 7);
        CHECK_THROWS_AS(weir::sync_wait(seven_after(gpu.shared(), {.throws = true})), std::runtime_error);
    }
    stand_in::reset();
}
