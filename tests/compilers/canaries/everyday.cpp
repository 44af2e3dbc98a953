// SPDX-License-Identifier: BSL-1.0
// The forms that weir, its examples and its tests are written in: each has to be right everywhere.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "canary.hpp"

// A few things, then nothing.
class queue {
  public:
    explicit queue(int n) : left_(n) {}

    class get_operation {
      public:
        explicit get_operation(queue& q) : q_(q) {}
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> h) { post(h); }
        std::optional<tracked> await_resume() {
            if (q_.left_ == 0) return std::nullopt;
            return tracked(q_.left_--);
        }

      private:
        queue& q_;
    };

    class put_operation {
      public:
        put_operation(queue& q, tracked t) : q_(q), t_(std::move(t)) {}
        bool await_ready() const noexcept { return q_.left_ < 2; }
        bool await_suspend(std::coroutine_handle<> h) {
            if (q_.left_ % 2) return false;
            post(h);
            return true;
        }
        bool await_resume() {
            ++q_.left_;
            q_.sum_ += t_.value();
            return q_.left_ < 5;
        }

      private:
        queue& q_;
        tracked t_;
    };

    get_operation get() { return get_operation(*this); }
    put_operation put(tracked t) { return put_operation(*this, std::move(t)); }
    int sum() const { return sum_; }

  private:
    int left_;
    int sum_ = 0;
};

// library: until nothing comes any more
namespace while_get {
task<bool> run() {
    queue q(4);
    int sum = 0;
    while (auto t = co_await q.get()) sum += t->value();
    co_return sum == 10;
}
}  // namespace while_get

// library: until nothing comes any more, with an await in the body
namespace while_get_awaits {
task<bool> run() {
    queue q(4);
    int sum = 0;
    while (auto t = co_await q.get()) {
        co_await turn();
        sum += t->value();
    }
    co_return sum == 10;
}
}  // namespace while_get_awaits

// library: until nothing comes any more, the value moved on to a coroutine
namespace while_get_moves_on {
task<int> decode(tracked t) {
    co_await turn();
    co_return 2 * t.value();
}
task<bool> run() {
    queue q(4);
    int sum = 0;
    while (auto t = co_await q.get()) sum += co_await decode(std::move(*t));
    co_return sum == 20;
}
}  // namespace while_get_moves_on

// library: break and continue
namespace while_get_breaks {
task<bool> run() {
    queue q(9);
    int sum = 0;
    while (auto t = co_await q.get()) {
        if (t->value() % 2) continue;
        if (t->value() < 4) break;
        sum += t->value();
    }
    co_return sum == 8 + 6 + 4;
}
}  // namespace while_get_breaks

// library: the answer has a name
namespace put_and_test {
task<bool> run() {
    queue q(0);
    int n = 0;
    while (true) {
        const bool taken = co_await q.put(tracked(++n));
        if (!taken) break;
    }
    co_return n == 5 && q.sum() == 15;
}
}  // namespace put_and_test

// library: an awaited value is the argument of an awaited call
namespace put_what_was_awaited {
task<bool> run() {
    queue q(0);
    const bool taken = co_await q.put(co_await thing(3));
    co_return taken && q.sum() == 3;
}
}  // namespace put_what_was_awaited

// library: a value is moved out of an optional into an awaited call
namespace put_moved {
task<bool> run() {
    queue q(0);
    std::optional<tracked> t = tracked(3);
    const bool taken = co_await q.put(std::move(*t));
    co_return taken && q.sum() == 3;
}
}  // namespace put_moved

// library: a temporary string in an awaited call
namespace put_text {
task<int> size(std::string s) {
    co_await turn();
    co_return static_cast<int>(s.size());
}
task<bool> run() {
    const int n = co_await size("a line that needs memory of its own, number " + std::to_string(3));
    co_return n == 45;
}
}  // namespace put_text

// library: the result of an await is not used
namespace result_discarded {
task<bool> run() {
    co_await thing(3);
    co_await thing(4);
    co_return true;
}
}  // namespace result_discarded

