#include <weir/cuda/to_host.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/device_pool.hpp>
#include <weir/cuda/to_device.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/run/failure.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>

#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

using namespace cuda_tests;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using weir::cuda::context;
using weir::cuda::device_buffer;
using weir::cuda::device_pool;
using weir::cuda::pinned_buffer;
using weir::cuda::pinned_pool;
using weir::cuda::stream;
using weir::cuda::to_device;
using weir::cuda::to_host;
using weir::cuda::to_vectors;

namespace {

using batch = std::vector<int>;

std::vector<int> numbers(int n) {
    std::vector<int> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    return all;
}
auto batches(int n) {
    return weir::source(numbers(n)) | weir::pipe([](int i) { return batch(100, i); });
}

// Doubles each batch on the device, into memory of its own.
class doubling {
  public:
    doubling(context& gpu, device_pool& memory) : work_(gpu), memory_(&memory) {}
    weir::task<device_buffer<int>> operator()(device_buffer<int> in) const {
        in.hand_over(work_);
        device_buffer<int> out = co_await memory_->acquire<int>(in.size(), work_);
        launch(in.data(), out.data(), in.size());
        co_return std::move(out);
    }

  private:
    void launch(const int* from, int* to, std::size_t n) const {
        static_cast<void>(stand_in::launch(work_.get(), [from, to, n] {
            for (std::size_t i = 0; i < n; ++i) to[i] = 2 * from[i];
        }));
    }

    stream work_;
    device_pool* memory_;
};

}  // namespace

TEST_CASE(
    "what was worked on comes back, whole and in order, into blocks that are the consumer's, measured") {
    const fresh_runtime runtime;
    const auto options = either_way();
    const std::size_t depth = GENERATE(1U, 3U);
    context gpu(options);
    pinned_pool pool(gpu, 400, 2);
    pinned_pool results(gpu, 400, 2);
    device_pool memory(gpu, 4000);
    weir::thread_pool workers(2);
    {
        auto run =
            (batches(40) | to_device(gpu, pool, {.memory = &memory}) | weir::pipe(doubling(gpu, memory)) |
             to_host(gpu, results, {.depth = depth}) | weir::sink(1))
                .start(workers);
        int expected = 0;
        for (pinned_buffer<int>& each : run) {
            const pinned_buffer<int> mine = std::move(each);
            CHECK(batch(mine.begin(), mine.end()) == batch(100, 2 * expected));
            ++expected;
        }
        CHECK(expected == 40);
        const weir::pipeline_stats stats = run.stats();
        CHECK(stats.stages[4].name == "to_host");
        REQUIRE(stats.stages[4].transfers);
        CHECK(stats.stages[4].transfers->num_copies == 40);
        CHECK(stats.stages[4].transfers->bytes == 40 * 400);
        CHECK(stats.stages[4].transfers->copying > 40 * 390ns);
        CHECK(stats.stages[4].transfers->num_handed_over == 0);
    }
    CHECK(results.stats().size == 2);
}

TEST_CASE("a result isn't given before the work on it is done, on whichever stream") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 1);
    device_pool memory(gpu);
    const stream work(gpu);
    weir::thread_pool workers(1);
    stand_in::hold(work.get());
    const auto infer = [&memory, &work](int) -> weir::task<device_buffer<int>> {
        auto out = co_await memory.acquire<int>(100, work);
        static_cast<void>(cudaMemsetAsync(out.data(), 1, 400, work.get()));
        co_return std::move(out);
    };
    auto run = (weir::source({1}) | weir::pipe(infer) | to_host(gpu, pool) | weir::sink(1)).start(workers);
    std::atomic<bool> got{false};
    std::atomic<bool> too_early{false};
    std::thread device([&] {
        wait_for([&] { return got || stand_in::calls("cudaEventQuery") >= 5; });  // it is waited for
        too_early = got.load();
        stand_in::release(work.get());
    });
    auto result = run.get();
    got = true;
    device.join();
    CHECK_FALSE(too_early);
    REQUIRE(result);
    CHECK((*result)[99] == 0x01010101);
}

