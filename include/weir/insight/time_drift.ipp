// weir insight, internal: bodies of the functions of insight/time_drift.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_TIME_DRIFT_IPP
#define WEIR_INSIGHT_TIME_DRIFT_IPP

#include <weir/insight/time_drift.hpp>

#include <weir/platform/bounds.hpp>
#include <weir/platform/config.hpp>

namespace weir::detail {

// The mean of the times of a stage's sample, and the standard error of the mean of `n` such times; in
// seconds.
struct mean_time {
    double mean = 0;
    double error = 0;
};
WEIR_INLINE mean_time mean_time_of(const recorded_stage& stage, std::uint64_t n) {
    mean_time all;
    const auto seconds = [](const recorded_task& t) {
        return 1e-9 * static_cast<double>(sum(t.run, t.await).count());
    };
    const auto count = static_cast<double>(stage.tasks.size());
    if (stage.tasks.empty() || n == 0) return all;
    for (const recorded_task& each : stage.tasks) all.mean += seconds(each) / count;
    double square = 0;
    for (const recorded_task& each : stage.tasks) {
        const double d = seconds(each) - all.mean;
        square += d * d / count;
    }
    // A square root by Newton's method, as <cmath> is large.
    const double wanted = square / static_cast<double>(n);
    double root = all.mean;
    for (int i = 0; i < 40 && root > 0; ++i) root = (root + wanted / root) / 2;
    all.error = wanted > 0 ? root : 0;
    return all;
}

WEIR_INLINE std::size_t find_other_times(const recording& before, const recording& now) {
    const std::size_t n = now.stages.size();
    if (before.stages.size() != n) return 0;
    const double elapsed = now.rate > 0 ? static_cast<double>(now.num_items) / now.rate : 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t tasks = now.stages[i].num_tasks;
        const mean_time a = mean_time_of(before.stages[i], tasks);
        const mean_time b = mean_time_of(now.stages[i], tasks);
        const bool is_consumer = i + 1 == n;
        const double mean = larger(a.mean, b.mean);
        const double distance = larger(a.mean - b.mean, b.mean - a.mean);
        const double usual = (is_consumer ? 0.3 : 0.1) * mean + 5 * larger(a.error, b.error);
        const double relevant = (is_consumer ? 0.3 : 0.05) * elapsed;
        if (distance > usual && mean * static_cast<double>(tasks) > relevant) return i;
    }
    return n;
}

WEIR_INLINE double noise_of(const recording& lap, std::uint64_t num_items) {
    double most = 0;
    for (const recorded_stage& each : lap.stages) {
        const mean_time time = mean_time_of(each, larger<std::uint64_t>(num_items, 1));
        if (time.mean > 0) most = larger(most, 2 * time.error / time.mean);
    }
    return smaller(most, 0.2);
}

}  // namespace weir::detail

#endif
