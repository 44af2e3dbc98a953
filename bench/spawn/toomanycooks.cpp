#define TMC_IMPL
#include "common/toomanycooks.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
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

struct place {
    explicit place(unsigned workers) : executor(workers) {}
    bench::toomanycooks executor;
};

const bench::contestants<scenario> tasks([](bench::group& group, const scenario& s) {
    if (s.what != shape::fork_join && s.what != shape::skynet) return;
    const auto here = std::make_shared<place>(s.workers);
    group.peer("TooManyCooks", repeat(s, [here, s] {
                   return here->executor.run(s.what == shape::fork_join ? fib(s.size)
                                                                        : sum_leaves(0, s.size));
               }));
});

}  // namespace
}  // namespace spawn
