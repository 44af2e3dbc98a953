// Whole pipelines on pools: their start, their end, and what is asked of them while they are at work.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include <weir/channel/channel.hpp>
#include <weir/channel/select.hpp>
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/graph/route.hpp>
#include <weir/report/watchdog.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/traverse.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using interleavings::count;
using interleavings::ms;
using interleavings::require;
using interleavings::require_by;
using interleavings::thread;
using interleavings::us;
using weir::task;
using namespace std::chrono_literals;

int doubled(int n) { return 2 * n; }

auto numbers(int n) { return weir::source(std::views::iota(0, n)); }
auto without_end() { return weir::source(std::views::iota(0)); }
weir::stage_options slots(std::size_t n) {
    weir::stage_options o;
    o.name = "double";
    o.concurrency = n;
    return o;
}

// A consumer can work for the pool, and never waits then: the others have their turn when it yields.
template <class Run>
void take_rest(Run& run) {
    while (run.get()) interleavings::platform::yield();
}

// All come out, once, to a thread.
void whole() {
    weir::thread_pool pool(2);
    auto pipeline = numbers(4) | weir::pipe(doubled, slots(2)) | weir::sink(1);
    auto run = pipeline.start(pool);
    int sum = 0, items = 0;
    for (const int n : run) {
        sum += n;
        ++items;
    }
    require(items == 4 && sum == 12, "each item comes out once");
}

// From one pool to another and back, to a coroutine.
void across_pools() {
    weir::thread_pool pool(1);
    weir::blocking_pool files(2);
    weir::stage_options there = slots(2);
    there.executor = &files;
    auto pipeline = numbers(3) | weir::pipe(doubled, there) | weir::sink(1);
    auto run = pipeline.start(pool);
    int sum = 0;
    const auto consume = [&]() -> task<> {
        while (auto n = co_await run.next()) sum += *n;
    };
    weir::sync_wait(pool, consume());
    require(sum == 6, "each item comes out once");
}

void two_consumers() {
    weir::thread_pool pool(1);
    auto pipeline = numbers(4) | weir::pipe(doubled, slots(1)) | weir::sink(1);
    auto run = pipeline.start(pool);
    int sums[2] = {};
    const auto consume = [&](int& sum) {
        while (auto n = run.get()) sum += *n;
    };
    thread other([&] { consume(sums[0]); });
    consume(sums[1]);
    other.join();
    require(sums[0] + sums[1] == 12, "each item goes to one of them");
}

class being_inside {
  public:
    explicit being_inside(int& n) noexcept : n_(n) { ++n_; }
    being_inside(const being_inside&) = delete;
    being_inside& operator=(const being_inside&) = delete;
    ~being_inside() { --n_; }

  private:
    int& n_;
};

template <class Pipeline>
int sum_of_results(const Pipeline& pipeline, weir::thread_pool& pool) {
    auto run = pipeline.start(pool);
    int sum = 0;
    while (auto n = run.get()) sum += *n;
    return sum;
}

// A consumer works in the place of the only worker, who stands by: never both at once.
void lent_place() {
    weir::thread_pool pool(1);
    interleavings::platform::atomic<int> calls{0};
    int inside = 0;
    const auto alone = [&](int n) {
        const being_inside here(inside);
        calls.fetch_add(1, std::memory_order_relaxed);  // another thread may be next
        require(inside == 1, "one thread runs the pool's only worker");
        return n;
    };
    auto pipeline = numbers(8) | weir::pipe(alone, slots(2)) | weir::sink(1);
    require(sum_of_results(pipeline, pool) == 28, "each item comes out once");
}

// The consumer works in the place of one of two workers, and asks the other one for coroutines.
void lent_place_of_two() {
    weir::thread_pool pool(2);
    interleavings::platform::atomic<int> inside{0};
    const auto counted = [&](int n) {
        const int others = inside.fetch_add(1, std::memory_order_relaxed);
        require(others < 2, "at most two threads run coroutines");
        interleavings::platform::pause();  // another thread may be next
        inside.fetch_sub(1, std::memory_order_relaxed);
        return n;
    };
    auto pipeline = numbers(8) | weir::pipe(counted, slots(2)) | weir::pipe(doubled) | weir::sink(1);
    require(sum_of_results(pipeline, pool) == 56, "each item comes out once");
}

