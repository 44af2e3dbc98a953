#include <weir/stages/pipe.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"
#include "support/semaphore.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using items::take_all;
using items::take_until_failure;
using weir::task;
using weir::time_point;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

int doubled(int n) { return 2 * n; }

std::optional<int> odd_only(int n) { return n % 2 == 1 ? std::optional<int>(n) : std::nullopt; }

task<int> doubled_later(int n) {
    co_await weir::sleep_for(1ms);
    co_return 2 * n;
}

task<std::optional<int>> odd_only_later(int n) {
    co_await weir::sleep_for(1ms);
    if (n % 2 == 0) co_return std::nullopt;
    co_return n;
}

weir::generator<int> three_from(int n) {
    for (int i = 0; i < 3; ++i) co_yield n + i;
}

weir::async_generator<int> three_from_slowly(int n) {
    for (int i = 0; i < 3; ++i) {
        co_await weir::sleep_for(1ms);
        co_yield n + i;
    }
}

task<weir::generator<int>> three_from_later(int n) {
    co_await weir::sleep_for(1ms);
    co_return three_from(n);
}

// Sleeps as many ms as the item says.
task<int> sleep_sort(int n) {
    co_await weir::sleep_for(n * 1ms);
    co_return n;
}

// An awaitable that is no task and can't be moved: gives its number when it is resumed at once.
class ready_number {
  public:
    explicit ready_number(int n) : number_(n) {}
    ready_number(const ready_number&) = delete;
    ready_number& operator=(const ready_number&) = delete;
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
    int await_resume() const noexcept { return number_; }

  private:
    int number_;
};

class with_operator {
  public:
    explicit with_operator(int n) : number_(n) {}
    auto operator co_await() const noexcept { return ready_number(number_); }

  private:
    int number_;
};

struct scale {
    int factor;
    explicit scale(int f) : factor(f) {}
    int operator()(int n) const { return factor * n; }
};

struct document {
    std::string title;
    explicit document(std::string t) : title(std::move(t)) {}
    std::size_t length() const { return title.size(); }
};

// What a pipe of this function makes of these items, on virtual time.
template <class In, class Function>
auto made_of(std::vector<In> from, Function&& function, weir::stage_options options = {}) {
    virtual_time time;
    auto pipeline = weir::source(std::move(from)) |
                    weir::pipe(std::forward<Function>(function), std::move(options)) | weir::sink();
    return take_all(std::move(pipeline).start(time));
}

}  // namespace

TEST_CASE("a pipe applies a function, whatever kind of function it is") {
    const ints from = {1, 2, 3};
    const ints twice = {2, 4, 6};
    CHECK(made_of(from, doubled) == twice);
    CHECK(made_of(from, &doubled) == twice);
    CHECK(made_of(from, [](int n) { return 2 * n; }) == twice);
    CHECK(made_of(from, [](const int& n) { return 2 * n; }) == twice);
    CHECK(made_of(from, [](int&& n) { return 2 * n; }) == twice);
    CHECK(made_of(from, [factor = 1](int n) mutable { return (factor = 2) * n; }) == twice);
    CHECK(made_of(from, [](auto n) { return 2 * n; }) == twice);
    CHECK(made_of(from, std::function<int(int)>(doubled)) == twice);
    CHECK(made_of(from, std::bind_front(std::multiplies<int>(), 2)) == twice);
    CHECK(made_of(from, scale(2)) == twice);
    CHECK(made_of(from, std::negate<int>()) == ints{-1, -2, -3});
    CHECK(made_of(from, std::identity()) == from);
}

TEST_CASE("a pipe calls a member of its items") {
    const std::vector<document> from = {document("a"), document("bcd")};
    CHECK(made_of(from, &document::length) == std::vector<std::size_t>{1, 3});
    CHECK(made_of(from, &document::title) == std::vector<std::string>{"a", "bcd"});
}

