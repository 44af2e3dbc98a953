// libfork: continuation stealing, on segmented stacks.
#include <libfork.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>

#include "scenario.hpp"

namespace spawn {
namespace {

constexpr auto fib = [](auto self, std::uint64_t n) -> lf::task<std::uint64_t> {
    if (n < 2) co_return n;
    std::uint64_t a = 0, b = 0;
    co_await lf::fork(&a, self)(n - 1);
    co_await lf::call(&b, self)(n - 2);
    co_await lf::join;
    co_return a + b;
};

constexpr auto sum_leaves = [](auto self, std::uint64_t first,
                               std::uint64_t leaves) -> lf::task<std::uint64_t> {
    if (leaves == 1) co_return first;
    const std::uint64_t each = leaves / fan_out;
    std::array<std::uint64_t, fan_out> sums{};
    for (unsigned i = 0; i < fan_out; ++i) co_await lf::fork(&sums[i], self)(first + i * each, each);
    co_await lf::join;
    co_return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
};

constexpr auto count = [](auto, bench::tally* tally) -> lf::task<void> {
    tally->count();
    co_return;
};

constexpr auto count_all = [](auto, bench::tally* tally, std::uint64_t tasks) -> lf::task<void> {
    for (std::uint64_t i = 0; i < tasks; ++i) co_await lf::fork(count)(tally);
    co_await lf::join;
};

struct place {
    explicit place(unsigned workers) : pool(workers) {}
    lf::lazy_pool pool;
    bench::tally tally;
};

const bench::contestants<scenario> libfork_tasks([](bench::group& group, const scenario& s) {
    if (s.what == shape::outside) return;  // not supported
    // With several workers a loop of this many forks sometimes loses some, or crashes.
    if (s.what == shape::inside && s.workers > 1) return;
    const auto here = std::make_shared<place>(s.workers);
    group.peer("libfork", repeat(s, [here, s]() -> std::uint64_t {
                   if (s.what == shape::fork_join) return lf::sync_wait(here->pool, fib, s.size);
                   if (s.what == shape::skynet) {
                       return lf::sync_wait(here->pool, sum_leaves, std::uint64_t{0}, s.size);
                   }
                   lf::sync_wait(here->pool, count_all, &here->tally, s.size);
                   return here->tally.take();
               }));
});

}  // namespace
}  // namespace spawn
