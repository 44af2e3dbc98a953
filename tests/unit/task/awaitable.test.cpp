#include <weir/task/awaitable.hpp>

#include "support/catch.hpp"
#include "unit/interop/stand_ins.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/platform/env.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <concepts>
#include <coroutine>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

using stand_ins::just;
using weir::sync_wait;
using weir::task;
using weir::thread_pool;

namespace {

// Gives its value at once.
template <class T>
class ready {
  public:
    explicit ready(T value) : value_(std::move(value)) {}
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    T await_resume() { return std::move(value_); }

  private:
    T value_;
};

// Awaitable by a member operator, of rvalues only.
class by_member {
  public:
    ready<int> operator co_await() && { return ready<int>(1); }
};

class by_function {};
ready<std::string> operator co_await(const by_function&) { return ready<std::string>("free"); }

// Suspends coroutines of one kind of promise only.
template <class Promise>
concept knows_its_home = requires(Promise& p) { p.env().executor; };
class choosy {
  public:
    choosy() noexcept {}
    bool await_ready() const noexcept { return false; }
    template <knows_its_home Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        executor_ = h.promise().env().executor;
        return false;
    }
    weir::executor* await_resume() const noexcept { return executor_; }

  private:
    weir::executor* executor_ = nullptr;
};

// The answer of await_ready is anything that a bool can be made of.
class odd {
  public:
    std::true_type await_ready() const noexcept { return {}; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    void await_resume() const noexcept {}
};

struct resembles_one {
    bool await_ready() const;
};

template <class A>
auto await_it(A a) -> weir::task<weir::await_result_t<A>> {
    co_return co_await std::move(a);
}

}  // namespace

static_assert(weir::awaiter<std::suspend_always>);
static_assert(weir::awaiter<ready<int>>);
static_assert(weir::awaiter<choosy>);
static_assert(weir::awaiter<odd>);
static_assert(!weir::awaiter<by_member>);
static_assert(!weir::awaiter<int>);

static_assert(weir::awaitable<ready<int>>);
static_assert(weir::awaitable<ready<int>&>);
static_assert(weir::awaitable<by_member>);
static_assert(!weir::awaitable<by_member&>, "an operator of rvalues is no operator of lvalues");
static_assert(weir::awaitable<by_function>);
static_assert(weir::awaitable<const by_function&>);
static_assert(weir::awaitable<weir::task<int>>);
static_assert(!weir::awaitable<weir::task<int>&>, "a task gives its result once");
static_assert(weir::awaitable<weir::schedule>);
static_assert(!weir::awaitable<int>);
static_assert(!weir::awaitable<std::string&>);
static_assert(!weir::awaitable<resembles_one>);
static_assert(!weir::awaitable<weir::task<int> (*)()>);

static_assert(std::same_as<weir::await_result_t<ready<int>>, int>);
static_assert(std::same_as<weir::await_result_t<by_member>, int>);
static_assert(std::same_as<weir::await_result_t<by_function>, std::string>);
static_assert(std::same_as<weir::await_result_t<choosy>, weir::executor*>);
static_assert(std::same_as<weir::await_result_t<std::suspend_never>, void>);
static_assert(std::same_as<weir::await_result_t<weir::task<int&>>, int&>);

static_assert(std::same_as<decltype(weir::detail::get_awaiter(std::declval<ready<int>&>())), ready<int>&>);
static_assert(std::same_as<decltype(weir::detail::get_awaiter(std::declval<by_member>())), ready<int>>);

TEST_CASE("all types that satisfy the concept awaitable can be awaited") {
    CHECK(weir::sync_wait(await_it(ready<int>(3))) == 3);
    CHECK(weir::sync_wait(await_it(by_member())) == 1);
    CHECK(weir::sync_wait(await_it(by_function())) == "free");
    CHECK(weir::sync_wait(await_it(choosy())) != nullptr);
    CHECK(*weir::sync_wait(await_it(ready(std::make_unique<int>(4)))) == 4);
    weir::sync_wait(await_it(odd()));
}

TEST_CASE("an awaiter is used in place, not copied") {
    const ready<int> r(1);
    CHECK(&weir::detail::get_awaiter(r) == &r);
}

using ints = std::vector<int>;

static_assert(weir::awaitable<stand_ins::sender<int>>);
static_assert(std::is_same_v<weir::await_result_t<stand_ins::sender<int>>, int>);
static_assert(std::is_same_v<weir::await_result_t<stand_ins::just_nothing>, void>);
static_assert(!weir::detail::has_as_awaitable<task<int>>);

TEST_CASE(
    "awaiting a sender gives its value, throws its error, or throws operation_canceled if the sender was "
    "stopped") {
    thread_pool pool(2);
    const auto adds = []() -> task<int> {
        const std::unique_ptr<int> moved = co_await just(std::make_unique<int>(2));
        co_await stand_ins::just_nothing();
        co_return co_await just(1) + *moved;
    };
    CHECK(sync_wait(adds()) == 3);
    CHECK(sync_wait(pool, just(4)) == 4);
    CHECK_THROWS_WITH(sync_wait(stand_ins::just_error()), "its own");
    try {
        sync_wait(stand_ins::just_stopped());
        FAIL("nothing was thrown");
    } catch (const std::system_error& e) {
        CHECK(e.code() == std::errc::operation_canceled);
    }
    auto [a, b] = sync_wait(weir::when_all(just(5), just(6)));
    CHECK(a + b == 11);
}

TEST_CASE(
    "a coroutine that awaits a sender resumes once, on its own executor, on whichever thread the sender "
    "completes") {
    stand_ins::engine engine;
    thread_pool pool(2);
    const auto awaits = [&]() -> task<int> {
        int sum = 0;
        for (int i = 0; i < 50; ++i) {
            sum += co_await stand_ins::just_on(engine, i);
            if (weir::detail::current_executor() != &pool) throw std::logic_error("elsewhere");
        }
        co_return sum;
    };
    CHECK(sync_wait(pool, awaits()) == 1'225);
}

TEST_CASE("senders that complete at once keep the stack flat") {
    const auto awaits = []() -> task<int> {
        int n = 0;
        for (int i = 0; i < 100'000; ++i) n += co_await just(1);
        co_return n;
    };
    CHECK(sync_wait(awaits()) == 100'000);
}

TEST_CASE(
    "a member as_awaitable has precedence over an operator co_await, and a stage's function may return a "
    "sender") {
    CHECK(sync_wait(stand_ins::both_ways()) == 1);
    weir::virtual_time time;
    auto run =
        (weir::source(std::views::iota(0, 3)) | weir::pipe([](int n) { return just(n * 10); }) | weir::sink())
            .start(time);
    ints all;
    for (const int n : run) all.push_back(n);
    CHECK(all == ints{0, 10, 20});
}
