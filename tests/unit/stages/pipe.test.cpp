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
                   .start(pool, {.consumers_help = false});
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

// Random pipelines of all kinds of stages, plain and in epochs, in every order, that are paused and whose
// slots come and go while they run: the accounts balance, and the results are those of a loop.
#include <weir/stages/pipe.hpp>

#include "support/catch.hpp"
#include "support/slow_world.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/run/failure.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage_list.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using weir::duration;
using weir::pipeline_stats;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

using value = std::uint64_t;
using values = std::vector<value>;

// A number, or a batch of them, so that all stages are of one type.
class cell {
  public:
    explicit cell(value n) : number(n) {}
    explicit cell(std::vector<cell>&& all) : parts(std::move(all)) {}
    auto begin() { return parts.begin(); }
    auto end() { return parts.end(); }
    value number = 0;
    std::vector<cell> parts;
};

// What is wrong, a line each.
class complaints {
  public:
    void check(bool right, const std::string& of, const char* what) {
        if (!right && count_++ < 4) text_ += of + ": " + what + "\n";
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
    int count_ = 0;
};

// What each slot was given to do, by value: any schedule gives the same.
struct workload {
    value salt = 0;
    int longest = 1;
    std::shared_ptr<duration> sum = std::make_shared<duration>(0);
    duration of(value n) const {
        std::mt19937_64 dice(salt ^ n);
        const duration d = dice() % 3 == 0 ? 0ns : duration(dice() % static_cast<value>(longest));
        *sum += d;
        return d;
    }
};

values one_by_one(const values& in, const std::function<values(value)>& f) {
    values out;
    for (const value n : in) {
        for (const value m : f(n)) out.push_back(m);
    }
    return out;
}

class random_graph {
  public:
    explicit random_graph(std::uint64_t seed) : seed_(seed), random_(seed), time_(seed) {
        in_epochs_ = pick(0, 1) == 0;
        changes_ = pick(0, 2) == 0;
        epochs_.resize(in_epochs_ ? static_cast<std::size_t>(pick(0, 5)) : 1);
        for (values& each : epochs_) {
            const int n = pick(0, 3) == 0 ? pick(0, 1) : pick(0, in_epochs_ ? 15 : 50);
            for (int i = 0; i < n; ++i) each.push_back(random_() % 100'000);
        }
        expected_ = epochs_;
        const int stages = pick(1, 6);
        for (int i = 0; i < stages; ++i) add_stage("s" + std::to_string(i));
        sink_ = static_cast<std::size_t>(pick(1, 4));
    }

    // Runs it; gives what is wrong.
    std::string run() {
        weir::run_options o;
        o.max_failures = weir::unlimited;
        o.lap = duration(pick(20, 300));
        o.on_lap = [this, lap = o.lap](const pipeline_stats& s) {
            wrong_.check(s.elapsed == lap, "lap", "as long as it should be");
            check(s, false);
        };
        const auto from =
            weir::source_options{.name = "src", .capacity = static_cast<std::size_t>(pick(1, 3))};
        if (in_epochs_) {
            const auto make = [this](std::uint64_t e) { return of_epoch(e); };
            const auto pipeline =
                weir::source(weir::epochs(make, epochs_.size()), from) | stages_ | weir::sink(sink_);
            auto run = pipeline.start(time_, std::move(o));
            consume_epochs(run);
            finish(run);
        } else {
            const auto pipeline =
                weir::source([this] { return of_epoch(0); }, from) | stages_ | weir::sink(sink_);
            auto run = pipeline.start(time_, std::move(o));
            consume(run);
            finish(run);
        }
        return wrong_.text();
    }

  private:
    int pick(int least, int most) {
        return least + static_cast<int>(random_() % static_cast<std::uint64_t>(most - least + 1));
    }
    weir::async_generator<cell> of_epoch(std::uint64_t e) {
        const workload pulling{seed_, 30, pulling_};
        for (const value n : epochs_.at(e)) {
            co_await weir::sleep_for(pulling.of(n));
            co_yield cell(n);
        }
    }

    // Works on each item; `f` is what becomes of it, for the loop too.
    void add_stage(const std::string& name) {
        weir::stage_options o;
        o.name = name;
        o.concurrency = static_cast<std::size_t>(pick(0, 1) == 0 ? 1 : pick(1, 5));
        o.capacity = static_cast<std::size_t>(pick(1, 4));
        if (pick(0, 1) == 0) o.output_order = weir::output_order::input;
        if (pick(0, 5) == 0) o.time_limit = 1h;
        workload w{random_(), pick(1, 60)};
        std::function<values(value)> f = [](value n) { return values{n * 3 + 1}; };
        const value odd = random_() % 3 + 2;
        bool waits = true;
        switch (pick(0, 9)) {
            case 0:
                waits = false;
                stages_.add(weir::pipe([](cell c) { return cell(c.number * 3 + 1); }, o));
                break;
            case 1:
                stages_.add(weir::pipe(
                    [w](cell c, const weir::invocation&) -> task<cell> {
                        co_await weir::sleep_for(w.of(c.number));
                        co_return cell(c.number * 3 + 1);
                    },
                    o));
                break;
            case 2:
                f = [odd](value n) { return n % odd == 0 ? values{} : values{n}; };
                stages_.add(weir::pipe(
                    [w, odd](cell c) -> task<std::optional<cell>> {
                        co_await weir::sleep_for(w.of(c.number));
                        if (c.number % odd == 0) co_return std::nullopt;
                        co_return c;
                    },
                    o));
                break;
            case 3:
                f = [odd](value n) { return n % odd == 0 ? values{} : values{n}; };
                stages_.add(weir::pipe(
                    [w, odd](cell c) -> task<cell> {
                        co_await weir::sleep_for(w.of(c.number));
                        if (c.number % odd == 0) throw std::runtime_error("tolerated");
                        co_return c;
                    },
                    o));
                break;
            case 4:
                waits = false;
                f = [odd](value n) { return n % odd == 0 ? values{} : values{n}; };
                stages_.add(weir::pipe(
                    [odd](cell c) {
                        return c.number % odd == 0 ? std::nullopt : std::optional<cell>(std::move(c));
                    },
                    o));
                break;
            case 5:
                waits = false;
                o.output_order = weir::output_order::completion;
                o.time_limit = 0ns;
                f = [](value n) { return n % 4 == 0 ? values{} : values{n, n + 7}; };
                stages_.add(weir::pipe(
                    [](cell c) -> weir::generator<cell> {
                        if (c.number % 4 != 0) {
                            co_yield cell(c.number);
                            co_yield cell(c.number + 7);
                        }
                    },
                    o));
                break;
            case 6:
                o.output_order = weir::output_order::completion;
                o.time_limit = 0ns;
                f = [](value n) { return values{n, n + 7}; };
                stages_.add(weir::pipe(
                    [w](cell c) -> weir::async_generator<cell> {
                        co_yield cell(c.number);
                        co_await weir::sleep_for(w.of(c.number));
                        co_yield cell(c.number + 7);
                    },
                    o));
                break;
            case 7:
                stages_.add(weir::pipe(weir::per_slot([w] {
                                           return [w, own = value{3}](cell c) mutable -> task<cell> {
                                               const value three = own;
                                               co_await weir::sleep_for(w.of(c.number));
                                               co_return cell(c.number * three + 1);
                                           };
                                       }),
                                       o));
                break;
            default:
                add_batches(name, o);
                return;
        }
        for (values& each : expected_) each = one_by_one(each, f);
        book(o, waits ? std::optional(w.sum) : std::nullopt);
    }

    // Into batches, by number, weight or time, work on those, and apart again.
    void add_batches(const std::string& name, weir::stage_options o) {
        weir::aggregate_options a{.name = name + " batch",
                                  .max_delay = duration(pick(0, 1) * pick(1, 40)),
                                  .capacity = o.capacity};
        const auto size = static_cast<std::size_t>(pick(1, 5));
        if (pick(0, 1) == 0) {
            stages_.add(weir::aggregate<cell>(size, a));
        } else {
            stages_.add(
                weir::aggregate_by_weight<cell>(size * 3, [](const cell& c) { return c.number % 5; }, a));
        }
        works_.emplace_back();
        workload w{random_(), 50};
        // By the weight of a whole batch, as it depends on the schedule what is in it.
        stages_.add(weir::pipe(
            [w](cell c) -> task<cell> {
                co_await weir::sleep_for(w.of(c.parts.front().number));
                co_return c;
            },
            o));
        book(o, w.sum);
        stages_.add(weir::disaggregate({.name = name + " apart", .capacity = o.capacity}));
        works_.emplace_back();
    }

    void book(const weir::stage_options& o, std::optional<std::shared_ptr<duration>> sum) {
        works_.push_back(std::move(sum));
        resizable_.push_back(o.name);
        const bool one_slot = o.concurrency == 1 && !changes_;
        ordered_ = ordered_ && (one_slot || o.output_order == weir::output_order::input);
    }

    template <class Run>
    void change(Run& run) {
        if (!changes_) return;
        if (!resizable_.empty() && pick(0, 2) == 0) {
            const auto& name =
                resizable_[static_cast<std::size_t>(pick(0, static_cast<int>(resizable_.size()) - 1))];
            run.set_concurrency(name, static_cast<std::size_t>(pick(1, 5)));
            run.set_capacity(name, static_cast<std::size_t>(pick(1, 5)));
        }
        if (pick(0, 5) == 0) {
            run.pause();
            time_.run_until(time_.now() + duration(pick(0, 100)));
            run.resume();
        }
        check(run.stats(), true);
    }

    template <class Run>
    void consume(Run& run) {
        values all;
        while (auto c = run.get()) {
            all.push_back(c->number);
            change(run);
        }
        compare(std::move(all), 0);
    }
    template <class Run>
    void consume_epochs(Run& run) {
        std::size_t epochs = 0;
        for (auto& epoch : run.epochs()) {
            values all;
            for (cell& c : epoch) {
                all.push_back(c.number);
                change(run);
            }
            wrong_.check(epoch.number() == epochs, "epoch", "the number after that of the one before");
            compare(std::move(all), epochs++);
        }
        wrong_.check(epochs == expected_.size(), "epochs", "as many as there were");
    }
    void compare(values all, std::size_t epoch) {
        values expected = expected_.at(epoch);
        if (!ordered_) {
            std::sort(all.begin(), all.end());
            std::sort(expected.begin(), expected.end());
        }
        wrong_.check(all == expected, "epoch " + std::to_string(epoch),
                     ordered_ ? "the items of a loop, in its order" : "the items of a loop");
    }

    template <class Run>
    void finish(Run& run) {
        const pipeline_stats s = run.stats();
        check(s, true);
        wrong_.check(s.stages.at(0).busy == *pulling_, "src", "busy is what it was given to do");
        for (std::size_t i = 0; i < works_.size(); ++i) {
            const auto& stage = s.stages.at(i + 1);
            wrong_.check(stage.busy == (works_[i] ? **works_[i] : 0ns), stage.name,
                         "busy is what it was given to do");
        }
        for (const auto& q : s.channels)
            wrong_.check(q.size == 0 && q.num_put == q.num_get, q.name, "is empty");
        const auto end = time_.now();
        time_.run();
        wrong_.check(time_.now() == end, "time", "nothing is left behind");
    }

    void check(const pipeline_stats& s, bool total) {
        for (std::size_t i = 0; i < s.stages.size(); ++i) {
            const auto& stage = s.stages[i];
            const auto t = stage.times();
            wrong_.check(stage.elapsed == s.elapsed, stage.name, "its time is the run's");
            wrong_.check(t.total() == std::ssize(stage.per_slot) * s.elapsed, stage.name,
                         "the slots' states sum to slots x elapsed");
            for (const auto& slot : stage.per_slot) {
                wrong_.check(slot.total() == s.elapsed, stage.name, "each slot's states sum to elapsed");
                wrong_.check(slot.off >= 0ns && slot.wait_get >= 0ns && slot.await >= 0ns &&
                                 slot.wait_put >= 0ns && slot.wait_turn >= 0ns,
                             stage.name, "no state is negative");
            }
            wrong_.check(stage.busy == t.busy(), stage.name, "busy is run + await");
            wrong_.check(t.runnable == 0ns && t.run == 0ns, stage.name, "no work takes time but by waiting");
            wrong_.check(t.wait_put == s.channels.at(i).put_wait, stage.name,
                         "the slots' wait_put is their queue's put_wait");
            wrong_.check(t.wait_get == (i == 0 ? 0ns : s.channels.at(i - 1).get_wait), stage.name,
                         "the slots' wait_get is the get_wait of the queue before");
            wrong_.check(stage.num_failures <= stage.num_tasks, stage.name, "failures are tasks");
        }
        for (const auto& q : s.channels) {
            wrong_.check(q.elapsed == s.elapsed, q.name, "its time is the run's");
            wrong_.check(0ns <= q.empty && q.empty <= q.elapsed, q.name, "0 <= empty <= elapsed");
            wrong_.check(q.put_blocked <= q.put_wait && q.get_blocked <= q.get_wait, q.name,
                         "blocked <= wait");
            wrong_.check(q.put_blocked + q.empty <= q.elapsed, q.name, "no put waits while it is empty");
            wrong_.check(q.get_blocked <= q.empty, q.name, "no get waits unless it is empty");
            if (!total) continue;
            wrong_.check(q.num_put - q.num_get == q.size, q.name, "what went in and not out is inside");
            wrong_.check(q.put_waits.count() == q.num_put, q.name, "each put is in its histogram");
            wrong_.check(q.get_waits.count() == q.num_get, q.name, "each get is in its histogram");
            wrong_.check(q.put_waits.sum() <= q.put_wait && q.get_waits.sum() <= q.get_wait, q.name,
                         "the histograms hold finished waits");
        }
    }

    std::uint64_t seed_;
    std::mt19937_64 random_;
    virtual_time time_;
    bool in_epochs_ = false;
    bool changes_ = false;
    bool ordered_ = true;
    std::size_t sink_ = 1;
    std::vector<values> epochs_;
    std::vector<values> expected_;
    std::shared_ptr<duration> pulling_ = std::make_shared<duration>(0);
    std::vector<std::optional<std::shared_ptr<duration>>> works_;
    std::vector<std::string> resizable_;
    weir::stage_list<cell> stages_;
    complaints wrong_;
};

}  // namespace

TEST_CASE("five hundred random pipelines give what a loop gives, and their accounts balance") {
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        const std::string wrong = random_graph(seed).run();
        if (!wrong.empty()) FAIL_CHECK("seed " << seed << "\n" << wrong);
    }
}

