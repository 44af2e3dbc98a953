// SPDX-License-Identifier: BSL-1.0
// What a compiler refuses, or dies of.
#include <memory>
#include <stdexcept>

#include "canary.hpp"

struct pair_of_numbers {
    int i, j;
};
inline later<pair_of_numbers> both() { return later<pair_of_numbers>(pair_of_numbers{3, 2}); }

class move_only {
  public:
    explicit move_only(int n) : t_(n) {}
    move_only(move_only&&) = default;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) { post(h); }
    int await_resume() { return t_.value(); }

  private:
    tracked t_;
};

// clean: an await in a statement expression
namespace statement_expression {
task<bool> run() {
    int n = ({
        int m = co_await number(3);
        m;
    });
    co_return n == 3;
}
}  // namespace statement_expression

// bad refused: an await and a co_return in a statement expression
namespace statement_expression_returns {
task<bool> run() {
    int n = ({
        int m = co_await number(3);
        if (m != 3) co_return false;
        m;
    });
    co_return n == 3;
}
}  // namespace statement_expression_returns

// bad refused: a statement expression that owns something
namespace statement_expression_owns {
task<bool> run() {
    int n = ({
        tracked t = co_await thing(3);
        if (t.value() == 0) co_return false;
        t.value();
    });
    co_return n == 3;
}
}  // namespace statement_expression_owns

// bad refused: a member of what was awaited, in a template
namespace member_in_template {
template <class T>
task<int> child(T) {
    co_return (co_await both()).j;
}
task<bool> run() {
    const int n = co_await child(0);
    co_return n == 2;
}
}  // namespace member_in_template

// bad refused: a member of what was awaited, of a dependent type
namespace member_of_dependent {
template <class T>
task<int> child(T make) {
    const int j = (co_await make()).j;
    co_return j;
}
task<bool> run() {
    const int n = co_await child(both);
    co_return n == 2;
}
}  // namespace member_of_dependent

// clean: a member of what was awaited, in a plain function
namespace member_in_function {
task<bool> run() {
    const int j = (co_await both()).j;
    co_return j == 2;
}
}  // namespace member_in_function

// clean: a member function of what was awaited
namespace member_called {
task<bool> run() {
    const int n = (co_await thing(3)).value();
    co_return n == 3;
}
}  // namespace member_called

// clean: a pack
namespace pack {
int add(int a, int b) { return a + b; }
template <class... T>
task<int> child(T... n) {
    co_return add(co_await number(n)...);
}
task<bool> run() {
    const int n = co_await child(1, 2);
    co_return n == 3;
}
}  // namespace pack

// clean: a fold
namespace fold {
template <class... T>
task<int> child(T... n) {
    co_return (co_await number(n) + ...);
}
task<bool> run() {
    const int n = co_await child(1, 2);
    co_return n == 3;
}
}  // namespace fold

// clean: a pack expanded into a list
namespace pack_in_list {
template <class... T>
task<int> child(T... n) {
    int all[] = {co_await number(n)...};
    co_return all[0] + all[1];
}
task<bool> run() {
    const int n = co_await child(1, 2);
    co_return n == 3;
}
}  // namespace pack_in_list

// clean: what a pointer points to, moved only
namespace pointee {
task<bool> run() {
    move_only a(3);
    move_only* p = &a;
    const int n = co_await *p;
    co_return n == 3;
}
}  // namespace pointee

// bad refused: what a smart pointer points to, moved only
namespace smart_pointee {
task<bool> run() {
    auto p = std::make_unique<move_only>(3);
    const int n = co_await *p;
    co_return n == 3;
}
}  // namespace smart_pointee

// bad refused: what a smart pointer points to, in parentheses
namespace smart_pointee_in_parentheses {
task<bool> run() {
    auto p = std::make_unique<later<tracked>>(tracked(3));
    const tracked t = co_await (*p);
    const tracked u = co_await (*p);
    co_return t.value() == 3 && u.value() == -1;
}
}  // namespace smart_pointee_in_parentheses

// bad refused: what an optional holds, moved only
namespace optional_value {
task<bool> run() {
    std::optional<move_only> o;
    o.emplace(3);
    const int n = co_await *o;
    co_return n == 3;
}
}  // namespace optional_value

// bad refused: a member function of what was awaited, of a dependent type
namespace member_called_of_dependent {
template <class T>
task<int> child(T make) {
    const int n = (co_await make()).value();
    co_return n;
}
task<bool> run() {
    const int n = co_await child([] { return thing(3); });
    co_return n == 3;
}
}  // namespace member_called_of_dependent

// bad refused: a member function of what was awaited, in a template
namespace member_called_in_template {
template <class T>
task<int> child(T) {
    const int n = (co_await thing(3)).value();
    co_return n;
}
task<bool> run() {
    const int n = co_await child(0);
    co_return n == 3;
}
}  // namespace member_called_in_template

// clean: a member through an arrow, in a template
namespace arrow_in_template {
template <class T>
task<int> child(T make) {
    const int n = (co_await make())->value();
    co_return n;
}
task<bool> run() {
    tracked t(3);
    const int n = co_await child([&] { return later<tracked*>(&t); });
    co_return n == 3;
}
}  // namespace arrow_in_template