// The consumer does not come back to a place that it keeps; another thread posts there meanwhile.
void place_taken_back() {
    weir::thread_pool pool(1);
    interleavings::platform::atomic<int> made{0};
    const auto counts = [&](int n) {
        made.fetch_add(1, std::memory_order_relaxed);
        return n;
    };
    auto pipeline = without_end() | weir::pipe(counts, slots(1)) | weir::sink(3);
    auto run = pipeline.start(pool);
    const auto taken = [&] {
        const std::int64_t begin = count.now;
        weir::sync_wait(pool, []() -> task<> { co_return; }());
        require_by(begin, 3 * ms, "a post runs though the consumer keeps the place");
    };
    for (int i = 0; i < 5; ++i) static_cast<void>(run.get());
    pool.post(std::noop_coroutine());  // to the place, if the consumer keeps it
    thread other(taken);
    const std::int64_t begin = count.now;
    while (made.load(std::memory_order_relaxed) < 8) interleavings::block(50 * us);
    require_by(begin, 3 * ms, "the queues are filled though the consumer keeps the place");
    other.join();
}

// A function blocks on the consumer's thread: the worker's own thread goes on.
void lent_place_blocks() {
    weir::thread_pool pool(1);
    int inside = 0;
    const auto blocks = [&](int n) {
        if (n % 3 == 2) weir::sync_wait(pool, weir::sleep_for(10us));
        const being_inside here(inside);
        require(inside == 1, "one thread runs the pool's only worker");
        return n;
    };
    auto pipeline = numbers(8) | weir::pipe(blocks, slots(1)) | weir::pipe(doubled) | weir::sink(1);
    auto run = pipeline.start(pool);
    int sum = 0;
    while (auto n = run.get()) sum += *n;
    require(sum == 56, "each item comes out once");
}

// A coroutine on a loop of this thread is the consumer.
void lent_to_a_loop() {
    weir::thread_pool pool(1);
    int inside = 0;
    const auto alone = [&](int n) {
        const being_inside here(inside);
        require(inside == 1, "one thread runs the pool's only worker");
        return n;
    };
    auto pipeline = numbers(6) | weir::pipe(alone, slots(2)) | weir::sink(1);
    auto run = pipeline.start(pool);
    int sum = 0;
    const auto consume = [&]() -> task<> {
        while (auto n = co_await run.next()) sum += *n;
        co_await weir::sleep_for(10us);  // the loop waits for something else now
    };
    thread other([&] { weir::sync_wait(pool, weir::sleep_for(1us)); });
    weir::sync_wait(consume());
    other.join();
    require(sum == 15, "each item comes out once");
}

// Two workers of whom one lends its place, and becomes surplus meanwhile.
void lent_place_is_surplus() {
    weir::thread_pool pool(2, {.most_workers = 2});
    auto pipeline = numbers(8) | weir::pipe(doubled, slots(2)) | weir::sink(1);
    auto run = pipeline.start(pool);
    int sum = 0;
    for (int i = 0; auto n = run.get(); ++i) {
        sum += *n;
        if (i == 3) pool.set_workers(1);
    }
    require(sum == 56, "each item comes out once");
}

void destroyed_early() {
    weir::thread_pool pool(2);
    auto pipeline = without_end() | weir::pipe(doubled, slots(2)) | weir::sink(1);
    auto run = pipeline.start(pool);
    require(run.get().has_value(), "the first one");
}

void destroyed_at_once() {
    weir::thread_pool pool(2);
    auto pipeline = without_end() | weir::pipe(doubled, slots(2)) | weir::sink(1);
    auto run = pipeline.start(pool);
}

// By two at once, while a third waits for an item.
void stopped_by_two() {
    weir::thread_pool pool(2);
    auto pipeline = without_end() | weir::pipe(doubled, slots(1)) | weir::sink(1);
    auto run = pipeline.start(pool);
    thread a([&] { run.stop(); });
    thread b([&] { take_rest(run); });
    run.stop();
    a.join();
    b.join();
}

