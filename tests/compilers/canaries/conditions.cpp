// SPDX-License-Identifier: BSL-1.0
// Conditions that await.
#include "canary.hpp"

// bad condition: the whole coroutine is one `if`
namespace if_first {
task<bool> run() {
    if (co_await yes()) co_return true;
    co_return false;
}
}  // namespace if_first

// bad condition: with braces and an else
namespace if_else {
task<bool> run() {
    if (co_await no()) {
        co_return false;
    } else {
        co_return true;
    }
}
}  // namespace if_else

// bad condition: nothing has to suspend for it
namespace if_at_once {
task<bool> run() {
    if (co_await at_once<bool>(true)) co_return true;
    co_return false;
}
}  // namespace if_at_once

// bad condition: a plain await precedes
namespace if_after_plain_await {
task<bool> run() {
    co_await turn();
    if (co_await yes()) co_return true;
    co_return false;
}
}  // namespace if_after_plain_await

// bad condition: negated
namespace if_not {
task<bool> run() {
    if (!co_await yes()) co_return false;
    co_return true;
}
}  // namespace if_not

// bad condition: both sides of a logical and
namespace if_and {
task<bool> run() {
    if (co_await yes() && co_await yes()) co_return true;
    co_return false;
}
}  // namespace if_and

// bad condition: a logical or that needs its second side
namespace if_or {
task<bool> run() {
    if (co_await no() || co_await yes()) co_return true;
    co_return false;
}
}  // namespace if_or

// bad condition: only the second side awaits
namespace if_flag_and_await {
bool flag() { return true; }
task<bool> run() {
    if (flag() && co_await yes()) co_return true;
    co_return false;
}
}  // namespace if_flag_and_await

// bad condition: what was awaited is compared
namespace if_compared {
task<bool> run() {
    if (co_await number(3) == 3) co_return true;
    co_return false;
}
}  // namespace if_compared

// bad condition: what was awaited goes into a call
namespace if_inside_a_call {
bool is_three(int n) { return n == 3; }
task<bool> run() {
    if (is_three(co_await number(3))) co_return true;
    co_return false;
}
}  // namespace if_inside_a_call

// bad condition: a child coroutine is awaited
namespace if_of_a_task {
task<bool> child() { co_return true; }
task<bool> run() {
    if (co_await child()) co_return true;
    co_return false;
}
}  // namespace if_of_a_task

// bad condition: switch
namespace switch_first {
task<bool> run() {
    switch (co_await number(3)) {
        case 3:
            co_return true;
        default:
            co_return false;
    }
}
}  // namespace switch_first

// bad condition: a member coroutine
namespace if_in_a_member {
struct owner {
    task<bool> child() {
        if (co_await yes()) co_return true;
        co_return false;
    }
};
task<bool> run() {
    owner o;
    const bool result = co_await o.child();
    co_return result;
}
}  // namespace if_in_a_member

// clean: a coroutine that is a lambda
namespace if_in_a_lambda {
task<bool> run() {
    auto child = []() -> task<bool> {
        if (co_await yes()) co_return true;
        co_return false;
    };
    const bool result = co_await child();
    co_return result;
}
}  // namespace if_in_a_lambda

// bad condition: a coroutine that is a template
namespace if_in_a_template {
template <class T>
task<bool> child(T) {
    if (co_await later<T>(true)) co_return true;
    co_return false;
}
task<bool> run() {
    const bool result = co_await child(true);
    co_return result;
}
}  // namespace if_in_a_template

// bad condition: parameters are no locals of the scope
namespace if_with_parameters {
task<bool> child(int n, tracked t) {
    if (co_await number(n) == t.value()) co_return true;
    co_return false;
}
task<bool> run() {
    const bool result = co_await child(3, tracked(3));
    co_return result;
}
}  // namespace if_with_parameters

// clean: a type alias is no variable
namespace if_after_alias {
task<bool> run() {
    using number_type = int;
    if (co_await later<number_type>(1)) co_return true;
    co_return false;
}
}  // namespace if_after_alias

// clean: a declared type is no variable
namespace if_after_local_type {
task<bool> run() {
    struct local {
        int value;
    };
    if (co_await number(sizeof(local))) co_return true;
    co_return false;
}
}  // namespace if_after_local_type

// clean: a static variable does not live in the frame
namespace if_after_static {
task<bool> run() {
    static int calls = 0;
    if (co_await number(++calls)) co_return true;
    co_return false;
}
}  // namespace if_after_static

// clean: a constant of the compiler
namespace if_after_constexpr {
task<bool> run() {
    static constexpr int three = 3;
    if (co_await number(three) == three) co_return true;
    co_return false;
}
}  // namespace if_after_constexpr