// library: an awaited object is called
namespace result_used_in_place {
task<bool> run() {
    const int n = (co_await thing(3)).value();
    co_return n == 3;
}
}  // namespace result_used_in_place

// library: several awaits in one expression
namespace sum_of_awaits {
task<bool> run() {
    const int n = co_await number(1) + co_await number(2) + (co_await thing(3)).value();
    co_return n == 6;
}
}  // namespace sum_of_awaits

// library: an awaited value is returned
namespace returns_awaited {
task<tracked> child() { co_return co_await thing(3); }
task<bool> run() {
    const tracked t = co_await child();
    co_return t.value() == 3;
}
}  // namespace returns_awaited

// library: structured bindings of an awaited value
namespace bindings {
task<std::pair<tracked, int>> child() { co_return std::pair<tracked, int>(tracked(3), 2); }
task<bool> run() {
    auto [t, n] = co_await child();
    co_await turn();
    co_return t.value() + n == 5;
}
}  // namespace bindings

// clean: a loop over an awaited temporary
namespace range_for {
task<std::vector<tracked>> child() {
    std::vector<tracked> v;
    v.emplace_back(1);
    v.emplace_back(2);
    co_return v;
}
task<bool> run() {
    int sum = 0;
    for (const tracked& t : co_await child()) sum += t.value();
    co_return sum == 3;
}
}  // namespace range_for

// clean: a loop over an awaited temporary, awaiting in its body
namespace range_for_awaits {
task<std::vector<tracked>> child() {
    std::vector<tracked> v;
    v.emplace_back(1);
    v.emplace_back(2);
    co_return v;
}
task<bool> run() {
    int sum = 0;
    for (const tracked& t : co_await child()) {
        co_await turn();
        sum += t.value();
    }
    co_return sum == 3;
}
}  // namespace range_for_awaits

// library: a failure in a loop is caught and the loop goes on
namespace try_in_loop {
task<int> risky(int n) {
    co_await turn();
    if (n % 2) throw std::runtime_error("odd");
    co_return n;
}
task<bool> run() {
    int sum = 0;
    int failures = 0;
    for (int i = 0; i < 6; ++i) {
        tracked t(i);
        try {
            sum += co_await risky(t.value());
        } catch (const std::runtime_error&) {
            ++failures;
        }
    }
    co_return sum == 6 && failures == 3;
}
}  // namespace try_in_loop

// library: a failure is kept, and looked at afterwards
namespace failure_kept {
task<bool> run() {
    std::exception_ptr failure;
    try {
        co_await turn();
        throw std::runtime_error("kept");
    } catch (...) {
        failure = std::current_exception();
    }
    if (failure) co_await turn();
    co_return failure != nullptr;
}
}  // namespace failure_kept

// clean: an argument that is left out
namespace default_argument {
later<int> value_of(tracked t = tracked(3)) { return number(t.value()); }
task<bool> run() {
    const int n = co_await value_of();
    co_return n == 3;
}
}  // namespace default_argument

// clean: awaited values are pushed
namespace pushed {
task<bool> run() {
    std::vector<tracked> v;
    for (int i = 0; i < 3; ++i) v.push_back(co_await thing(i));
    co_return v[0].value() + v[1].value() + v[2].value() == 3;
}
}  // namespace pushed

// library: a lambda without captures is a coroutine
namespace lambda_coroutine {
task<bool> run() {
    auto child = [](tracked t) -> task<int> {
        co_await turn();
        co_return t.value();
    };
    const int n = co_await child(tracked(3));
    co_return n == 3;
}
}  // namespace lambda_coroutine

// library: a lambda with captures lives as long as its coroutine
namespace lambda_kept {
task<bool> run() {
    auto child = [t = tracked(3)]() -> task<int> {
        co_await turn();
        co_return t.value();
    };
    const int n = co_await child();
    co_return n == 3;
}
}  // namespace lambda_kept

