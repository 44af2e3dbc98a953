// The conditional operator.
#include "coroutine.hpp"

task<> unsafe(bool fast, std::string s) {
    auto a = fast ? co_await quick() : co_await slow();  // expect: ternary
    auto b = fast ? co_await quick() : s;  // expect: ternary
    auto c = fast ? s : co_await slow();  // expect: ternary
    auto d = fast ? co_await quick() : "";  // expect: ternary
    auto e = fast ? co_await quick() : throw 1;  // expect: ternary
    s = fast ? co_await quick() : co_await slow();  // expect: ternary
    use(fast ? co_await quick() : co_await slow(), 3);  // expect: ternary
    co_await (fast ? quick() : slow());  // expect: ternary
    co_await send(fast ? std::string("a") : s);  // expect: ternary
    co_await send(fast ? make<std::string>(3) : s);  // expect: ternary
    auto f = co_await ready() ? make() : other();  // expect: ternary
    auto g = fast ? s : given() ? co_await quick() : s;  // expect: ternary ternary
    const auto h = fast
        ? co_await quick()  // expect: ternary
        : co_await slow();
    co_return fast ? co_await quick() : co_await slow();  // expect: ternary
}

task<> safe(bool fast, std::string s, std::string t) {
    const int a = fast ? co_await which() : 0;
    const int b = fast ? -1 : co_await which();
    const bool c = fast ? co_await ready() : false;
    co_await send(fast ? 3 : 4);
    co_await send(fast ? s : t);
    co_await send(fast ? s.size() : t.size());
    co_await send(fast ? n + 1 : m * 2);
    co_await send(fast ? std::move(s) : std::move(t));
    co_await send(fast ? static_cast<int>(n) : static_cast<int>(m));
    auto chosen = fast ? quick() : slow();
    co_await chosen;
    const auto f = [&] { return fast ? quick() : slow(); };
    co_await send([&] { return fast ? quick() : slow(); });
    if (fast) {
        s = co_await quick();
    } else {
        s = co_await slow();
    }
    fast ? co_await turn() : void();
    // weir-lint: allow ternary which gives a number
    const int d = fast ? co_await which() : co_await which();
}
