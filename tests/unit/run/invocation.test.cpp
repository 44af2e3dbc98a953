// What functions and hooks see of a call, and what becomes of a hook's own exceptions.
#include <weir/run/invocation.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/stats.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
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
using weir::invocation;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;
using lines = std::vector<std::string>;

namespace {

std::string text_of(const std::exception_ptr& error) {
    if (!error) return "";
    return weir::failure("", 0, error).message();
}

// Writes down what it hears of one stage, or of all; throws where it is told to.
class scribe final : public weir::hook {
  public:
    explicit scribe(std::string name, std::string stage = {})
        : name_(std::move(name)), stage_(std::move(stage)) {}

    void stage_begins(const std::string& stage) override { write("begins", stage); }
    void stage_ends(const std::string& stage) override { write("ends", stage); }
    void before(const invocation& call) override {
        write("before", call.stage(), std::to_string(call.item()));
    }
    void after(const invocation& call, const std::exception_ptr& error) override {
        const std::string text = text_of(error);
        write("after", call.stage(), std::to_string(call.item()) + (text.empty() ? "" : " (" + text + ")"));
    }

    // The line that it throws at, without its name.
    std::set<std::string> throws_at;
    std::shared_ptr<lines> book = std::make_shared<lines>();

  private:
    void write(const char* what, const std::string& stage, const std::string& item = {}) {
        if (!stage_.empty() && stage != stage_) return;
        std::string line =
            std::string(what) + (stage_.empty() ? " " + stage : "") + (item.empty() ? "" : " " + item);
        book->push_back(name_.empty() ? line : name_ + ": " + line);
        if (throws_at.contains(line)) throw std::runtime_error(name_ + " can't bear " + line);
    }

    std::string name_;
    std::string stage_;
};

std::size_t count(const lines& book, const std::string& begin) {
    return static_cast<std::size_t>(
        std::ranges::count_if(book, [&](const std::string& line) { return line.starts_with(begin); }));
}

// Three hooks on stage "f" that share a book.
class three {
  public:
    three() { b->book = c->book = a->book; }
    weir::run_options options(weir::failure_limit limit = weir::unlimited) const {
        weir::run_options o;
        o.max_failures = limit;
        o.hooks = {a, b, c};
        return o;
    }
    std::shared_ptr<scribe> a = std::make_shared<scribe>("a", "f");
    std::shared_ptr<scribe> b = std::make_shared<scribe>("b", "f");
    std::shared_ptr<scribe> c = std::make_shared<scribe>("c", "f");
    const lines& book() const { return *a->book; }
};

}  // namespace

TEST_CASE("a function may take the call after the item, and sees stage, item, slot and epoch") {
    virtual_time time;
    std::set<std::uint64_t> numbers;
    std::map<std::size_t, int> at_work;
    std::string wrong;
    const auto waits = [&](int n, const invocation& call) -> task<int> {
        if (call.stage() != "waits" || call.epoch() != 0 || call.stop().stop_requested()) wrong += "call ";
        if (call.slot() >= 3 || ++at_work[call.slot()] != 1) wrong += "slot ";
        numbers.insert(call.item());
        co_await weir::sleep_for(1ms * (n % 4));
        --at_work[call.slot()];
        co_return n;
    };
    const auto plain = [&](int n, invocation call) {  // by value, too
        if (call.stage() != "plain") wrong += "call ";
        return static_cast<int>(call.item()) * 1000 + n;
    };
    const auto many = [](int n, const invocation& call) -> weir::generator<int> {
        co_yield n;
        co_yield static_cast<int>(call.item());
    };
    auto run =
        (weir::source(std::views::iota(0, 20)) |
         weir::pipe(waits, {.name = "waits", .concurrency = 3, .output_order = weir::output_order::input}) |
         weir::pipe(plain, {.name = "plain"}) | weir::pipe(many) | weir::sink())
            .start(time);
    const ints all = take_all(run);
    REQUIRE(all.size() == 40);
    for (int i = 0; i < 20; ++i) {
        CHECK(all.at(static_cast<std::size_t>(2 * i)) == i * 1001);
        CHECK(all.at(static_cast<std::size_t>(2 * i + 1)) == i);
    }
    CHECK(numbers.size() == 20);
    CHECK(*numbers.rbegin() == 19);
    CHECK(wrong == "");
}

