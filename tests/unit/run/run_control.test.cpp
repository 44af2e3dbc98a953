#include <weir/run/run_control.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using items::contains;
using items::message_of;
using weir::run_outcome;
using weir::task;
using weir::time_point;
using weir::virtual_time;
using namespace std::chrono_literals;
using void_run = weir::run<void>;

namespace {

std::size_t steer(weir::run_control<>& run) {
    run.set_capacity("double", 3);
    run.pause();
    const std::size_t stages = run.stages().size();
    run.resume();
    return stages;
}

auto doubled(auto first) {
    return weir::source(std::vector{first, first, first}) |
           weir::pipe([](auto item) { return item + item; }, {.name = "double"}) | weir::sink();
}

// A run, one item of which was fetched to see that there is an epoch, and left.
auto with_a_fetched_item(virtual_time& time, weir::run_options options = {}) {
    auto run = (weir::source(weir::epochs([] { return std::views::iota(0, 3); }, 1)) | weir::sink())
                   .start(time, std::move(options));
    for (auto& epoch : run.epochs()) {
        CHECK(epoch.number() == 0);
        break;
    }
    return run;
}

auto numbers(int n) { return weir::source(std::views::iota(0, n)); }

template <class Run>
task<std::uint64_t> drained(Run& run) {
    const weir::run_result all = co_await run;
    co_return all.items;
}

}  // namespace

TEST_CASE("one function steers runs of any items") {
    virtual_time time;
    auto numbers = doubled(1).start(time);
    auto texts = doubled(std::string("a")).start(time);
    CHECK(steer(numbers) == 3);
    CHECK(steer(texts) == 3);
    CHECK(numbers.get() == 2);
    CHECK(texts.get() == "aa");
    for (weir::run_control<>* each :
         {static_cast<weir::run_control<>*>(&numbers), static_cast<weir::run_control<>*>(&texts)}) {
        each->stop();
        CHECK(each->outcome() == weir::run_outcome::stopped);
    }
    CHECK(numbers.get() == std::nullopt);
    CHECK(texts.get() == std::nullopt);
}

TEST_CASE("a run_control can be neither copied nor destroyed") {
    using control = weir::run_control<>;
    CHECK_FALSE(std::is_copy_constructible_v<control>);
    CHECK_FALSE(std::is_destructible_v<control>);
    CHECK_FALSE(std::is_move_constructible_v<control>);
    CHECK(std::is_nothrow_move_constructible_v<weir::run<int>>);
}

TEST_CASE("each kind of stop destroys the item that an epoch_range has fetched") {
    virtual_time time;
    SECTION("by stop") {
        auto run = with_a_fetched_item(time);
        run.stop();
        CHECK(run.get() == std::nullopt);
    }
    SECTION("by request_stop") {
        auto run = with_a_fetched_item(time);
        run.request_stop();
        CHECK(run.get() == std::nullopt);
    }
    SECTION("by the stop token of its options") {
        weir::stop_source stop;
        auto run = with_a_fetched_item(time, {.stop = stop.get_token()});
        stop.request_stop();
        CHECK(run.get() == std::nullopt);
        CHECK(run.outcome() == weir::run_outcome::stopped_by_token);
    }
    SECTION("not without one") {
        auto run = with_a_fetched_item(time);
        CHECK(run.get() == 0);
    }
}

