#include <weir/cuda/to_device.hpp>

#include "cuda/support.hpp"

#include <weir/failure.hpp>
#include <weir/pipeline.hpp>
#include <weir/report/table.hpp>
#include <weir/sink.hpp>
#include <weir/source.hpp>
#include <weir/sync_wait.hpp>
#include <weir/thread_pool.hpp>

#include <atomic>
#include <exception>
#include <numeric>
#include <optional>
#include <vector>

using namespace cuda_tests;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using weir::cuda::context;
using weir::cuda::device_buffer;
using weir::cuda::hand_on;
using weir::cuda::pinned_pool;
using weir::cuda::stream;
using weir::cuda::to_device;

namespace {

using batch = std::vector<int>;

struct labelled {
    std::vector<float> pixels;
    int label;
};

auto batches(int n, std::size_t size) {
    std::vector<int> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), 0);
    return weir::source(numbers) | weir::pipe([size](int i) { return batch(size, i); });
}

// Takes each batch over on its stream, and reads it there.
class reader {
  public:
    explicit reader(context& gpu) : on_(gpu) {}
    void take(device_buffer<int>& b) {
        b.hand_over(on_);
        REQUIRE(stand_in::launch(on_.get(), [this, p = b.data(), n = b.size()] {
                    seen_.emplace_back(p, p + n);
                }) == cudaSuccess);
    }
    const std::vector<batch>& seen() {
        weir::sync_wait([](stream a) -> weir::task<> { co_await a.done(); }(on_));
        return seen_;
    }

  private:
    stream on_;
    std::vector<batch> seen_;
};

}  // namespace

TEST_CASE("all batches come to the device, whole and in order, and the statistics have their bytes") {
    const fresh_runtime runtime;
    const auto options = either_way();
    const hand_on when = GENERATE(hand_on::at_once, hand_on::when_copied);
    const std::size_t depth = GENERATE(1U, 2U, 3U);
    context gpu(options);
    pinned_pool pool(gpu, 4096, depth);
    weir::thread_pool workers(2);
    reader consumer(gpu);
    auto run = (batches(50, 1000) | to_device(gpu, pool, {.depth = depth, .when = when}) | weir::sink(2))
                   .start(workers);
    for (device_buffer<int>& b : run) consumer.take(b);
    REQUIRE(consumer.seen().size() == 50);
    for (int i = 0; i < 50; ++i) CHECK(consumer.seen()[static_cast<std::size_t>(i)] == batch(1000, i));
    const weir::pipeline_stats stats = run.stats();
    REQUIRE(stats.stages[2].transfers);
    CHECK(stats.stages[2].name == "to_device");
    CHECK(stats.stages[2].transfers->num_copies == 50);
    CHECK(stats.stages[2].transfers->bytes == 50 * 4000);
    CHECK(stats.stages[2].transfers->num_handed_over == 50);
    CHECK(stats.stages[2].transfers->copying >= 50 * 4000ns);  // a nanosecond a byte
    CHECK_FALSE(stats.stages[1].transfers);
    CHECK_THAT(weir::table_text(stats), ContainsSubstring("200 kB") && ContainsSubstring("B/s"));
}

TEST_CASE("batches come to the device while another thread captures a graph, which isn't spoilt") {
    const fresh_runtime runtime;
    const auto options = either_way();
    const hand_on when = GENERATE(hand_on::at_once, hand_on::when_copied);
    stand_in::support_memory_pools(GENERATE(true, false));
    stand_in::capture_elsewhere(true);
    {
        context gpu(options);
        pinned_pool pool(gpu, 4096, 2);
        weir::thread_pool workers(2);
        stream consumer(gpu);
        weir::cuda::event read(gpu);
        auto run = (batches(20, 1000) | to_device(gpu, pool, {.depth = 2, .when = when}) | weir::sink(2))
                       .start(workers);
        std::size_t taken = 0;
        for (device_buffer<int>& b : run) {
            b.hand_over(consumer);
            consumer.record(read);
            wait_for([&] { return read.ready(); });
            ++taken;
        }
        CHECK(taken == 20);
        const weir::pipeline_stats stats = run.stats();
        REQUIRE(stats.stages[2].transfers);
        CHECK(stats.stages[2].transfers->num_handed_over == 20);
        CHECK(gpu.status() == cudaSuccess);
    }
    stand_in::capture_elsewhere(false);
}