TEST_CASE("as vectors, results need a block only while they are copied") {
    const fresh_runtime runtime;
    const bool on_host = GENERATE(false, true);
    if (on_host) stand_in::no_device(cudaErrorNoDevice);
    {
        context gpu({.or_host = true});
        pinned_pool pool(gpu, 400, 2);
        weir::thread_pool workers(2);
        auto run =
            (batches(20) | to_device(gpu, pool) | to_vectors(gpu, pool, {.name = "back"}) | weir::sink(1))
                .start(workers);
        std::vector<batch> all;
        for (std::vector<int>& b : run) all.push_back(std::move(b));
        REQUIRE(all.size() == 20);
        for (int i = 0; i < 20; ++i) CHECK(all[static_cast<std::size_t>(i)] == batch(100, i));
        CHECK(run.stats().stages[3].name == "back");
        CHECK(run.stats().stages[3].transfers.has_value() == !on_host);
    }
    stand_in::no_device(cudaSuccess);
}

TEST_CASE("a part of an item comes back, and the rest goes along") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 2);
    weir::thread_pool workers(1);
    struct labelled {
        batch values;
        int label;
    };
    using sent = weir::cuda::device_batch<labelled, int>;
    auto run =
        (weir::source({1, 2, 3}) | weir::pipe([](int i) { return labelled{batch(100, i), i}; }) |
         to_device(gpu, pool, {}, &labelled::values) | to_vectors(gpu, pool, {}, &sent::data) | weir::sink(1))
            .start(workers);
    int expected = 1;
    for (weir::cuda::host_batch<sent, std::vector<int>>& b : run) {
        CHECK(b.rest.host.label == expected);
        CHECK(b.data == batch(100, expected));
        ++expected;
    }
    CHECK(expected == 4);
}

TEST_CASE("what came to the device in several parts comes back so, in one block") {
    const fresh_runtime runtime;
    const bool on_host = GENERATE(false, true);
    if (on_host) stand_in::no_device(cudaErrorNoDevice);
    {
        context gpu({.or_host = true});
        pinned_pool pool(gpu, 4096, 2);
        weir::thread_pool workers(1);
        struct sample {
            std::vector<float> pixels;
            std::vector<char> label;
        };
        using sent = weir::cuda::device_batch<sample, float, char>;
        using back = weir::cuda::host_batch<sent, weir::cuda::pinned_buffers<float, char>>;
        const auto make = [](int i) {
            return sample{std::vector<float>(65, static_cast<float>(i)), std::vector<char>(3, char(i))};
        };
        auto run = (weir::source({1, 2, 3}) | weir::pipe(make) |
                    to_device(gpu, pool, {}, weir::cuda::parts(&sample::pixels, &sample::label)) |
                    to_host(gpu, pool, {}, &sent::data) | weir::sink(1))
                       .start(workers);
        int expected = 1;
        for (back& b : run) {
            const auto [pixels, label] = b.data.parts();
            CHECK(std::vector(pixels.begin(), pixels.end()) == b.rest.host.pixels);
            CHECK(std::vector(label.begin(), label.end()) == std::vector<char>(3, char(expected)));
            const weir::cuda::lease block = std::move(b.data).release();
            CHECK(block.bytes().size() == 512 + 3);
            CHECK(std::get<0>(b.data.parts()).empty());
            ++expected;
        }
        CHECK(expected == 4);
        if (!on_host) CHECK(stand_in::calls("cudaMemcpyAsync") == 6);
    }
    stand_in::no_device(cudaSuccess);
}

TEST_CASE("several buffers of an item come back in one block, or as vectors") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 4096, 2);
    device_pool memory(gpu);
    weir::thread_pool workers(1);
    struct answer {
        device_buffer<int> first;
        device_buffer<char> second;
        int number;
    };
    const auto infer = [&memory, one = stream(gpu), other = stream(gpu)](int i) -> weir::task<answer> {
        auto first = co_await memory.acquire<int>(65, one);
        auto second = co_await memory.acquire<char>(3, other);
        static_cast<void>(cudaMemsetAsync(first.data(), i, 65 * sizeof(int), one.get()));
        static_cast<void>(cudaMemsetAsync(second.data(), -i, 3, other.get()));
        answer made{std::move(first), std::move(second), i};
        co_return std::move(made);
    };
    auto run = (weir::source({1, 2, 3}) | weir::pipe(infer) |
                to_vectors(gpu, pool, {}, weir::cuda::parts(&answer::first, &answer::second)) | weir::sink(1))
                   .start(workers);
    int expected = 1;
    for (auto& b : run) {
        const auto& [first, second] = b.data;
        CHECK(b.rest.number == expected);
        CHECK(first == std::vector<int>(65, expected * 0x01010101));
        CHECK(second == std::vector<char>(3, static_cast<char>(-expected)));
        ++expected;
    }
    CHECK(expected == 4);
}