// bad refused: a member of what was awaited, in a generic lambda
namespace member_in_generic_lambda {
task<bool> run() {
    auto child = [](auto make) -> task<int> {
        const int j = (co_await make()).j;
        co_return j;
    };
    const int n = co_await child(both);
    co_return n == 2;
}
}  // namespace member_in_generic_lambda

// bad refused: a member of what was awaited, in a member of a template
namespace member_in_class_template {
template <class T>
struct owner {
    task<int> child() {
        const int j = (co_await both()).j;
        co_return j;
    }
};
task<bool> run() {
    owner<int> o;
    const int n = co_await o.child();
    co_return n == 2;
}
}  // namespace member_in_class_template

// clean: a pack of things
namespace pack_of_things {
int add(tracked a, tracked b) { return a.value() + b.value(); }
template <class... T>
task<int> child(T... n) {
    co_return add(co_await thing(n)...);
}
task<bool> run() {
    const int n = co_await child(1, 2);
    co_return n == 3;
}
}  // namespace pack_of_things

// clean: a pack that is indexed
namespace pack_of_indices {
inline int add(int a, int b) { return a + b; }
template <size_t... I>
task<int> child(std::index_sequence<I...>) {
    co_return add(co_await number(I)...);
}
task<bool> run() {
    const int n = co_await child(std::make_index_sequence<2>());
    co_return n == 1;
}
}  // namespace pack_of_indices

// clean: a pack in a call that is awaited
namespace pack_inside_await {
template <class... T>
task<int> child(T... n) {
    co_return co_await number((n + ...));
}
task<bool> run() {
    const int n = co_await child(1, 2);
    co_return n == 3;
}
}  // namespace pack_inside_await

// bad refused: a pack of members
namespace pack_of_members {
inline int add(int a, int b) { return a + b; }
template <class... T>
task<int> child(T... make) {
    co_return add((co_await make()).j...);
}
task<bool> run() {
    const int n = co_await child(both, both);
    co_return n == 4;
}
}  // namespace pack_of_members

// clean: what a pointer to a task points to
namespace shared_awaitable {
task<bool> run() {
    later<int> a = number(3);
    later<int>* p = &a;
    const int n = co_await *p;
    co_return n == 3;
}
}  // namespace shared_awaitable

// bad refused: what an iterator points to
namespace iterator_pointee {
task<bool> run() {
    std::optional<move_only> o;
    o.emplace(3);
    auto* i = &o;
    const int n = co_await **i;
    co_return n == 3;
}
}  // namespace iterator_pointee

// bad refused: what a smart pointer points to is awaited itself, not a copy
namespace smart_pointee_copyable {
task<bool> run() {
    auto p = std::make_unique<later<tracked>>(tracked(3));
    const tracked t = co_await *p;
    const tracked u = co_await *p;
    co_return t.value() == 3 && u.value() == -1;
}
}  // namespace smart_pointee_copyable

// bad handler: in a handler, where the language forbids it
namespace in_handler {
task<bool> run() {
    int n = 0;
    try {
        throw 1;
    } catch (int) {
        n = co_await number(3);
    }
    co_return n == 3;
}
}  // namespace in_handler

// workaround refused: plain control flow instead of a statement expression
namespace plain_flow {
task<bool> run() {
    int m = co_await number(3);
    if (m != 3) co_return false;
    int n = m;
    co_return n == 3;
}
}  // namespace plain_flow

// workaround refused: the awaited value has a name in a template
namespace named_in_template {
template <class T>
task<int> child(T make) {
    const auto b = co_await make();
    co_return b.j;
}
task<bool> run() {
    const int n = co_await child(both);
    co_return n == 2;
}
}  // namespace named_in_template

// workaround refused: a reference to what the pointer points to
namespace reference_to_pointee {
task<bool> run() {
    auto p = std::make_unique<move_only>(3);
    move_only& a = *p;
    const int n = co_await a;
    co_return n == 3;
}
}  // namespace reference_to_pointee

// workaround refused: moved from the pointer
namespace moved_pointee {
task<bool> run() {
    auto p = std::make_unique<move_only>(3);
    const int n = co_await std::move(*p);
    co_return n == 3;
}
}  // namespace moved_pointee

// workaround handler: the handler notes, the await comes afterwards
namespace noted_in_handler {
task<bool> run() {
    bool failed = false;
    try {
        throw 1;
    } catch (int) {
        failed = true;
    }
    int n = 0;
    if (failed) n = co_await number(3);
    co_return n == 3;
}
}  // namespace noted_in_handler

// workaround refused: one await after another instead of a pack
namespace recursion_for_pack {
task<int> child() { co_return 0; }
template <class... T>
task<int> child(int first, T... rest) {
    const int n = co_await number(first);
    const int m = co_await child(rest...);
    co_return n + m;
}
task<bool> run() {
    const int n = co_await child(1, 2);
    co_return n == 3;
}
}  // namespace recursion_for_pack
