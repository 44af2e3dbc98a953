#include <weir/run/run.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/platform/parking.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>
#include <weir/task/when_all.hpp>
#include <weir/task/when_any.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using items::counted;
using items::ledger;
using items::take_all;
using weir::channel_status;
using weir::task;
using weir::time_point;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

static_assert(!std::is_copy_constructible_v<weir::run<int>>);
static_assert(std::is_nothrow_move_constructible_v<weir::run<int>>);
static_assert(std::is_nothrow_move_assignable_v<weir::run<int>>);

namespace {

auto numbers(int n) { return weir::source(std::views::iota(0, n)) | weir::sink(); }

// Moves each item on after some virtual time.
auto after(weir::duration d) {
    return [d](auto item) -> task<decltype(item)> {
        co_await weir::sleep_for(d);
        co_return item;
    };
}

template <class Run>
task<ints> taken_by_coroutine(Run& run) {
    ints all;
    while (const auto n = co_await run.next()) all.push_back(*n);
    co_return all;
}

// Items of which every single one is accounted for, through all kinds of stages.
auto small_pipeline(ledger& book) {
    const auto made = [&book, left = 12]() mutable -> std::optional<counted> {
        if (left-- == 0) return std::nullopt;
        return counted(book);
    };
    const auto some = [calls = 0](counted c) mutable -> std::optional<counted> {
        if (++calls % 5 == 0) return std::nullopt;
        return c;
    };
    const auto and_one_more = [&book](counted c) -> weir::async_generator<counted> {
        co_yield std::move(c);
        co_await weir::sleep_for(1ms);
        co_yield counted(book);
    };
    return weir::source(made) | weir::pipe(after(1ms), {.concurrency = 2}) | weir::aggregate(3) |
           weir::disaggregate() | weir::pipe(some) | weir::pipe(and_one_more, {.capacity = 1}) |
           weir::sink(1);
}

// Makes `steps` steps; false if there was nothing left to do before.
bool walk(virtual_time& time, int steps) {
    weir::detail::parker never;
    try {
        for (int i = 0; i < steps; ++i) time.drive(never, time_point::max());
    } catch (const weir::deadlock_error&) {
        return false;
    }
    return true;
}

}  // namespace

TEST_CASE("a loop takes all items, and one that is left early is continued by the next") {
    virtual_time time;
    auto run = numbers(10).start(time);
    ints first;
    for (const int n : run) {
        first.push_back(n);
        if (n == 3) break;
    }
    CHECK(first == ints{0, 1, 2, 3});
    CHECK(take_all(run) == ints{4, 5, 6, 7, 8, 9});
    CHECK(take_all(run).empty());
}

TEST_CASE("all ways of taking items can be mixed") {
    virtual_time time;
    auto run = numbers(6).start(time);
    CHECK(run.get() == 0);
    CHECK(*run.get(1s) == 1);
    CHECK(*run.begin() == 2);
    const auto one = [&run]() -> task<int> { co_return *co_await run.next(); };
    CHECK(weir::sync_wait(time, one()) == 3);
    CHECK(take_all(run) == ints{4, 5});
}

