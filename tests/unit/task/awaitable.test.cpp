#include <weir/task/awaitable.hpp>

#include "support/catch.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/schedule.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <concepts>
#include <coroutine>
#include <memory>
#include <string>
#include <type_traits>

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

TEST_CASE("what satisfies the concept can be awaited, whichever way it is made") {
    CHECK(weir::sync_wait(await_it(ready<int>(3))) == 3);
    CHECK(weir::sync_wait(await_it(by_member())) == 1);
    CHECK(weir::sync_wait(await_it(by_function())) == "free");
    CHECK(weir::sync_wait(await_it(choosy())) != nullptr);
    CHECK(*weir::sync_wait(await_it(ready(std::make_unique<int>(4)))) == 4);
    weir::sync_wait(await_it(odd()));
}

TEST_CASE("an awaiter is used as it is, not copied") {
    const ready<int> r(1);
    CHECK(&weir::detail::get_awaiter(r) == &r);
}
