// SPDX-License-Identifier: BSL-1.0
// The conditional operator with an await in an arm.
#include <string>

#include "canary.hpp"

inline bool flag = true;

// bad ternary: both arms, the first is taken
namespace both_arms {
task<bool> run() {
    const tracked t = flag ? co_await thing(3) : co_await thing(4);
    co_return t.value() == 3;
}
}  // namespace both_arms

// bad ternary: both arms, the second is taken
namespace both_arms_second {
task<bool> run() {
    const tracked t = !flag ? co_await thing(3) : co_await thing(4);
    co_return t.value() == 4;
}
}  // namespace both_arms_second

// bad ternary: the first arm awaits and is taken
namespace first_arm {
task<bool> run() {
    const tracked t = flag ? co_await thing(3) : tracked(4);
    co_return t.value() == 3;
}
}  // namespace first_arm

// bad ternary: the first arm awaits, the other is taken
namespace first_arm_not_taken {
task<bool> run() {
    const tracked t = !flag ? co_await thing(3) : tracked(4);
    co_return t.value() == 4;
}
}  // namespace first_arm_not_taken

// bad ternary: the second arm awaits and is taken
namespace second_arm {
task<bool> run() {
    const tracked t = !flag ? tracked(3) : co_await thing(4);
    co_return t.value() == 4;
}
}  // namespace second_arm

// bad ternary: child coroutines
namespace of_tasks {
task<tracked> child(int n) { co_return tracked(n); }
task<bool> run() {
    const tracked t = flag ? co_await child(3) : co_await child(4);
    co_return t.value() == 3;
}
}  // namespace of_tasks

// bad ternary: strings
namespace of_strings {
later<std::string> text(const char* s) { return later<std::string>(s); }
task<bool> run() {
    const std::string s = flag ? co_await text("a string that needs memory of its own") : "";
    co_return s == "a string that needs memory of its own";
}
}  // namespace of_strings

// bad ternary: an argument of a call
namespace as_argument {
int value_of(tracked t) { return t.value(); }
task<bool> run() {
    const int n = value_of(flag ? co_await thing(3) : co_await thing(4));
    co_return n == 3;
}
}  // namespace as_argument

// bad ternary: the operand of co_return
namespace in_co_return {
task<tracked> child() { co_return flag ? co_await thing(3) : co_await thing(4); }
task<bool> run() {
    const tracked t = co_await child();
    co_return t.value() == 3;
}
}  // namespace in_co_return

// bad ternary: assigned
namespace assigned {
task<bool> run() {
    tracked t;
    t = flag ? co_await thing(3) : co_await thing(4);
    co_return t.value() == 3;
}
}  // namespace assigned

// bad ternary: one in the other
namespace chained {
task<bool> run() {
    const tracked t = !flag ? co_await thing(3) : flag ? co_await thing(4) : co_await thing(5);
    co_return t.value() == 4;
}
}  // namespace chained

// bad ternary: the condition awaits, too
namespace all_three {
task<bool> run() {
    const tracked t = co_await yes() ? co_await thing(3) : co_await thing(4);
    co_return t.value() == 3;
}
}  // namespace all_three

// bad ternary: an argument of an awaited call
namespace in_argument {
later<int> value_of(tracked t) { return number(t.value()); }
task<bool> run() {
    const int n = co_await value_of(flag ? tracked(3) : tracked(4));
    co_return n == 3;
}
}  // namespace in_argument

// bad ternary: beside an await
namespace beside {
int add(tracked t, int n) { return t.value() + n; }
task<bool> run() {
    const int n = add(flag ? tracked(3) : tracked(4), co_await number(2));
    co_return n == 5;
}
}  // namespace beside

// bad ternary: one arm of an argument has a name
namespace in_argument_one_name {
later<int> value_of(tracked t) { return number(t.value()); }
task<bool> run() {
    tracked three(3);
    const int n = co_await value_of(flag ? three : tracked(4));
    co_return n == 3;
}
}  // namespace in_argument_one_name

// clean: both arms of an argument have names
namespace in_argument_names {
later<int> value_of(tracked t) { return number(t.value()); }
task<bool> run() {
    tracked three(3);
    tracked four(4);
    const int n = co_await value_of(flag ? three : four);
    co_return n == 3;
}
}  // namespace in_argument_names

// clean: moved from one or the other
namespace in_argument_moved {
later<int> value_of(tracked t) { return number(t.value()); }
task<bool> run() {
    tracked three(3);
    tracked four(4);
    const int n = co_await value_of(flag ? std::move(three) : std::move(four));
    co_return n == 3;
}
}  // namespace in_argument_moved

// clean: numbers in an argument
namespace in_argument_numbers {
task<bool> run() {
    const int n = co_await number(flag ? 3 : 4);
    co_return n == 3;
}
}  // namespace in_argument_numbers

// bad ternary: what is awaited is converted by it
namespace chosen_text {
later<std::string> text(std::string s) { return later<std::string>(std::move(s)); }
task<bool> run() {
    const std::string s = co_await text(flag ? std::string(60, 'x') : "");
    co_return s.size() == 60;
}
}  // namespace chosen_text

// bad ternary: an arm throws
namespace arm_throws {
task<bool> run() {
    const tracked t = flag ? co_await thing(3) : throw 1;
    co_return t.value() == 3;
}
}  // namespace arm_throws

// clean: an arm gives a number
namespace arm_is_number {
task<bool> run() {
    const int n = flag ? co_await number(3) : 0;
    co_return n == 3;
}
}  // namespace arm_is_number

// bad ternary: the awaitable is one of two tasks
namespace task_chosen {
task<int> child(int n) { co_return n; }
task<bool> run() {
    const int n = co_await (flag ? child(3) : child(4));
    co_return n == 3;
}
}  // namespace task_chosen

// clean: numbers
namespace of_numbers {
task<bool> run() {
    const int n = flag ? co_await number(3) : co_await number(4);
    co_return n == 3;
}
}  // namespace of_numbers

// clean: nothing is given
namespace of_nothing {
task<bool> run() {
    flag ? co_await turn() : void();
    co_return true;
}
}  // namespace of_nothing

// bad ternary: only the condition awaits
namespace condition_only {
task<bool> run() {
    const tracked t = co_await yes() ? tracked(3) : tracked(4);
    co_return t.value() == 3;
}
}  // namespace condition_only

// bad ternary: the awaitable is chosen
namespace operand_chosen {
task<bool> run() {
    const tracked t = co_await (flag ? thing(3) : thing(4));
    co_return t.value() == 3;
}
}  // namespace operand_chosen

// workaround ternary: if and else assign
namespace if_else_assigns {
task<bool> run() {
    tracked t;
    if (flag) {
        t = co_await thing(3);
    } else {
        t = co_await thing(4);
    }
    co_return t.value() == 3;
}
}  // namespace if_else_assigns

// workaround ternary: an optional is filled
namespace fills_optional {
task<bool> run() {
    std::optional<tracked> t;
    if (flag) t.emplace(co_await thing(3));
    if (!flag) t.emplace(co_await thing(4));
    co_return t->value() == 3;
}
}  // namespace fills_optional

// workaround ternary: the awaitable has a name
namespace named_awaitable {
task<bool> run() {
    auto chosen = flag ? thing(3) : thing(4);
    const tracked t = co_await chosen;
    co_return t.value() == 3;
}
}  // namespace named_awaitable
