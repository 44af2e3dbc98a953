#include <weir/cuda/to_device.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/device_allocator.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/report/table.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sync_wait.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <tuple>
#include <vector>

using namespace cuda_tests;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using weir::cuda::context;
using weir::cuda::device_buffer;
using weir::cuda::device_pool;
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

struct sample {
    std::vector<float> pixels;
    std::vector<std::int64_t> labels;
    int number;
};

weir::task<weir::cuda::pinned_buffer<int>> collate(pinned_pool& pool, int i) {
    weir::cuda::pinned_buffer<int> made = co_await pool.acquire<int>(100);
    for (int& each : made) each = i;
    co_return std::move(made);
}

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

TEST_CASE(
    "a batch that was collated into page-locked memory is copied from there, and its block comes back") {
    const fresh_runtime runtime;
    context gpu(either_way());
    const hand_on when = GENERATE(hand_on::at_once, hand_on::when_copied);
    pinned_pool pool(gpu, 400, 3);
    weir::thread_pool workers(2);
    reader consumer(gpu);
    std::vector<int> numbers(30);
    std::iota(numbers.begin(), numbers.end(), 0);
    {
        auto run = (weir::source(numbers) | weir::pipe([&pool](int i) { return collate(pool, i); }) |
                    to_device(gpu, {.when = when}) | weir::sink(1))
                       .start(workers);
        for (device_buffer<int>& b : run) consumer.take(b);
        static_cast<void>(consumer.seen());
        CHECK(run.stats().stages[2].transfers->num_copies == 30);
        CHECK(run.stats().stages[2].transfers->bytes == 30 * 400);
    }
    REQUIRE(consumer.seen().size() == 30);
    for (int i = 0; i < 30; ++i) CHECK(consumer.seen()[static_cast<std::size_t>(i)] == batch(100, i));
    wait_for([&] { return pool.stats().size == 3; });
    CHECK(pool.stats().num_get == 30);  // and none to pack it into
}

TEST_CASE("a part that lies in page-locked memory is given away, and the rest goes along; so is a lease") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 2);
    weir::thread_pool workers(1);
    struct half {
        weir::cuda::pinned_buffer<int> values;
        int number;
    };
    const auto make = [&pool](int i) -> weir::task<half> {
        weir::cuda::pinned_buffer<int> values = co_await collate(pool, i);
        half made{std::move(values), i};
        co_return std::move(made);
    };
    auto run = (weir::source({1, 2, 3, 4}) | weir::pipe(make) |
                to_device(gpu, {.when = hand_on::when_copied}, &half::values) | weir::sink(1))
                   .start(workers);
    int expected = 1;
    for (weir::cuda::device_batch<half, int>& b : run) {
        CHECK(b.host.number == expected);
        CHECK(b.host.values.empty());
        CHECK(b.data.data()[99] == expected);
        ++expected;
    }
    CHECK(expected == 5);
    const auto lend = [&pool](int) { return pool.acquire(8); };
    auto bytes = (weir::source({1, 2, 3}) | weir::pipe(lend) | to_device(gpu) | weir::sink(1)).start(workers);
    for (device_buffer<std::byte>& b : bytes) CHECK(b.size() == 8);
}

TEST_CASE("a lease that was given away before is refused") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 2);
    weir::thread_pool workers(1);
    std::string said;
    const auto empty = [&pool](int) -> weir::task<weir::cuda::lease> {
        weir::cuda::lease block = co_await pool.acquire(8);
        const weir::cuda::lease gone = std::move(block);
        co_return std::move(block);
    };
    auto run = (weir::source({1}) | weir::pipe(empty) | to_device(gpu) | weir::sink(1))
                   .start(workers, {.max_failures = 1, .on_failure = [&said](const weir::failure& f) {
                                        try {
                                            std::rethrow_exception(f.error);
                                        } catch (const std::invalid_argument& e) {
                                            said = e.what();
                                        }
                                    }});
    for (device_buffer<std::byte>& b : run) static_cast<void>(b);
    CHECK_THAT(said, ContainsSubstring("was given away has nothing to copy"));
}