TEST_CASE("a part whose copy can't be queued fails its item when those before it are done") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 4096, 1);
    device_pool memory(gpu);
    const stream work(gpu);
    weir::thread_pool workers(1);
    struct answer {
        device_buffer<int> first, second;
    };
    const auto infer = [&memory, &work](int) -> weir::task<answer> {
        auto first = co_await memory.acquire<int>(65, work);
        auto second = co_await memory.acquire<int>(65, work);
        answer made{std::move(first), std::move(second)};
        co_return std::move(made);
    };
    const stream back(gpu);
    stand_in::hold(back.get());
    stand_in::fail_call_of("cudaMemcpyAsync", 2, cudaErrorMemoryAllocation);
    std::atomic<bool> too_early{false};
    std::thread device([&] {
        const auto is_back = [&] { return pool.stats().size != 0; };
        wait_for([] { return stand_in::calls("cudaMemcpyAsync") == 2; });
        wait_for([&] { return is_back() || stand_in::calls("cudaStreamSynchronize") != 0; });
        too_early = is_back();
        stand_in::release(back.get());
    });
    auto run =
        (weir::source({1}) | weir::pipe(infer) |
         to_host(gpu, pool, {.on = back}, weir::cuda::parts(&answer::first, &answer::second)) | weir::sink(1))
            .start(workers);
    CHECK_THROWS_AS(run.get(), weir::pipeline_failure);
    device.join();
    CHECK_FALSE(too_early);
}

TEST_CASE("the stage is held back while the consumer has all blocks, with more slots than blocks, too") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 2);
    pinned_pool results(gpu, 400, 1);
    weir::thread_pool workers(2);
    auto run = (batches(30) | to_device(gpu, pool) | to_host(gpu, results, {.depth = 4}) | weir::sink(1))
                   .start(workers);
    int expected = 0;
    for (pinned_buffer<int>& each : run) {
        const pinned_buffer<int> mine = std::move(each);
        CHECK(mine[99] == expected);
        if (expected == 5) wait_for([&] { return results.stats().get_blocked > 0ns; });
        ++expected;
    }
    CHECK(expected == 30);
    CHECK(run.stats().stages[3].transfers->num_block_waits >= 1);
}

TEST_CASE("an error of the device names the stage that copies back") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 2);
    pinned_pool results(gpu, 100, 2, "results");
    weir::thread_pool workers(1);
    const bool too_large = GENERATE(true, false);
    std::string said;
    stand_in::fail_call_of("cudaMemcpyAsync", 2, cudaErrorInvalidValue);
    auto run =
        (weir::source({1}) | weir::pipe([too_large](int i) { return batch(too_large ? 100 : 10, i); }) |
         to_device(gpu, pool) | to_host(gpu, results, {.name = "download"}) | weir::sink(1))
            .start(workers, {.max_failures = 1, .on_failure = [&said](const weir::failure& f) {
                                 try {
                                     std::rethrow_exception(f.error);
                                 } catch (const std::exception& e) {
                                     said = e.what();
                                 }
                             }});
    for (pinned_buffer<int>& b : run) static_cast<void>(b);
    CHECK_THAT(said, too_large ? ContainsSubstring("400 bytes don't fit into a block of 'results'")
                               : ContainsSubstring("in stage 'download'"));
    static_cast<void>(stand_in::forget_faults());
}

TEST_CASE("an item whose buffer can't be found, or was moved away, fails, and holds up no later item") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 2);
    pinned_pool results(gpu, 400, 2);
    weir::thread_pool workers(2);
    std::mutex lock;
    sentences said;
    const bool moved_away = GENERATE(false, true);
    const auto lose = [moved_away](device_buffer<int> b) {
        if (moved_away && b.size() == 3) const device_buffer<int> gone = std::move(b);
        return b;
    };
    const auto part = [](device_buffer<int>& b) -> device_buffer<int>& {
        return b.size() == 3 ? throw std::runtime_error("no such part") : b;
    };
    auto run =
        (weir::source({1, 2, 3, 4, 5, 6, 7}) |
         weir::pipe([](int n) { return batch(static_cast<std::size_t>(n), n); }) | to_device(gpu, pool) |
         weir::pipe(lose) | to_host(gpu, results, {}, part) | weir::sink(1))
            .start(workers, {.max_failures = weir::unlimited, .on_failure = [&](const weir::failure& f) {
                                 const std::scoped_lock held(lock);
                                 said.push_back(f.message());
                             }});
    std::vector<int> whole;
    for (auto& each : run) whole.push_back(each.data[0]);
    CHECK(whole == std::vector{1, 2, 4, 5, 6, 7});
    REQUIRE(said.size() == 1);
    CHECK_THAT(said[0], ContainsSubstring(moved_away ? "was moved away has no memory" : "no such part"));
}

