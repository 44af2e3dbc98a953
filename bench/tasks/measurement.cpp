#include "measurement.hpp"

#include "common/check.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace tasks {
namespace {

double seconds_of(const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

measurement one_batch(runner& all, const context& c, item_log& log, std::uint64_t items) {
    bench::at_work = "tasks";
    c.times.begin_batch(items);
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    const std::int64_t begin = nanoseconds_now();
    const totals seen = all.pass(items);
    log.end_batch();
    measurement m;
    m.seconds = static_cast<double>(nanoseconds_now() - begin) * 1e-9;
    getrusage(RUSAGE_SELF, &after);
    bench::check(seen.count == items && seen.numbers == items * (items - 1) / 2, "each item comes out, once");
    bench::check(seen.stages == items * c.work.stages(), "each item passes each stage, once");
    m.items = items;
    m.user_seconds = seconds_of(after.ru_utime) - seconds_of(before.ru_utime);
    m.system_seconds = seconds_of(after.ru_stime) - seconds_of(before.ru_stime);
    m.waits = after.ru_nvcsw - before.ru_nvcsw;
    m.preemptions = after.ru_nivcsw - before.ru_nivcsw;
    return m;
}

}  // namespace

measurement measure(runner& all, const context& c, item_log& log, std::uint64_t items,
                    std::optional<double> seconds) {
    if (!seconds) {
        const std::uint64_t least = std::min(items, static_cast<std::uint64_t>(c.asked.of("cfg_batch")));
        one_batch(all, c, log, std::max({items / 10, least, std::uint64_t{1}}));
        return one_batch(all, c, log, items);
    }
    constexpr double enough = 0.75;
    constexpr std::uint64_t most = 1'000'000'000;
    std::uint64_t n = std::max<std::uint64_t>(10, static_cast<std::uint64_t>(c.asked.of("cfg_batch")));
    one_batch(all, c, log, n);
    while (true) {
        const measurement m = one_batch(all, c, log, n);
        if (m.seconds >= enough * *seconds || n == most) return m;
        const double estimate = *seconds / std::max(m.seconds, 1e-6);
        n = std::min(most,
                     static_cast<std::uint64_t>(static_cast<double>(n) * std::clamp(estimate, 2.0, 32.0)));
    }
}

// The slowest limit decides: the cores, for work that keeps them busy; the slots of a stage, each of which
// processes one item at a time, also of a batch; for a chain, the order of items; for tasks on the executor
// alone, the number of tasks that are waited for at once.
double ideal_us_per_task(const values& effective, const workload& work, unsigned cores) {
    const double one = work.work_ns() * 1e-3;
    const double stages = static_cast<double>(work.stages());
    const double whole = one * stages;
    const bool is_busy = work.kind() != kind_of_work::sleep;
    const double workers =
        std::min(static_cast<double>(cores), static_cast<double>(effective.of("cfg_workers")));
    double ideal = is_busy ? whole / workers : 0;
    if (effective.is("app_shape", "pipeline")) {
        const double in_a_stage = effective.is("cfg_fuse", "on") ? whole : one;
        ideal = std::max(ideal, in_a_stage / static_cast<double>(effective.of("cfg_slots")));
    } else if (!is_busy) {
        ideal = std::max(ideal, whole / static_cast<double>(effective.of("app_wave")));
    }
    if (work.kind() == kind_of_work::chain) ideal = std::max(ideal, one);
    return ideal;
}

}  // namespace tasks