TEST_CASE("while a batch is copied the next ones are packed, as many as the depth says") {
    const fresh_runtime runtime;
    const std::size_t depth = GENERATE(1U, 2U, 4U);
    context gpu(either_way());
    pinned_pool pool(gpu, 64, 16);
    weir::thread_pool workers(1);
    stand_in::hold_all();
    std::optional run(
        (batches(20, 16) | to_device(gpu, pool, {.depth = depth, .capacity = 20}) | weir::sink(20))
            .start(workers));
    // One for each that is copied, and at least one that is packed; a slot that was overtaken waits for its turn.
    wait_for([&] { return stand_in::calls("cudaMemcpyAsync") >= depth && pool.stats().num_get > depth; });
    CHECK(stand_in::calls("cudaMemcpyAsync") == depth);
    CHECK(pool.stats().num_get <= 2 * depth);
    stand_in::release_all();
    std::size_t n = 0;
    for (device_buffer<int>& b : *run) n += b.size();
    CHECK(n == 20 * 16);
    run.reset();
}

TEST_CASE("a part of a batch is copied, and the rest goes along") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 64, 2);
    weir::thread_pool workers(1);
    auto run = (weir::source({1, 2, 3}) |
                weir::pipe([](int i) { return labelled{std::vector<float>(8, static_cast<float>(i)), i}; }) |
                to_device(gpu, pool, {.when = hand_on::when_copied}, &labelled::pixels) | weir::sink(1))
                   .start(workers);
    int expected = 1;
    for (auto& b : run) {
        CHECK(b.host.label == expected);
        CHECK(b.data.size() == 8);
        CHECK(*b.data.data() == static_cast<float>(expected));
        ++expected;
    }
    CHECK(expected == 4);
}

TEST_CASE("the stage is held back while no block is free, and its statistics say so") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 64, 1);
    weir::thread_pool workers(1);
    std::optional<weir::cuda::lease> taken = pool.try_acquire(1);
    auto run = (batches(3, 4) | to_device(gpu, pool) | weir::sink(1)).start(workers);
    wait_for([&] { return pool.stats().get_wait > 0ns; });
    taken.reset();
    std::size_t n = 0;
    for (device_buffer<int>& b : run) n += b.size();
    CHECK(n == 12);
    CHECK(run.stats().stages[2].transfers->num_block_waits >= 1);
    CHECK(run.stats().stages[2].transfers->block_wait > 0ns);
}

TEST_CASE("a batch that is larger than a block fails, with its sizes; the others come through") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 64, 2, "blocks");
    weir::thread_pool workers(1);
    std::vector<std::string> failures;
    auto run =
        (weir::source({4, 100, 8}) | weir::pipe([](int n) { return batch(static_cast<std::size_t>(n), n); }) |
         to_device(gpu, pool, {.depth = 1}) | weir::sink(1))
            .start(workers, {.max_failures = 1, .on_failure = [&](const weir::failure& f) {
                                 try {
                                     std::rethrow_exception(f.error);
                                 } catch (const std::exception& e) {
                                     failures.emplace_back(e.what());
                                 }
                             }});
    std::vector<std::size_t> sizes;
    for (device_buffer<int>& b : run) sizes.push_back(b.size());
    CHECK(sizes == std::vector<std::size_t>{4, 8});
    REQUIRE(failures.size() == 1);
    CHECK_THAT(failures[0], ContainsSubstring("400 bytes don't fit into a block of 'blocks', which has 64"));
}