// library: a named lambda is moved into what runs it
namespace lambda_moved_in {
template <class F>
class stage {
  public:
    explicit stage(F f) : f_(std::move(f)) {}
    task<int> run(tracked t) {
        co_await turn();
        co_return f_(t);
    }

  private:
    F f_;
};
task<bool> run() {
    auto f = [k = tracked(2)](const tracked& t) { return k.value() * t.value(); };
    stage s(std::move(f));
    const int n = co_await s.run(tracked(3));
    co_return n == 6;
}
}  // namespace lambda_moved_in

// library: a member coroutine of an object that lives long enough
namespace member_coroutine {
class counter {
  public:
    task<int> add(int n) {
        co_await turn();
        t_ = tracked(t_.value() + n);
        co_return t_.value();
    }

  private:
    tracked t_;
};
task<bool> run() {
    counter c;
    const int n = co_await c.add(1);
    const int m = co_await c.add(2);
    co_return n == 1 && m == 3;
}
}  // namespace member_coroutine

// library: a coroutine that is a template over what it awaits
namespace template_coroutine {
template <class Awaitable>
task<int> unwrap(Awaitable a) {
    const auto t = co_await std::move(a);
    co_return t.value();
}
task<bool> run() {
    const int n = co_await unwrap(thing(3));
    co_return n == 3;
}
}  // namespace template_coroutine

// library: a reference to an awaitable
namespace awaitable_by_reference {
task<bool> run() {
    later<int> a = number(3);
    const int n = co_await a;
    co_return n == 3;
}
}  // namespace awaitable_by_reference

// A generator, by hand.
class numbers {
  public:
    struct promise_type : counted_frame {
        numbers get_return_object() {
            return numbers(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        std::suspend_always yield_value(const tracked& t) noexcept {
            current = &t;
            return {};
        }
        void return_void() noexcept {}
        void unhandled_exception() { throw; }
        const tracked* current = nullptr;
    };
    explicit numbers(std::coroutine_handle<promise_type> h) : frame_(h) {}
    numbers(numbers&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
    ~numbers() {
        if (frame_) frame_.destroy();
    }
    const tracked* next() {
        frame_.resume();
        return frame_.done() ? nullptr : frame_.promise().current;
    }

  private:
    std::coroutine_handle<promise_type> frame_;
};

// library: a temporary is yielded
namespace yields_temporary {
numbers three() {
    for (int i = 1; i < 4; ++i) co_yield tracked(i);
}
bool run() {
    numbers n = three();
    int sum = 0;
    while (const tracked* t = n.next()) sum += t->value();
    return sum == 6;
}
}  // namespace yields_temporary

// library: a variable is yielded
namespace yields_variable {
numbers three() {
    tracked t(2);
    for (int i = 1; i < 4; ++i) co_yield t;
}
bool run() {
    numbers n = three();
    int sum = 0;
    while (const tracked* t = n.next()) sum += t->value();
    return sum == 6;
}
}  // namespace yields_variable

// library: a generator is left in the middle
namespace generator_left {
numbers endless(tracked t) {
    while (true) co_yield tracked(t.value());
}
bool run() {
    numbers n = endless(tracked(3));
    n.next();
    n.next();
    return true;
}
}  // namespace generator_left

// library: many at the same time
namespace many_at_once {
task<int> child(tracked t, int rounds) {
    for (int i = 0; i < rounds; ++i) co_await turn();
    co_return t.value();
}
bool run() {
    std::vector<task<int>> all;
    for (int i = 0; i < 20; ++i) all.push_back(child(tracked(i), i));
    for (auto& t : all) t.frame().resume();
    run_ready();
    int sum = 0;
    for (auto& t : all) sum += t.result();
    return sum == 190;
}
}  // namespace many_at_once

// library: a task is owned by a pointer
namespace task_in_pointer {
task<int> child() {
    co_await turn();
    co_return 3;
}
task<bool> run() {
    auto p = std::make_unique<task<int>>(child());
    const int n = co_await std::move(*p);
    co_return n == 3;
}
}  // namespace task_in_pointer