TEST_CASE("an item that fails before its copy begins holds up no later item") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 4);
    weir::thread_pool workers(2);
    std::atomic<int> failed{0};
    const weir::run_options tolerant{.max_failures = weir::unlimited,
                                     .on_failure = [&failed](const weir::failure&) { ++failed; }};
    const auto part = [](const batch& b) -> const batch& {
        return b[0] == 3 ? throw std::runtime_error("no such part") : b;
    };
    auto packed = (batches(8, 16) | to_device(gpu, pool, {}, part) | weir::sink(1)).start(workers, tolerant);
    std::vector<int> whole;
    for (auto& b : packed) whole.push_back(b.host[0]);
    CHECK(whole == std::vector{0, 1, 2, 4, 5, 6, 7});
    CHECK(failed == 1);

    const auto lend = [&pool](int i) -> weir::task<weir::cuda::lease> {
        weir::cuda::lease block = co_await pool.acquire(8);
        if (i == 3) const weir::cuda::lease gone = std::move(block);
        co_return std::move(block);
    };
    auto lent = (weir::source({1, 2, 3, 4, 5, 6, 7}) | weir::pipe(lend) | to_device(gpu) | weir::sink(1))
                    .start(workers, tolerant);
    int arrived = 0;
    for (device_buffer<std::byte>& b : lent) arrived += b.size() == 8 ? 1 : 0;
    CHECK(arrived == 6);
    CHECK(failed == 2);
}

TEST_CASE("several parts of a batch come to the device in one block, by one copy") {
    const fresh_runtime runtime;
    const bool on_host = GENERATE(false, true);
    if (on_host) stand_in::no_device(cudaErrorNoDevice);
    {
        context gpu({.or_host = true});
        pinned_pool pool(gpu, 4096, 2);
        weir::thread_pool workers(2);
        const auto make = [](int i) {
            return sample{std::vector<float>(65, static_cast<float>(i)), std::vector<std::int64_t>(3, i), i};
        };
        auto run = (weir::source({1, 2, 3, 4, 5}) | weir::pipe(make) |
                    to_device(gpu, pool, {.when = hand_on::when_copied},
                              weir::cuda::parts(&sample::pixels, &sample::labels,
                                                [](const sample& s) { return std::span(&s.number, 1); })) |
                    weir::sink(1))
                       .start(workers);
        int expected = 1;
        for (auto& b : run) {
            const auto [pixels, labels, number] = b.data.parts();
            CHECK(b.host.number == expected);
            CHECK(pixels.size() == 65);
            CHECK(pixels[64] == static_cast<float>(expected));
            CHECK(labels.size() == 3);
            CHECK(labels[2] == expected);
            CHECK(number[0] == expected);
            CHECK(b.data.size_bytes() == 768 + 4);
            CHECK(b.data.on_device() == !on_host);
            ++expected;
        }
        CHECK(expected == 6);
        if (!on_host) CHECK(stand_in::calls("cudaMemcpyAsync") == 5);
    }
    stand_in::no_device(cudaSuccess);
}

TEST_CASE("with a limit of device memory the stage is held back, keeps the order, and gives all batches") {
    const fresh_runtime runtime;
    const auto options = either_way();
    const hand_on when = GENERATE(hand_on::at_once, hand_on::when_copied);
    const bool pools = GENERATE(true, false);
    stand_in::support_memory_pools(pools);
    context gpu(options);
    pinned_pool pool(gpu, 400, 4);
    device_pool memory(gpu, 2 * 400);
    weir::thread_pool workers(2);
    reader consumer(gpu);
    auto run = (batches(40, 100) | to_device(gpu, pool, {.depth = 4, .when = when, .memory = &memory}) |
                weir::sink(1))
                   .start(workers);
    for (device_buffer<int>& b : run) consumer.take(b);
    REQUIRE(consumer.seen().size() == 40);
    for (int i = 0; i < 40; ++i) CHECK(consumer.seen()[static_cast<std::size_t>(i)] == batch(100, i));
    CHECK(stand_in::most_device_memory_used() <= 2 * 400 + 64);
}

TEST_CASE("a consumer that is behind holds the loader back, by the limit, and the statistics say so") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 2);
    device_pool memory(gpu, 3 * 400);
    weir::thread_pool workers(2);
    const stream training(gpu);
    stand_in::hold(training.get());
    auto run = (batches(20, 100) | to_device(gpu, pool, {.memory = &memory}) | weir::sink(1)).start(workers);
    std::size_t taken = 0;
    for (device_buffer<int>& b : run) {
        b.hand_over(training);
        if (++taken == 3) {
            const device_buffer<int> last = std::move(b);
            wait_for([&] { return memory.shared()->turn.stats().size == 0; });
            CHECK(memory.bytes_in_use() == 3 * 400);
            stand_in::release(training.get());
        }
    }
    CHECK(taken == 20);
    CHECK(run.stats().stages[2].transfers->num_memory_waits >= 1);
    CHECK(run.stats().stages[2].transfers->memory_wait > 0ns);
}