TEST_CASE("a pipe takes what a function returns by reference as a value") {
    const std::vector<std::string> from = {"a", "b"};
    const std::string kept = "kept";
    CHECK(made_of(from, [](const std::string& s) -> const std::string& { return s; }) == from);
    CHECK(made_of(from, [&kept](const std::string&) -> const std::string& { return kept; }) ==
          std::vector<std::string>{"kept", "kept"});
    const std::optional<std::string> maybe = "kept";
    CHECK(made_of(from, [&maybe](const std::string&) -> const auto& { return maybe; }).size() == 2);
    CHECK(maybe.has_value());
    CHECK(kept == "kept");
}

TEST_CASE("a pipe awaits what its function gives, if it can be awaited") {
    CHECK(made_of<int>({1, 2, 3}, doubled_later) == ints{2, 4, 6});
    CHECK(made_of<int>({1, 2}, [](int n) { return ready_number(n); }) == ints{1, 2});
    CHECK(made_of<int>({1, 2}, [](int n) { return with_operator(n); }) == ints{1, 2});
    CHECK(made_of<int>({1, 2}, [](int n) { return weir::sleep_for(n * 1ms); }) ==
          std::vector<bool>{true, true});
}

TEST_CASE("a pipe's function can wait on a channel of the user's") {
    virtual_time time;
    weir::channel<int> tokens(2);
    const auto with_token = [&tokens](int n) -> task<int> {
        const auto token = co_await tokens.get();
        co_return 100 * *token + n;
    };
    auto run = (weir::source({1, 2}) | weir::pipe(with_token) | weir::sink()).start(time);
    CHECK(tokens.try_put(7) == weir::channel_status::success);
    CHECK(run.get() == 701);
    CHECK(tokens.try_put(8) == weir::channel_status::success);
    CHECK(run.get() == 802);
    CHECK_FALSE(run.get().has_value());
}

TEST_CASE("an empty optional drops the item, and an optional's value is the item") {
    const ints from = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    CHECK(made_of(from, odd_only) == ints{1, 3, 5, 7, 9});
    CHECK(made_of(from, odd_only_later) == ints{1, 3, 5, 7, 9});
    CHECK(made_of(from, [](int) { return std::optional<int>(); }).empty());
    // Of nested ones only the outer one decides.
    using maybe = std::optional<int>;
    const auto nested = made_of(from, [](int) { return std::optional<maybe>(maybe()); });
    CHECK(nested.size() == 10);
}

TEST_CASE("a dropped item is an invocation, and leaves no gap behind it") {
    virtual_time time;
    auto run = (weir::source(std::views::iota(0, 10)) | weir::pipe(odd_only) | weir::sink()).start(time);
    CHECK(take_all(run) == ints{1, 3, 5, 7, 9});
    const auto stats = run.stats();
    CHECK(stats.stages.at(1).num_tasks == 10);
    CHECK(stats.stages.at(1).num_failures == 0);
    CHECK(stats.channels.at(1).num_put == 5);
}

TEST_CASE("a generator's values are items, one by one") {
    const ints expected = {0, 1, 2, 1, 2, 3, 2, 3, 4};
    CHECK(made_of<int>({0, 1, 2}, three_from) == expected);
    CHECK(made_of<int>({0, 1, 2}, three_from_slowly) == expected);
    CHECK(made_of<int>({0, 1, 2}, three_from_later) == expected);
    CHECK(made_of<int>({0, 1, 2}, [](int n) -> weir::generator<int> {
              for (int i = 0; i < n; ++i) co_yield n;
          }) == ints{1, 2, 2});
}

TEST_CASE("a generator's first value is there before the generator ends") {
    virtual_time time;
    int yielded = 0;
    const auto count = [&yielded](int n) -> weir::generator<int> {
        for (int i = 0; i < n; ++i) {
            ++yielded;
            co_yield i;
        }
    };
    auto run = (weir::source({100}) | weir::pipe(count, {.capacity = 1}) | weir::sink(1)).start(time);
    CHECK(run.get() == 0);
    CHECK(yielded <= 5);

    auto slow = (weir::source({10}) | weir::pipe(three_from_slowly) | weir::sink()).start(time);
    CHECK(slow.get() == 10);
    CHECK(time.now() == time_point(1ms));
    CHECK(slow.get() == 11);
    CHECK(time.now() == time_point(2ms));
}