// By a stage, and by a thread that doesn't wait for the end either.
void stop_is_requested() {
    weir::thread_pool pool(2);
    weir::run<int>* it = nullptr;
    const auto asks = [&](int n) {
        if (n == 1 && it != nullptr) it->request_stop();
        return n;
    };
    auto pipeline = without_end() | weir::pipe(asks, slots(2)) | weir::sink(1);
    auto run = pipeline.start(pool);
    it = &run;
    thread other([&] { run.request_stop(); });
    take_rest(run);
    other.join();
}

// By a token, while a consumer waits for an item that doesn't come.
void stopped_by_a_token() {
    weir::thread_pool pool(2);
    weir::stop_source source;
    const auto slow = [](int n) -> task<int> {
        if (n > 0) co_await weir::sleep_for(20ms);
        co_return n;
    };
    auto pipeline = without_end() | weir::pipe(slow, slots(1)) | weir::sink(1);
    weir::run_options options;
    options.stop = source.get_token();
    auto run = pipeline.start(pool, options);
    thread other([&] { source.request_stop(); });
    const std::int64_t begin = count.now;
    take_rest(run);
    // An invocation that is under way goes on to its end.
    require_by(begin, 25 * ms, "the consumer is told");
    other.join();
}

// A stop of the token while the run is destroyed.
void stopped_and_destroyed() {
    weir::thread_pool pool(1);
    weir::stop_source source;
    auto pipeline = without_end() | weir::pipe(doubled, slots(1)) | weir::sink(1);
    weir::run_options options;
    options.stop = source.get_token();
    thread other([&] { source.request_stop(); });
    {
        auto run = pipeline.start(pool, options);
        static_cast<void>(run.get());
    }
    other.join();
}

// Two threads and a token, each at any time: whoever has waited finds nothing at work.
void stopped_by_several() {
    weir::thread_pool pool(2);
    weir::stop_source source;
    int inside = 0;
    const auto work = [&inside](int n) -> task<int> {
        // The sleep ends with the run, by an exception.
        const being_inside here(inside);
        co_await weir::sleep_for(1ms);
        co_return n;
    };
    auto pipeline = without_end() | weir::pipe(work, slots(1)) | weir::sink(1);
    weir::run_options options;
    options.stop = source.get_token();
    auto run = pipeline.start(pool, options);
    const auto stop = [&] {
        run.stop();
        require(inside == 0, "who has stopped a run finds nothing at work");
    };
    thread one(stop), two(stop);
    source.request_stop();
    one.join();
    two.join();
    const weir::run_outcome how = run.outcome();
    require(how == weir::run_outcome::stopped || how == weir::run_outcome::stopped_by_token,
            "it knows who stopped it");
}

// A stage that asks for the end, while somebody waits for it.
void stopped_from_within() {
    weir::thread_pool pool(1);
    weir::run<int>* me = nullptr;
    bool known = false;
    const auto work = [&](int n) {
        if (known) me->request_stop();
        return n;
    };
    auto pipeline = without_end() | weir::pipe(work, slots(1)) | weir::sink(1);
    auto run = pipeline.start(pool);
    static_cast<void>(run.get());
    me = &run;
    known = true;
    thread other([&] { run.stop(); });
    take_rest(run);
    other.join();
    require(run.outcome() == weir::run_outcome::stopped, "it knows that it was stopped");
}

// Whatever else may be called, by four threads at once.
void all_members() {
    weir::thread_pool pool(1);
    auto pipeline = without_end() | weir::pipe(doubled, slots(1)) | weir::sink(1);
    auto run = pipeline.start(pool);
    thread one([&] {
        run.pause();
        run.resume();
        run.request_stop();
    });
    thread two([&] {
        run.set_concurrency("double", 2);
        static_cast<void>(run.stats());
        run.stop();
    });
    thread three([&] {
        static_cast<void>(run.get(1ms));
        run.set_capacity("sink", 2);
        run.stop();
    });
    static_cast<void>(run.get());
    static_cast<void>(run.stages());
    static_cast<void>(run.get());
    one.join();
    two.join();
    three.join();
    require(run.outcome() == weir::run_outcome::stopped, "it knows that it was stopped");
}

