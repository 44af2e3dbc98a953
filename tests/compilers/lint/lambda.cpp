// Lambdas in expressions that await.
#include "coroutine.hpp"

task<> copies(item i, std::shared_ptr<item> shared) {
    co_await run([i] { work(i); });  // expect: lambda
    co_await run([=] { work(i); });  // expect: lambda
    co_await run([&, i] { work(i); });  // expect: lambda
    co_await run([i = std::move(i)]() mutable { work(std::move(i)); });  // expect: lambda
    const int n = co_await run(3, [shared](int k) -> int { return work(shared, k); });  // expect: lambda
    co_await run(std::function<void()>([shared] { work(shared); }));  // expect: lambda
    co_await run(
        "a name",
        [shared](const std::vector<int>& all) noexcept {  // expect: lambda
            for (int a : all) work(shared, a);
        });
    use([i] { work(i); }, co_await which());  // expect: lambda
    co_await [i]() -> task<> {  // expect: lambda
        co_await turn();
        work(i);
    }();
    while (co_await run([i] { return work(i); })) rest();  // expect: lambda
    if (const bool b = co_await run([i] { return work(i); })) rest(b);  // expect: lambda
    auto v = co_await both([i] { work(i); },  // expect: lambda
                           [shared] { work(shared); });  // expect: lambda
    co_return co_await run([i] { return work(i); });  // expect: lambda
}

struct owner {
    task<> member() {
        co_await run([*this] { work(); });  // expect: lambda
        co_await run([this] { work(); });
        co_await run([this, &other = other_] { work(other); });
    }
    int other_;
};

template <class... T>
task<> pack(T... all) {
    co_await run([... all = std::move(all)] { work(all...); });  // expect: lambda
    co_await run([&... all] { work(all...); });
}

// A lambda inside of which is awaited, with another one inside.
auto outer = [](item i) -> task<> {
    co_await run([i] { work(i); });  // expect: lambda
};

TEST_CASE("a macro with a body") {
    pool p;
    const auto f = [](item i) -> task<> {
        co_await p.run([i]() -> task<int> { co_return work(i); });  // expect: lambda
    };
}

task<> fine(item i) {
    co_await run([] { work(); });
    co_await run([&] { work(i); });
    co_await run([&i] { work(i); });
    co_await run([&i, n = 3] { work(i, n); });
    auto named = [i] { work(i); };
    co_await run(std::move(named));
    auto made = run([i] { work(i); });
    co_await made;
    spawn([i]() -> task<> { co_await work(i); });
    const auto child = [i]() -> task<> {
        co_await turn();
        work(i);
    };
    co_await child();
    co_await all[i];
    co_await table[i]([] { work(); });
    int sizes[3] = {1, 2, 3};
    auto [a, b] = co_await both();
    delete[] co_await pointer();
    co_await x.operator[](i);
    [[maybe_unused]] const int n = co_await which();
    // weir-lint: allow lambda i is a number
    co_await run([i] { work(i); });
    co_await run([i] { work(i); });  // weir-lint: allow lambda i is a number
}