TEST_CASE("a function that can be called with the item alone doesn't get the invocation") {
    virtual_time time;
    const auto either = [](int n, auto... rest) { return n * 10 + static_cast<int>(sizeof...(rest)); };
    CHECK(take_all((weir::source({1, 2}) | weir::pipe(either) | weir::sink()).start(time)) == ints{10, 20});
}

TEST_CASE("items are numbered over the ends of epochs, and the call tells the epoch") {
    virtual_time time;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
    const auto look = [&](int n, const invocation& call) {
        seen.emplace_back(call.item(), call.epoch());
        return n;
    };
    class epochs_of_source final : public weir::hook {
      public:
        void before(const invocation& call) override {
            if (call.stage() == "src") seen.emplace_back(call.item(), call.epoch());
            if (call.stage() == "aggregate#2") batched.emplace_back(call.item(), call.epoch());
        }
        std::vector<std::pair<std::uint64_t, std::uint64_t>> seen, batched;
    };
    const auto hook = std::make_shared<epochs_of_source>();
    auto run = (weir::source(weir::epochs([](std::uint64_t e) { return ints(e == 1 ? 0 : 2, 7); }, 3)) |
                weir::pipe(look) | weir::aggregate(1) | weir::sink())
                   .start(time, {.hooks = {hook}});
    CHECK(take_all(run).size() == 4);
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> each = {{0, 0}, {1, 0}, {2, 2}, {3, 2}};
    CHECK(seen == each);
    CHECK(hook->batched == each);
    // A source is asked for the ends of epochs and of the stream as well.
    CHECK(hook->seen == std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                            {0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}, {3, 2}, {4, 2}, {4, 3}});
}

TEST_CASE("hooks are called around each invocation, the first one outermost") {
    virtual_time time;
    const three hooks;
    const auto f = [&](int n) {
        hooks.a->book->push_back("f " + std::to_string(n));
        if (n == 1) throw std::runtime_error("odd");
        return n;
    };
    auto run =
        (weir::source({0, 1}) | weir::pipe(f, {.name = "f"}) | weir::sink()).start(time, hooks.options());
    CHECK(take_all(run) == ints{0});
    CHECK(hooks.book() == lines{"a: begins",        "b: begins",        "c: begins",                //
                                "a: before 0",      "b: before 0",      "c: before 0",      "f 0",  //
                                "c: after 0",       "b: after 0",       "a: after 0",               //
                                "a: before 1",      "b: before 1",      "c: before 1",      "f 1",  //
                                "c: after 1 (odd)", "b: after 1 (odd)", "a: after 1 (odd)",         //
                                "c: ends",          "b: ends",          "a: ends"});
}

TEST_CASE("a hook that is null, as one that was moved from, is refused where it is given") {
    auto given = std::make_shared<weir::hook>();
    const weir::shared_hook kept = std::move(given);
    CHECK(kept != nullptr);
    CHECK_THROWS_AS(weir::shared_hook(given), std::invalid_argument);  // NOLINT: that is what is asked
    CHECK_THROWS_WITH(weir::run_options({.hooks = {std::shared_ptr<weir::hook>()}}),
                      Catch::Matchers::ContainsSubstring("a hook is null"));
}

TEST_CASE("each kind of stage is hooked once an item, and once as a whole") {
    for (const bool measured : {true, false}) {
        virtual_time time;
        const auto hook = std::make_shared<scribe>("");
        const auto twice = [](int n) -> weir::async_generator<int> {
            co_yield n;
            co_await weir::sleep_for(1ms);
            co_yield n;
        };
        const auto pipeline =
            weir::source(std::views::iota(0, 10)) |
            weir::pipe([](int n) { return 2 * n; }, {.name = "double"}) |
            weir::pipe([](int n) -> task<int> { co_return n; }, {.name = "waits", .concurrency = 3}) |
            weir::pipe(
                [](int n) -> task<int> {
                    co_await weir::sleep_for(1ms * (n % 3));
                    co_return n;
                },
                {.name = "ordered", .concurrency = 3, .output_order = weir::output_order::input}) |
            weir::aggregate(4) | weir::disaggregate() | weir::pipe(twice, {.name = "twice"}) |
            weir::pipe([](int) -> int { throw std::runtime_error("never"); }, {.name = "fails"}) |
            weir::sink();
        weir::run_options o;
        o.max_failures = weir::unlimited;
        o.hooks = {hook};
        if (measured) {
            CHECK(take_all(pipeline.start(time, o)).empty());
        } else {
            CHECK(take_all(pipeline.start<weir::unmeasured>(time, o)).empty());
        }
        const auto check = [&](const char* stage, std::size_t n) {
            INFO(stage);
            CHECK(count(*hook->book, std::string("begins ") + stage) == 1);
            CHECK(count(*hook->book, std::string("ends ") + stage) == 1);
            CHECK(count(*hook->book, std::string("before ") + stage + " ") == n);
            CHECK(count(*hook->book, std::string("after ") + stage + " ") == n);
        };
        check("src", 11);
        check("double", 10);
        check("waits", 10);
        check("ordered", 10);
        check("aggregate#4", 10);  // that the last batch is flushed is no invocation
        check("disaggregate#5", 3);
        check("twice", 10);
        check("fails", 20);
        CHECK(count(*hook->book, "after fails 19 (never)") == 1);
        CHECK(count(*hook->book, "begins") == count(*hook->book, "ends"));
    }
}

