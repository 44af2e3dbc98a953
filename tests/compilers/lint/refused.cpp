// What g++ 12 refuses, and an await in a handler.
#include "coroutine.hpp"

#define TRY(x)                            \
    ({                                    \
        auto&& result = co_await (x);     \
        if (!result) co_return;           \
        *result;                          \
    })
// The finding is in the line of the await in the macro:
// expect at 6: refused

#define FINE(x) co_await (x)

task<> unsafe(std::unique_ptr<waits> p, std::optional<waits> o) {
    const int n = ({
        auto r = co_await which();  // expect: refused
        if (!r) co_return;
        *r;
    });
    co_await *p;  // expect: refused
    co_await (*p);  // expect: refused
    const int m = 2 * co_await *o;  // expect: refused
    co_await **all.begin();  // expect: refused
}

template <class T>
task<int> in_template(T make) {
    use((co_await make()).member);  // expect: refused
    const int n = (co_await both()).j;  // expect: refused
    co_return (co_await make()).size();  // expect: refused
}

template <class T>
struct owner {
    task<int> member() {
        co_return (co_await both()).j;  // expect: refused
    }
};

task<int> abbreviated(auto make) {
    co_return (co_await make()).j;  // expect: refused
}

auto generic = [](auto make) -> task<int> {
    co_return (co_await make()).j;  // expect: refused
};

auto with_parameters = []<class T>(T make) -> task<int> {
    co_return (co_await make()).j;  // expect: refused
};

task<> handlers() {
    try {
        work();
    } catch (const error& e) {
        co_await report(e);  // expect: handler
    } catch (...) {
        if (given()) {
            work(co_await which());  // expect: handler
        }
    }
    for (int i = 0; i < 3; ++i) {
        try {
            work();
        } catch (int) {
            const int n = co_await which();  // expect: handler
            auto& [a, b]{co_await both()};  // expect: handler
        }
    }
}

task<int> safe(std::unique_ptr<waits> p) {
    const int n = ({ int k = 3; k; });
    co_await std::move(*p);
    co_await (*p).get();
    co_await (*p)(3);
    waits& w = *p;
    co_await w;
    const int j = (co_await both()).j;
    bool failed = false;
    try {
        co_await turn();
    } catch (...) {
        failed = true;
        spawn([]() -> task<> { co_await turn(); });
    }
    if (failed) co_await turn();
    co_return n * (co_await which());
}

template <class T>
task<int> safe_in_template(T make) {
    const auto b = co_await make();
    use((co_await make())->member);
    use((b).member);
    use(co_await make(), all...);
    co_return b.j;
}