TEST_CASE("drain returns the number of items that it took, and the statistics, to a thread or a coroutine") {
    items::ledger book(100);
    virtual_time time;
    const auto pipeline =
        numbers(10) | weir::pipe([&book](int) { return items::counted(book); }) | weir::sink(1);
    auto run = pipeline.start(time);
    CHECK(run.get().has_value());
    const weir::run_result all = run.drain();
    CHECK(all.items == 9);
    CHECK(all.stats.channels.back().num_get == 10);
    CHECK(all.stats.elapsed == run.stats().elapsed);
    CHECK(run.outcome() == weir::run_outcome::finished);
    CHECK(run.drain().items == 0);

    auto other = pipeline.start(time);
    CHECK(weir::sync_wait(time, drained(other)) == 10);
    CHECK(weir::sync_wait(time, drained(other)) == 0);
    CHECK(book.born() == 20);
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("drain counts items of epochs, and not their ends") {
    virtual_time time;
    const auto pipeline = weir::source(weir::epochs([] { return std::views::iota(0, 3); }, 4)) | weir::sink();
    auto run = pipeline.start(time);
    CHECK(run.get_in_epoch() == 0);
    CHECK(run.drain().items == 11);
    auto other = pipeline.start(time);
    CHECK(weir::sync_wait(time, drained(other)) == 12);
}

TEST_CASE("drain throws the failure of a run, once") {
    virtual_time time;
    const auto pipeline = numbers(10) | weir::pipe([](int n) {
                              if (n == 4) throw std::runtime_error("four");
                              return n;
                          }) |
                          weir::sink();
    auto run = pipeline.start(time);
    CHECK_THROWS_AS(run.drain(), weir::pipeline_failure);
    CHECK(run.drain().items == 0);
    auto other = pipeline.start(time);
    CHECK_THROWS_AS(weir::sync_wait(time, drained(other)), weir::pipeline_failure);
    CHECK(weir::sync_wait(time, drained(other)) == 0);
}

TEST_CASE("a stage that drains its own run gets an error that says so") {
    virtual_time time;
    weir::run<int>* self = nullptr;
    std::string what;
    auto run = (numbers(1) | weir::pipe([&](int n) {
                    what = items::message_of([&self] { self->drain(); });
                    return n;
                }) |
                weir::sink())
                   .start(time);
    self = &run;
    CHECK(run.drain().items == 1);
    CHECK(items::contains(what, "weir: stage 'pipe#1' can't wait for the end of its own run"));
}

static_assert(!std::is_copy_constructible_v<void_run>);
static_assert(std::is_nothrow_move_constructible_v<void_run>);
static_assert(std::is_nothrow_move_assignable_v<void_run>);
static_assert(std::is_base_of_v<weir::run_control<>, void_run>);
static_assert(!std::ranges::range<void_run>);

namespace {

task<> tenth(int) { co_await weir::sleep_for(10ms); }

auto slow(int n) { return weir::source(std::views::iota(0, n)) | weir::for_each(tenth, {.name = "write"}); }

auto bad_at(int bad) {
    return weir::source(std::views::iota(0, 100)) | weir::for_each([bad](int n) {
               if (n == bad) throw std::runtime_error("bad");
           });
}

template <class Run>
task<std::uint64_t> count(Run& run) {
    const weir::run_result all = co_await run;
    co_return all.items;
}

// A channel to which nothing comes.
struct silent {
    explicit silent(virtual_time& time) : c(1, time) {}
    weir::channel<int> c;
    auto waits() {
        return [this](int) -> task<> {
            const auto never = co_await c.get();
            static_cast<void>(never);
        };
    }
};

std::string heard;
void hear(std::string_view, const weir::pipeline_failure& what) noexcept { heard = what.what(); }

}  // namespace

TEST_CASE("threads and coroutines wait for the end of a run that nobody consumes, all of them") {
    weir::thread_pool pool(2);
    auto run = (weir::source(std::views::iota(0, 1000)) | weir::for_each([](int) {}, {.concurrency = 2}))
                   .start(pool);
    std::uint64_t there = 0;
    std::thread other([&] { there = run.wait().items; });
    CHECK(weir::sync_wait(pool, count(run)) == 1000);
    CHECK(weir::sync_wait(run).items == 1000);
    CHECK(run.wait().items == 1000);
    other.join();
    CHECK(there == 1000);
}

TEST_CASE("a coroutine waits for several runs at once") {
    virtual_time time;
    auto one = slow(3).start(time);
    auto two = slow(5).start(time);
    const auto both = [&]() -> task<std::uint64_t> {
        std::vector<task<std::uint64_t>> waits;
        waits.push_back(count(one));
        waits.push_back(count(two));
        const auto all = co_await weir::when_all(std::move(waits));
        co_return all[0] + all[1];
    };
    CHECK(weir::sync_wait(time, both()) == 8);
    CHECK(time.now() == time_point(50ms));
}

TEST_CASE("a run that nobody waits for ends, is finished, and its statistics stand still") {
    virtual_time time;
    auto run = slow(3).start(time);
    CHECK_FALSE(run.ended());
    CHECK(run.outcome() == run_outcome::running);
    time.run_until(time_point(1s));
    CHECK(run.ended());
    CHECK(run.outcome() == run_outcome::finished);
    CHECK(run.stats().elapsed == 30ms);
    CHECK(run.wait().stats.elapsed == 30ms);
    CHECK(time.now() == time_point(1s));
}

TEST_CASE("a stop ends the wait when the last stage has ended, with what was done until then") {
    virtual_time time;
    auto run = slow(100).start(time);
    time.run_until(time_point(35ms));
    run.request_stop();
    const weir::run_result all = run.wait();
    CHECK(all.items == 3);
    CHECK(time.now() == time_point(35ms));
    CHECK(run.outcome() == run_outcome::stopped);
    run.stop();
    CHECK(run.ended());
    CHECK(run.stats().elapsed == 35ms);
}

TEST_CASE("a stage that nothing can end is a deadlock to who waits for it, and the run can be stopped") {
    virtual_time time;
    silent never(time);
    auto run = (weir::source({1, 2, 3}) | weir::for_each(never.waits(), {.name = "write"})).start(time);
    CHECK_THROWS_AS(run.wait(), weir::deadlock_error);
    const std::string what = message_of([&] { static_cast<void>(weir::sync_wait(time, count(run))); });
    CHECK(contains(what, "channel 'the end of write' is empty, 0 of 1: a coroutine waits to get"));
    CHECK(contains(what, ": stage 'write', slot 0 (run_control.test.cpp:290) waits to get"));
    run.stop();
    CHECK(run.wait().items == 0);
    CHECK(run.outcome() == run_outcome::stopped);
}

TEST_CASE("a failure is thrown to one of those who wait, or told at the end") {
    virtual_time time;
    SECTION("to a thread") {
        auto run = bad_at(7).start(time);
        CHECK_THROWS_AS(run.wait(), weir::pipeline_failure);
        CHECK(run.wait().items == 7);
    }
    SECTION("to a coroutine") {
        auto run = bad_at(7).start(time);
        CHECK_THROWS_AS(weir::sync_wait(time, count(run)), weir::pipeline_failure);
        CHECK(weir::sync_wait(time, count(run)) == 7);
    }
    SECTION("to nobody") {
        heard.clear();
        const weir::failure_sink before = weir::set_failure_sink(&hear);
        {
            auto run = bad_at(7).start(time);
            time.run();
            CHECK(run.outcome() == run_outcome::failed);
            CHECK(run.ended());
        }
        weir::set_failure_sink(before);
        CHECK(contains(heard, "'for_each'"));
    }
}

TEST_CASE("a stage that waits for the end of its own run gets an error that says so") {
    virtual_time time;
    void_run* self = nullptr;
    std::string thread, coroutine;
    const auto asks = [&](int) -> task<> {
        thread = message_of([&self] { self->wait(); });
        try {
            void_run& own = *self;
            const weir::run_result all = co_await own;
            static_cast<void>(all);
        } catch (const std::logic_error& e) {
            coroutine = e.what();
        }
    };
    auto run = (weir::source({1}) | weir::for_each(std::ref(asks))).start(time);
    self = &run;
    CHECK(run.wait().items == 1);
    CHECK(contains(thread, "weir: stage 'for_each' can't wait for the end of its own run"));
    CHECK(thread == coroutine);
}

TEST_CASE("a run without a consumer that is destroyed in the middle destroys each item once") {
    items::ledger book(100);
    virtual_time time;
    int made = 0;
    const auto make = [&](int n) {
        ++made;
        static_cast<void>(n);
        return items::counted(book);
    };
    const auto hold = [](items::counted item) -> task<> {
        co_await weir::sleep_for(10ms);
        static_cast<void>(item);
    };
    for (const auto when : {0ms, 5ms, 15ms, 25ms}) {
        auto run = (weir::source(std::views::iota(0, 10)) | weir::pipe(make) |
                    weir::for_each(hold, {.concurrency = 2}))
                       .start(time);
        time.run_until(time.now() + when);
    }
    CHECK(made > 0);
    CHECK(book.born() == static_cast<std::size_t>(made));
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("what was moved from says so") {
    virtual_time time;
    auto run = slow(2).start(time);
    auto there = std::move(run);
    const std::string moved = "weir: this run was moved from";
    CHECK(contains(message_of([&run] { run.wait(); }), moved));
    CHECK(contains(message_of([&] { static_cast<void>(weir::sync_wait(time, count(run))); }), moved));
    CHECK(there.wait().items == 2);
}
