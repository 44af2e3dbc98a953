#include <weir/platform/env.hpp>

#include "support/catch.hpp"

#include <weir/executor/run_loop.hpp>
#include <weir/executor/virtual_time.hpp>

#include <coroutine>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

using weir::detail::coroutine_env;
using weir::detail::current_executor;
using weir::detail::env_of;

namespace {

template <class Env>
struct coroutine {
    struct promise_type : Env {
        coroutine get_return_object() noexcept {
            return coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
    explicit coroutine(std::coroutine_handle<promise_type> h) noexcept : handle(h) {}
    coroutine(const coroutine&) = delete;
    coroutine& operator=(const coroutine&) = delete;
    ~coroutine() { handle.destroy(); }
    std::coroutine_handle<promise_type> handle;
};

struct no_env {};
struct own_env {
    coroutine_env& env() noexcept { return env_; }
    coroutine_env env_;
};
struct other_env {
    int env() const noexcept { return 0; }
};

template <class Env>
coroutine<Env> empty() {
    co_return;
}

static_assert(weir::detail::has_env<own_env>);
static_assert(!weir::detail::has_env<no_env>);
static_assert(!weir::detail::has_env<other_env>);
static_assert(!weir::detail::has_env<void>);

}  // namespace

TEST_CASE("the environment of a coroutine of ours is the one in its promise") {
    weir::virtual_time time;
    const auto c = empty<own_env>();
    CHECK(env_of(c.handle).executor == nullptr);
    c.handle.promise().env().executor = &time;
    CHECK(env_of(c.handle).executor == &time);
    CHECK(env_of(c.handle).measured == nullptr);
}

TEST_CASE("the environment of a foreign coroutine has the executor that the thread runs") {
    weir::virtual_time time;
    const auto c = empty<no_env>();
    CHECK(env_of(c.handle).executor == nullptr);
    current_executor() = &time;
    CHECK(env_of(c.handle).executor == &time);
    CHECK(env_of(std::coroutine_handle<>(c.handle)).executor == &time);
    current_executor() = nullptr;
    CHECK(env_of(c.handle).executor == nullptr);
}

TEST_CASE("each thread has a current executor of its own") {
    weir::virtual_time time;
    current_executor() = &time;
    weir::executor* elsewhere = &time;
    std::thread([&] { elsewhere = current_executor(); }).join();
    CHECK(elsewhere == nullptr);
    CHECK(current_executor() == &time);
    current_executor() = nullptr;
}

TEST_CASE("a coroutine wakes on its executor, else on that for all others, which a header brings") {
    weir::virtual_time time;
    coroutine_env env;
    CHECK(&weir::detail::executor_of(env) == &weir::detail::foreign_run_loop::get());
    const auto brought = std::exchange(weir::detail::foreign_executor, nullptr);
    std::string message;
    try {
        static_cast<void>(weir::detail::executor_of(env));
    } catch (const std::logic_error& e) {
        message = e.what();
    }
    CHECK(message.find("include <weir/executor/run_loop.hpp>") != std::string::npos);
    env.executor = &time;
    CHECK(&weir::detail::executor_of(env) == &time);
    weir::detail::foreign_executor = brought;
}

using weir::detail::result;

namespace {

struct needs_luck {
    explicit needs_luck(bool luck) {
        if (!luck) throw std::runtime_error("no luck");
    }
};

template <class T>
std::string message_of(result<T>& r) {
    try {
        static_cast<void>(r.take());
    } catch (const std::exception& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("a result gives away the value that was set") {
    result<std::string> r;
    r.set_value("value");
    CHECK_FALSE(r.has_exception());
    CHECK(r.take() == "value");
}

TEST_CASE("a result holds move-only values") {
    result<std::unique_ptr<int>> r;
    r.set_value(std::make_unique<int>(5));
    const std::unique_ptr<int> got = r.take();
    CHECK(*got == 5);
}

TEST_CASE("a result of a reference refers to the same object") {
    int x = 1;
    result<int&> r;
    r.set_value(x);
    static_assert(std::is_same_v<decltype(r.take()), int&>);
    CHECK(&r.take() == &x);

    std::string text = "text";
    result<std::string&&> m;
    m.set_value(text);
    static_assert(std::is_same_v<decltype(m.take()), std::string&&>);
    const std::string taken = m.take();
    CHECK(taken == "text");
    CHECK(text.empty());
}

TEST_CASE("a result throws the exception that was set, and shows it before") {
    result<int> r;
    r.set_exception(std::make_exception_ptr(std::runtime_error("broken")));
    CHECK(r.has_exception());
    CHECK(r.exception() != nullptr);
    CHECK(message_of(r) == "broken");
}

TEST_CASE("a result of void has an exception or nothing") {
    result<void> fine;
    fine.set_value();
    CHECK_FALSE(fine.has_exception());
    CHECK(fine.exception() == nullptr);
    fine.take();

    result<void> broken;
    broken.set_exception(std::make_exception_ptr(std::runtime_error("broken")));
    CHECK(broken.has_exception());
    CHECK_THROWS_AS(broken.take(), std::runtime_error);
}

TEST_CASE("a value that can't be made leaves room for the exception") {
    result<needs_luck> r;
    try {
        r.set_value(false);
    } catch (...) {
        r.set_exception(std::current_exception());
    }
    CHECK(r.has_exception());
    CHECK(message_of(r) == "no luck");
}
