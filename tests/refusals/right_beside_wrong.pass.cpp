// What differs little from what the other files here show, and is right.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/schedule.hpp>
#include <weir/weir.hpp>

#include <coroutine>
#include <memory>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// What refuses a plain loop must not make it a range: source and flat_map ask.
static_assert(!std::ranges::range<weir::async_generator<int>>);
static_assert(!std::ranges::range<weir::channel<int>>);
static_assert(!std::ranges::range<decltype(weir::source({1, 2}) | weir::sink())>);
// Nor what refuses to be a condition something that is given as one.
static_assert(!std::is_convertible_v<weir::task<bool>, bool>);

class ready {
  public:
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    int await_resume() const noexcept { return 1; }
};

weir::task<> count();

weir::task<std::string> awaits(weir::thread_pool& pool, weir::task_group& group) {
    const weir::schedule there(pool);
    weir::schedule again(there);
    co_await again;

    std::vector<ready> copyable(2);
    co_await weir::when_all(copyable);
    co_await weir::when_all(std::as_const(copyable));
    std::vector<weir::task<>> tasks;
    co_await weir::when_all(std::move(tasks));

    weir::task<> named = count();
    group.spawn(std::move(named));
    co_await group.fork(count());
    co_return "text";
}

class shape {};
class circle : public shape {};

weir::generator<shape> shapes() {
    circle named;
    co_yield named;
    co_yield circle();
}
weir::generator<const shape&> seen() {
    const circle named;
    co_yield named;
    co_yield circle();
}
weir::generator<std::string> words() { co_yield "word"; }
weir::async_generator<std::unique_ptr<int>> boxes() {
    auto named = std::make_unique<int>(1);
    co_yield std::move(named);
    co_yield nullptr;
}

bool offers(weir::channel<long>& numbers, int number) {
    return numbers.try_put(number) == weir::channel_status::success &&
           numbers.blocking_put(3L) == weir::channel_status::success;
}

int twice(int n);

void composes() {
    weir::stage_options named{.name = "twice"};
    auto of_a_name = weir::source({1, 2}) | weir::pipe(twice, named) | weir::pipe(&twice);
    const auto of_a_named = of_a_name | weir::sink();
}

int main() {}
