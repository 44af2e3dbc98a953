#include <weir/stages/pipe_function.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using items::sorted;
using items::take_all;
using items::take_until_failure;
using weir::async_generator;
using weir::generator;
using weir::invocation;
using weir::task;
using weir::virtual_time;
using weir::detail::awaited_t;
using weir::detail::call_traits;
using weir::detail::callable;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

template <class F, class In>
using types = weir::detail::pipe_types<typename weir::detail::the_function<F>::template is_given<In>>;

struct called {
    int operator()(int n, const weir::invocation&) const { return n; }
};
static_assert(types<called, int>::takes_call);
static_assert(!types<int (*)(int), int>::takes_call);
static_assert(types<task<int> (*)(int), int>::waits);
static_assert(std::is_same_v<types<task<std::optional<int>> (*)(int), int>::value, int>);
static_assert(types<weir::generator<int> (*)(int), int>::gives_many);
static_assert(types<weir::async_generator<int> (*)(int), int>::gives_many);
static_assert(types<std::optional<int> (*)(int), int>::may_skip);

// Functions that count their lives, of which one thread at a time may use each.
struct lives {
    std::atomic<int> made{0};
    std::atomic<int> alive{0};
    std::atomic<int> most_alive{0};
    std::atomic<int> shared{0};
};

class tool {
  public:
    explicit tool(lives& l) : lives_(&l) {
        ++l.made;
        const int now = ++l.alive;
        int most = l.most_alive;
        while (now > most && !l.most_alive.compare_exchange_weak(most, now)) {
        }
    }
    tool(tool&& other) noexcept : lives_(std::exchange(other.lives_, nullptr)) {}
    ~tool() {
        if (lives_ != nullptr) --lives_->alive;
    }

    int operator()(int n) {
        if (busy_.exchange(true)) ++lives_->shared;
        for (int i = 0; i < n % 50; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
        busy_ = false;
        return n;
    }

  private:
    lives* lives_;
    std::atomic<bool> busy_{false};
};

ints up_to(int n) {
    ints all;
    for (int i = 0; i < n; ++i) all.push_back(i);
    return all;
}

}  // namespace

TEST_CASE("each slot makes its function once, before its first item, and destroys it when it ends") {
    virtual_time time;
    lives l;
    auto run = (weir::source(std::views::iota(0, 20)) |
                weir::pipe(weir::per_slot([&l] { return tool(l); }), {.concurrency = 3}) | weir::sink(3))
                   .start(time);
    CHECK(l.made == 0);
    CHECK(run.get() == 0);
    time.run_until(time.now());
    CHECK(l.made == 3);
    CHECK(l.alive == 3);
    CHECK(take_all(run).size() == 19);
    CHECK(l.alive == 0);
    CHECK(l.made == 3);
}

TEST_CASE("functions of slots are of every kind, and may only move") {
    virtual_time time;
    const auto plain = weir::per_slot([] {
        return [own = std::make_unique<int>(100), calls = 0](int n) mutable { return *own * ++calls + n; };
    });
    const auto waits = weir::per_slot([] {
        return [calls = 0](int n) mutable -> task<int> {
            ++calls;
            co_await weir::sleep_for(1ms);
            co_return 1000 * calls + n;
        };
    });
    const auto many = weir::per_slot([] {
        return [calls = 0](int n) mutable -> weir::generator<int> {
            ++calls;
            co_yield n;
            co_yield n + 10'000 * calls;
        };
    });
    const auto knows = weir::per_slot([] {
        return [slot = std::size_t{99}](int n, const weir::invocation& call) mutable {
            if (slot == 99) slot = call.slot();
            if (slot != call.slot()) throw std::logic_error("not mine");
            return n;
        };
    });
    auto run = (weir::source({1, 2, 3}) | weir::pipe(plain) | weir::pipe(waits) | weir::pipe(many) |
                weir::pipe(knows, {.concurrency = 4}) | weir::sink())
                   .start(time);
    CHECK(sorted(take_all(run)) == ints{1101, 2202, 3303, 11101, 22202, 33303});
}