void time_outs() {
    weir::thread_pool pool(1);
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(1ms);
        co_return n;
    };
    auto pipeline = numbers(3) | weir::pipe(slow, slots(1)) | weir::sink(1);
    auto run = pipeline.start(pool);
    int sum = 0;
    for (;;) {
        auto got = run.get(300us);
        if (got.status() == weir::channel_status::closed) break;
        if (got) sum += *got;
    }
    require(sum == 3, "a time-out loses no item");
}

// While the stage works, it gets a slot more, and loses two.
void other_concurrency() {
    weir::thread_pool pool(2);
    auto pipeline = numbers(5) | weir::pipe(doubled, slots(2)) | weir::sink(1);
    auto run = pipeline.start(pool);
    thread other([&] {
        run.set_concurrency("double", 3);
        run.set_concurrency("double", 1);
    });
    int sum = 0;
    for (const int n : run) sum += n;
    other.join();
    require(sum == 20, "each item comes out once");
}

// A slot that was taken out of service comes back: two work at a time again.
void slots_come_back() {
    weir::thread_pool pool(3);
    bool together = false;
    int inside = 0;
    const auto works = [&](int n) {
        ++inside;
        // Until one sees the other: the source gives enough for both.
        for (int i = 0; together && inside < 2 && i < 100; ++i) interleavings::block(10 * us);
        if (inside == 2) together = false;
        --inside;
        return n;
    };
    auto pipeline = without_end() | weir::pipe(works, slots(2)) | weir::sink(1);
    auto run = pipeline.start(pool);
    run.set_concurrency("double", 1);
    for (int i = 0; i < 4; ++i) static_cast<void>(run.get());
    together = true;
    run.set_concurrency("double", 2);
    for (int i = 0; i < 8 && together; ++i) static_cast<void>(run.get());
    if (interleavings::strict()) require(!together, "both slots work");
}

void other_capacity() {
    weir::thread_pool pool(1);
    auto pipeline = numbers(5) | weir::pipe(doubled, slots(1)) | weir::sink(1);
    auto run = pipeline.start(pool);
    thread other([&] {
        run.set_capacity("double", 3);
        run.set_capacity("double", 1);
    });
    int sum = 0;
    for (const int n : run) sum += n;
    other.join();
    require(sum == 20, "each item comes out once");
}

// What is paused goes on when it is told to, and not before it is.
void paused() {
    weir::thread_pool pool(2);
    auto pipeline = numbers(5) | weir::pipe(doubled, slots(2)) | weir::sink(1);
    auto run = pipeline.start(pool);
    thread other([&] {
        run.pause();
        run.resume();
        run.pause();
        run.resume();
    });
    int sum = 0;
    for (const int n : run) sum += n;
    other.join();
    require(sum == 20, "each item comes out once");
}

void stopped_while_paused() {
    weir::thread_pool pool(1);
    auto pipeline = without_end() | weir::pipe(doubled, slots(1)) | weir::sink(1);
    auto run = pipeline.start(pool);
    thread other([&] { take_rest(run); });
    run.pause();
    run.stop();
    other.join();
}

void looked_at() {
    weir::thread_pool pool(1);
    auto pipeline = numbers(3) | weir::pipe(doubled, slots(2)) | weir::sink(1);
    auto run = pipeline.start(pool);
    thread other([&] { require(run.stats().stages.size() == 3, "all stages are there"); });
    int sum = 0;
    for (const int n : run) sum += n;
    other.join();
    require(sum == 6, "each item comes out once");
}

// A lap's end is a timer of the pool, which the end of the run calls off.
void laps() {
    weir::thread_pool pool(2);
    int told = 0;
    weir::run_options options;
    options.lap = 1ms;
    options.on_lap = [&](const weir::pipeline_stats&) { ++told; };
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(700us);
        co_return n;
    };
    auto pipeline = numbers(3) | weir::pipe(slow, slots(1)) | weir::sink(1);
    auto run = pipeline.start(pool, options);
    int sum = 0;
    for (const int n : run) sum += n;
    run.stop();
    require(sum == 3, "each item comes out once");
    if (interleavings::strict()) require(told >= 1, "a lap was told of");
}