TEST_CASE("a stage ends for its hooks when the last of its slots has ended, and not with the first") {
    virtual_time time;
    const auto hook = std::make_shared<scribe>("", "f");
    const auto takes_its_time = [](int n) -> task<int> {
        co_await weir::sleep_for(n * 1s);
        co_return n;
    };
    weir::run_options o;
    o.hooks = {hook};
    CHECK(take_all((weir::source({1, 2}) | weir::pipe(takes_its_time, {.name = "f", .concurrency = 2}) |
                    weir::sink())
                       .start(time, o)) == ints{1, 2});
    CHECK(*hook->book == lines{"begins", "before 0", "before 1", "after 0", "after 1", "ends"});
}

TEST_CASE("a hook that throws before an item fails it, and the function isn't called") {
    virtual_time time;
    const three hooks;
    hooks.b->throws_at = {"before 1"};
    int calls = 0;
    const auto f = [&](int n) -> task<int> {
        ++calls;
        co_return n;
    };
    std::vector<std::string> told;
    auto options = hooks.options();
    options.on_failure = [&](const weir::failure& e) {
        told.push_back(e.stage + " " + std::to_string(e.item) + " " + e.message());
    };
    auto run = (weir::source({10, 11, 12}) | weir::pipe(f, {.name = "f"}) | weir::sink())
                   .start(time, std::move(options));
    CHECK(take_all(run) == ints{10, 12});
    CHECK(calls == 2);
    CHECK(told == lines{"f 1 b can't bear before 1"});
    CHECK(run.stats().stages.at(1).num_tasks == 3);
    CHECK(run.stats().stages.at(1).num_failures == 1);
    const auto at = std::ranges::find(hooks.book(), "b: before 1");
    REQUIRE(at != hooks.book().end());
    // Not the one that threw, nor the one that was not called.
    CHECK(*(at + 1) == "a: after 1 (b can't bear before 1)");
    CHECK(*(at + 2) == "a: before 2");
}

TEST_CASE("a hook that throws after an item fails the item, and outer hooks get the exception") {
    virtual_time time;
    const three hooks;
    hooks.b->throws_at = {"after 0", "after 1 (odd)"};
    hooks.a->throws_at = {"after 2"};
    const auto f = [](int n) {
        if (n == 1) throw std::runtime_error("odd");
        return n;
    };
    std::vector<std::string> told;
    auto options = hooks.options();
    options.on_failure = [&](const weir::failure& e) { told.push_back(e.message()); };
    auto run = (weir::source({0, 1, 2, 3}) | weir::pipe(f, {.name = "f", .concurrency = 1}) | weir::sink())
                   .start(time, std::move(options));
    CHECK(take_all(run) == ints{3});
    CHECK(told == lines{"b can't bear after 0", "odd", "a can't bear after 2"});
    CHECK(count(hooks.book(), "c: after 0") == 1);
    CHECK(count(hooks.book(), "a: after 0 (b can't bear after 0)") == 1);
    CHECK(count(hooks.book(), "a: after 1 (odd)") == 1);
    CHECK(run.stats().stages.at(1).num_failures == 3);
}

TEST_CASE("a hook's failure counts towards max_failures as any other") {
    virtual_time time;
    const three hooks;
    hooks.c->throws_at = {"before 1", "after 3"};
    auto run = (weir::source(std::views::iota(0, 10)) | weir::pipe([](int n) { return n; }, {.name = "f"}) |
                weir::sink())
                   .start(time, hooks.options(1));
    const auto end = take_until_failure(run);
    CHECK(end.taken == ints{0, 2});
    REQUIRE(end.failed != nullptr);
    CHECK(end.failed->item() == 3);
    CHECK(end.inside == "c can't bear after 3");
}

