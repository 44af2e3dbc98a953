// SPDX-License-Identifier: BSL-1.0
// Lambdas that are temporaries of an expression that awaits.
#include <functional>

#include "canary.hpp"

template <class F>
later<int> call(F f) {
    return later<int>(f());
}

template <class F>
later<int> call_reference(F&& f) {
    return later<int>(f());
}

template <class F>
later<int> call_constant(const F& f) {
    return later<int>(f());
}

inline later<int> call_function(std::function<int()> f) { return later<int>(f()); }

template <class F>
task<int> call_later(F f) {
    co_await turn();
    co_return f();
}

// bad lambda: captures a copy, passed by value
namespace copy_by_value {
task<bool> run() {
    tracked t(3);
    const int n = co_await call([t] { return t.value(); });
    co_return n == 3;
}
}  // namespace copy_by_value

// bad lambda: captures a copy, passed by `&&`
namespace copy_by_reference {
task<bool> run() {
    tracked t(3);
    const int n = co_await call_reference([t] { return t.value(); });
    co_return n == 3;
}
}  // namespace copy_by_reference

// bad lambda: captures a copy, passed by `const &`
namespace copy_by_constant {
task<bool> run() {
    tracked t(3);
    const int n = co_await call_constant([t] { return t.value(); });
    co_return n == 3;
}
}  // namespace copy_by_constant

// bad lambda: captures a copy, passed as std::function
namespace copy_as_function {
task<bool> run() {
    tracked t(3);
    const int n = co_await call_function([t] { return t.value(); });
    co_return n == 3;
}
}  // namespace copy_as_function

// bad lambda: captures a copy, passed to a coroutine
namespace copy_to_coroutine {
task<bool> run() {
    tracked t(3);
    const int n = co_await call_later([t] { return t.value(); });
    co_return n == 3;
}
}  // namespace copy_to_coroutine

// bad lambda: all by value
namespace copy_by_default {
task<bool> run() {
    tracked t(3);
    const int n = co_await call([=] { return t.value(); });
    co_return n == 3;
}
}  // namespace copy_by_default

// bad lambda: by reference, but one by value
namespace copy_of_one {
task<bool> run() {
    tracked t(3);
    int two = 2;
    const int n = co_await call([&, t] { return t.value() + two; });
    co_return n == 5;
}
}  // namespace copy_of_one

// bad lambda: an init-capture
namespace init_capture {
task<bool> run() {
    const int n = co_await call([t = tracked(3)] { return t.value(); });
    co_return n == 3;
}
}  // namespace init_capture

// bad lambda: moved into the capture
namespace moved_capture {
task<bool> run() {
    tracked t(3);
    const int n = co_await call([t = std::move(t)]() mutable { return t.value(); });
    co_return n == 3;
}
}  // namespace moved_capture

// bad lambda: moved into the capture, passed by `&&`
namespace moved_capture_by_reference {
task<bool> run() {
    tracked t(3);
    const int n = co_await call_reference([t = std::move(t)]() mutable { return t.value(); });
    co_return n == 3;
}
}  // namespace moved_capture_by_reference

// bad lambda: a statement of its own
namespace copy_in_statement {
task<bool> run() {
    tracked t(3);
    co_await call([t] { return t.value(); });
    co_return true;
}
}  // namespace copy_in_statement

// bad lambda: the operand of co_return
namespace copy_in_co_return {
task<int> child(tracked t) {
    co_return co_await call([t] { return t.value(); });
}
task<bool> run() {
    const int n = co_await child(tracked(3));
    co_return n == 3;
}
}  // namespace copy_in_co_return

// bad lambda: the condition of a loop
namespace copy_in_while {
task<bool> run() {
    tracked t(3);
    int rounds = 0;
    while (co_await call([t, rounds] { return t.value() - rounds; }) > 0) ++rounds;
    co_return rounds == 3;
}
}  // namespace copy_in_while

// bad lambda: an argument of what makes the argument
namespace copy_deeper {
int twice(std::function<int()> f) { return 2 * f(); }
task<bool> run() {
    tracked t(3);
    const int n = co_await number(twice([t] { return t.value(); }));
    co_return n == 6;
}
}  // namespace copy_deeper

// bad lambda: beside an await, not inside of it
namespace copy_beside {
template <class F>
int add(F f, int n) {
    return f() + n;
}
task<bool> run() {
    tracked t(3);
    const int n = add([t] { return t.value(); }, co_await number(2));
    co_return n == 5;
}
}  // namespace copy_beside

