// tasks: times a batch of items.
#ifndef BENCH_TASKS_MEASUREMENT_HPP
#define BENCH_TASKS_MEASUREMENT_HPP

#include "runner.hpp"

#include <cstdint>
#include <optional>

namespace tasks {

struct measurement {
    std::uint64_t items = 0;
    double seconds = 0;
    double user_seconds = 0;
    double system_seconds = 0;
    long waits = 0;        // switches to another thread because this one had nothing to do
    long preemptions = 0;  // switches forced by the system

    double us_per_task() const { return seconds * 1e6 / static_cast<double>(items); }
};

// Measures a batch of `items` after a warm-up of a tenth of it; or, with `seconds`, growing batches until one
// takes three quarters of this time, as parsl-perf does.
measurement measure(runner& all, const context& c, item_log& log, std::uint64_t items,
                    std::optional<double> seconds);

// The ideal time of an item in microseconds, without any cost for passing it on.
double ideal_us_per_task(const values& effective, const workload& work, unsigned cores);

}  // namespace tasks

#endif