TEST_CASE("the time in which a slot's function is made is no invocation's") {
    slow_world world;
    const auto make = [&world] {
        world.pass(5s);
        return [&world](int n) {
            world.pass(1s);
            return n;
        };
    };
    auto run = (weir::source({1, 2}, {.capacity = 2}) | weir::pipe(weir::per_slot(make), {.name = "made"}) |
                weir::sink())
                   .start(world);
    while (run.get()) continue;
    const weir::stage_stats stage = run.stats().stages.at(1);
    CHECK(stage.num_tasks == 2);
    CHECK(stage.task_time == 2s);
    CHECK(stage.task_times.max() == 1s);
}

TEST_CASE("a function whose rate of failures is too high at its hundredth call isn't called again") {
    virtual_time time;
    int calls = 0;
    const auto drops = [&calls](int n) -> std::optional<int> {
        ++calls;
        if (n < 20) throw std::runtime_error("not yet");
        return std::nullopt;
    };
    auto run = (weir::source(std::views::iota(0, 200), {.capacity = 200}) |
                weir::pipe(drops, {.name = "drops", .max_failures = weir::rate(0.1)}) | weir::sink())
                   .start(time);
    CHECK_THROWS_AS(run.get(), weir::pipeline_failure);
    CHECK(calls == 100);
}