TEST_CASE("a hook's failure around a stage that gives many, or is no function") {
    virtual_time time;
    const auto with = [&](const std::string& stage, const std::string& at, auto kind) {
        const auto hook = std::make_shared<scribe>("hook", stage);
        hook->throws_at = {at};
        weir::run_options o;
        o.max_failures = weir::unlimited;
        o.hooks = {hook};
        auto run = (weir::source(std::views::iota(0, 6)) | kind | weir::sink()).start(time, std::move(o));
        const auto end = take_until_failure(run);
        CHECK(count(*hook->book, "hook: ends") == 1);
        return std::pair(end.taken.size(), end.inside);
    };
    const auto twice = [](int n) -> weir::generator<int> {
        co_yield n;
        co_yield n;
    };
    const std::string nothing;
    CHECK(with("pipe#1", "before 2", weir::pipe(twice)) == std::pair<std::size_t, std::string>(10, ""));
    CHECK(with("pipe#1", "after 2", weir::pipe(twice)) == std::pair<std::size_t, std::string>(12, ""));
    // What these hold can't go on without the item. A batch that was full with it is lost with it.
    CHECK(with("aggregate#1", "before 3", weir::aggregate(2)) ==
          std::pair<std::size_t, std::string>(1, "hook can't bear before 3"));
    CHECK(with("aggregate#1", "after 4", weir::aggregate(2)) ==
          std::pair<std::size_t, std::string>(2, "hook can't bear after 4"));
    CHECK(with("src", "before 4", weir::aggregate(1)) ==
          std::pair<std::size_t, std::string>(4, "hook can't bear before 4"));
    CHECK(with("src", "after 4", weir::aggregate(1)) ==
          std::pair<std::size_t, std::string>(4, "hook can't bear after 4"));
}

TEST_CASE("a hook that throws when a stage begins stops the run before anything has begun") {
    virtual_time time;
    const three hooks;
    hooks.b->throws_at = {"begins"};
    int calls = 0;
    int made = 0;
    const auto f = weir::per_slot([&] {
        ++made;
        return [&calls](int n) { return ++calls, n; };
    });
    int pulled = 0;
    const auto source = [&]() -> std::optional<int> { return ++pulled; };
    auto run =
        (weir::source(source) | weir::pipe(f, {.name = "f"}) | weir::sink()).start(time, hooks.options());
    const auto end = take_until_failure(run);
    CHECK(end.taken.empty());
    REQUIRE(end.failed != nullptr);
    CHECK(end.failed->stage() == "f");
    CHECK(end.inside == "b can't bear begins");
    run.stop();
    CHECK(calls == 0);
    CHECK(pulled == 0);
    // Told of the end is who was told of the beginning.
    CHECK(hooks.book() == lines{"a: begins", "b: begins", "a: ends"});
}

namespace {

// Each posted coroutine runs on a thread of its own, and has suspended when `post` returns.
class prompt final : public weir::executor {
  public:
    prompt() : executor({.parallelism = 8, .has_threads = true}) {}
    ~prompt() override { users().abort_if_any(); }
    void post(std::coroutine_handle<> h) noexcept override {
        std::thread([this, h] { resume(h); }).join();
    }
    void add(weir::timer& t) noexcept override { post(t.waiter()); }
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
};

}  // namespace

TEST_CASE("after a hook that throws when a stage begins, no stage calls a function, however soon it starts") {
    prompt at_once;
    const auto hook = std::make_shared<scribe>("");
    hook->throws_at = {"begins f"};
    int calls = 0;
    const auto source = [&]() -> std::optional<int> { return ++calls; };
    const auto f = [&](int n) { return ++calls, n; };
    auto run = (weir::source(source) | weir::pipe(f, {.name = "f"}) | weir::aggregate(2) |
                weir::disaggregate() | weir::pipe(f, {.name = "g", .concurrency = 2}) | weir::sink())
                   .start(at_once, {.hooks = {hook}});
    const auto end = take_until_failure(run);
    CHECK(end.taken.empty());
    REQUIRE(end.failed != nullptr);
    CHECK(end.failed->stage() == "f");
    CHECK(run.outcome() == weir::run_outcome::failed);
    run.stop();
    CHECK(calls == 0);
    CHECK(*hook->book == lines{"begins src", "begins f", "ends src"});
    const weir::pipeline_stats s = run.stats();
    for (const auto& stage : s.stages) {
        CHECK(stage.num_tasks == 0);
        CHECK(stage.times().total() == stage.elapsed * static_cast<int>(stage.per_slot.size()));
    }
    for (const auto& queue : s.channels) CHECK((queue.num_put == 0 && queue.num_discarded == 0));
}

