// A consumer that checks that all items came.
#ifndef BENCH_COMMON_SUM_OF_HPP
#define BENCH_COMMON_SUM_OF_HPP

#include <weir/task/task.hpp>

#include <cstdint>

namespace bench {

// Takes a run's items until its end.
template <class Run>
weir::task<std::uint64_t> sum_of(Run& run) {
    std::uint64_t sum = 0;
    while (true) {
        const auto x = co_await run.next();
        if (!x) break;
        sum += *x;
    }
    co_return sum;
}

}  // namespace bench

#endif