// clean: a variable of another scope, which ended before
namespace if_after_inner_scope {
task<bool> run() {
    {
        int n = co_await number(1);
        (void)n;
    }
    if (co_await yes()) co_return true;
    co_return false;
}
}  // namespace if_after_inner_scope

// clean: a loop in a scope that declares nothing but the loop's variable
namespace if_after_loop {
task<bool> run() {
    for (int i = 0; i < 2; ++i) co_await turn();
    if (co_await yes()) co_return true;
    co_return false;
}
}  // namespace if_after_loop

// clean: the body of a loop, the variables outside
namespace if_in_loop_body {
task<bool> run() {
    int n = 0;
    for (int i = 0; i < 3; ++i) {
        if (co_await yes()) ++n;
    }
    co_return n == 3;
}
}  // namespace if_in_loop_body

// clean: the body of a loop without braces, the variables outside
namespace if_as_loop_body {
task<bool> run() {
    int n = 0;
    for (int i = 0; i < 3; ++i)
        if (co_await yes()) ++n;
    co_return n == 3;
}
}  // namespace if_as_loop_body

// clean: the body of a while
namespace if_in_while_body {
task<bool> run() {
    int n = 0;
    while (n < 3) {
        if (co_await yes()) ++n;
    }
    co_return n == 3;
}
}  // namespace if_in_while_body

// clean: the body of a while that awaits, too
namespace if_in_awaiting_while {
task<bool> run() {
    int n = 0;
    while (co_await number(n) < 3) {
        if (co_await yes()) ++n;
    }
    co_return n == 3;
}
}  // namespace if_in_awaiting_while

// clean: a try block of its own
namespace if_in_try {
task<bool> run() {
    int n = 0;
    try {
        if (co_await yes()) n = 1;
    } catch (int) {
        n = 2;
    }
    co_return n == 1;
}
}  // namespace if_in_try

// clean: a block of its own
namespace if_in_block {
task<bool> run() {
    int n = 0;
    {
        if (co_await yes()) n = 1;
    }
    co_return n == 1;
}
}  // namespace if_in_block

// clean: the body of another if
namespace if_in_if {
task<bool> run() {
    int n = 0;
    if (n == 0) {
        if (co_await yes()) n = 1;
    }
    co_return n == 1;
}
}  // namespace if_in_if

// clean: the body of another if, without braces
namespace if_as_if_body {
task<bool> run() {
    int n = 0;
    if (n == 0)
        if (co_await yes()) n = 1;
    co_return n == 1;
}
}  // namespace if_as_if_body

// clean: else if
namespace if_as_else {
task<bool> run() {
    int n = 0;
    if (n == 1) {
        n = 2;
    } else if (co_await yes()) {
        n = 1;
    }
    co_return n == 1;
}
}  // namespace if_as_else

// bad condition: else if, without a variable anywhere
namespace if_as_else_first {
bool flag() { return false; }
task<bool> run() {
    if (flag()) {
        co_return false;
    } else if (co_await yes()) {
        co_return true;
    }
    co_return false;
}
}  // namespace if_as_else_first

// clean: the body of a range-for
namespace if_in_range_for {
task<bool> run() {
    int numbers[] = {1, 1, 1};
    int n = 0;
    for (int& i : numbers) {
        if (co_await number(i)) ++n;
    }
    co_return n == 3;
}
}  // namespace if_in_range_for

// clean: after a label of a switch
namespace if_in_switch {
task<bool> run() {
    int n = 1;
    switch (n) {
        case 1:
            if (co_await yes()) n = 2;
            break;
        default:
            break;
    }
    co_return n == 2;
}
}  // namespace if_in_switch

// bad condition: the body of a loop, no variable anywhere
namespace if_in_endless_loop {
task<bool> run() {
    while (true) {
        if (co_await yes()) co_return true;
    }
}
}  // namespace if_in_endless_loop

// bad condition: for
namespace for_condition {
task<bool> run() {
    for (; co_await yes();) co_return true;
    co_return false;
}
}  // namespace for_condition

// clean: the body of a loop whose variable is the only one
namespace if_in_only_loop {
task<bool> run() {
    for (int i = 0; i < 3; ++i) {
        if (co_await number(i == 2)) co_return true;
    }
    co_return false;
}
}  // namespace if_in_only_loop

// clean: a try block, no variable anywhere
namespace if_in_only_try {
task<bool> run() {
    try {
        if (co_await yes()) co_return true;
    } catch (int) {
    }
    co_return false;
}
}  // namespace if_in_only_try

// bad condition: a block, no variable anywhere
namespace if_in_only_block {
task<bool> run() {
    {
        if (co_await yes()) co_return true;
    }
    co_return false;
}
}  // namespace if_in_only_block