TEST_CASE("a generator is one invocation, whose time is without its waits for room") {
    virtual_time time;
    auto run =
        (weir::source({1, 2}) | weir::pipe(three_from_slowly, {.capacity = 1}) | weir::sink(1)).start(time);
    while (run.get()) time.run_until(time.now() + 10ms);
    const auto stats = run.stats().stages.at(1);
    CHECK(stats.num_tasks == 2);
    CHECK(stats.task_time == 6ms);
    CHECK(stats.busy == 6ms);
    CHECK(stats.task_times.max() == 3ms);
    CHECK(stats.times().wait_put > 0ns);
}

TEST_CASE("the time of an invocation is that of its function, with its own waits") {
    virtual_time time;
    const auto three_sleeps = [](int n) -> task<int> {
        for (int i = 0; i < 3; ++i) co_await weir::sleep_for(n * 1ms);
        co_return n;
    };
    auto run =
        (weir::source({1, 2, 3}) | weir::pipe(three_sleeps, {.capacity = 1}) | weir::sink(1)).start(time);
    while (run.get()) time.run_until(time.now() + 50ms);
    const auto stats = run.stats().stages.at(1);
    CHECK(stats.task_time == 18ms);
    CHECK(stats.busy == 18ms);
    CHECK(stats.times().await == 18ms);
    CHECK(stats.task_times.max() == 9ms);
    CHECK(stats.ave_time() == 6ms);
}

TEST_CASE("what a generator gave before its exception stays, and the next item is taken") {
    const auto breaks = [](int n) -> weir::generator<int> {
        co_yield n;
        co_yield n + 1;
        if (n == 20) throw std::runtime_error("two and no more");
        co_yield n + 2;
    };
    const auto breaks_slowly = [](int n) -> weir::async_generator<int> {
        co_yield n;
        co_await weir::sleep_for(1ms);
        co_yield n + 1;
        if (n == 20) throw std::runtime_error("two and no more");
        co_yield n + 2;
    };
    const auto check = [](const auto& function) {
        virtual_time time;
        const auto pipeline = weir::source({10, 20, 30}) | weir::pipe(function, {.name = "p"}) | weir::sink();
        auto tolerant = pipeline.start(time, {.max_failures = 1});
        CHECK(take_all(tolerant) == ints{10, 11, 12, 20, 21, 30, 31, 32});
        CHECK(tolerant.stats().stages.at(1).num_failures == 1);
        CHECK(tolerant.stats().stages.at(1).num_tasks == 3);

        const auto strict = take_until_failure(pipeline.start(time));
        CHECK(strict.taken == ints{10, 11, 12, 20, 21});
        REQUIRE(strict.failed);
        CHECK(strict.failed->item() == 1);
        CHECK(strict.inside == "two and no more");
    };
    check(breaks);
    check(breaks_slowly);
}

TEST_CASE("an exception before a generator's first value fails the item all the same") {
    virtual_time time;
    const auto throws = [](int n) -> weir::generator<int> {
        if (n == 1) throw std::runtime_error("none at all");
        return three_from(n);
    };
    const auto pipeline = weir::source({0, 1, 2}) | weir::pipe(throws) | weir::sink();
    CHECK(take_all(pipeline.start(time, {.max_failures = 1})) == ints{0, 1, 2, 2, 3, 4});
    CHECK(take_until_failure(pipeline.start(time)).taken == ints{0, 1, 2});
}

TEST_CASE("with one slot items leave in the order in which they came, whatever each takes") {
    CHECK(made_of<int>({9, 1, 8, 2, 7, 3}, sleep_sort) == ints{9, 1, 8, 2, 7, 3});
}

