// Compiled without run-time type information: everything is there but the names of executors' types.
// SPDX-License-Identifier: BSL-1.0
#include <weir/weir.hpp>

#include <weir/report/describe.hpp>
#include <weir/report/failure_log.hpp>

#include <iostream>
#include <ranges>
#include <sstream>
#include <stdexcept>

int main() {
    weir::thread_pool pool(2);
    std::ostringstream log;
    weir::failure_log failures(log);
    const auto halve = [](int n) -> weir::task<int> {
        co_await weir::yield();
        if (n % 2 != 0) throw std::runtime_error("odd");
        co_return n / 2;
    };
    const auto pipeline = weir::source(weir::draws(weir::sampler({.size = 100}), 1)) |
                          weir::pipe([](weir::draw d) { return static_cast<int>(d.index); }) |
                          weir::pipe(halve, {.concurrency = 3, .executor = &pool, .max_failures = 50}) |
                          weir::sink(2);
    auto run = pipeline.start(pool, {.on_failure = failures});
    int sum = 0;
    for (const int n : run) sum += n;
    const bool resumes = run.checkpoint().watermark() == 100;
    std::cout << pipeline << run.stats() << log.str() << sum << '\n';
    return sum == 1225 && resumes ? 0 : 1;
}
