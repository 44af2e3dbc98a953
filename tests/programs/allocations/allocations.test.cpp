// In steady state the library allocates nothing for an item: each flow warms up, and then passes ten
// thousand more without one call of operator new, which this program replaces. What is the user's own
// (the vectors of batches) is not in here, or counted apart.
#include "support/counted_heap.hpp"

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/tee.hpp>
#include <weir/graph/zip.hpp>
#include <weir/measure/histogram.hpp>
#include <weir/measure/recorder.hpp>
#include <weir/platform/config.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/shuffle.hpp>
#include <weir/stages/stage_list.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/frame_pool.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using weir::task;

constexpr int warm_up = 2'000;
constexpr int counted = 10'000;

// Takes the items that warm up, and then says how many times the process allocated while it took so many
// more. By a plain thread; on virtual time it does all the work meanwhile.
template <class Run>
std::uint64_t allocations_of(Run& run) {
    for (int i = 0; i < warm_up; ++i) {
        if (!run.get()) return UINT64_MAX;
    }
    const std::uint64_t before = counted_heap::allocations();
    for (int i = 0; i < counted; ++i) {
        if (!run.get()) return UINT64_MAX;
    }
    return counted_heap::allocations() - before;
}

// On virtual time, and on a pool of one thread. There as many frames may be there at once as there are slots,
// and each histogram may have waits of more octaves than before, and when that is so for the first time nobody
// knows: on a loaded machine after the warm-up. Those few are none for an item.
constexpr std::uint64_t most_slots = 8;
constexpr std::uint64_t most_of_histogram = 4;
constexpr std::uint64_t most_histograms = 24;

template <class Pipeline>
std::uint64_t allocations_of_pipeline(const Pipeline& pipeline) {
    std::uint64_t all = 0;
    {
        weir::virtual_time time;
        auto run = pipeline.start(time);
        all += allocations_of(run);
    }
    {
        weir::thread_pool pool(1);
        auto run = pipeline.start(pool, {.consumers_help = false});
        const std::uint64_t on_pool = allocations_of(run);
        all += on_pool > most_slots + most_histograms * most_of_histogram ? on_pool : 0;
    }
    return all;
}

template <class Pipeline>
std::uint64_t allocations_without_statistics(const Pipeline& pipeline) {
    weir::virtual_time time;
    auto run = pipeline.template start<weir::unmeasured>(time);
    return allocations_of(run);
}

auto numbers() {
    return weir::source([n = 0]() mutable { return std::optional<int>(n++); });
}

int next(int n) { return n + 1; }
task<int> next_later(int n) {
    for (int i = n % 5; i > 0; --i) co_await weir::yield();
    co_return n + 1;
}
// On virtual time only: on a real clock nobody knows when the most of them are asleep at the same time.
task<int> next_after_a_while(int n) {
    co_await weir::sleep_for(std::chrono::nanoseconds(n % 7));
    co_return n + 1;
}
bool is_even(int n) { return n % 2 == 0; }
std::optional<int> some(int n) { return is_even(n) ? std::optional<int>(n) : std::nullopt; }

}  // namespace

TEST_CASE("what counts the allocations sees each of them") {
    const std::uint64_t before = counted_heap::allocations();
    const std::size_t in_use = counted_heap::bytes_in_use();
    {
        const std::vector<int> one(100);
        CHECK(counted_heap::bytes_in_use() - in_use == 100 * sizeof(int));
        struct alignas(64) wide {
            char text[64];
        };
        const std::vector<wide> two(1);
        CHECK(reinterpret_cast<std::uintptr_t>(two.data()) % 64 == 0);
    }
    CHECK(counted_heap::allocations() - before == 2);
    CHECK(counted_heap::bytes_in_use() == in_use);
    // And so a stage that allocates is seen.
    const auto box_of = [](int n) { return std::make_unique<int>(n); };
    const auto pipeline = numbers() | weir::pipe(box_of) | weir::sink(2);
    weir::virtual_time time;
    auto run = pipeline.start(time);
    const std::uint64_t all = allocations_of(run);
    CHECK(all > counted - 10);  // the stage is ahead of the consumer, by a little more or less
    CHECK(all < counted + 10);
}

