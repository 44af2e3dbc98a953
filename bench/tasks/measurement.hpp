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
    long waits = 0;        // switches to another thread, as it had nothing to do
    long preemptions = 0;  // and as the system wanted

    double us_per_task() const { return seconds * 1e6 / static_cast<double>(items); }
};

// A batch of `items` after a tenth of it; or, where there are `seconds`, batches that grow until one takes three
// quarters of those, as parsl-perf has them: that one.
measurement measure(runner& all, const context& c, item_log& log, std::uint64_t items,
                    std::optional<double> seconds);

// What an item would take if passing it on cost nothing, in microseconds.
double ideal_us_per_task(const values& effective, const workload& work, unsigned cores);

}  // namespace tasks

#endif