TEST_CASE("whatever call fails in a run, and however badly, each result comes back whole or fails, once") {
    const auto options = either_way();
    const bool sticky = GENERATE(false, true);
    bool reached = true;
    for (std::size_t n = 1; reached && n < 1000; ++n) {
        const fresh_runtime runtime;
        context gpu(options);
        pinned_pool pool(gpu, 400, 2);
        pinned_pool results(gpu, 400, 2);
        weir::thread_pool workers(1);
        std::atomic<int> failed{0};
        int whole = 0;
        {
            auto run = (batches(3) | to_device(gpu, pool) | to_host(gpu, results) | weir::sink(1))
                           .start(workers, {.max_failures = weir::unlimited,
                                            .on_failure = [&](const weir::failure&) { ++failed; }});
            stand_in::fail_call(n, sticky ? cudaErrorLaunchFailure : cudaErrorInvalidValue, sticky);
            for (pinned_buffer<int>& each : run) {
                const pinned_buffer<int> mine = std::move(each);
                if (!sticky) CHECK(mine[0] == mine[99]);
                ++whole;
            }
        }
        CHECK(whole + failed == 3);
        wait_for([&] { return pool.stats().size == 2 && results.stats().size == 2; });
        reached = stand_in::forget_faults() == 0;
    }
    CHECK_FALSE(reached);
}

TEST_CASE("a run that is stopped while results are on their way back ends, and leaves nothing") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 2);
    pinned_pool results(gpu, 400, 3);
    weir::thread_pool workers(2);
    {
        auto run =
            (batches(1000) | to_device(gpu, pool) | to_host(gpu, results) | weir::sink(1)).start(workers);
        int n = 0;
        for (pinned_buffer<int>& b : run) {
            n += b[0] >= 0 ? 1 : 0;
            if (n == 10) break;
        }
    }
    wait_for([&] { return pool.stats().size == 2 && results.stats().size == 3; });
}

TEST_CASE("what is of another GPU, or not page-locked, can't be copied back") {
    const fresh_runtime runtime;
    stand_in::set_device_count(2);
    context gpu(weir::cuda::device(0));
    context other(weir::cuda::device(1));
    pinned_pool pool(gpu, 400, 2);
    CHECK_THROWS_WITH(to_host(gpu, pool, {.on = stream(other)}), ContainsSubstring("those of another GPU"));
    stand_in::no_device(cudaErrorNoDevice);
    context none({.or_host = true});
    stand_in::no_device(cudaSuccess);
    pinned_pool ordinary(none, 400, 2);
    CHECK_THROWS_WITH(to_host(gpu, ordinary), ContainsSubstring("to_host copies into page-locked memory"));
}

TEST_CASE("a run without statistics notes no times of copies, there and back") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 3);
    weir::thread_pool workers(1);
    const auto loader = batches(5) | to_device(gpu, pool) | to_vectors(gpu, pool) | weir::sink(1);
    {
        auto run = loader.start<weir::unmeasured>(workers);
        int n = 0;
        for (const std::vector<int>& b : run) CHECK(b == batch(100, n++));
        CHECK(n == 5);
        for (const weir::stage_stats& s : run.stats().stages) CHECK_FALSE(s.transfers);
    }
    CHECK(stand_in::calls("cudaEventElapsedTime") == 0);
    auto run = loader.start(workers);  // a run with statistics has its own
    for (const std::vector<int>& b : run) CHECK(b.size() == 100);
    CHECK(run.stats().stages[2].transfers->num_copies == 5);
}

TEST_CASE("an item whose stream of copies is captured fails, and the capture goes on") {
    const fresh_runtime runtime;
    context gpu(either_way());
    pinned_pool pool(gpu, 400, 2), results(gpu, 400, 2);
    weir::thread_pool workers(1);
    const stream copies(gpu);
    std::atomic<int> failed{0};
    {
        const captured_meanwhile graph(copies.get());
        auto run = (batches(3) | to_device(gpu, pool) | to_host(gpu, results, {.on = copies}) | weir::sink(1))
                       .start(workers, {.max_failures = weir::unlimited,
                                        .on_failure = [&](const weir::failure&) { ++failed; }});
        CHECK_FALSE(run.get());
    }
    CHECK(failed == 3);
}