TEST_CASE("a put and a get allocate nothing, whether they wait or not") {
    const auto give = [](weir::channel<int>& out, int n) -> task<> {
        for (int i = 0; i < n; ++i) {
            const bool taken = co_await out.put(i);
            if (!taken) break;
        }
    };
    const auto take = [](weir::channel<int>& in, int n) -> task<std::uint64_t> {
        std::uint64_t before = 0;
        for (int i = 0; i < n; ++i) {
            if (i == n - counted) before = counted_heap::allocations();
            const auto item = co_await in.get();
            if (!item) break;
        }
        co_return counted_heap::allocations() - before;
    };
    for (const std::size_t capacity : {1U, 2U, 64U}) {
        weir::virtual_time time;
        weir::channel<int> c(capacity, time);
        const int all = warm_up + counted;
        const auto results = weir::sync_wait(time, weir::when_all(take(c, all), give(c, all)));
        CHECK(std::get<0>(results) == 0);
    }
    for (const std::size_t capacity : {1U, 2U, 64U}) {
        weir::thread_pool pool(1);
        weir::channel<int> c(capacity, pool);
        const int all = warm_up + counted;
        const auto results = weir::sync_wait(pool, weir::when_all(take(c, all), give(c, all)));
        CHECK(std::get<0>(results) <= 2 * most_of_histogram);
    }
}

TEST_CASE("a histogram allocates nothing for durations of eight octaves, and once for eight more") {
    using weir::detail::log_linear;
    constexpr std::size_t octaves = log_linear::num_buckets / 32;
    weir::detail::recorder r;
    const std::uint64_t before = counted_heap::allocations();
    for (std::size_t octave = 0; octave < octaves; ++octave) {
        for (std::size_t i = 0; i < 100; ++i) r.record(log_linear::lower_bound(32 * octave + i % 32));
        CHECK(counted_heap::allocations() - before == octave / 8);
    }
    CHECK(octaves / 8 - 1 == most_of_histogram);
    CHECK(weir::histogram(r).count() == 100 * octaves);
}

TEST_CASE("a histogram without memory for an octave keeps count, sum and maximum, and has no quantiles") {
    using weir::detail::log_linear;
    const auto first_of = [](std::size_t octave) { return log_linear::lower_bound(32 * octave); };
    weir::detail::recorder r;
    for (std::size_t octave = 0; octave < 8; ++octave) r.record(first_of(octave));
    const weir::duration sum = weir::histogram(r).sum();
    counted_heap::is_exhausted = true;
    r.record(first_of(9));
    r.record(first_of(2));
    r.record(first_of(9), 2);
    counted_heap::is_exhausted = false;
    const weir::histogram h(r);
    CHECK(h.count() == 12);
    CHECK_FALSE(h.has_quantiles());
    CHECK(h.max().count() == first_of(9));
    CHECK(h.sum().count() == sum.count() + first_of(2) + 3 * first_of(9));
    // Later durations of the octave are in a bucket.
    r.record(first_of(9));
    CHECK(r.in_bucket(32 * 9) == 1);
    CHECK(weir::histogram(r).count() == 13);
}

namespace {

// The bytes of a stage of plain functions with its queue of two, as one of many in a run on virtual time.
std::size_t bytes_of_stage(std::size_t slots) {
    constexpr std::size_t many = 100;
    const auto bytes_of_run = [slots](std::size_t stages) {
        weir::stage_list<int> list;
        for (std::size_t i = 0; i < stages; ++i) list.add(weir::pipe(next, {.concurrency = slots}));
        const auto pipeline = numbers() | list | weir::sink(2);
        weir::virtual_time time;
        const std::size_t before = counted_heap::bytes_in_use();
        auto run = pipeline.start(time);
        return counted_heap::bytes_in_use() - before;
    };
    return (bytes_of_run(many) - bytes_of_run(0)) / many;
}

}  // namespace

TEST_CASE("a stage with statistics takes at most 8 KiB, and 3.25 KiB for each further slot") {
    const std::size_t one = bytes_of_stage(1);
    CHECK(one <= 8 * 1024);
    CHECK(bytes_of_stage(4) <= one + 3 * 3328);
}

TEST_CASE("trying to put and to get, waiting with a time-out, and as a thread, allocate nothing") {
    weir::virtual_time time;
    weir::channel<int> c(2, time);
    std::uint64_t before = 0;
    for (int i = 0; i < 2 * counted; ++i) {
        if (i == counted) before = counted_heap::allocations();
        static_cast<void>(c.try_put(i + 0));
        static_cast<void>(c.blocking_put(i + 0, 1us));
        static_cast<void>(c.blocking_put(i + 0, 1us));
        static_cast<void>(c.try_get());
        static_cast<void>(c.blocking_get(1us));
        static_cast<void>(c.blocking_get(1us));
    }
    CHECK(counted_heap::allocations() == before);
    CHECK(c.stats().num_put == 4 * counted);
}

TEST_CASE("sleeping, yielding and being woken by a stop allocate nothing") {
    const auto sleeper = [](weir::stop_token stop) -> task<std::uint64_t> {
        std::uint64_t before = 0;
        for (int i = 0; i < 2 * counted; ++i) {
            if (i == counted) before = counted_heap::allocations();
            const bool whole = co_await weir::sleep_for(std::chrono::nanoseconds(i % 7), stop);
            if (!whole) break;
            co_await weir::yield();
        }
        co_return counted_heap::allocations() - before;
    };
    weir::stop_source stop;
    {
        weir::virtual_time time;
        CHECK(weir::sync_wait(time, sleeper(stop.get_token())) == 0);
    }
    {
        weir::thread_pool pool(1);
        CHECK(weir::sync_wait(pool, sleeper(stop.get_token())) == 0);
    }
}