// bad condition: the body of another if, no variable anywhere
namespace if_in_only_if {
bool flag() { return true; }
task<bool> run() {
    if (flag()) {
        if (co_await yes()) co_return true;
    }
    co_return false;
}
}  // namespace if_in_only_if

// bad condition: after a block of a switch, no variable anywhere
namespace if_in_only_switch {
int one() { return 1; }
task<bool> run() {
    switch (one()) {
        case 1:
            if (co_await yes()) co_return true;
            break;
        default:
            break;
    }
    co_return false;
}
}  // namespace if_in_only_switch

// clean: a variable only in what the if runs
namespace if_with_inner_variable {
task<bool> run() {
    if (co_await yes()) {
        int n = co_await number(3);
        co_return n == 3;
    }
    co_return false;
}
}  // namespace if_with_inner_variable

// clean: a variable only in a block that comes later
namespace if_before_inner_scope {
task<bool> run() {
    if (co_await no()) co_return false;
    {
        int n = co_await number(3);
        co_return n == 3;
    }
}
}  // namespace if_before_inner_scope

// clean: a loop's variable, later
namespace if_before_loop {
task<bool> run() {
    if (co_await no()) co_return false;
    for (int i = 0; i < 2; ++i) co_await turn();
    co_return true;
}
}  // namespace if_before_loop

// clean: a coroutine of a lambda with captures
namespace if_in_capturing_lambda {
task<bool> run() {
    int three = 3;
    auto child = [three]() -> task<bool> {
        if (co_await number(three) == 3) co_return true;
        co_return false;
    };
    const bool result = co_await child();
    co_return result;
}
}  // namespace if_in_capturing_lambda

// clean: a coroutine of a lambda, after a plain await
namespace if_in_lambda_after_plain_await {
task<bool> run() {
    auto child = []() -> task<bool> {
        co_await turn();
        if (!co_await yes()) co_return false;
        co_return true;
    };
    const bool result = co_await child();
    co_return result;
}
}  // namespace if_in_lambda_after_plain_await

// clean: a generic lambda
namespace if_in_generic_lambda {
task<bool> run() {
    auto child = [](auto n) -> task<bool> {
        if (co_await number(n) == 3) co_return true;
        co_return false;
    };
    const bool result = co_await child(3);
    co_return result;
}
}  // namespace if_in_generic_lambda

// bad condition: while, then if
namespace if_after_while {
bool flag() {
    static int n = 0;
    return ++n < 4;
}
task<bool> run() {
    while (co_await later<bool>(flag())) co_await turn();
    if (co_await yes()) co_return true;
    co_return false;
}
}  // namespace if_after_while

// clean: a lambda is declared inside of another statement
namespace if_after_lambda_call {
void call(void (*f)()) { f(); }
task<bool> run() {
    call([] {
        int n = 3;
        (void)n;
    });
    if (co_await yes()) co_return true;
    co_return false;
}
}  // namespace if_after_lambda_call

// clean: a using-declaration
namespace if_after_using {
namespace inner {
inline later<bool> sure() { return yes(); }
}  // namespace inner
task<bool> run() {
    using inner::sure;
    if (co_await sure()) co_return true;
    co_return false;
}
}  // namespace if_after_using

// bad condition: a static assertion
namespace if_after_static_assert {
task<bool> run() {
    static_assert(sizeof(int) > 1);
    if (co_await yes()) co_return true;
    co_return false;
}
}  // namespace if_after_static_assert

// bad condition: a structured binding in the condition's block
namespace if_constexpr_around {
task<bool> run() {
    if constexpr (sizeof(int) > 1) {
        if (co_await yes()) co_return true;
    }
    co_return false;
}
}  // namespace if_constexpr_around

// bad condition: an endless for without a variable
namespace if_in_empty_for {
task<bool> run() {
    for (;;) {
        if (co_await yes()) co_return true;
    }
}
}  // namespace if_in_empty_for

// bad condition: after a try block that catches everything
namespace if_after_try {
void nothing() {}
task<bool> run() {
    try {
        nothing();
    } catch (...) {
        nothing();
    }
    if (co_await yes()) co_return true;
    co_return false;
}
}  // namespace if_after_try

// bad condition: after an await in a try block that catches everything
namespace if_in_try_of_all {
task<bool> run() {
    try {
        if (co_await yes()) co_return true;
    } catch (...) {
    }
    co_return false;
}
}  // namespace if_in_try_of_all

// clean: after a lambda without variables
namespace if_after_empty_lambda {
void call(void (*f)()) { f(); }
task<bool> run() {
    call([] {});
    if (co_await yes()) co_return true;
    co_return false;
}
}  // namespace if_after_empty_lambda

// clean: a lambda in the condition
namespace if_of_a_lambda {
template <class F>
later<bool> call(F f) {
    return later<bool>(f());
}
task<bool> run() {
    if (co_await call([] { return true; })) co_return true;
    co_return false;
}
}  // namespace if_of_a_lambda