TEST_CASE("an error of the device names the stage, and stops the run") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 64, 2);
    weir::thread_pool workers(2);
    stand_in::fail_call_of("cudaMemcpyAsync", 3, cudaErrorIllegalAddress, true);
    std::atomic<int> named{0};
    auto run = (batches(10, 4) | to_device(gpu, pool, {.name = "upload"}) | weir::sink(1))
                   .start(workers, {.on_failure = [&](const weir::failure& f) {
                              try {
                                  std::rethrow_exception(f.error);
                              } catch (const weir::cuda::error& e) {
                                  if (e.stage() == "upload") ++named;
                              }
                          }});
    CHECK_THROWS_AS(
        [&] {
            for (device_buffer<int>& b : run) static_cast<void>(b);
        }(),
        weir::pipeline_failure);
    CHECK(named >= 1);
    CHECK(gpu.status() == cudaErrorIllegalAddress);
}

TEST_CASE("whatever call fails in a run, and however badly, each batch comes whole or fails, once") {
    const auto options = either_way();
    const hand_on when = GENERATE(hand_on::at_once, hand_on::when_copied);
    const bool sticky = GENERATE(false, true);
    bool reached = true;
    for (std::size_t n = 1; reached && n < 1000; ++n) {
        const fresh_runtime runtime;
        context gpu(options);
        pinned_pool pool(gpu, 64, 2);
        weir::thread_pool workers(1);
        std::atomic<int> failed{0};
        int whole = 0;
        {
            auto run = (batches(4, 16) | to_device(gpu, pool, {.when = when}) | weir::sink(1))
                           .start(workers, {.max_failures = weir::unlimited,
                                            .on_failure = [&](const weir::failure&) { ++failed; }});
            stand_in::fail_call(n, sticky ? cudaErrorLaunchFailure : cudaErrorMemoryAllocation, sticky);
            for (device_buffer<int>& b : run) whole += b.size() == 16 ? 1 : 0;
        }
        CHECK(whole + failed == 4);
        wait_for([&] { return pool.stats().size == 2; });
        reached = stand_in::forget_faults() == 0;
    }
    CHECK_FALSE(reached);
}

TEST_CASE("a run that is stopped early, with copies under way, ends, and leaves nothing") {
    const fresh_runtime runtime;
    const hand_on when = GENERATE(hand_on::at_once, hand_on::when_copied);
    context gpu(either_way());
    pinned_pool pool(gpu, 64, 2);
    weir::thread_pool workers(2);
    {
        auto run = (batches(1000, 16) | to_device(gpu, pool, {.when = when}) | weir::sink(1)).start(workers);
        std::size_t n = 0;
        for (device_buffer<int>& b : run) {
            n += b.size();
            if (n >= 10 * 16) break;
        }
    }
    wait_for([&] { return pool.stats().size == 2; });
}

TEST_CASE("a pipeline is run twice, each time with figures of its own") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 64, 2);
    weir::thread_pool workers(1);
    const auto loader = batches(4, 16) | to_device(gpu, pool, {.when = hand_on::when_copied}) | weir::sink(1);
    for (int i = 0; i < 2; ++i) {
        auto run = loader.start(workers);
        std::size_t n = 0;
        for (device_buffer<int>& b : run) n += b.size();
        CHECK(n == 64);
        CHECK(run.stats().stages[2].transfers->num_copies == 4);
    }
}

TEST_CASE("without a device the stage gives copies on the host, by the same types") {
    stand_in::reset();
    stand_in::no_device(cudaErrorInsufficientDriver);
    {
        context gpu({.or_host = true});
        pinned_pool pool(gpu, 4096, 2);
        weir::thread_pool workers(1);
        const stream consumer(gpu);
        auto run = (batches(5, 1000) | to_device(gpu, pool) | weir::sink(1)).start(workers);
        int expected = 0;
        for (device_buffer<int>& b : run) {
            CHECK_FALSE(b.on_device());
            b.hand_over(consumer);
            CHECK(batch(b.data(), b.data() + b.size()) == batch(1000, expected));
            ++expected;
        }
        CHECK(expected == 5);
        CHECK_FALSE(run.stats().stages[2].transfers);
    }
    stand_in::reset();
}