TEST_CASE("a hook that throws when a stage ends fails the run behind all items") {
    virtual_time time;
    const three hooks;
    hooks.b->throws_at = {"ends"};
    auto run = (weir::source({1, 2}) | weir::pipe([](int n) { return n; }, {.name = "f"}) |
                weir::pipe([](int n) -> task<int> {
                    co_await weir::sleep_for(1s);
                    co_return n;
                }) |
                weir::sink())
                   .start(time, hooks.options());
    const auto end = take_until_failure(run);
    CHECK(end.taken == ints{1, 2});
    REQUIRE(end.failed != nullptr);
    CHECK(end.failed->stage() == "f");
    CHECK(end.inside == "b can't bear ends");
    CHECK(count(hooks.book(), "a: ends") == 1);
    CHECK(count(hooks.book(), "c: ends") == 1);
}

TEST_CASE("stage_ends is called for each stage that has begun, however the run ends") {
    const auto check = [](auto end_it) {
        virtual_time time;
        const auto hook = std::make_shared<scribe>("");
        {
            auto run = (weir::source(std::views::iota(0)) |
                        weir::pipe(
                            [](int n) -> task<int> {
                                co_await weir::sleep_for(1ms);
                                if (n == 20) throw std::runtime_error("twenty");
                                co_return n;
                            },
                            {.concurrency = 3}) |
                        weir::aggregate(2) | weir::sink())
                           .start(time, {.hooks = {hook}});
            end_it(run);
        }
        CHECK(count(*hook->book, "begins") == 3);  // a sink does no work
        CHECK(count(*hook->book, "ends") == 3);
        CHECK(count(*hook->book, "before") == count(*hook->book, "after"));
    };
    check([](auto&) {});
    check([](auto& run) { static_cast<void>(run.get()); });
    check([](auto& run) { run.stop(); });
    check([](auto& run) { take_until_failure(run); });
}

TEST_CASE("the time of hooks is no part of the invocation's") {
    // A clock that functions set, on which no time passes else.
    class by_hand final : public weir::hook {
      public:
        explicit by_hand(virtual_time& time) : time_(time) {}
        void before(const invocation& call) override {
            if (call.stage() == "f") time_.run_until(time_.now() + 3ms);
        }
        void after(const invocation& call, const std::exception_ptr&) override {
            if (call.stage() == "f") time_.run_until(time_.now() + 4ms);
        }

      private:
        virtual_time& time_;
    };
    virtual_time time;
    auto run = (weir::source({1, 2, 3}, {.capacity = 3}) |
                weir::pipe(
                    [&](int n) {
                        time.run_until(time.now() + 1ms);
                        return n;
                    },
                    {.name = "f", .capacity = 3}) |
                weir::sink())
                   .start(time, {.hooks = {std::make_shared<by_hand>(time)}});
    CHECK(take_all(run) == ints{1, 2, 3});
    const auto stage = run.stats().stages.at(1);
    CHECK(stage.task_time == 3ms);
    CHECK(stage.times().run == 3ms);
    CHECK(stage.times().overhead == 21ms);
}

TEST_CASE("whatever overrides a hook's members right is taken: inherited, private, overloaded, or noexcept") {
    struct inherits : weir::hook {
        void before(const weir::invocation&) noexcept override { ++calls; }
        int calls = 0;
    };
    struct derived : virtual inherits {};
    class hides : public weir::hook {
      public:
        int calls = 0;
        using weir::hook::after;
        void after(int) {}
        void stage_begins() { ++calls; }
        void stage_begins(const std::string&) override { ++calls; }

      private:
        void before(const weir::invocation&) override { ++calls; }
    };
    const auto one = std::make_shared<derived>();
    const auto other = std::make_shared<hides>();
    const std::shared_ptr<weir::hook> any = one;
    virtual_time time;
    auto run = (weir::source({1, 2}) | weir::sink()).start(time, {.hooks = {one, other, any}});
    while (run.get()) continue;
    CHECK(one->calls == 6);
    CHECK(other->calls == 2 + 2);
}