TEST_CASE("with more slots items leave as they are done") {
    const ints falling = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    CHECK(made_of(falling, sleep_sort, {.concurrency = 10}) == ints{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("on several threads items of a function that doesn't wait leave as they are done") {
    weir::blocking_pool io(2);
    weir::thread_pool pool(1);
    semaphore may_end(0);
    const auto first_is_last = [&may_end](int n) {
        if (n == 0) may_end.acquire();
        return n;
    };
    auto run = (weir::source({0, 1, 2}) | weir::pipe(first_is_last, {.concurrency = 2, .executor = &io}) |
                weir::sink())
                   .start(pool);
    const ints others = {run.get().value_or(-1), run.get().value_or(-1)};
    may_end.release();
    CHECK(others == ints{1, 2});
    CHECK(take_all(run) == ints{0});
}

TEST_CASE("a stage works on as many items at once as its concurrency says, and never on more") {
    for (const std::size_t slots : {1U, 2U, 3U, 5U, 8U}) {
        CAPTURE(slots);
        virtual_time time;
        std::size_t inside = 0;
        std::size_t most = 0;
        const auto work = [&](int n) -> task<int> {
            most = std::max(most, ++inside);
            co_await weir::sleep_for(1ms);
            --inside;
            co_return n;
        };
        auto run = (weir::source(std::views::iota(0, 40)) | weir::pipe(work, {.concurrency = slots}) |
                    weir::sink(40))
                       .start(time);
        CHECK(take_all(run).size() == 40);
        CHECK(most == slots);
        CHECK(time.now() == time_point((40 + static_cast<int>(slots) - 1) / static_cast<int>(slots) * 1ms));
    }
}

TEST_CASE("a slot whose result waits for room takes no other item") {
    virtual_time time;
    int started = 0;
    const auto work = [&started](int n) { return ++started, n; };
    auto run = (weir::source(std::views::iota(0)) | weir::pipe(work, {.concurrency = 3, .capacity = 1}) |
                weir::sink(1))
                   .start(time);
    CHECK_THROWS_AS(time.run(), weir::deadlock_error);
    // Nobody consumes: the sink's queue and hand, the stage's own queue, and one in each slot.
    CHECK(started == 1 + 1 + 1 + 3);
}

TEST_CASE("invocations of one stage overlap on several threads") {
    weir::blocking_pool io(3);
    weir::thread_pool pool(1);
    std::atomic<int> inside{0};
    const auto meet = [&inside](int n) {
        // Only together they can go on.
        ++inside;
        while (inside < 3) std::this_thread::yield();
        return n;
    };
    auto run =
        (weir::source({1, 2, 3}) | weir::pipe(meet, {.concurrency = 3, .executor = &io}) | weir::sink())
            .start(pool);
    ints taken = take_all(run);
    std::ranges::sort(taken);
    CHECK(taken == ints{1, 2, 3});
}

TEST_CASE("a stage runs on the executor that it names, the others where the run was started") {
    weir::blocking_pool io(1);
    weir::thread_pool pool(1);
    const auto where = [](std::vector<std::thread::id> path) {
        path.push_back(std::this_thread::get_id());
        return path;
    };
    auto run = (weir::source(std::vector<std::vector<std::thread::id>>(20)) | weir::pipe(where) |
                weir::pipe(where, {.executor = &io}) | weir::pipe(where) | weir::sink())
                   .start(pool);
    std::set<std::thread::id> homes;
    std::set<std::thread::id> elsewhere;
    for (const auto& path : run) {
        homes.insert({path.at(0), path.at(2)});
        elsewhere.insert(path.at(1));
    }
    CHECK(homes.size() == 1);
    CHECK(elsewhere.size() == 1);
    CHECK(*homes.begin() != *elsewhere.begin());
    CHECK(homes.count(std::this_thread::get_id()) == 0);
}

TEST_CASE("on virtual time a stage's own executor isn't used") {
    weir::blocking_pool io(1);
    virtual_time time;
    std::set<std::thread::id> where;
    const auto note = [&where](int n) -> task<int> {
        where.insert(std::this_thread::get_id());
        co_await weir::sleep_for(1ms);
        where.insert(std::this_thread::get_id());
        co_return n;
    };
    auto run = (weir::source({1, 2, 3}) | weir::pipe(note, {.executor = &io}) | weir::sink()).start(time);
    CHECK(take_all(run) == ints{1, 2, 3});
    CHECK(where == std::set<std::thread::id>{std::this_thread::get_id()});
    CHECK(time.now() == time_point(3ms));
}

TEST_CASE("a pipe's capacity is that of the queue behind it, which carries its name") {
    virtual_time time;
    auto run = (weir::source({1}) | weir::pipe(doubled, {.name = "twice", .capacity = 7}) |
                weir::pipe(doubled) | weir::sink())
                   .start(time);
    const auto stats = run.stats();
    CHECK(stats.channels.at(1).name == "twice");
    CHECK(stats.channels.at(1).capacity == 7);
    CHECK(stats.stages.at(1).name == "twice");
    CHECK(stats.stages.at(1).kind == "pipe");
    CHECK(stats.stages.at(2).name == "pipe#2");
    CHECK(stats.channels.at(2).capacity == 2);
}

TEST_CASE("items that only move go through every kind of function") {
    const auto boxed = [](int n) { return std::make_unique<int>(n); };
    const auto as_is = [](std::unique_ptr<int> p) { return p; };
    const auto later = [](std::unique_ptr<int> p) -> task<std::unique_ptr<int>> {
        co_await weir::sleep_for(1ms);
        co_return p;
    };
    const auto even = [](std::unique_ptr<int> p) -> std::optional<std::unique_ptr<int>> {
        if (*p % 2 == 1) return std::nullopt;
        return p;
    };
    const auto split = [](std::unique_ptr<int> p) -> weir::generator<std::unique_ptr<int>> {
        co_yield std::make_unique<int>(*p + 1);
        co_yield std::move(p);
    };
    const auto split_later = [](std::unique_ptr<int> p) -> weir::async_generator<std::unique_ptr<int>> {
        co_yield std::make_unique<int>(*p + 100);
        co_await weir::sleep_for(1ms);
        co_yield std::move(p);
    };
    const auto unboxed = [](const std::unique_ptr<int>& p) { return *p; };
    virtual_time time;
    const auto pipeline = weir::source({1, 2}) | weir::pipe(boxed) | weir::pipe(as_is) | weir::pipe(later) |
                          weir::pipe(even) | weir::pipe(split) | weir::pipe(split_later) |
                          weir::pipe(unboxed) | weir::sink();
    CHECK(take_all(pipeline.start(time)) == ints{103, 3, 102, 2});
}

TEST_CASE("a function that only moves is moved into the run of an rvalue") {
    virtual_time time;
    auto plus = [p = std::make_unique<int>(10)](int n) { return *p + n; };
    auto pipeline = weir::source({1, 2}) | weir::pipe(std::move(plus)) | weir::sink();
    CHECK(take_all(std::move(pipeline).start(time)) == ints{11, 12});
}

TEST_CASE("each run has a copy of a stage's function, which its slots share") {
    virtual_time time;
    const auto count = [calls = 0](int) mutable { return ++calls; };
    const auto pipeline = weir::source({0, 0, 0, 0}) | weir::pipe(count, {.concurrency = 2}) | weir::sink();
    for (int start = 0; start < 2; ++start) CHECK(take_all(pipeline.start(time)) == ints{1, 2, 3, 4});
}

TEST_CASE("a function's item lives until its invocation has ended") {
    virtual_time time;
    const auto reads_late = [](const std::string& s) -> task<std::size_t> {
        co_await weir::sleep_for(1ms);
        co_return s.size();
    };
    auto run = (weir::source({std::string(50, 'a'), std::string(60, 'b')}) |
                weir::pipe(reads_late, {.concurrency = 2}) | weir::sink())
                   .start(time);
    CHECK(take_all(run) == std::vector<std::size_t>{50, 60});
}