void later_stages_first() {
    weir::thread_pool pool(2);
    weir::run_options options;
    options.later_stages_first = true;
    auto pipeline = numbers(4) | weir::pipe(doubled, slots(2)) | weir::pipe(doubled) | weir::sink(1);
    auto run = pipeline.start(pool, options);
    int sum = 0;
    for (const int n : run) sum += n;
    require(sum == 24, "each item comes out once");
}

// What takes too long is asked to stop while it ends by itself.
void time_limits() {
    weir::thread_pool pool(1);
    weir::stage_options o = slots(1);
    o.time_limit = 500us;
    o.max_failures = 10;
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(n % 2 == 0 ? 499us : 100us);
        co_return n;
    };
    auto pipeline = numbers(4) | weir::pipe(slow, o) | weir::sink(1);
    auto run = pipeline.start(pool);
    int sum = 0;
    for (const int n : run) sum += n;
    require(sum <= 6 && (sum & 4) == 4, "what is in time comes out");
}

void branches() {
    weir::thread_pool pool(2);
    const auto parity = [](int n) { return n % 2 == 0 ? "even" : "odd"; };
    auto pipeline = numbers(4) |
                    weir::route(parity, weir::branch("even", weir::pipe(doubled)), weir::branch("odd")) |
                    weir::sink(1);
    auto run = pipeline.start(pool);
    int sum = 0;
    for (const int n : run) sum += n;
    require(sum == 8, "each item comes out once");
}

// A watchdog looks while a run begins, works and ends.
void watched() {
    weir::thread_pool pool(1);
    weir::watchdog_options options;
    options.period = weir::duration(0);
    weir::watchdog dog(pool, options);
    auto pipeline = numbers(2) | weir::pipe(doubled, slots(1)) | weir::sink(1);
    thread other([&] {
        for (int i = 0; i < 4; ++i) require(dog.inspect() == 0, "nobody is stuck");
    });
    auto run = pipeline.start(pool);
    int sum = 0;
    for (const int n : run) sum += n;
    other.join();
    require(sum == 2, "each item comes out once");
}

void fails() {
    weir::thread_pool pool(2);
    const auto throws = [](int n) {
        if (n == 2) throw std::runtime_error("no");
        return n;
    };
    weir::stage_options o = slots(2);
    o.output_order = weir::output_order::input;
    auto pipeline = without_end() | weir::pipe(throws, o) | weir::sink(1);
    auto run = pipeline.start(pool);
    int items = 0;
    bool told = false;
    try {
        for (const int n : run) {
            require(n == items, "in the order of the input");
            ++items;
        }
    } catch (const weir::pipeline_failure&) {
        told = true;
    }
    require(told && items == 2, "what came before the failure is delivered, then it is told");
}

// Two threads put, two get, one closes.
void blocking_channel() {
    weir::channel<int> c(1);
    int got[2] = {};
    int refused = 0;
    thread putter([&] {
        for (int i = 1; i <= 3; ++i) {
            if (c.blocking_put(int{i}) != weir::channel_status::success) refused += i;
        }
        c.close();
    });
    const auto take = [&](int& sum) {
        for (;;) {
            auto item = c.blocking_get(200us);
            if (item.status() == weir::channel_status::closed) return;
            if (item) sum += *item;
        }
    };
    thread getter([&] { take(got[0]); });
    take(got[1]);
    putter.join();
    getter.join();
    require(got[0] + got[1] == 6 && refused == 0, "each item is got once");
}

// A thread puts, a coroutine gets.
void from_a_thread() {
    weir::thread_pool pool(1);
    weir::channel<int> c(1);
    thread putter([&] {
        for (int i = 1; i <= 3; ++i) static_cast<void>(c.blocking_put(int{i}));
        c.close();
    });
    int sum = 0;
    const auto take = [&]() -> task<> {
        while (auto item = co_await c.get()) sum += *item;
    };
    weir::sync_wait(pool, take());
    putter.join();
    require(sum == 6, "each item is got once");
}

