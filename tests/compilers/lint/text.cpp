// Comments, strings, directives: what is code and what is not.
#include "coroutine.hpp"

/* co_await run([i] { work(i); });
   */ // co_await c.put({1, 2});
// a comment that goes on \
   co_await c.put({1, 2});

task<> texts(channel& c) {
    const char* a = "co_await c.put({1, 2}) \" {";
    const char b = '{', d = '\'', e = '"';
    const char* f = R"x(co_await c.put({1, 2}) )" })x";
    const int n = 1'000'000 + 0x1'ff;
    co_await c.put({1, 2});  // expect: braces
    co_await c.put("({1, 2})"s, u8"{", L'{', 1'0);
}

#if defined(ONE)
task<> branches(channel& c) {
#else
task<> branches(channel& c, int) {
#endif
    int n = 3;
    co_await c.put({n, 2});  // expect: braces
#ifdef TWO
    co_await c.put({n, 3});  // expect: braces
#elif defined(THREE)
    co_await c.put({n, 4});  // expect: braces
#else
    co_await c.put(n);
#endif
}

task<> after_branches() {
    if (co_await ready()) work();  // expect: condition
}

#define LONG_MACRO(x)  \
    do {               \
        co_await (x);  \
    } while (0)

task<> block_of_a_macro(channel& c) {
    int n = 3;
    REQUIRE_NOTHROW({
        co_await c.put(n);
        co_await c.put({n, 2});  // expect: braces
    });
}

bool compared(int a, int b) { return a < b || a > b; }

auto operator co_await(waits w) { return waits{w}; }
struct also {
    auto operator co_await() && { return awaiter{std::move(*this), 3}; }
};

task<> allowances(channel& c, int n) {
    co_await c.put({n, 2});  // weir-lint: allow braces put takes a point
    // weir-lint: allow braces put takes a point

    co_await c.put({n, 2});
    /* weir-lint: allow braces put takes a point */
    co_await c.put({n, 2});
    co_await c.put({n, 2});  // weir-lint: allow lambda another form    // expect: braces allow
    co_await c.put({n, 2});  // weir-lint: allow braces
    // expect at 66: braces allow
    // weir-lint: allow everything because                              // expect: allow
    // weir-lint: forbid                                                // expect: allow
    co_await c.put(n);
    co_await c.put(n);  // weir-lint: allow braces there is none        // expect: allow
}
