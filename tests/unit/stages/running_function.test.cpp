#include <weir/stages/running_function.hpp>

#include "support/catch.hpp"
#include "support/flows.hpp"
#include "support/items.hpp"

#include <weir/channel/epoch_item.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/report/trace.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using items::take_all;
using items::take_until_failure;
using weir::invocation;
using weir::output_order;
using weir::task;
using weir::virtual_time;
using weir::detail::any_function;
using weir::detail::is_erasable;
using weir::detail::keep_function;
using weir::detail::kept_function_t;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

using twice = decltype([](int n) { return 2 * n; });
using thrice = decltype([](int n) { return 3 * n; });

struct with_member {
    int operator()(int n) const { return n; }
    void left_out(const invocation&) noexcept {}
};
struct with_transfers {
    int operator()(int n) const { return n; }
    int transfers() const { return 0; }
};
struct measured_one {
    int operator()(int n) const { return n; }
    void measure_nothing() noexcept {}
};
struct maker {
    twice operator()() const { return {}; }
};

static_assert(is_erasable<int (*)(int)>);
static_assert(!is_erasable<with_member>);
static_assert(!is_erasable<with_transfers>);
static_assert(!is_erasable<measured_one>);
static_assert(!is_erasable<weir::detail::slot_factory<maker>>);
static_assert(std::is_same_v<kept_function_t<with_member, int>, with_member>);

template <class F, class T>
using kept = kept_function_t<F, T>;

// Two functions with the same types have one type as kept.
static_assert(std::is_same_v<kept<twice, int>, kept<thrice, int>>);
static_assert(!std::is_same_v<kept<twice, int>, kept<twice, short>>);
static_assert(std::is_same_v<kept<twice, int>, any_function<int, int, false>>);
// In a run with epochs the function sees the item only.
static_assert(std::is_same_v<kept<twice, weir::detail::epoch_item<int>>, any_function<int, int, false>>);

}  // namespace

TEST_CASE("a kept function is called with the item, which is moved, and gives what the function returns") {
    auto text_of = [](std::unique_ptr<int> n) { return std::to_string(*n); };
    auto kept = keep_function<decltype(text_of), std::unique_ptr<int>>(text_of);
    CHECK(kept(std::make_unique<int>(42)) == "42");
}

TEST_CASE("a kept function gives a reference if the function does") {
    int there = 1;
    auto f = [&there](int n) -> int& {
        there += n;
        return there;
    };
    auto kept = keep_function<decltype(f), int>(f);
    static_assert(std::is_same_v<decltype(kept(2)), int&>);
    CHECK(&kept(2) == &there);
    CHECK(there == 3);
}

TEST_CASE("a kept function takes the invocation if the function needs it") {
    auto f = [](int n, const invocation& call) { return n + static_cast<int>(call.item()); };
    auto kept = keep_function<decltype(f), int>(f);
    static_assert(std::is_same_v<decltype(kept), any_function<int, int, true>>);
    const std::string stage = "pipe";
    CHECK(kept(5, invocation(stage, 2, 0, 0, {})) == 7);
}

TEST_CASE("a pointer to a member can be kept as a function") {
    auto size = &std::string::size;
    auto kept = keep_function<decltype(size), std::string>(size);
    CHECK(kept("four") == 4);
}

TEST_CASE("a kept function may return a task") {
    auto f = [](int n) -> task<int> { co_return n + 1; };
    auto kept = keep_function<decltype(f), int>(f);
    CHECK(weir::sync_wait(kept(1)) == 2);
}

TEST_CASE("a kept function has its own state, keeps it when it is moved, and destroys it once") {
    auto alive = std::make_shared<int>(0);
    {
        auto f = [alive, n = 0](int by) mutable { return n += by; };
        auto kept = keep_function<decltype(f), int>(std::as_const(f));
        CHECK(alive.use_count() == 3);
        CHECK(kept(2) == 2);
        auto moved = std::move(kept);
        CHECK(moved(2) == 4);
        CHECK(f(1) == 1);
        CHECK(alive.use_count() == 3);
    }
    CHECK(alive.use_count() == 1);
}

TEST_CASE("a function that can't be copied is moved") {
    auto f = [p = std::make_unique<int>(3)](int n) { return n + *p; };
    auto kept = keep_function<decltype(f), int>(std::move(f));
    CHECK(kept(1) == 4);
}