TEST_CASE("no function of a stage runs on the consumer's thread if consumers_help is false") {
    weir::thread_pool pool(1);
    std::atomic<bool> was_here = false;
    const auto consumer = std::this_thread::get_id();
    const auto looks = [&was_here, consumer](int n) {
        if (std::this_thread::get_id() == consumer) was_here = true;
        return n;
    };
    auto run = (weir::source(std::views::iota(0, 20'000)) | weir::pipe(looks) | weir::sink(1))
                   .start(pool, {.consumers_help = false});
    int next = 0;
    for (const int n : run) next += n == next ? 1 : 0;
    CHECK(next == 20'000);
    CHECK_FALSE(was_here);
}

TEST_CASE(
    "the functions of stages on a pool of one worker never run at the same time, also if consumers help") {
    weir::thread_pool pool(1);
    int inside = 0;  // no atomic: the thread sanitizer checks that calls on different threads are ordered
    bool overlapped = false;
    const auto alone = [&](int n) {
        overlapped = overlapped || ++inside != 1;
        --inside;
        return n;
    };
    {
        auto run = (weir::source(std::views::iota(0, 20'000)) | weir::pipe(alone) | weir::pipe(alone) |
                    weir::sink(3))
                       .start(pool);
        int next = 0;
        for (const int n : run) next += n == next ? 1 : 0;
        CHECK(next == 20'000);
    }
    CHECK_FALSE(overlapped);
}

TEST_CASE("an item can be moved out of the loop") {
    virtual_time time;
    std::vector<std::unique_ptr<int>> from;
    for (int i = 0; i < 3; ++i) from.push_back(std::make_unique<int>(i));
    auto run = (weir::source(std::move(from)) | weir::sink()).start(time);
    std::vector<std::unique_ptr<int>> all;
    for (auto& p : run) all.push_back(std::move(p));
    CHECK(all.size() == 3);
    auto none = run.begin();
    CHECK(none == run.end());
}

TEST_CASE("a coroutine takes the items with next, on virtual time and on a pool") {
    virtual_time time;
    auto run = numbers(10).start(time);
    CHECK(weir::sync_wait(time, taken_by_coroutine(run)).size() == 10);

    weir::thread_pool pool(2);
    auto other = numbers(1000).start(pool);
    const ints all = weir::sync_wait(pool, taken_by_coroutine(other));
    CHECK(all.size() == 1000);
    CHECK(std::ranges::is_sorted(all));

    // The coroutine may run elsewhere.
    auto third = numbers(1000).start(pool);
    CHECK(weir::sync_wait(taken_by_coroutine(third)).size() == 1000);
}

TEST_CASE("the end comes with the last item, not later, and is seen again and again") {
    virtual_time time;
    auto run = (weir::source({1, 2}) | weir::pipe(after(1s)) | weir::sink()).start(time);
    CHECK(take_all(run) == ints{1, 2});
    CHECK(time.now() == time_point(2s));
    for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(run.get().has_value());
        CHECK(run.get(1s).status() == channel_status::closed);
        CHECK(run.begin() == run.end());
        CHECK(weir::sync_wait(time, taken_by_coroutine(run)).empty());
    }
    CHECK(time.now() == time_point(2s));
}

TEST_CASE("a time-out loses no item, on virtual time") {
    virtual_time time;
    auto run = (weir::source({1, 2, 3, 4}) | weir::pipe(after(300ms)) | weir::sink()).start(time);
    ints all;
    int timeouts = 0;
    for (bool going = true; going;) {
        auto got = run.get(50ms);
        if (got) {
            all.push_back(*got);
        } else if (got.status() == channel_status::timed_out) {
            ++timeouts;
        } else {
            going = false;
        }
    }
    CHECK(all == ints{1, 2, 3, 4});
    // Six for each item: one that comes at the very end of the time counts as later.
    CHECK(timeouts == 24);
    CHECK(time.now() == time_point(1200ms));
}

TEST_CASE("a time-out loses no item, on a pool") {
    weir::thread_pool pool(2);
    auto run = (weir::source(std::views::iota(0, 2000)) | weir::pipe([](int n) { return n; }) | weir::sink(1))
                   .start(pool);
    ints all;
    std::vector<weir::duration> patience = {0ns, 1ns, 1us, -5ns, 20us};
    for (std::size_t i = 0;; ++i) {
        auto got = run.get(patience[i % patience.size()]);
        if (got) all.push_back(*got);
        if (got.status() == channel_status::closed) break;
    }
    REQUIRE(all.size() == 2000);
    for (int i = 0; i < 2000; ++i) {
        if (all[static_cast<std::size_t>(i)] != i) FAIL(i << " is not at its place");
    }
}

TEST_CASE("stopping ends the run for the consumer, and doing it again does nothing") {
    virtual_time time;
    auto run = numbers(1000).start(time);
    CHECK(run.get() == 0);
    run.stop();
    CHECK_FALSE(run.get().has_value());
    run.stop();
    run.stop();
    CHECK_FALSE(run.get().has_value());
    CHECK(run.get(1s).status() == channel_status::closed);
    time.run();

    auto at_once = numbers(3).start(time);
    at_once.stop();
    CHECK(take_all(at_once).empty());

    auto at_the_end = numbers(3).start(time);
    CHECK(take_all(at_the_end).size() == 3);
    at_the_end.stop();
    CHECK(take_all(at_the_end).empty());
}

TEST_CASE("stop waits for running invocations, on a pool") {
    weir::thread_pool pool(2);
    std::atomic<int> inside{0};
    const auto work = [&inside](int n) {
        ++inside;
        for (int i = 0; i < 100; ++i) std::this_thread::yield();
        --inside;
        return n;
    };
    for (int i = 0; i < 50; ++i) {
        auto run = (weir::source(std::views::iota(0)) | weir::pipe(work, {.concurrency = 3}) | weir::sink())
                       .start(pool);
        if (i % 2 == 0) static_cast<void>(run.get());
        run.stop();
        CHECK(inside == 0);
    }
}

TEST_CASE("an early stop destroys every item once, wherever it is, on virtual time") {
    for (int taken = 0; taken < 24; ++taken) {
        ledger book(100);
        {
            virtual_time time;
            auto run = small_pipeline(book).start(time);
            for (int i = 0; i < taken; ++i) static_cast<void>(run.get());
        }
        CAPTURE(taken);
        CHECK(book.alive() == 0);
        CHECK(book.died_twice() == 0);
    }
}

TEST_CASE("an early stop destroys every item once, wherever it is, on a pool") {
    weir::thread_pool pool(2);
    for (std::size_t taken = 0; taken < 200; taken += 7) {
        ledger book(100'000);
        const auto made = [&book](int) { return counted(book); };
        const auto same = [](counted c) { return c; };
        {
            auto run = (weir::source(std::views::iota(0, 5000)) | weir::pipe(made, {.concurrency = 2}) |
                        weir::aggregate(3) | weir::disaggregate() | weir::pipe(same, {.concurrency = 3}) |
                        weir::sink(2))
                           .start(pool);
            for (std::size_t i = 0; i < taken; ++i) CHECK(run.get().has_value());
        }
        CHECK(book.born() >= taken);
        CHECK(book.alive() == 0);
        CHECK(book.died_twice() == 0);
    }
}

TEST_CASE("a run can be destroyed at each step of its way") {
    for (const int taken : {0, 1, 2, 5, 9}) {
        for (std::uint64_t seed = 0; seed < 12; ++seed) {
            bool more = true;
            for (int steps = 0; more; ++steps) {
                ledger book(100);
                virtual_time time(seed);
                {
                    auto run = small_pipeline(book).start(time);
                    for (int i = 0; i < taken; ++i) static_cast<void>(run.get());
                    more = walk(time, steps);
                }
                if (book.alive() != 0 || book.died_twice() != 0) {
                    FAIL("seed " << seed << ", " << taken << " items and " << steps << " steps: "
                                 << book.alive() << " are left, " << book.died_twice() << " died twice");
                }
                time.run();  // would throw if a coroutine were left
            }
        }
    }
}

TEST_CASE("a stop can be requested at each step, and ends the stream for the consumer") {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        bool more = true;
        for (int steps = 0; more; ++steps) {
            ledger book(100);
            virtual_time time(seed);
            {
                const weir::stop_source stop;
                auto run = small_pipeline(book).start(time, {.stop = stop.get_token()});
                static_cast<void>(run.get());
                more = walk(time, steps);
                stop.request_stop();
                CHECK_FALSE(run.get().has_value());
            }
            if (book.alive() != 0 || book.died_twice() != 0) {
                FAIL("seed " << seed << ", " << steps << " steps: " << book.alive() << " are left, "
                             << book.died_twice() << " died twice");
            }
        }
    }
}

TEST_CASE("a run whose stop token is already stopped gives no item") {
    virtual_time time;
    const weir::stop_source stop;
    stop.request_stop();
    auto run = numbers(1000).start(time, {.stop = stop.get_token()});
    CHECK_FALSE(run.get().has_value());
}

TEST_CASE("a stage's function can ask for the stop of its own run") {
    virtual_time time;
    const weir::stop_source stop;
    const auto work = [&stop](int n) {
        if (n == 5) stop.request_stop();
        return n;
    };
    auto run = (weir::source(std::views::iota(0)) | weir::pipe(work) | weir::sink())
                   .start(time, {.stop = stop.get_token()});
    CHECK(take_all(run).size() <= 5);
}

TEST_CASE("a stop token outlives the run that it could have stopped, and one stops several runs") {
    virtual_time time;
    const weir::stop_source stop;
    {
        auto run = numbers(3).start(time, {.stop = stop.get_token()});
        CHECK(take_all(run).size() == 3);
    }
    auto one = numbers(1000).start(time, {.stop = stop.get_token()});
    auto two = numbers(1000).start(time, {.stop = stop.get_token()});
    CHECK(one.get() == 0);
    CHECK(two.get() == 0);
    stop.request_stop();
    CHECK_FALSE(one.get().has_value());
    CHECK_FALSE(two.get().has_value());
}

TEST_CASE("another thread stops a run by its token while the consumer waits") {
    weir::thread_pool pool(2);
    for (int i = 0; i < 30; ++i) {
        const weir::stop_source stop;
        auto run = (weir::source(std::views::iota(0)) | weir::pipe([](int n) { return n; }) | weir::sink())
                       .start(pool, {.stop = stop.get_token()});
        CHECK(run.get() == 0);
        std::thread other([&stop] { stop.request_stop(); });
        int next = 1;
        bool in_order = true;
        while (const auto n = run.get()) in_order = in_order && *n == next++;
        other.join();
        CHECK(in_order);
    }
    // With nothing to get: the stop comes when it waits, and not before.
    const weir::stop_source stop;
    auto run =
        (weir::source({1}) | weir::pipe(after(1h)) | weir::sink()).start(pool, {.stop = stop.get_token()});
    std::thread other([&] {
        while (run.stats().channels.back().get_wait == 0ns) std::this_thread::yield();
        stop.request_stop();
    });
    CHECK_FALSE(run.get().has_value());
    other.join();
}

TEST_CASE("a run is moved while it runs, and the one moved from can go") {
    virtual_time time;
    auto first = std::make_unique<weir::run<int>>(numbers(10).start(time));
    CHECK(first->get() == 0);
    weir::run<int> second(std::move(*first));
    first.reset();
    CHECK(second.get() == 1);

    auto other = numbers(10).start(time);
    CHECK(other.get() == 0);
    second = std::move(other);  // stops the run that it held
    CHECK(second.get() == 1);
    CHECK(take_all(second).size() == 8);
    time.run();

    std::vector<weir::run<int>> several;
    for (int i = 0; i < 5; ++i) several.push_back(numbers(5).start(time));
    for (auto& run : several) CHECK(take_all(run).size() == 5);
}

TEST_CASE("of a run that was moved from everything is an error that says so, or nothing") {
    virtual_time time;
    auto from = (weir::source(weir::epochs(std::views::iota(0, 3))) | weir::sink()).start(time);
    const auto to = std::move(from);
    using run_type = decltype(from);
    const std::vector<void (*)(run_type&)> members = {
        [](run_type& r) { static_cast<void>(r.next()); },
        [](run_type& r) { static_cast<void>(r.get()); },
        [](run_type& r) { static_cast<void>(r.get(1s)); },
        [](run_type& r) { static_cast<void>(r.begin()); },
        [](run_type& r) { static_cast<void>(weir::sync_wait(r.next_in_epoch())); },
        [](run_type& r) { static_cast<void>(r.get_in_epoch()); },
        [](run_type& r) { static_cast<void>(r.epochs().begin()); },
        [](run_type& r) { static_cast<void>(r.outcome()); },
        [](run_type& r) { static_cast<void>(r.checkpoint()); },
        [](run_type& r) { r.pause(); },
        [](run_type& r) { r.resume(); },
        [](run_type& r) { static_cast<void>(r.stages()); },
        [](run_type& r) { r.set_concurrency("src", 1); },
        [](run_type& r) { r.set_capacity("src", 1); },
        [](run_type& r) { static_cast<void>(r.stats()); },
    };
    for (const auto member : members) {
        // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
        CHECK(items::message_of([&] { member(from); }).starts_with("weir: this run was moved from"));
    }
    from.stop();
    from.request_stop();
    CHECK(from.ended());
    auto other = (weir::source({1, 2}) | weir::sink()).start(time);
    auto third = std::move(other);
    // NOLINTNEXTLINE(bugprone-use-after-move): the same
    CHECK(
        items::message_of([&] { static_cast<void>(other.next()); }).starts_with("weir: this run was moved"));
    other = std::move(third);
    CHECK(take_all(other) == ints{1, 2});
}

namespace {

// Where a run asks for its own end, with or without waiting for it.
class from_within {
  public:
    explicit from_within(bool waits) : waits_(waits) {}
    from_within(const from_within&) = delete;
    from_within& operator=(const from_within&) = delete;
    template <class Run>
    void is(Run& run) {
        ask_ = [this, &run] { waits_ ? run.stop() : run.request_stop(); };
        is_known_ = true;
    }
    void operator()() const {
        while (!is_known_) std::this_thread::yield();
        ask_();
    }

  private:
    const bool waits_;
    std::function<void()> ask_;
    std::atomic<bool> is_known_{false};
};

struct asks_at_its_end final : weir::hook {
    explicit asks_at_its_end(const from_within& what) : ask(&what) {}
    void stage_ends(const std::string& stage) override {
        if (stage == "src") (*ask)();
    }
    const from_within* ask;
};

// Every place at which a run calls somebody, each with a run that does nothing else but that.
template <class Start>
void ask_everywhere(const Start& start) {
    const auto plain = [&](const from_within& ask) {
        return weir::source(std::views::iota(0)) | weir::pipe([&ask](int n) {
                   if (n == 5) ask();
                   return n;
               });
    };
    const auto waiting = [](const from_within& ask) {
        return weir::source(std::views::iota(0)) | weir::pipe(
                                                       [&ask](int n) -> task<int> {
                                                           co_await weir::sleep_for(1us);
                                                           if (n == 5) ask();
                                                           co_await weir::sleep_for(1us);
                                                           co_return n;
                                                       },
                                                       {.concurrency = 2, .time_limit = 1h});
    };
    const auto from_source = [](const from_within& ask) {
        return weir::source([&ask, n = 0]() mutable -> std::optional<int> {
                   if (++n == 5) ask();
                   return n;
               }) |
               weir::pipe([](int n) { return n; });
    };
    // The first part goes on by itself once it has waited; the function comes home from another thread.
    const auto in_parts = [](const from_within& ask) {
        return weir::source(std::views::iota(0)) | weir::pipe([&ask](int n) -> task<int> {
                   const auto part = [](const from_within& what, bool now) -> task<> {
                       co_await weir::sleep_for(1us);
                       if (now) what();
                   };
                   co_await weir::when_all(part(ask, n == 5), part(ask, false));
                   co_return n;
               });
    };
    const auto behind_a_queue = [](const from_within& ask) {
        return weir::source(std::views::iota(0)) |
               weir::pipe(
                   [&ask](int n) {
                       if (n == 5) ask();
                       return n;
                   },
                   {.concurrency = 2, .output_order = weir::output_order::input}) |
               weir::pipe(after(1us));
    };
    start(plain, {});
    start(waiting, {});
    start(from_source, {});
    start(in_parts, {});
    start(behind_a_queue, {});
}

}  // namespace

TEST_CASE(
    "a stage that waits for the end of its own run gets an error that says so, and one that asks doesn't") {
    const auto on = [](auto& executor, auto policy) {
        using Policy = decltype(policy);
        ask_everywhere([&](const auto& pipeline, const weir::run_options& options) {
            {
                from_within stops(true);
                auto run = (pipeline(stops) | weir::sink()).template start<Policy>(executor, options);
                stops.is(run);
                const std::string what = items::message_of([&] { static_cast<void>(take_all(run)); });
                CHECK(what.find("can't wait for the end of its own run") != std::string::npos);
                CHECK(run.outcome() == weir::run_outcome::failed);
            }
            {
                from_within asks(false);
                auto run = (pipeline(asks) | weir::sink()).template start<Policy>(executor, options);
                asks.is(run);
                // On threads another slot may go on until the one that asks knows its run.
                const std::size_t given = take_all(run).size();
                if (std::is_same_v<std::remove_cvref_t<decltype(executor)>, virtual_time>) CHECK(given <= 5);
                CHECK(run.outcome() == weir::run_outcome::stopped);
            }
        });
    };
    virtual_time time;
    weir::thread_pool pool(2);
    on(time, weir::measured());
    on(pool, weir::measured());
    on(time, weir::unmeasured());
    on(pool, weir::unmeasured());
}

TEST_CASE("so do on_failure, a hook and on_lap") {
    virtual_time time;
    const auto check = [&time](bool waits, auto policy) {
        from_within ask(waits);
        const auto fails = [](int n) {
            if (n == 3) throw std::runtime_error("three");
            return n;
        };
        const auto ends = [&](weir::run_options options) {
            auto run = (weir::source(std::views::iota(0, 10)) | weir::pipe(fails) | weir::pipe(after(1ms)) |
                        weir::sink())
                           .template start<decltype(policy)>(time, std::move(options));
            ask.is(run);
            const std::string what = items::message_of([&] { static_cast<void>(take_all(run)); });
            CHECK((what.find("can't wait for the end of its own run") != std::string::npos) == waits);
            CHECK(run.outcome() == (waits ? weir::run_outcome::failed : weir::run_outcome::stopped));
        };
        ends({.max_failures = 1, .on_failure = [&](const weir::failure&) { ask(); }});
        ends({.max_failures = 1, .hooks = {std::make_shared<asks_at_its_end>(ask)}});
        ends({.max_failures = 1, .lap = 2ms, .on_lap = [&](const weir::pipeline_stats&) { ask(); }});
    };
    for (const bool waits : {true, false}) {
        check(waits, weir::measured());
        check(waits, weir::unmeasured());
    }
}

TEST_CASE(
    "a coroutine that a stage's thread runs meanwhile can't wait for the end of the stage's run either") {
    const auto check = [](auto policy) {
        virtual_time time;
        weir::run<int, decltype(policy)>* outer = nullptr;
        std::string what;
        const auto stops_it = [&]() -> task<> {
            what = items::message_of([&] { outer->stop(); });
            co_return;
        };
        const auto blocks = [&](int n) {
            if (n == 3) weir::sync_wait(time, stops_it());
            return n;
        };
        auto run = (weir::source(std::views::iota(0, 6)) | weir::pipe(blocks) | weir::sink())
                       .template start<decltype(policy)>(time);
        outer = &run;
        CHECK(take_all(run).size() == 6);
        CHECK(what.find("stage 'pipe#1' can't wait for the end of its own run") != std::string::npos);
    };
    check(weir::measured());
    check(weir::unmeasured());
}

namespace {

using action = std::function<void()>;

task<> act(const action& wait, bool first_waits) {
    if (first_waits) co_await weir::sleep_for(1us);
    wait();
}
weir::generator<int> acts_and_gives(const action& wait) {
    wait();
    co_yield 1;
}
weir::async_generator<int> acts_and_gives_later(const action& wait, bool first_waits) {
    if (first_waits) co_await weir::sleep_for(1us);
    wait();
    co_yield 1;
}
// A coroutine of somebody else's, which knows nothing of executors.
struct stranger {
    struct promise_type {
        struct back {
            bool await_ready() const noexcept { return false; }
            // Resumes who awaits it; the coroutine itself is destroyed where it stands.
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) const noexcept {
                return h.promise().awaiter;
            }
            void await_resume() const noexcept {}
        };
        stranger get_return_object() noexcept {
            return stranger(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        back final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
        std::coroutine_handle<> awaiter;
    };
    explicit stranger(std::coroutine_handle<promise_type> h) : handle(h) {}
    stranger(const stranger&) = delete;
    stranger& operator=(const stranger&) = delete;
    ~stranger() { handle.destroy(); }
    bool await_ready() const noexcept { return false; }
    // Resumed at the end of the coroutine.
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) const noexcept {
        handle.promise().awaiter = awaiter;
        return handle;
    }
    void await_resume() const noexcept {}
    std::coroutine_handle<promise_type> handle;
};
stranger acts_as_a_stranger(const action& wait) {
    wait();
    co_return;
}

// How deep inside of a stage's function somebody may wait for the run of the stage.
struct depth {
    const char* name;
    task<> (*act_there)(const action& wait, bool first_waits, weir::executor& here, weir::executor& other);
};
const depth depths[] = {
    {"a task",
     [](const action& wait, bool first, weir::executor&, weir::executor&) -> task<> {
         co_await act(wait, first);
     }},
    {"when_all",
     [](const action& wait, bool first, weir::executor&, weir::executor&) -> task<> {
         co_await weir::when_all(act(wait, first), act([] {}, first), act(wait, first));
     }},
    {"when_any",
     [](const action& wait, bool first, weir::executor&, weir::executor&) -> task<> {
         static_cast<void>(co_await weir::when_any(act(wait, first), weir::sleep_for(1h)));
     }},
    {"when_all in when_any",
     [](const action& wait, bool first, weir::executor&, weir::executor&) -> task<> {
         const auto both = [](const action& what, bool waits) -> task<> {
             co_await weir::when_all(act(what, waits), act([] {}, waits));
         };
         static_cast<void>(co_await weir::when_any(both(wait, first), weir::sleep_for(1h)));
     }},
    {"a group, spawned",
     [](const action& wait, bool first, weir::executor& here, weir::executor&) -> task<> {
         weir::task_group group(here);
         group.spawn(act(wait, first));
         co_await group.join();
     }},
    {"a group, forked",
     [](const action& wait, bool first, weir::executor& here, weir::executor&) -> task<> {
         weir::task_group group(here);
         co_await group.fork(act(wait, first));
         co_await group.join();
     }},
    {"a group elsewhere",
     [](const action& wait, bool first, weir::executor&, weir::executor& other) -> task<> {
         weir::task_group group(other);
         group.spawn(act(wait, first));
         co_await group.join();
     }},
    {"a group in a when_all",
     [](const action& wait, bool first, weir::executor& here, weir::executor&) -> task<> {
         const auto starts = [](const action& what, bool waits, weir::executor& where) -> task<> {
             weir::task_group group(where);
             group.spawn(act(what, waits));
             co_await group.join();
         };
         co_await weir::when_all(starts(wait, first, here), act([] {}, first));
     }},
    {"a generator",
     [](const action& wait, bool first, weir::executor&, weir::executor&) -> task<> {
         if (first) co_await weir::sleep_for(1us);
         for (const int n : acts_and_gives(wait)) static_cast<void>(n);
     }},
    {"an async_generator",
     [](const action& wait, bool first, weir::executor&, weir::executor&) -> task<> {
         auto items = acts_and_gives_later(wait, first);
         while (const auto n = co_await items.next()) static_cast<void>(n);
     }},
    {"a stranger",
     [](const action& wait, bool first, weir::executor&, weir::executor&) -> task<> {
         if (first) co_await weir::sleep_for(1us);
         const stranger it = acts_as_a_stranger(wait);
         co_await it;
     }},
    {"sync_wait elsewhere",
     [](const action& wait, bool first, weir::executor&, weir::executor& other) -> task<> {
         weir::sync_wait(other, act(wait, first));
         co_return;
     }},
};

// A loop of one's own, in which its thread runs what is there. Any thread may post.
class own_loop final : public weir::executor {
  public:
    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override {
        const std::lock_guard guard(lock_);
        ready_.push_back(h);
    }
    void add(weir::timer& t) noexcept override {
        const std::lock_guard guard(lock_);
        if (!timers_.add(t)) ready_.push_back(t.waiter());
    }
    void cancel(weir::timer& t) noexcept override {
        const std::lock_guard guard(lock_);
        if (timers_.cancel(t, now())) ready_.push_back(t.waiter());
    }
    bool drive(flag&, time_point) override {
        std::coroutine_handle<> next = std::noop_coroutine();
        {
            const std::lock_guard guard(lock_);
            while (weir::timer* const due = timers_.pop_due(now())) ready_.push_back(due->waiter());
            if (!ready_.empty()) {
                next = ready_.front();
                ready_.pop_front();
            }
        }
        resume(next);
        return true;
    }

  private:
    std::mutex lock_;
    std::deque<std::coroutine_handle<>> ready_;
    weir::timer_queue timers_;
};

}  // namespace

TEST_CASE("a wait for the own run throws at each depth of a stage, on each executor") {
    weir::thread_pool other(1);
    const auto check = [&other](auto policy, weir::executor& executor, const char* on, bool has_threads) {
        weir::run<int, decltype(policy)>* own = nullptr;
        weir::channel<int> known(1);
        const depth* at = nullptr;
        bool first_waits = false;
        std::mutex lock;
        std::string what;
        const action wait = [&] {
            const std::string said = items::message_of([&] { own->stop(); });
            const std::lock_guard guard(lock);  // two parts may do so at once
            if (what.empty() || said.empty()) what = said;
        };
        const auto asks = [&](int n) -> task<int> {
            if (n == 0) static_cast<void>(co_await known.get());
            if (n == 1) co_await at->act_there(wait, first_waits, executor, other);
            co_return n;
        };
        const auto p = weir::source(std::views::iota(0, 3)) | weir::pipe(asks, {.name = "work"}) |
                       weir::pipe([](int n) { return n; }, {.executor = &executor}) | weir::sink();
        for (const depth& each : depths) {
            for (const bool waits : {false, true}) {
                // What is elsewhere may act when the only thread that the clock has looks at it.
                if (!has_threads && std::string_view(each.name).ends_with("elsewhere")) continue;
                INFO(each.name << " on " << on << (waits ? ", after a wait" : ""));
                at = &each;
                first_waits = waits;
                what.clear();
                auto run = p.template start<decltype(policy)>(executor);
                own = &run;
                CHECK(known.blocking_put(1) == channel_status::success);
                CHECK(take_all(run) == ints{0, 1, 2});
                CHECK(what.starts_with("weir: stage 'work' can't wait for the end of its own run"));
            }
        }
    };
    const auto on_all = [&check](auto policy) {
        virtual_time time;
        check(policy, time, "virtual time", false);
        weir::run_loop loop;
        check(policy, loop, "a run_loop", true);
        own_loop own;
        check(policy, own, "a loop of one's own", true);
        weir::thread_pool one(1);
        check(policy, one, "a pool of one", true);
        weir::thread_pool two(2);
        check(policy, two, "a pool of two", true);
        weir::blocking_pool files(2);
        check(policy, files, "a blocking_pool", true);
    };
    on_all(weir::measured());
    on_all(weir::unmeasured());
}

TEST_CASE("a thread that waits for a run also runs the stages that are on loops of this thread") {
    const auto check = [](auto policy, weir::executor& main, weir::executor& first, weir::executor& second) {
        const auto here = std::this_thread::get_id();
        int elsewhere = 0;
        const auto on = [&](weir::executor& loop) {
            return weir::pipe(
                [&elsewhere, here](int n) {
                    elsewhere += std::this_thread::get_id() == here ? 0 : 1;
                    return n + 1;
                },
                {.executor = &loop});
        };
        const auto start = [&](auto pipeline) { return pipeline.template start<decltype(policy)>(main); };
        const auto some = weir::source({1, 2, 3}) | on(first) | on(second) | on(first);
        const auto endless = weir::source(std::views::iota(0)) | on(first) | on(second) | weir::sink();
        CHECK(take_all(start(some | weir::sink())) == ints{4, 5, 6});
        CHECK(start(some | weir::sink()).drain().items == 3);
        CHECK(start(some | weir::for_each([](int) {})).wait().items == 3);
        auto timed = start(endless);
        CHECK(*timed.get(1h) == 2);
        timed.stop();
        CHECK(timed.outcome() == weir::run_outcome::stopped);
        auto left = start(endless);
        CHECK(left.get() == 2);
        CHECK(elsewhere == 0);
    };
    const auto on_all = [&check](auto policy) {
        weir::thread_pool pool(2);
        weir::blocking_pool files(1);
        weir::run_loop one;
        weir::run_loop two;
        own_loop own;
        check(policy, pool, one, one);
        check(policy, pool, one, two);
        check(policy, pool, own, two);
        check(policy, files, one, own);
        check(policy, one, two, two);
        check(policy, one, two, own);
    };
    on_all(weir::measured());
    on_all(weir::unmeasured());
}

TEST_CASE("a thread that waits for a run works for its loop, not for the pool, which always has work") {
    weir::thread_pool pool(1);
    weir::run_loop loop;
    const auto consumer = std::this_thread::get_id();
    int calls_here = 0;
    std::atomic<int> num_taken = 0;
    // Endless; but ends if the consumer has made many items itself, instead of taking the one on the loop.
    const auto make = [&, n = 0]() mutable -> std::optional<int> {
        if (std::this_thread::get_id() == consumer && ++calls_here == 100'000) return std::nullopt;
        return n++;
    };
    // An item passes when the one before it was taken.
    const auto passes = [&num_taken, num_passed = 0](int) mutable {
        if (num_passed != num_taken) return false;
        ++num_passed;
        return true;
    };
    const auto as_it_is = [](int n) { return n; };
    auto run =
        (weir::source(make) | weir::filter(passes) | weir::pipe(as_it_is, {.executor = &loop}) | weir::sink())
            .start(pool);
    while (num_taken < 20 && run.get()) ++num_taken;
    CHECK(num_taken == 20);
    CHECK(calls_here == 0);
}

TEST_CASE("a look at a run runs no loop of the thread") {
    weir::thread_pool pool(1);
    weir::run_loop loop;
    int calls = 0;
    const auto counts = [&calls](int n) { return ++calls, n; };
    auto run = (weir::source({1, 2, 3}) | weir::pipe(counts, {.executor = &loop}) | weir::sink()).start(pool);
    for (int i = 0; i < 100; ++i) CHECK(run.get(0ns).status() == channel_status::timed_out);
    CHECK(calls == 0);
    CHECK(take_all(run) == ints{1, 2, 3});
}

TEST_CASE("a thread that waits for a run leaves a loop of another thread to that thread") {
    weir::thread_pool pool(1);
    weir::channel<weir::run_loop*> known(1);
    weir::detail::parker over;
    std::thread other([&] {
        weir::run_loop loop;
        CHECK(known.blocking_put(&loop) == channel_status::success);
        while (!over.is_set()) static_cast<void>(loop.drive(over, time_point::max()));
    });
    const auto there = other.get_id();
    const auto is_there = [there](int) { return std::this_thread::get_id() == there; };
    {
        const auto pipeline = weir::source({1, 2, 3}) |
                              weir::pipe(is_there, {.executor = *known.blocking_get()}) | weir::sink();
        CHECK(take_all(pipeline.start(pool)) == std::vector<bool>{true, true, true});
    }
    over.set();
    other.join();
}

TEST_CASE(
    "a coroutine that waits for a run on a pool's thread leaves its place, and runs loops of any thread") {
    weir::thread_pool pool(1);
    own_loop loop;
    const auto waits = [&]() -> task<ints> {
        auto run = (weir::source({1, 2, 3}) | weir::pipe([](int n) { return n; }, {.executor = &loop}) |
                    weir::pipe([](int n) { return n; }) | weir::sink())
                       .start(pool);
        co_return take_all(run);
    };
    CHECK(weir::sync_wait(pool, waits()) == ints{1, 2, 3});
}

TEST_CASE("a task of a group that is none of a stage's may wait for the run of the stage that starts it") {
    const auto check = [](auto policy, weir::executor& executor) {
        weir::run<int, decltype(policy)>* own = nullptr;
        weir::channel<int> known(1);
        std::string what = "it did not run";
        weir::task_group outside(executor);
        const action wait = [&] { what = items::message_of([&] { own->stop(); }); };
        const auto asks = [&](int n) -> task<int> {
            if (n == 0) static_cast<void>(co_await known.get());
            if (n == 1) co_await outside.fork(act(wait, false));
            co_return n;
        };
        auto run = (weir::source(std::views::iota(0)) | weir::pipe(asks) | weir::sink())
                       .template start<decltype(policy)>(executor);
        own = &run;
        CHECK(known.blocking_put(1) == channel_status::success);
        static_cast<void>(take_all(run));
        const auto joins = [](weir::task_group& group) -> task<> { co_await group.join(); };
        weir::sync_wait(executor, joins(outside));
        CHECK(what.empty());
        CHECK(run.outcome() == weir::run_outcome::stopped);
    };
    virtual_time time;
    weir::thread_pool pool(2);
    check(weir::measured(), time);
    check(weir::unmeasured(), time);
    check(weir::measured(), pool);
    check(weir::unmeasured(), pool);
}

TEST_CASE("a part of a when_any that waits for its own run by co_await gets that error, too") {
    virtual_time time;
    weir::run<void>* own = nullptr;
    std::string what;
    const auto waits = [&]() -> task<int> {
        co_await weir::sleep_for(1us);
        weir::run<void>& run = *own;
        try {
            static_cast<void>(co_await run);
        } catch (const std::logic_error& e) {
            what = e.what();
        }
        co_return 1;
    };
    const auto acts = [&](int n) -> task<> {
        if (n == 3) static_cast<void>(co_await weir::when_any(waits(), weir::sleep_for(1s)));
    };
    auto run = (weir::source(std::views::iota(0, 6)) | weir::for_each(acts)).start(time);
    own = &run;
    CHECK(run.wait().items == 6);
    CHECK(what.find("stage 'for_each' can't wait for the end of its own run") != std::string::npos);
}

TEST_CASE("a stop from outside is never taken for one from a stage of the run") {
    weir::aggregate_options patient;
    patient.max_delay = 1ms;
    const auto check = [&patient](auto policy) {
        bool more = true;
        for (int steps = 0; more; ++steps) {
            virtual_time time;
            auto run = (weir::source(std::views::iota(0, 6)) |
                        weir::pipe(after(1ms), {.concurrency = 2, .time_limit = 1s}) |
                        weir::aggregate(4, patient) | weir::disaggregate() | weir::sink(1))
                           .template start<decltype(policy)>(time);
            static_cast<void>(run.get());
            more = walk(time, steps);
            CHECK_NOTHROW(run.stop());
            CHECK(run.outcome() == weir::run_outcome::stopped);
        }
    };
    check(weir::measured());
    check(weir::unmeasured());
}

TEST_CASE("threads that stop a run at once all find nothing at work when they return") {
    weir::thread_pool pool(2);
    const weir::stop_source source;
    std::atomic<int> inside{0};
    std::atomic<int> found{0};
    const auto work = [&inside](int n) {
        ++inside;
        for (int i = 0; i < 20; ++i) std::this_thread::yield();
        --inside;
        return n;
    };
    const auto pipeline =
        weir::source(std::views::iota(0)) | weir::pipe(work, {.concurrency = 2}) | weir::sink();
    for (int round = 0; round < 300; ++round) {
        auto run = pipeline.start(pool, {.stop = round % 2 == 0 ? source.get_token() : weir::stop_token()});
        std::atomic<int> ready{0};
        const auto stop = [&] {
            ++ready;
            while (ready < 3) {
            }
            run.stop();
            found += inside;
        };
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) threads.emplace_back(stop);
        for (std::thread& t : threads) t.join();
    }
    CHECK(found == 0);
}

TEST_CASE("a run without a consumer can be destroyed at any time") {
    virtual_time time;
    {
        const auto run = numbers(100).start(time);
    }
    {
        const auto run = numbers(100).start(time);
        CHECK_THROWS_AS(time.run(), weir::deadlock_error);
    }
    weir::thread_pool pool(2);
    for (int i = 0; i < 100; ++i) const auto run = numbers(100).start(pool);
    time.run();
}

TEST_CASE("pools and runs that were left anywhere leave no thread behind") {
    const std::filesystem::path threads = "/proc/self/task";  // where there is none, nothing can be counted
    const auto count = [&threads] {
        std::error_code none;
        return std::distance(std::filesystem::directory_iterator(threads, none), {});
    };
    const auto before = count();
    for (int taken = 0; taken < 20; ++taken) {
        weir::thread_pool pool(2);
        weir::blocking_pool io(2);
        const auto fails = [](int n) { return n == 11 ? throw std::runtime_error("11") : n; };
        auto run = (weir::source(std::views::iota(0)) | weir::pipe(fails, {.executor = &io}) | weir::sink())
                       .start(pool, {.on_failure = [](const weir::failure&) {}});
        try {
            for (int i = 0; i < taken; ++i) static_cast<void>(run.get());
        } catch (const weir::pipeline_failure&) {
        }
    }
    // A thread that was joined may still be listed for a moment.
    for (int looks = 0; looks < 1'000'000 && count() != before; ++looks) std::this_thread::yield();
    CHECK(count() == before);
}

TEST_CASE("a run ends inside of a coroutine of the only worker that runs it") {
    weir::thread_pool pool(1);
    const auto first_three = [&pool](bool blocking) -> task<int> {
        auto run = (weir::source(std::views::iota(0)) | weir::pipe([](int n) { return n; }) | weir::sink())
                       .start(pool);
        int sum = 0;
        for (int i = 0; i < 3; ++i) {
            if (blocking) {
                sum += *run.get();  // blocks the worker, which helps meanwhile
            } else {
                const auto n = co_await run.next();
                sum += *n;
            }
        }
        co_return sum;  // and so does its destructor
    };
    CHECK(weir::sync_wait(pool, first_three(false)) == 3);
    CHECK(weir::sync_wait(pool, first_three(true)) == 3);
}

TEST_CASE("the statistics stay as they were at the end of the stream") {
    virtual_time time;
    auto run = (weir::source({1, 2, 3}) | weir::pipe(after(1s)) | weir::sink()).start(time);
    CHECK(take_all(run).size() == 3);
    const auto then = run.stats();
    CHECK(then.elapsed == 3s);
    time.run_until(time_point(1h));
    CHECK(run.stats() == then);
    run.stop();
    CHECK(run.stats() == then);
    CHECK_FALSE(run.get().has_value());
    CHECK(run.stats() == then);
}

TEST_CASE("the statistics of a run that was stopped end there") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0)) | weir::pipe(after(1s)) | weir::sink()).start(time);
    for (int i = 0; i < 3; ++i) CHECK(run.get() == i);
    run.stop();
    const auto then = run.stats();
    CHECK(then.elapsed == 3s);  // the invocation under way ended in its sleep
    time.run_until(time_point(1h));
    CHECK(run.stats() == then);
    CHECK(then.channels.back().num_get == 3);
}

TEST_CASE("statistics continue while the consumer pauses") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0, 2)) | weir::sink()).start(time);
    CHECK(run.get() == 0);
    time.run_until(time_point(5s));
    CHECK(run.stats().elapsed == 5s);
    CHECK(take_all(run).size() == 1);
    CHECK(run.stats().elapsed == 5s);
}