TEST_CASE("an item that passes stages of plain functions is not allocated for") {
    const auto one_slot = numbers() | weir::pipe(next) | weir::pipe(next, {.capacity = 16}) | weir::sink(3);
    CHECK(allocations_of_pipeline(one_slot) == 0);
    CHECK(allocations_without_statistics(one_slot) == 0);
    const auto slots = numbers() | weir::pipe(next, {.concurrency = 4}) |
                       weir::pipe(some, {.concurrency = 2}) | weir::sink(3);
    CHECK(allocations_of_pipeline(slots) == 0);
    const auto ordered = numbers() |
                         weir::pipe(next, {.concurrency = 4, .output_order = weir::output_order::input}) |
                         weir::sink(3);
    CHECK(allocations_of_pipeline(ordered) == 0);
}

TEST_CASE("the frames of coroutines that are made for each item come from those that have ended") {
    if (!weir::detail::pools_frames) return;  // a sanitizer is to see each allocation
    const auto tasks =
        numbers() | weir::pipe(next_later, {.concurrency = 4}) | weir::pipe(next_later) | weir::sink(3);
    CHECK(allocations_of_pipeline(tasks) == 0);
    const auto ordered =
        numbers() | weir::pipe(next_later, {.concurrency = 4, .output_order = weir::output_order::input}) |
        weir::sink(3);
    CHECK(allocations_of_pipeline(ordered) == 0);
    weir::virtual_time time;
    auto asleep =
        (numbers() | weir::pipe(next_after_a_while, {.concurrency = 4}) | weir::sink(3)).start(time);
    CHECK(allocations_of(asleep) == 0);
    const auto pair_of = [](int n) -> weir::generator<int> {
        co_yield n;
        co_yield n + 1;
    };
    const auto pair_of_later = [](int n) -> weir::async_generator<int> {
        co_yield n;
        co_await weir::yield();
        co_yield n + 1;
    };
    CHECK(allocations_of_pipeline(numbers() | weir::pipe(pair_of, {.concurrency = 2}) |
                                  weir::pipe(pair_of_later) | weir::sink(3)) == 0);
    CHECK(allocations_of_pipeline(numbers() |
                                  weir::flat_map([](int n) { return std::array<int, 3>{n, n, n}; }) |
                                  weir::sink(3)) == 0);
}

TEST_CASE("frames that end on the thread of a consumer that helps are kept there, at most 64 of each size") {
    if (!weir::detail::pools_frames) return;
    constexpr std::uint64_t most_kept = 64 + most_slots;
    weir::thread_pool pool(1);
    auto run =
        (numbers() | weir::pipe(next_later, {.concurrency = 4}) | weir::pipe(next_later) | weir::sink(3))
            .start(pool);
    for (int i = 0; i < 5; ++i) CHECK(allocations_of(run) <= 2 * most_kept);
}

TEST_CASE("merging, routing, zipping, copying, mixing and filtering allocate nothing for an item") {
    CHECK(allocations_of_pipeline(numbers() | weir::filter(is_even) | weir::sink(3)) == 0);
    CHECK(allocations_of_pipeline(weir::merge(numbers(), numbers() | weir::pipe(next)) | weir::sink(3)) == 0);
    CHECK(allocations_of_pipeline(weir::zip(numbers(), numbers() | weir::pipe(next)) | weir::sink(3)) == 0);
    CHECK(allocations_of_pipeline(numbers() | weir::tee(weir::pipe(next)) | weir::sink(3)) == 0);
    CHECK(allocations_of_pipeline(numbers() |
                                  weir::route([](int n) { return static_cast<std::size_t>(n % 2); },
                                              weir::branch("even", weir::pipe(next)),
                                              weir::branch("odd", weir::pipe(next, {.concurrency = 2}))) |
                                  weir::sink(3)) == 0);
    CHECK(allocations_of_pipeline(numbers() | weir::shuffle(50, 1) | weir::sink(3)) == 0);
}

TEST_CASE("a draw that a checkpoint counts takes one allocation, and an invocation with a time limit two") {
    if (!weir::detail::pools_frames) return;
    weir::virtual_time time;
    auto drawn = (weir::source(weir::draws(weir::sampler({.size = warm_up + counted}), 1)) | weir::sink(3))
                     .start(time);
    CHECK(allocations_of(drawn) <= counted);
    auto without = (weir::source(weir::draws(weir::sampler({.size = 1 + warm_up + counted}), 1)) |
                    weir::skip(1) | weir::sink(3))
                       .start(time);  // has no checkpoint
    CHECK(allocations_of(without) == 0);
    auto limited = (numbers() | weir::pipe(next, {.time_limit = 1s}) | weir::sink(3)).start(time);
    CHECK(allocations_of(limited) <= 2 * counted);
}

