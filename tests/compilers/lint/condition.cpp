// Coroutines that declare nothing and await in a condition, and such as declare something.
#include "coroutine.hpp"

task<> first() {
    if (co_await ready()) work();  // expect: condition
}

task<> braces_and_else() {
    if (co_await ready()) {  // expect: condition
        work();
    } else {
        rest();
    }
}

task<> logical(channel& c) {
    if (c.open() && !co_await c.full()) work();  // expect: condition
    co_return;
}

task<> comes_later() {
    work();
    co_await turn();
    if (co_await ready() == 3) work();  // expect: condition
}

task<> lines() {
    if (                         // expect: condition
        first_part() &&
        co_await ready()) {
        work();
    }
}

task<> many() {
    switch (co_await which()) {  // expect: condition
        case 1: work(); break;
        default: rest();
    }
    while (co_await ready()) work();  // expect: condition
    do {
        work();
    } while (co_await ready());  // expect: condition
}

task<> inner_scopes() {
    while (true) {
        if (co_await ready()) break;  // expect: condition
    }
    {
        if (co_await ready()) work();  // expect: condition
    }
    try {
        if (co_await ready()) work();  // expect: condition
    } catch (...) {
    }
    if (given())
        work();
    else if (co_await ready())  // expect: condition
        rest();
}

task<> not_declarations(int a, int b) {
    a = b;
    work(a);
    list[a] = b;
    delete pointer;
    static_assert(sizeof(int) > 1);
    other.member(b)->call();
    if (co_await ready()) work();  // expect: condition
}

struct owner {
    int count = 0;
    task<> member() const {
        if (co_await ready()) work();  // expect: condition
    }
    auto later() -> task<int> {
        if (co_await ready()) co_return 1;  // expect: condition
        co_return 2;
    }
    owner() : count{3} { work(); }
};

template <class T>
    requires(sizeof(T) > 1)
task<T> of_template(T) {
    if (co_await ready()) co_return T(1);  // expect: condition
    co_return T(2);
}

namespace a::b {
[[nodiscard]] inline task<> attributed() {
    if (co_await ready()) work();  // expect: condition
}
}  // namespace a::b

task<> outside_of_a_lambda() {
    if (co_await ready()) work();
    call([] { return 3; });  // a lambda's type is declared here
}

// From here on each coroutine declares something, somewhere.

task<> named() {
    const bool b = co_await ready();
    if (b) work();
}

task<> declared_in_the_condition() {
    if (bool b = co_await ready()) work(b);
}

task<> declared_first() {
    if (const auto n = co_await which(); n == 3) work();
}

task<> declared_elsewhere() {
    if (co_await ready()) work();
    while (auto v = co_await next()) work(*v);
}

task<> in_a_for() {
    for (; co_await ready();) work();  // expect: condition
}

task<> in_a_for_of_three(channel& c) {
    for (work(); c.open() && co_await ready(); rest()) work();  // expect: condition
}

task<> step_of_a_for() {
    for (; given(); co_await turn()) work();
}

task<> declares_a_pointer_to_a_function() {
    void (*all)(int) = nullptr;
    if (co_await ready()) work();
}

task<> declares_a_reference_to_an_array() {
    int (&all)[3] = numbers();
    if (co_await ready()) work();
}

task<> declares_with_an_alignment() {
    alignas(8) char bytes[8];
    if (co_await ready()) work();
}

template <class T>
task<> declares_a_dependent_type() {
    typename T::value_type value;
    if (co_await ready()) work();
}

task<> declares_from_the_outermost_namespace() {
    const ::ns::type<int> value;
    if (co_await ready()) work();
}

task<> declared_before() {
    std::vector<std::pair<int, std::string>> all;
    if (co_await ready()) work();
}

task<> declared_after() {
    if (co_await ready()) work();
    ns::type<int>::inner value(3);
}

task<> declared_inside() {
    if (co_await ready()) {
        int& n = global;
        work(n);
    }
}

task<> declared_by_a_loop() {
    for (int i = 0; i < 3; ++i) {
        if (co_await ready()) work();
    }
}

task<> declared_by_a_range() {
    for (auto& [key, value] : all)
        if (co_await ready()) work(key, value);
}

task<> declared_binding() {
    auto [a, b] = both();
    if (co_await ready()) work(a, b);
}

task<> declared_alias() {
    using type = int;
    if (co_await ready()) work(type());
}

task<> declared_type() {
    struct local {};
    if (co_await ready()) work(local());
}

task<> declared_static() {
    static int calls = 0;
    if (co_await ready()) ++calls;
}

task<> declared_by_a_handler() {
    try {
        if (co_await ready()) work();
    } catch (const error& e) {
        note(e);
    }
}

task<> a_pointer() {
    item* p = make();
    if (co_await ready()) work(p);
}

auto lambdas_are_fine = [] () -> task<> {
    if (co_await ready()) work();
};

void no_coroutine() {
    if (ready()) work();
    // if (co_await ready()) work();
    print("if (co_await ready()) work();");
    print(R"(task<> f() { if (co_await ready()) work(); })");
}

task<> conditions_that_do_not_await() {
    if (given()) co_await turn();
    for (; given();) co_await turn();
}