TEST_CASE("threads take statistics while a run works, ends and is stopped") {
    weir::thread_pool pool(2);
    const auto pipeline = weir::source(std::views::iota(0, 3000)) |
                          weir::pipe([](int n) { return n; }, {.concurrency = 2}) | weir::aggregate(4) |
                          weir::disaggregate() | weir::sink();
    for (const bool early : {false, true}) {
        auto run = pipeline.start(pool);
        std::atomic<bool> done{false};
        std::atomic<int> looks{0};
        std::atomic<bool> backwards{false};
        const auto watch = [&] {
            std::uint64_t before = 0;
            while (!done || looks < 10) {
                const auto s = run.stats();
                const std::uint64_t now = s.channels.back().num_get;
                if (now < before) backwards = true;
                before = now;
                ++looks;
            }
        };
        std::thread one(watch);
        std::thread two(watch);
        std::size_t taken = 0;
        while (run.get()) {
            if (++taken == 1000 && early) break;
        }
        run.stop();
        done = true;
        one.join();
        two.join();
        CHECK(taken == (early ? 1000U : 3000U));
        CHECK_FALSE(backwards);
        CHECK(run.stats().channels.back().num_get == taken);
    }
}

TEST_CASE("of several coroutines that consume a run each gets other items, and all see the end") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        virtual_time time(seed);
        auto run = (weir::source(std::views::iota(0, 40)) | weir::pipe(after(3ms), {.concurrency = 2}) |
                    weir::sink(1))
                       .start(time);
        const auto consume = [&run](weir::duration each) -> task<ints> {
            ints all;
            while (const auto n = co_await run.next()) {
                all.push_back(*n);
                co_await weir::sleep_for(each);
            }
            co_return all;
        };
        auto [a, b, c] = weir::sync_wait(time, weir::when_all(consume(1ms), consume(4ms), consume(0ms)));
        CHECK(!a.empty());
        CHECK(!b.empty());
        for (const ints* other : {&b, &c}) a.insert(a.end(), other->begin(), other->end());
        std::ranges::sort(a);
        CHECK((std::ranges::equal(a, std::views::iota(0, 40))));
    }
}