// Its end acts on the items, and it ends by itself; a thread and a coroutine wait for that.
void acted_on() {
    weir::thread_pool pool(2);
    interleavings::atomic<int> sum{0};
    auto pipeline = numbers(3) | weir::pipe(doubled, slots(1)) |
                    weir::for_each([&sum](int n) { sum.fetch_add(n); }, slots(2));
    auto run = pipeline.start(pool);
    std::uint64_t seen = 0;
    thread other([&] { seen = run.wait().items; });
    const auto waits = [&run]() -> task<std::uint64_t> {
        const weir::run_result all = co_await run;
        co_return all.items;
    };
    require(weir::sync_wait(pool, waits()) == 3, "all items were acted on");
    require(sum.load() == 6 && run.ended(), "it has ended for who has waited");
    other.join();
    require(seen == 3, "for all who wait");
}

// Two slots share a tree of five nodes; each node is found by its parent.
void traversed() {
    weir::thread_pool pool(2);
    interleavings::atomic<int> sum{0};
    const auto visit = [&sum](int n, weir::feeder<int>& more) {
        sum.fetch_add(n);
        for (int child = 2 * n; child <= 2 * n + 1 && child <= 5; ++child) more.add(int{child});
    };
    auto run = (weir::source({1}) | weir::traverse_each(visit, {.concurrency = 2})).start(pool);
    require(run.wait().items == 5, "each node is visited");
    require(sum.load() == 15, "each of them once");
}

// The slot that adds the second node waits until the other slot has visited that node.
void traversed_for_another() {
    weir::thread_pool pool(2);
    weir::channel<int> visited(1);
    const auto visit = [&visited](int n, weir::feeder<int>& more) -> task<> {
        if (n == 1) {
            more.add(2);
            co_await visited.get();
        } else {
            co_await visited.put(int{n});
        }
    };
    auto run = (weir::source({1}) | weir::traverse_each(visit, {.concurrency = 2})).start(pool);
    require(run.wait().items == 2, "each node is visited");
}

// In the order as found, with three roots: what a slot takes from the queue waits behind what is pending.
void traversed_as_found() {
    weir::thread_pool pool(2);
    interleavings::atomic<int> sum{0};
    const auto visit = [&sum](int n, weir::feeder<int>& more) {
        sum.fetch_add(n);
        if (n < 10) more.add(n + 10);
    };
    auto run =
        (numbers(3) |
         weir::traverse_each(visit,
                             {.concurrency = 2, .order = weir::traverse_order::as_found, .max_waiting = 2}))
            .start(pool);
    require(run.wait().items == 6, "each item is taken");
    require(sum.load() == 0 + 1 + 2 + 10 + 11 + 12, "each of them once");
}

// The same while somebody stops it.
void traversed_and_stopped() {
    weir::thread_pool pool(2);
    interleavings::atomic<int> visits{0};
    const auto visit = [&visits](int n, weir::feeder<int>& more) {
        visits.fetch_add(1);
        for (int child = 2 * n; child <= 2 * n + 1 && child <= 7; ++child) more.add(int{child});
    };
    auto run = (weir::source({1}) | weir::traverse_each(visit, {.concurrency = 2})).start(pool);
    thread other([&] { run.request_stop(); });
    const std::uint64_t items = run.wait().items;
    other.join();
    run.stop();
    require(items == static_cast<std::uint64_t>(visits.load()), "each that was visited is counted");
}

// While somebody stops it, and nobody waits; what it has counted it has acted on.
void acted_on_and_stopped() {
    weir::thread_pool pool(2);
    interleavings::atomic<int> acts{0};
    auto pipeline = numbers(5) | weir::for_each([&acts](int) { acts.fetch_add(1); }, slots(2));
    auto run = pipeline.start(pool);
    thread other([&] { run.request_stop(); });
    const std::uint64_t items = run.wait().items;
    other.join();
    run.stop();
    require(items == static_cast<std::uint64_t>(acts.load()), "each on which it acted is counted");
}

