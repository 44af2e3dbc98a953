#define TMC_IMPL
#include "common/toomanycooks.hpp"

#include <array>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <numeric>
#include <ranges>
#include <tuple>

#include "scenario.hpp"

namespace spawn {
namespace {

tmc::task<std::uint64_t> fib(std::uint64_t n) {
    if (n < 2) co_return n;
    const auto both = co_await tmc::spawn_tuple(fib(n - 1), fib(n - 2));
    co_return std::get<0>(both) + std::get<1>(both);
}

tmc::task<std::uint64_t> sum_leaves(std::uint64_t first, std::uint64_t leaves) {
    if (leaves == 1) co_return first;
    const std::uint64_t each = leaves / fan_out;
    std::array<tmc::task<std::uint64_t>, fan_out> children;
    for (unsigned i = 0; i < fan_out; ++i) children[i] = sum_leaves(first + i * each, each);
    const auto sums = co_await tmc::spawn_many<fan_out>(children.data());
    co_return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

tmc::task<void> count(bench::tally& tally) {
    tally.count();
    co_return;
}

// g++ 12 would copy the group itself where it is awaited.
struct wait_for {
    tmc::aw_fork_group<0, void>& group;
    bool await_ready() const noexcept { return group.await_ready(); }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) noexcept {
        return group.await_suspend(waiter);  // resumed by the last of its tasks
    }
    void await_resume() const noexcept {}
};

tmc::task<void> fork_all(bench::tally& tally, std::uint64_t tasks) {
    auto group = tmc::fork_group();
    for (std::uint64_t i = 0; i < tasks; ++i) group.fork(count(tally));
    co_await wait_for{group};
}

tmc::task<void> spawn_all(bench::tally& tally, std::uint64_t tasks) {
    const auto each = std::views::iota(std::uint64_t{0}, tasks) |
                      std::views::transform([&tally](std::uint64_t) { return count(tally); });
    co_await tmc::spawn_many(each.begin(), tasks);
}

struct place {
    explicit place(unsigned workers) : executor(workers) {}
    bench::toomanycooks executor;
    bench::tally tally;
};

const bench::contestants<scenario> tasks([](bench::group& group, const scenario& s) {
    const auto here = std::make_shared<place>(s.workers);
    const auto independent = [&](const char* name, tmc::task<void> (*all)(bench::tally&, std::uint64_t)) {
        group.peer(name, repeat(s, [here, s, all] {
                       here->executor.run(all(here->tally, s.size));
                       return here->tally.take();
                   }));
    };
    switch (s.what) {
        case shape::outside:
            return;
        case shape::inside:
            independent("TooManyCooks, fork_group", fork_all);
            independent("TooManyCooks, spawn_many", spawn_all);
            return;
        case shape::wide_join:
            independent("TooManyCooks, spawn_many", spawn_all);
            return;
        case shape::fork_join:
            group.peer("TooManyCooks, spawn_tuple",
                       repeat(s, [here, s] { return here->executor.run(fib(s.size)); }));
            return;
        case shape::skynet:
            group.peer("TooManyCooks, spawn_many",
                       repeat(s, [here, s] { return here->executor.run(sum_leaves(0, s.size)); }));
            return;
    }
});

}  // namespace
}  // namespace spawn