TEST_CASE("a function may be aligned to 64 bytes") {
    struct alignas(64) aligned {
        std::uintptr_t operator()(int) const { return reinterpret_cast<std::uintptr_t>(this) % 64; }
    };
    auto kept = keep_function<aligned, int>(aligned{});
    CHECK(kept(0) == 0);
}

TEST_CASE("a function with members for its stage stays as it is") {
    const with_member f;
    static_assert(std::is_same_v<decltype(keep_function<with_member, int>(f)), const with_member&>);
    CHECK(keep_function<with_member, int>(f)(7) == 7);
}

namespace {

weir::stage_options in_order(std::size_t slots, std::size_t capacity) {
    weir::stage_options o;
    o.name = "work";
    o.concurrency = slots;
    o.output_order = output_order::input;
    o.capacity = capacity;
    return o;
}

ints up_to(int n) {
    ints all;
    for (int i = 0; i < n; ++i) all.push_back(i);
    return all;
}

}  // namespace

TEST_CASE("a slot that is done early works on, as long as the queue behind has a place for its result") {
    // Every tenth item takes 100 ms, the others 10 ms: 1000 ms and 900 ms of work.
    const auto work = [](int n) -> task<int> {
        co_await weir::sleep_for(n % 10 == 0 ? 100ms : 10ms);
        co_return n;
    };
    const auto with = [&](output_order order, std::size_t capacity) {
        virtual_time time;
        weir::stage_options o = in_order(2, capacity);
        o.output_order = order;
        auto run = (weir::source(std::views::iota(0, 100)) | weir::pipe(work, o) | weir::sink()).start(time);
        ints all = take_all(run);
        std::ranges::sort(all);
        CHECK(all == up_to(100));
        CHECK(flows::add_up(run.stats()));
        return run.stats();
    };
    const auto as_done = with(output_order::completion, 64);
    const auto wide = with(output_order::input, 64);
    CHECK(wide.elapsed == as_done.elapsed);
    CHECK(wide.stages.at(1).times().wait_turn == 0ms);
    CHECK(wide.stages.at(1).times().wait_put == 0ms);
    CHECK(wide.channels.at(1).num_put == 100);
    // With one place a slot that is early waits for each item before.
    const auto narrow = with(output_order::input, 1);
    CHECK(narrow.elapsed > wide.elapsed);
    CHECK(narrow.stages.at(1).times().wait_turn > 0ms);
}

TEST_CASE("early results count for the capacity of their queue") {
    // Item 0 never ends: two slots fill the places behind it, and wait.
    virtual_time time;
    int begun = 0;
    const auto work = [&](int n) -> task<int> {
        ++begun;
        if (n == 0) co_await weir::sleep_for(1h);
        co_return n;
    };
    auto run = (weir::source(std::views::iota(0, 100)) | weir::pipe(work, in_order(3, 8)) | weir::sink())
                   .start(time);
    time.run_until(weir::time_point(1s));
    CHECK(begun == 3 + 7);
    const auto stats = run.stats();
    CHECK(stats.channels.at(1).size == 0);
    CHECK(stats.channels.at(1).num_put == 0);
    CHECK(stats.stages.at(1).times().wait_turn == 2s);
    CHECK(take_all(run) == up_to(100));
}

TEST_CASE("the bytes of early results count for the limit of their queue") {
    virtual_time time;
    int begun = 0;
    const auto work = [&](int n) -> task<std::string> {
        ++begun;
        if (n == 0) co_await weir::sleep_for(1h);
        co_return std::string(10, 'x');
    };
    weir::stage_options o = in_order(2, 64);
    o.max_bytes = 45;
    auto run = (weir::source(std::views::iota(0, 50)) | weir::pipe(work, o) |
                weir::pipe([](std::string s) { return s.size(); }, {.name = "next"}) | weir::sink())
                   .start(time);
    time.run_until(weir::time_point(1s));
    CHECK(begun == 1 + 4 + 1);
    CHECK(run.stats().channels.at(1).bytes == 40);
    CHECK(take_all(run).size() == 50);
    CHECK(run.stats().channels.at(1).bytes == 0);
}