TEST_CASE(
    "of several coroutines that consume a run that fails exactly one gets the failure, the others the end") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        virtual_time time(seed);
        const auto fails = [](int n) -> task<int> {
            co_await weir::sleep_for(1ms);
            if (n == 17) throw std::runtime_error("seventeen");
            co_return n;
        };
        auto run = (weir::source(weir::epochs(std::views::iota(0, 5))) |
                    weir::pipe([next = 0](int) mutable { return next++; }) | weir::pipe(fails) | weir::sink())
                       .start(time);
        int failures = 0;
        int ends = 0;
        ints taken;
        const auto consume = [&]() -> task<> {
            try {
                while (const auto n = co_await run.next()) taken.push_back(*n);
                ++ends;
            } catch (const weir::pipeline_failure&) {
                ++failures;
            }
        };
        weir::sync_wait(time, weir::when_all(consume(), consume(), consume(), consume()));
        CHECK(failures == 1);
        CHECK(ends == 3);
        CHECK(taken.size() == 17);
    }
}

TEST_CASE("several threads consume a run: each item comes once, and exactly one of them gets a failure") {
    weir::thread_pool pool(2);
    for (const bool fails : {false, true}) {
        const auto work = [fails](int n) {
            if (fails && n == 2500) throw std::runtime_error("no more");
            return n;
        };
        auto run =
            (weir::source(std::views::iota(0, 3000)) | weir::pipe(work, {.concurrency = 2}) | weir::sink())
                .start(pool);
        std::atomic<int> failures{0};
        std::vector<ints> taken(3);
        const auto consume = [&](std::size_t who) {
            try {
                if (who == 2) {
                    while (auto got = run.get(1s)) taken[who].push_back(*got);
                } else {
                    while (const auto n = run.get()) taken[who].push_back(*n);
                }
            } catch (const weir::pipeline_failure&) {
                ++failures;
            }
        };
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < 3; ++i) threads.emplace_back(consume, i);
        for (std::thread& t : threads) t.join();
        CHECK(failures == (fails ? 1 : 0));
        ints all;
        for (const ints& each : taken) {
            // What one consumer gets is in the order in which it left the run.
            all.insert(all.end(), each.begin(), each.end());
        }
        std::ranges::sort(all);
        CHECK(std::ranges::adjacent_find(all) == all.end());
        if (fails) {
            CHECK(all.size() >= 2499);
        } else {
            CHECK(all.size() == 3000);
        }
    }
}

TEST_CASE("several consumers of a run with epochs get each item once, and each end of an epoch once") {
    virtual_time time;
    auto run = (weir::source(weir::epochs(std::views::iota(0, 7), 12)) | weir::sink()).start(time);
    int items = 0;
    int ends = 0;
    const auto consume = [&](weir::duration each) -> task<> {
        while (!run.ended()) {
            const auto n = co_await run.next_in_epoch();
            ++(n ? items : ends);
            co_await weir::sleep_for(each);
        }
    };
    weir::sync_wait(time, weir::when_all(consume(1ms), consume(2ms), consume(5ms)));
    CHECK(items == 84);
    // Twelve, and that of the stream for each who saw it.
    CHECK(ends >= 13);
    CHECK(ends <= 15);
}