// bad lambda: two at once
namespace two_copies {
template <class F, class G>
later<int> call_both(F f, G g) {
    return later<int>(f() + g());
}
task<bool> run() {
    tracked t(3);
    const int n = co_await call_both([t] { return t.value(); }, [t] { return t.value(); });
    co_return n == 6;
}
}  // namespace two_copies

// bad lambda: called at once, a coroutine itself
namespace called_at_once {
task<bool> run() {
    tracked t(3);
    const int n = co_await [t]() -> task<int> {
        co_await turn();
        co_return t.value();
    }();
    co_return n == 3;
}
}  // namespace called_at_once

// bad lambda: called at once, gives an awaitable
namespace called_at_once_plain {
task<bool> run() {
    tracked t(3);
    const int n = co_await [t] { return number(t.value()); }();
    co_return n == 3;
}
}  // namespace called_at_once_plain

// bad lambda: a coroutine passed as argument
namespace coroutine_argument {
template <class F>
task<int> start(F f) {
    co_return co_await f();
}
task<bool> run() {
    tracked t(3);
    const int n = co_await start([t]() -> task<int> {
        co_await turn();
        co_return t.value();
    });
    co_return n == 3;
}
}  // namespace coroutine_argument

// workaround lambda: it has a name and is moved in
namespace named_and_moved {
task<bool> run() {
    tracked t(3);
    auto f = [t] { return t.value(); };
    const int n = co_await call(std::move(f));
    co_return n == 3;
}
}  // namespace named_and_moved

// workaround lambda: it has a name and is passed by reference
namespace named_by_reference {
task<bool> run() {
    tracked t(3);
    auto f = [t] { return t.value(); };
    const int n = co_await call_reference(f);
    co_return n == 3;
}
}  // namespace named_by_reference

// workaround lambda: it has a name and is copied
namespace named_and_copied {
task<bool> run() {
    tracked t(3);
    const auto f = [t] { return t.value(); };
    const int n = co_await call(f);
    co_return n == 3;
}
}  // namespace named_and_copied

// workaround lambda: a coroutine lambda with a name that outlives it
namespace named_coroutine {
task<bool> run() {
    tracked t(3);
    auto child = [t]() -> task<int> {
        co_await turn();
        co_return t.value();
    };
    const int n = co_await child();
    co_return n == 3;
}
}  // namespace named_coroutine

// workaround lambda: the awaitable is made in a statement of its own
namespace awaitable_first {
task<bool> run() {
    tracked t(3);
    auto made = call([t] { return t.value(); });
    const int n = co_await made;
    co_return n == 3;
}
}  // namespace awaitable_first

// workaround lambda: a named std::function
namespace named_function {
task<bool> run() {
    tracked t(3);
    std::function<int()> f = [t] { return t.value(); };
    const int n = co_await call_function(std::move(f));
    co_return n == 3;
}
}  // namespace named_function

// workaround lambda: captures references only
namespace references_only {
task<bool> run() {
    tracked t(3);
    const int n = co_await call([&] { return t.value(); });
    co_return n == 3;
}
}  // namespace references_only

// workaround lambda: captures one reference
namespace one_reference {
task<bool> run() {
    tracked t(3);
    const int n = co_await call([&t] { return t.value(); });
    co_return n == 3;
}
}  // namespace one_reference

// workaround lambda: captures nothing
namespace no_capture {
task<bool> run() {
    const int n = co_await call([] { return 3; });
    co_return n == 3;
}
}  // namespace no_capture

// workaround lambda: its state comes in as parameters
namespace state_as_parameters {
task<bool> run() {
    const int n = co_await [](tracked t) -> task<int> {
        co_await turn();
        co_return t.value();
    }(tracked(3));
    co_return n == 3;
}
}  // namespace state_as_parameters

// clean: captures a number
namespace number_captured {
task<bool> run() {
    int three = 3;
    const int n = co_await call([three] { return three; });
    co_return n == 3;
}
}  // namespace number_captured

// clean: captures this
namespace this_captured {
struct owner {
    tracked t = tracked(3);
    task<int> child() {
        co_return co_await call([this] { return t.value(); });
    }
};
task<bool> run() {
    owner o;
    const int n = co_await o.child();
    co_return n == 3;
}
}  // namespace this_captured