TEST_CASE("of early results behind one that fails none comes, and they are destroyed") {
    items::ledger book(100);
    {
        virtual_time time;
        const auto made = [&book, left = 30]() mutable -> std::optional<items::counted> {
            if (left-- == 0) return std::nullopt;
            return items::counted(book);
        };
        const auto work = [](items::counted c) -> task<items::counted> {
            co_await weir::sleep_for(c.number() == 5 ? 100ms : 1ms);
            if (c.number() == 5) throw std::runtime_error("five");
            co_return c;
        };
        auto run = (weir::source(made) | weir::pipe(work, in_order(3, 16)) | weir::sink()).start(time);
        std::size_t taken = 0;
        try {
            while (run.get()) ++taken;
            FAIL("no failure");
        } catch (const weir::pipeline_failure& failure) {
            CHECK(failure.item() == 5);
        }
        CHECK(taken == 5);
        CHECK(run.stats().stages.at(1).num_tasks > 15);  // slots worked on meanwhile
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}

TEST_CASE("a success by which too many have failed is the last one in the order, too") {
    // Half of the first 99 fail; 99 is slow. The success of 100 is the hundredth end: 101 and on never come.
    const auto work = [](int n) -> task<int> {
        co_await weir::sleep_for(n == 99 ? 50ms : 1ms);
        if (n < 99 && n % 2 == 1) throw std::runtime_error("tolerated");
        co_return n;
    };
    for (const std::size_t capacity : {1U, 2U, 16U}) {
        virtual_time time;
        weir::stage_options o = in_order(2, capacity);
        o.max_failures = weir::rate(0.3);
        auto run = (weir::source(std::views::iota(0, 200)) | weir::pipe(work, o) | weir::sink()).start(time);
        const auto end = take_until_failure(run);
        ints expected;
        for (int n = 0; n < 99; n += 2) expected.push_back(n);
        expected.push_back(99);
        expected.push_back(100);
        CHECK(end.failed != nullptr);
        CHECK(end.taken == expected);
    }
}

TEST_CASE("marks of epochs keep their places between early results") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const auto work = [seed](int n) -> task<std::optional<int>> {
            const auto drawn = (static_cast<std::uint64_t>(n) * 2'654'435'761U + seed) >> 7U;
            co_await weir::sleep_for(weir::duration(static_cast<weir::duration::rep>(drawn % 20)));
            if (drawn % 3 == 0) co_return std::nullopt;
            co_return n;
        };
        const auto make = [](std::uint64_t epoch) {
            ints all;
            for (int i = 0; i < 10; ++i) all.push_back(static_cast<int>(epoch) * 10 + i);
            return all;
        };
        const auto taken = [&](weir::stage_options o) {
            virtual_time time(seed);
            auto run = (weir::source(weir::epochs(make, 4)) | weir::pipe(work, std::move(o)) |
                        weir::pipe([](int n) { return n; }, in_order(2, 3)) | weir::sink(1))
                           .start(time);
            std::vector<ints> epochs;
            for (auto& epoch : run.epochs()) {
                epochs.emplace_back();
                for (const int n : epoch) epochs.back().push_back(n);
            }
            return epochs;
        };
        if (taken(in_order(seed % 4 + 2, seed % 9 + 1)) != taken({})) FAIL("differs with seed " << seed);
    }
}

TEST_CASE("a followed item waits for its turn in its slot") {
    virtual_time time;
    const auto work = [](int n) -> task<int> {
        co_await weir::sleep_for(n == 0 ? 100ms : 10ms);
        co_return n;
    };
    const auto trace = std::make_shared<weir::trace_report>("/dev/null", weir::trace_options{.every = 1});
    auto run = (weir::source(std::views::iota(0, 3)) | weir::pipe(work, in_order(3, 64)) | weir::sink())
                   .start(time, {.reports = {trace}});
    CHECK(take_all(run) == up_to(3));
    CHECK(run.stats().stages.at(1).times().wait_turn == 180ms);
}

// Takes 10 s if each result is compared with all that wait.
TEST_CASE("30,000 results that wait behind a slow one leave in order") {
    constexpr int slots = 30'000;
    virtual_time time;
    const auto first_is_slow = [](int n) -> task<int> {
        co_await weir::sleep_for(n == 0 ? 5s : n % 1'000 == 7 ? 2s : 1s);
        co_return n;
    };
    auto run = (weir::source(std::views::iota(0, 2 * slots)) |
                weir::pipe(first_is_slow, {.concurrency = slots, .output_order = weir::output_order::input}) |
                weir::sink())
                   .start(time);
    int next = 0;
    while (const auto item = run.get()) REQUIRE(*item == next++);
    CHECK(next == 2 * slots);
}