TEST_CASE("when the device has too little memory for a moment, no batch is lost") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 2);
    weir::thread_pool workers(2);
    const bool limited = GENERATE(true, false);
    if (limited) {
        stand_in::set_device_memory(1000);
    } else {
        stand_in::fail_call_of("cudaMallocFromPoolAsync", 5, cudaErrorMemoryAllocation);
    }
    reader consumer(gpu);
    auto run = (batches(20, 100) | to_device(gpu, pool, {.depth = 3}) | weir::sink(1)).start(workers);
    for (device_buffer<int>& b : run) consumer.take(b);
    CHECK(consumer.seen().size() == 20);
}

TEST_CASE("an item that a hook refused holds nobody up who waits for memory in the items' order") {
    class refuses final : public weir::hook {
        void before(const weir::invocation& call) override {
            if (call.stage() == "to_device" && call.item() % 3 == 0) throw std::runtime_error("refused");
        }
    };
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 2);
    device_pool memory(gpu, 400);
    weir::thread_pool workers(2);
    auto run = (batches(30, 100) | to_device(gpu, pool, {.depth = 3, .memory = &memory}) | weir::sink(1))
                   .start(workers, {.max_failures = weir::unlimited, .hooks = {std::make_shared<refuses>()}});
    std::size_t taken = 0;
    for (device_buffer<int>& b : run) {
        const device_buffer<int> mine = std::move(b);
        ++taken;
    }
    CHECK(taken == 20);
}

TEST_CASE("batches come to places of one's own, on a stream of one's own, and without a note of the times") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 2);
    weir::thread_pool workers(2);
    const stream mine(gpu);
    const on_device there(2 * 512);
    weir::cuda::device_blocks places(gpu, there.get(), 512, 2);
    device_pool inputs(gpu, places);
    {
        auto run = (batches(20, 100) | to_device(gpu, pool, {.on = mine, .memory = &inputs, .timed = false}) |
                    weir::sink(1))
                       .start(workers);
        int expected = 0;
        for (device_buffer<int>& each : run) {
            device_buffer<int> b = std::move(each);
            const auto* const at = static_cast<const std::byte*>(static_cast<void*>(b.data()));
            CHECK((at == there.at(0) || at == there.at(512)));
            // Behind the copy, as it is the same stream.
            REQUIRE(stand_in::launch(mine.get(), [p = b.data(), expected] {
                        if (p[99] != expected) std::terminate();
                    }) == cudaSuccess);
            ++expected;
            b.hand_over(mine);
        }
        CHECK(expected == 20);
        CHECK_FALSE(run.stats().stages[2].transfers);
    }
    stand_in::wait_until_idle();
    CHECK(stand_in::calls("cudaEventElapsedTime") == 0);
}

TEST_CASE("one pool of blocks serves the loaders of two GPUs") {
    const fresh_runtime runtime;
    stand_in::set_device_count(2);
    const auto options = either_way();
    context first(weir::cuda::device(0), options);
    context second(weir::cuda::device(1), options);
    pinned_pool pool(first, 400, 2);
    weir::thread_pool workers(2);
    auto a = (batches(20, 100) | to_device(first, pool) | weir::sink(1)).start(workers);
    auto b = (batches(20, 100) | to_device(second, pool) | weir::sink(1)).start(workers);
    std::size_t n = 0;
    for (device_buffer<int>& each : a) n += each.size();
    for (device_buffer<int>& each : b) n += each.size();
    CHECK(n == 2 * 20 * 100);
}

TEST_CASE("what is of another GPU, or not page-locked, is refused before anything starts") {
    const fresh_runtime runtime;
    stand_in::set_device_count(2);
    context gpu(weir::cuda::device(0));
    context other(weir::cuda::device(1));
    pinned_pool pool(gpu, 400, 2);
    device_pool elsewhere(other);
    CHECK_THROWS_WITH(to_device(gpu, pool, {.on = stream(other)}), ContainsSubstring("those of another GPU"));
    CHECK_THROWS_WITH(to_device(gpu, pool, {.memory = &elsewhere}),
                      ContainsSubstring("the memory of a to_device"));
    stand_in::no_device(cudaErrorNoDevice);
    context none({.or_host = true});
    stand_in::no_device(cudaSuccess);
    pinned_pool ordinary(none, 400, 2);
    CHECK_THROWS_WITH(to_device(gpu, ordinary), ContainsSubstring("into page-locked memory"));
}