TEST_CASE("on a pool each hook is called before and after each invocation") {
    class counter final : public weir::hook {
      public:
        void before(const invocation&) override { ++begun; }
        void after(const invocation& call, const std::exception_ptr& error) override {
            ++ended;
            if (error) ++failed;
            if (call.stage() == "f" && call.item() % 100 == 7) throw std::runtime_error("seven");
        }
        std::atomic<int> begun{0}, ended{0}, failed{0};
    };
    weir::thread_pool pool(2);
    const auto outer = std::make_shared<counter>();
    const auto inner = std::make_shared<counter>();
    weir::run_options o;
    o.max_failures = weir::unlimited;
    o.hooks = {outer, inner};
    auto run = (weir::source(std::views::iota(0, 1000)) |
                weir::pipe([](int n) { return n; }, {.name = "f", .concurrency = 3}) | weir::aggregate(10) |
                weir::sink())
                   .start(pool, std::move(o));
    CHECK(take_all(run).size() == 99);
    run.stop();
    CHECK(outer->begun == 1001 + 1000 + 990);
    CHECK(outer->ended == outer->begun);
    CHECK(inner->ended == inner->begun);
    CHECK(outer->failed == 10);
    CHECK(inner->failed == 0);
}

namespace {

// Notes what it is given, of the type it knows.
class reader final : public weir::hook {
  public:
    explicit reader(std::string stage) : stage_(std::move(stage)) {}
    void before(const invocation& call) override {
        if (call.stage() != stage_) return;
        const int* const came = call.input<int>();
        in.push_back(came == nullptr ? -1 : *came);
        CHECK(call.output<int>() == nullptr);
        CHECK(call.input<long>() == nullptr);
    }
    void after(const invocation& call, const std::exception_ptr&) override {
        if (call.stage() != stage_) return;
        const std::string* const made = call.output<std::string>();
        out.push_back(made == nullptr ? "-" : *made);
        CHECK(call.input<int>() == nullptr);
    }
    ints in;
    std::vector<std::string> out;

  private:
    std::string stage_;
};

}  // namespace

TEST_CASE("a hook sees the item and its result, if it knows their types") {
    virtual_time time;
    const auto check = [&time](auto function, const std::vector<std::string>& made) {
        const auto hook = std::make_shared<reader>("text");
        auto run = (weir::source({1, 2, 3}) | weir::pipe(function, {.name = "text"}) | weir::sink())
                       .start(time, {.max_failures = 3, .hooks = {hook}});
        static_cast<void>(take_all(run));
        CHECK(hook->in == ints{1, 2, 3});
        CHECK(hook->out == made);
    };
    check([](int n) { return std::to_string(n); }, {"1", "2", "3"});
    check([](int n) -> task<std::string> { co_return std::to_string(n); }, {"1", "2", "3"});
    check([](int n) { return n == 2 ? std::nullopt : std::optional(std::to_string(n)); }, {"1", "-", "3"});
    check(
        [](int n) {
            if (n == 2) throw std::runtime_error("2");
            return std::to_string(n);
        },
        {"1", "-", "3"});
    // Of many there is no one to be shown.
    check([](int n) -> weir::generator<std::string> { co_yield std::to_string(n); }, {"-", "-", "-"});
}

TEST_CASE("hooks of a stage are called for it alone, inside of those of the run") {
    virtual_time time;
    std::vector<std::string> book;
    class named final : public weir::hook {
      public:
        named(std::string name, std::vector<std::string>& to) : name_(std::move(name)), book_(to) {}
        void stage_begins(const std::string& stage) override { book_.push_back(name_ + " begins " + stage); }
        void stage_ends(const std::string& stage) override { book_.push_back(name_ + " ends " + stage); }
        void before(const invocation& call) override {
            if (call.stage() == "b") book_.push_back(name_ + " before");
        }
        void after(const invocation& call, const std::exception_ptr&) override {
            if (call.stage() == "b") book_.push_back(name_ + " after");
        }

      private:
        std::string name_;
        std::vector<std::string>& book_;
    };
    const auto same = [](int n) { return n; };
    auto run =
        (weir::source({1}) | weir::pipe(same, {.name = "a"}) |
         weir::pipe(same, {.name = "b", .hooks = {std::make_shared<named>("own", book)}}) | weir::sink())
            .start(time, {.hooks = {std::make_shared<named>("run's", book)}});
    CHECK(take_all(run) == ints{1});
    std::erase_if(book,
                  [](const std::string& line) { return line.ends_with(" src") || line.ends_with(" a"); });
    CHECK(book == std::vector<std::string>{"run's begins b", "own begins b", "run's before", "own before",
                                           "own after", "run's after", "own ends b", "run's ends b"});
}
