#include <tbb/global_control.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <numeric>

#include "scenario.hpp"

namespace spawn {
namespace {

struct place {
    // A thread that spawns from outside has no place in the arena; otherwise the caller is one of the workers.
    place(unsigned workers, bool outside)
        : threads(tbb::global_control::max_allowed_parallelism, workers + 1),
          arena(static_cast<int>(workers), outside ? 0 : 1) {}
    tbb::global_control threads;  // limits the workers beside the waiting thread, also on few cores
    tbb::task_arena arena;
    bench::tally tally;
};

std::uint64_t enqueue(place& here, std::uint64_t tasks) {
    std::latch left(static_cast<std::ptrdiff_t>(tasks));
    for (std::uint64_t i = 0; i < tasks; ++i) {
        here.arena.enqueue([&here, &left] {
            here.tally.count();
            left.count_down();
        });
    }
    left.wait();
    return here.tally.take();
}

std::uint64_t run_group(place& here, std::uint64_t tasks) {
    tbb::task_group group;
    for (std::uint64_t i = 0; i < tasks; ++i) group.run([&here] { here.tally.count(); });
    group.wait();
    return here.tally.take();
}

std::uint64_t fib(std::uint64_t n) {
    if (n < 2) return n;
    std::uint64_t a = 0, b = 0;
    tbb::parallel_invoke([&a, n] { a = fib(n - 1); }, [&b, n] { b = fib(n - 2); });
    return a + b;
}

std::uint64_t sum_leaves(std::uint64_t first, std::uint64_t leaves) {
    if (leaves == 1) return first;
    const std::uint64_t each = leaves / fan_out;
    std::array<std::uint64_t, fan_out> sums{};
    tbb::task_group group;
    for (unsigned i = 0; i < fan_out; ++i) {
        group.run([&sums, first, each, i] { sums[i] = sum_leaves(first + i * each, each); });
    }
    group.wait();
    return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

std::uint64_t once(place& here, const scenario& s) {
    switch (s.what) {
        case shape::outside:
            return enqueue(here, s.size);
        case shape::inside:
        case shape::wide_join:
            return run_group(here, s.size);
        case shape::fork_join:
            return fib(s.size);
        case shape::skynet:
            return sum_leaves(0, s.size);
    }
    return 0;
}

const char* name(shape what) {
    if (what == shape::outside) return "tbb, task_arena::enqueue";
    return what == shape::fork_join ? "tbb, parallel_invoke" : "tbb, task_group";
}

const bench::contestants<scenario> tbb_tasks([](bench::group& group, const scenario& s) {
    const bool outside = s.what == shape::outside;
    const auto here = std::make_shared<place>(s.workers, outside);
    const bench::group::body body = repeat(s, [here, s] { return once(*here, s); });
    if (outside) {
        group.peer(name(s.what), body);
    } else {
        group.peer(name(s.what),
                   [here, body](std::uint64_t n) { here->arena.execute([&body, n] { body(n); }); });
    }
});

}  // namespace
}  // namespace spawn