TEST_CASE("a function is destroyed when its slot is taken out of service, and made anew when it is back") {
    virtual_time time;
    lives l;
    const auto slow = weir::per_slot([&l] {
        return [own = std::make_shared<tool>(l)](int n) -> task<int> {
            co_await weir::sleep_for(10ms);
            co_return (*own)(n);
        };
    });
    auto run = (weir::source(std::views::iota(0)) | weir::pipe(slow, {.name = "slow", .concurrency = 4}) |
                weir::sink(100))
                   .start(time);
    time.run_until(weir::time_point(15ms));
    CHECK(l.alive == 4);
    run.set_concurrency("slow", 1);
    time.run_until(weir::time_point(19ms));
    CHECK(l.alive == 4);  // they have an item in hand
    time.run_until(weir::time_point(21ms));
    CHECK(l.alive == 1);
    CHECK(l.made == 4);
    run.set_concurrency("slow", 3);
    time.run_until(weir::time_point(22ms));
    CHECK(l.alive == 3);
    CHECK(l.made == 6);
    run.stop();
    CHECK(l.alive == 0);
    CHECK(l.most_alive == 4);
}

TEST_CASE("a function is made and destroyed on the stage's executor, by whoever uses it") {
    weir::thread_pool pool(1);
    weir::blocking_pool own(3);
    std::mutex lock;
    std::set<std::thread::id> threads;
    const auto note = [&] {
        const std::lock_guard guard(lock);
        threads.insert(std::this_thread::get_id());
    };
    class noted {
      public:
        explicit noted(std::function<void()> n) : note_(std::move(n)) { note_(); }
        noted(noted&& other) noexcept : note_(std::move(other.note_)) { other.note_ = nullptr; }
        ~noted() {
            if (note_) note_();
        }
        int operator()(int n) const {
            note_();
            return n;
        }

      private:
        std::function<void()> note_;
    };
    std::thread::id of_pool;
    auto run =
        (weir::source(std::views::iota(0, 50)) |
         weir::pipe(weir::per_slot([&] { return noted(note); }), {.concurrency = 3, .executor = &own}) |
         weir::pipe([&](int n) {
             of_pool = std::this_thread::get_id();
             return n;
         }) |
         weir::sink())
            .start(pool);
    CHECK(take_all(run).size() == 50);
    run.stop();
    CHECK(threads.size() <= 3);
    CHECK_FALSE(threads.contains(of_pool));
    CHECK_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST_CASE("a function that can't be made stops the run, behind what the other slots had in hand") {
    for (const auto order : {weir::output_order::completion, weir::output_order::input}) {
        virtual_time time;
        int made = 0;
        const auto f = weir::per_slot([&made] {
            if (++made == 3) throw std::runtime_error("no third one");
            return [](int n) -> task<int> {
                co_await weir::sleep_for((7 - n) * 1ms);
                co_return n;
            };
        });
        auto run = (weir::source(std::views::iota(0)) |
                    weir::pipe(f, {.name = "f", .concurrency = 2, .output_order = order}) | weir::sink())
                       .start(time);
        time.run_until(weir::time_point(1ms));
        run.set_concurrency("f", 3);
        const auto end = take_until_failure(run);
        REQUIRE(end.failed != nullptr);
        CHECK(end.failed->stage() == "f");
        CHECK(end.inside == "no third one");
        CHECK(sorted(end.taken) == ints{0, 1});
        CHECK(made == 3);
    }
    // The first one.
    virtual_time time;
    const auto none = weir::per_slot([]() -> int (*)(int) { throw std::runtime_error("none"); });
    auto run = (weir::source({1, 2}) | weir::pipe(none, {.concurrency = 2}) | weir::sink())
                   .start(time, {.max_failures = weir::unlimited});
    const auto end = take_until_failure(run);
    CHECK(end.taken.empty());
    CHECK(end.inside == "none");
}

TEST_CASE("a slot that can't make its function again in a later epoch lets that epoch's items through") {
    virtual_time time;
    int made = 0;
    const auto f = weir::per_slot([&made] {
        if (++made == 2) throw std::runtime_error("no second one");
        return [](int n) -> task<int> {
            co_await weir::sleep_for(10ms);
            co_return n;
        };
    });
    auto run = (weir::source(weir::epochs(ints{0, 1, 2})) | weir::pipe(f, {.name = "f"}) | weir::sink(100))
                   .start(time);
    time.run_until(weir::time_point(75ms));  // in the middle of item 1 of epoch 2
    run.set_concurrency("f", 2);
    const auto end = take_until_failure(run);
    CHECK(end.taken == ints{0, 1, 2, 0, 1, 2, 0, 1});
    CHECK(end.inside == "no second one");
}

TEST_CASE("a factory is copied with its pipeline, and each run makes functions of its own") {
    virtual_time time;
    const auto numbered = weir::per_slot([made = 0]() mutable { return [id = ++made](int) { return id; }; });
    const auto pipeline = weir::source({0, 0}) | weir::pipe(numbered) | weir::sink();
    CHECK(take_all(pipeline.start(time)) == ints{1, 1});
    CHECK(take_all(pipeline.start(time)) == ints{1, 1});
}

TEST_CASE("on a pool no two threads use the function of a slot at once, also while their number changes") {
    weir::thread_pool pool(3);
    lives l;
    auto run = (weir::source(std::views::iota(0, 5000)) |
                weir::pipe(weir::per_slot([&l] { return tool(l); }), {.name = "tools", .concurrency = 4}) |
                weir::sink())
                   .start(pool);
    ints all;
    std::size_t slots = 4;
    while (const auto n = run.get()) {
        all.push_back(*n);
        if (*n % 50 == 0) run.set_concurrency("tools", slots = slots % 5 + 1);
    }
    CHECK((sorted(all) == up_to(5000)));
    run.stop();
    CHECK(l.shared == 0);
    CHECK(l.alive == 0);
    CHECK(l.most_alive <= 5);
}

static_assert(std::is_same_v<awaited_t<int>, int>);
static_assert(std::is_same_v<awaited_t<const std::string&>, std::string>);
static_assert(std::is_same_v<awaited_t<task<std::string>>, std::string>);
static_assert(std::is_same_v<awaited_t<task<std::optional<int>>>, std::optional<int>>);
static_assert(std::is_same_v<awaited_t<task<void>>, void>);
static_assert(std::is_same_v<awaited_t<decltype(weir::yield())>, bool>);
static_assert(std::is_same_v<awaited_t<generator<int>>, generator<int>>);

static_assert(weir::detail::is_optional<std::optional<int>>);
static_assert(!weir::detail::is_optional<int*>);
static_assert(weir::detail::is_generator<generator<int&>>);
static_assert(!weir::detail::is_generator<std::vector<int>>);
static_assert(weir::detail::is_async_generator<async_generator<int>>);
static_assert(!weir::detail::is_async_generator<generator<int>>);

namespace {

struct box {
    std::string text;
    int size() const { return static_cast<int>(text.size()); }
};
using by_value = int (*)(box);
using by_constant = task<int> (*)(const box&);
using by_reference = int (*)(box&);
using by_rvalue = generator<int> (*)(box&&);
using with_the_call = void (*)(box, const invocation&);

static_assert(callable<by_value, box> && callable<by_constant, box> && callable<by_rvalue, box>);
static_assert(callable<by_reference, box&> && !callable<by_reference, box>);
static_assert(!callable<by_value, const std::string&> && !callable<int, box>);
static_assert(callable<int (box::*)() const, box> && callable<std::string box::*, const box&>);
static_assert(!callable<int (box::*)() const, std::string>);

static_assert(call_traits<by_value, box>::takes_item && !call_traits<by_value, box>::takes_call);
static_assert(!call_traits<by_value, box>::waits && !call_traits<by_value, box>::gives_many);
static_assert(call_traits<by_constant, const box&>::waits);
static_assert(std::is_same_v<call_traits<by_constant, const box&>::result, int>);
static_assert(call_traits<by_rvalue, box>::gives_many);
static_assert(!call_traits<by_rvalue, const box&>::fits);
static_assert(call_traits<with_the_call, box>::takes_call && call_traits<with_the_call, box>::is_void);
static_assert(std::is_same_v<call_traits<std::string box::*, box&>::returned, std::string&>);

int nth(const box& b, const invocation& which) { return b.size() + static_cast<int>(which.item()); }
int sum(const std::unique_ptr<int>& one) { return *one; }

}  // namespace

TEST_CASE("a function is called with the item, and with the invocation if it takes that, too") {
    const std::string stage = "stage";
    const invocation seventh(stage, 7, 0, 0, weir::stop_token());
    auto size = &box::size;
    auto both = nth;
    CHECK(weir::detail::call(size, box{"four"}, nullptr) == 4);
    CHECK(weir::detail::call(both, box{"four"}, &seventh) == 11);
    auto first = sum;
    CHECK(weir::detail::call(first, std::make_unique<int>(1), nullptr) == 1);
}

TEST_CASE("a generic function of any number of arguments is called with the item alone") {
    virtual_time time;
    const auto add = [](auto... all) { return (all + ...); };
    const auto is_odd = [](const auto&... all) { return (all + ...) % 2 == 1; };
    CHECK(take_all(
              (weir::source(std::views::iota(1, 5)) | weir::pipe(add) | weir::filter(is_odd) | weir::sink())
                  .start(time)) == std::vector{1, 3});
}
