// SPDX-License-Identifier: BSL-1.0
// Awaiters that are aggregates, and awaiters with a constructor.
#include <stdexcept>

#include "canary.hpp"

enum class way { suspends, throws, goes_on, transfers };

struct open_awaiter {
    tracked t;
    way w;
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> h) {
        if (w == way::throws) throw std::runtime_error("refused");
        if (w == way::goes_on) return false;
        post(h);
        return true;
    }
    int await_resume() { return t.value(); }
};

class closed_awaiter {
  public:
    closed_awaiter(tracked t, way w) : t_(std::move(t)), w_(w) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> h) {
        if (w_ == way::throws) throw std::runtime_error("refused");
        if (w_ == way::goes_on) return false;
        post(h);
        return true;
    }
    int await_resume() { return t_.value(); }

  private:
    tracked t_;
    way w_;
};

struct ready_awaiter {
    tracked t;
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) {}
    int await_resume() { return t.value(); }
};

struct transfer_awaiter {
    tracked t;
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) { return h; }
    int await_resume() { return t.value(); }
};

struct throwing_awaiter {
    tracked t;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) { post(h); }
    int await_resume() { throw std::runtime_error("no value"); }
};

// bad awaiter: suspends
namespace suspends {
task<bool> run() {
    const int n = co_await open_awaiter{tracked(3), way::suspends};
    co_return n == 3;
}
}  // namespace suspends

// bad awaiter: a statement of its own
namespace as_statement {
task<bool> run() {
    co_await open_awaiter{tracked(3), way::suspends};
    co_return true;
}
}  // namespace as_statement

// bad awaiter: await_suspend returns false
namespace goes_on {
task<bool> run() {
    const int n = co_await open_awaiter{tracked(3), way::goes_on};
    co_return n == 3;
}
}  // namespace goes_on

// bad awaiter: await_suspend throws
namespace throws {
task<bool> run() {
    bool caught = false;
    try {
        co_await open_awaiter{tracked(3), way::throws};
    } catch (const std::runtime_error&) {
        caught = true;
    }
    co_return caught;
}
}  // namespace throws

// bad awaiter: await_resume throws
namespace resume_throws {
task<bool> run() {
    bool caught = false;
    try {
        co_await throwing_awaiter{tracked(3)};
    } catch (const std::runtime_error&) {
        caught = true;
    }
    co_return caught;
}
}  // namespace resume_throws

// bad awaiter: is ready
namespace is_ready {
task<bool> run() {
    const int n = co_await ready_awaiter{tracked(3)};
    co_return n == 3;
}
}  // namespace is_ready

// bad awaiter: await_suspend gives a handle
namespace transfers {
task<bool> run() {
    const int n = co_await transfer_awaiter{tracked(3)};
    co_return n == 3;
}
}  // namespace transfers

// bad awaiter: a braced argument of await_transform
namespace transformed {
struct job {
    struct promise_type : counted_frame {
        job get_return_object() {
            return job(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        ready_awaiter&& await_transform(ready_awaiter&& a) { return std::move(a); }
        void return_value(int n) { result = n; }
        void unhandled_exception() { abort(); }
        int result = 0;
    };
    explicit job(std::coroutine_handle<promise_type> h) : frame(h) {}
    job(const job&) = delete;
    ~job() { frame.destroy(); }
    std::coroutine_handle<promise_type> frame;
};
job work() { co_return co_await ready_awaiter{tracked(3)}; }
bool run() {
    job j = work();
    j.frame.resume();
    return j.frame.promise().result == 3;
}
}  // namespace transformed

// clean: an aggregate that a function returns
namespace returned {
open_awaiter make(way w) { return {tracked(3), w}; }
task<bool> run() {
    const int n = co_await make(way::suspends);
    co_return n == 3;
}
}  // namespace returned

// clean: an aggregate that a function returns, and that throws
namespace returned_throws {
open_awaiter make(way w) { return {tracked(3), w}; }
task<bool> run() {
    bool caught = false;
    try {
        co_await make(way::throws);
    } catch (const std::runtime_error&) {
        caught = true;
    }
    co_return caught;
}
}  // namespace returned_throws

// clean: an aggregate that operator co_await returns
namespace from_operator {
struct awaitable {
    explicit awaitable(int n) : n(n) {}
    open_awaiter operator co_await() const { return {tracked(n), way::suspends}; }
    int n;
};
task<bool> run() {
    const int n = co_await awaitable(3);
    co_return n == 3;
}
}  // namespace from_operator

// clean: an aggregate of numbers and pointers
namespace trivial {
struct awaiter {
    int* place;
    int n;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) { post(h); }
    int await_resume() { return *place + n; }
};
task<bool> run() {
    int three = 3;
    const int n = co_await awaiter{&three, 2};
    co_return n == 5;
}
}  // namespace trivial

// workaround awaiter: it has a constructor, suspends
namespace closed_suspends {
task<bool> run() {
    const int n = co_await closed_awaiter(tracked(3), way::suspends);
    co_return n == 3;
}
}  // namespace closed_suspends

// workaround awaiter: it has a constructor, which braces call
namespace closed_braces {
task<bool> run() {
    const int n = co_await closed_awaiter{tracked(3), way::suspends};
    co_return n == 3;
}
}  // namespace closed_braces

// workaround awaiter: it has a constructor, await_suspend returns false
namespace closed_goes_on {
task<bool> run() {
    const int n = co_await closed_awaiter(tracked(3), way::goes_on);
    co_return n == 3;
}
}  // namespace closed_goes_on

// workaround awaiter: it has a constructor, await_suspend throws
namespace closed_throws {
task<bool> run() {
    bool caught = false;
    try {
        co_await closed_awaiter(tracked(3), way::throws);
    } catch (const std::runtime_error&) {
        caught = true;
    }
    co_return caught;
}
}  // namespace closed_throws

// workaround awaiter: it has a constructor, await_transform takes it
namespace closed_from_operator {
struct awaitable {
    explicit awaitable(int n) : n(n) {}
    closed_awaiter operator co_await() const { return closed_awaiter(tracked(n), way::suspends); }
    int n;
};
task<bool> run() {
    const int n = co_await awaitable(3);
    co_return n == 3;
}
}  // namespace closed_from_operator

// clean: an aggregate with a name
namespace named_awaiter {
task<bool> run() {
    open_awaiter a{tracked(3), way::suspends};
    const int n = co_await a;
    co_return n == 3;
}
}  // namespace named_awaiter