TEST_CASE("of a batch only its vector is allocated") {
    // It is the user's, and goes out of the run with the batch.
    constexpr std::size_t size = 10;
    const auto batches = numbers() | weir::aggregate(size) | weir::sink(3);
    weir::virtual_time time;
    auto run = batches.start(time);
    const std::uint64_t of_whole_vectors = allocations_of(run);
    CHECK(of_whole_vectors <= counted);
    const auto apart = numbers() | weir::aggregate(size) | weir::disaggregate() | weir::sink(3);
    auto other = apart.start(time);
    CHECK(allocations_of(other) <= counted / size + 1);
}

TEST_CASE("statistics that are asked for allocate what they give, and nothing that stays") {
    weir::virtual_time time;
    auto run = (numbers() | weir::pipe(next, {.concurrency = 4}) | weir::sink(3)).start(time);
    CHECK(allocations_of(run) == 0);
    static_cast<void>(run.stats());
    const std::size_t in_use = counted_heap::bytes_in_use();
    for (int i = 0; i < 100; ++i) static_cast<void>(run.stats());
    CHECK(counted_heap::bytes_in_use() == in_use);
    CHECK(allocations_of(run) == 0);
}

TEST_CASE("of the frames of a size a thread keeps at most sixty-four, and none when it ends") {
    using weir::detail::frame_pool;
    constexpr std::size_t size = 900;  // of no coroutine here
    const std::size_t before = counted_heap::bytes_in_use();
    std::thread([] {
        std::array<void*, 60> blocks{};
        for (void*& p : blocks) p = frame_pool::allocate(size, false);
        const std::size_t in_use = counted_heap::bytes_in_use();
        for (void* const p : blocks) frame_pool::free(p, size, false);
        CHECK(counted_heap::bytes_in_use() == in_use);
        const std::uint64_t allocated = counted_heap::allocations();
        for (void*& p : blocks) p = frame_pool::allocate(size, false);
        CHECK(counted_heap::allocations() == allocated);
        for (void* const p : blocks) frame_pool::free(p, size, false);
    }).join();
    CHECK(counted_heap::bytes_in_use() <= before + 1'000);  // a thread's own things
    std::thread([before] {
        std::vector<void*> blocks(10'000);
        for (void*& p : blocks) p = frame_pool::allocate(size, false);
        for (void* const p : blocks) frame_pool::free(p, size, false);
        // The kept blocks are those that were freed last, so they are of few slabs.
        CHECK(counted_heap::bytes_in_use() <= before + blocks.size() * sizeof(void*) + 400'000);
    }).join();
    CHECK(counted_heap::bytes_in_use() <= before + 1'000);
}

TEST_CASE("a million frames take few allocations, and a tenth more memory than their own at most") {
    if (!weir::detail::pools_frames) return;
    using weir::detail::frame_pool;
    constexpr std::size_t size = 120;
    constexpr std::size_t count = 1'000'000;
    std::vector<void*> blocks(count);
    const std::size_t before = counted_heap::bytes_in_use();
    const std::uint64_t allocated = counted_heap::allocations();
    for (void*& p : blocks) p = frame_pool::allocate(size, false);
    CHECK(counted_heap::allocations() - allocated < 3'000);
    const std::size_t in_use = counted_heap::bytes_in_use();
    CHECK(in_use - before < count * 128 / 10 * 11);
    // Those of every second one are used again.
    for (std::size_t i = 0; i < count; i += 2) frame_pool::free(blocks[i], size, false);
    for (std::size_t i = 0; i < count; i += 2) blocks[i] = frame_pool::allocate(size, false);
    CHECK(counted_heap::bytes_in_use() <= in_use);
    for (void* const p : blocks) frame_pool::free(p, size, false);
    CHECK(counted_heap::bytes_in_use() < before + 400'000);
}

TEST_CASE("what is freed while a thread ends, after its frames were, is not kept") {
    using weir::detail::frame_pool;
    constexpr std::size_t size = 960;
    struct late {
        void* block = nullptr;
        ~late() { frame_pool::free(block, size, false); }
    };
    const std::size_t before = counted_heap::bytes_in_use();
    for (int i = 0; i < 10; ++i) {
        std::thread([] {
            static thread_local late last;  // made first, so it ends last
            last.block = frame_pool::allocate(size, false);
            void* const other = frame_pool::allocate(size, false);
            frame_pool::free(other, size, false);
        }).join();
    }
    CHECK(counted_heap::bytes_in_use() < before + 10 * size / 2);
}