// clean: a conditional expression is no statement
namespace conditional_expression {
task<bool> run() { co_return co_await yes() ? true : false; }
}  // namespace conditional_expression

// clean: the sole statement, a while with a declared value
namespace while_declares {
bool flag() {
    static int n = 0;
    return ++n < 4;
}
task<bool> run() {
    while (bool b = co_await later<bool>(flag())) co_await later<bool>(b);
    co_return true;
}
}  // namespace while_declares

// clean: an if that declares comes later
namespace if_before_declaring_if {
task<bool> run() {
    if (co_await no()) co_return false;
    if (bool b = co_await yes()) co_return b;
    co_return false;
}
}  // namespace if_before_declaring_if

// clean: a lambda coroutine's while
namespace while_in_a_lambda {
bool flag() {
    static int n = 0;
    return ++n < 4;
}
task<bool> run() {
    auto child = []() -> task<bool> {
        while (co_await later<bool>(flag())) co_await turn();
        co_return true;
    };
    const bool result = co_await child();
    co_return result;
}
}  // namespace while_in_a_lambda

// clean: the variable comes after the `if`
namespace if_before_local {
task<bool> run() {
    if (co_await no()) co_return false;
    int n = co_await number(3);
    co_return n == 3;
}
}  // namespace if_before_local

// clean: the variable comes before the `if`
namespace if_after_local {
task<bool> run() {
    int n = 3;
    if (co_await number(n) == n) co_return true;
    co_return false;
}
}  // namespace if_after_local

// clean: a structured binding is a variable
namespace if_after_binding {
struct pair_of_int {
    int a, b;
};
task<bool> run() {
    auto [a, b] = pair_of_int{1, 1};
    if (co_await number(a) == b) co_return true;
    co_return false;
}
}  // namespace if_after_binding

// clean: a reference is a variable
namespace if_after_reference {
int global = 3;
task<bool> run() {
    int& n = global;
    if (co_await number(n) == n) co_return true;
    co_return false;
}
}  // namespace if_after_reference

// workaround condition: the value has a name
namespace named_bool {
task<bool> run() {
    const bool b = co_await yes();
    if (b) co_return true;
    co_return false;
}
}  // namespace named_bool

// workaround condition: the value has a name in a loop's body
namespace named_bool_in_loop {
task<bool> run() {
    int n = 0;
    for (int i = 0; i < 3; ++i) {
        const bool b = co_await yes();
        if (b) ++n;
    }
    co_return n == 3;
}
}  // namespace named_bool_in_loop

// workaround condition: the condition declares the value
namespace if_declares {
task<bool> run() {
    if (const bool b = co_await yes()) co_return b;
    co_return false;
}
}  // namespace if_declares

// workaround condition: the condition declares the value and tests something else
namespace if_declares_first {
task<bool> run() {
    if (const int n = co_await number(3); n == 3) co_return true;
    co_return false;
}
}  // namespace if_declares_first

// workaround condition: switch over a declared value
namespace switch_declares {
task<bool> run() {
    switch (const int n = co_await number(3)) {
        case 3:
            co_return n == 3;
        default:
            co_return false;
    }
}
}  // namespace switch_declares

// workaround condition: the value of a logical expression has a name
namespace named_logical {
task<bool> run() {
    const bool b = co_await yes() && co_await yes();
    if (b) co_return true;
    co_return false;
}
}  // namespace named_logical

// clean: the condition declares something else and awaits afterwards
namespace if_declares_other {
task<bool> run() {
    if (const int n = 3; co_await number(n) == n) co_return true;
    co_return false;
}
}  // namespace if_declares_other

// bad condition: while
namespace while_awaits {
bool flag() {
    static int n = 0;
    return ++n < 4;
}
task<bool> run() {
    while (co_await later<bool>(flag())) co_await turn();
    co_return true;
}
}  // namespace while_awaits

// bad condition: do while
namespace do_while_awaits {
bool flag() {
    static int n = 0;
    return ++n < 4;
}
task<bool> run() {
    do {
        co_await turn();
    } while (co_await later<bool>(flag()));
    co_return true;
}
}  // namespace do_while_awaits

// clean: the condition of a for
namespace for_awaits {
task<bool> run() {
    for (int i = 0; co_await number(i) < 3; ++i) co_await turn();
    co_return true;
}
}  // namespace for_awaits

// clean: the result of a logical expression
namespace returns_logical {
task<bool> run() { co_return co_await yes() && (co_await no() || co_await yes()); }
}  // namespace returns_logical

// clean: an awaited value in a plain statement
namespace plain_logical {
task<bool> run() {
    co_await no() || co_await yes();
    co_return true;
}
}  // namespace plain_logical