// A thread puts and another one stops, while the time runs: one of them ends the wait, and nothing is lost.
void selected_or_stopped() {
    weir::thread_pool pool(1);
    weir::channel<int> a(1), b(1);
    weir::stop_source source;
    const std::vector<weir::channel<int>*> both{&a, &b};
    int got = 0;
    const auto selects = [&](weir::stop_token stop) -> task<> {
        bool ended = false;
        while (!ended) {
            auto done = co_await weir::select(weir::on_get(both), stop, weir::after(100us));
            if (done.index() == 0) got += *done.get<0>();
            ended = done.index() == 1;
            require(!ended || stop.stop_requested(), "who is stopped was told so");
        }
    };
    thread putter([&] {
        static_cast<void>(a.try_put(1));
        static_cast<void>(b.try_put(2));
    });
    thread stopper([&] { source.request_stop(); });
    weir::sync_wait(pool, selects(source.get_token()));
    putter.join();
    stopper.join();
    for (weir::channel<int>* each : both) {
        if (auto left = each->try_get()) got += *left;
    }
    require(got == 3, "each item was got, or is inside");
}

// The same of one channel, for the put and the get; both wait in turn.
void timed_or_stopped() {
    weir::thread_pool pool(2);
    weir::channel<int> c(1);
    weir::stop_source source;
    int put = 0, got = 0;
    const auto puts = [&](weir::stop_token stop) -> task<> {
        weir::channel_status how = weir::channel_status::success;
        while (how != weir::channel_status::stopped && put < 3) {
            how = co_await c.put_for(1, 50us, stop);
            if (how == weir::channel_status::success) ++put;
        }
    };
    const auto gets = [&](weir::stop_token stop) -> task<> {
        weir::channel_status how = weir::channel_status::success;
        while (how != weir::channel_status::stopped) {
            const auto one = co_await c.get_for(50us, stop);
            how = one.status();
            if (one) ++got;
        }
    };
    thread stopper([&] { source.request_stop(); });
    weir::sync_wait(pool, weir::when_all(puts(source.get_token()), gets(source.get_token())));
    stopper.join();
    require(put == got + static_cast<int>(c.size()), "what was put was got, or is inside");
}

const interleavings::registered all("runs", {
                                                {"whole", whole},
                                                {"across_pools", across_pools},
                                                {"two_consumers", two_consumers},
                                                {"lent_place", lent_place},
                                                {"place_taken_back", place_taken_back},
                                                {"lent_place_of_two", lent_place_of_two},
                                                {"lent_place_blocks", lent_place_blocks},
                                                {"lent_place_is_surplus", lent_place_is_surplus},
                                                {"lent_to_a_loop", lent_to_a_loop},
                                                {"destroyed_early", destroyed_early},
                                                {"destroyed_at_once", destroyed_at_once},
                                                {"stopped_by_two", stopped_by_two},
                                                {"stop_is_requested", stop_is_requested},
                                                {"stopped_by_a_token", stopped_by_a_token},
                                                {"stopped_and_destroyed", stopped_and_destroyed},
                                                {"stopped_by_several", stopped_by_several},
                                                {"stopped_from_within", stopped_from_within},
                                                {"all_members", all_members},
                                                {"time_outs", time_outs},
                                                {"other_concurrency", other_concurrency},
                                                {"slots_come_back", slots_come_back},
                                                {"other_capacity", other_capacity},
                                                {"paused", paused},
                                                {"stopped_while_paused", stopped_while_paused},
                                                {"looked_at", looked_at},
                                                {"laps", laps},
                                                {"later_stages_first", later_stages_first},
                                                {"time_limits", time_limits},
                                                {"branches", branches},
                                                {"watched", watched},
                                                {"fails", fails},
                                                {"blocking_channel", blocking_channel},
                                                {"from_a_thread", from_a_thread},
                                                {"acted_on", acted_on},
                                                {"acted_on_and_stopped", acted_on_and_stopped},
                                                {"traversed", traversed},
                                                {"traversed_for_another", traversed_for_another},
                                                {"traversed_as_found", traversed_as_found},
                                                {"traversed_and_stopped", traversed_and_stopped},
                                                {"selected_or_stopped", selected_or_stopped},
                                                {"timed_or_stopped", timed_or_stopped},
                                            });

}  // namespace
