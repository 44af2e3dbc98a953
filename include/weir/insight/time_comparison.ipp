// weir insight, internal: bodies of the functions of insight/time_comparison.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_TIME_COMPARISON_IPP
#define WEIR_INSIGHT_TIME_COMPARISON_IPP

#include <weir/insight/time_comparison.hpp>

#include <weir/measure/histogram.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

namespace weir::detail {

WEIR_INLINE double natural_log(double x) noexcept {
    constexpr double log_of_2 = 0.69314718055994530942;
    double whole = 0;
    for (; x > 1.5 && is_finite(x); x /= 2) whole += log_of_2;
    for (; x < 0.75 && x > 0; x *= 2) whole -= log_of_2;
    // log(x) = 2 artanh(y)
    const double y = (x - 1) / (x + 1);
    double sum = 0;
    for (int n = 27; n > 0; n -= 2) sum = sum * y * y + 1.0 / n;
    return whole + 2 * y * sum;
}

WEIR_INLINE double normal_tail(double p) noexcept {
    const double t = root(-2 * natural_log(p));
    return t -
           (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

WEIR_INLINE time_sample times_of(const stage_stats& stage) {
    constexpr double least_time = 0.5;  // ns; a logarithm needs a time above 0
    const histogram& times = stage.task_times;
    time_sample all{.num_tasks = times.count()};
    if (times.empty() || !times.has_quantiles()) return all;
    moments plain, logs;
    for (const histogram_bucket& each : times.buckets()) {
        const double least = static_cast<double>(each.least.count());
        const double greatest = static_cast<double>(smaller(each.greatest, (times.max)()).count());
        const double middle = larger(least_time, (least + greatest) / 2);
        const double spread = (greatest - least) * (greatest - least) / 12;
        plain.add(middle, static_cast<double>(each.count), spread);
        logs.add(natural_log(middle), static_cast<double>(each.count), spread / (middle * middle));
    }
    const double at_work = share_without_thread_waits(stage);
    const double count = static_cast<double>(times.count());
    const double mean = static_cast<double>(times.sum().count()) / count;
    all.time = {mean * at_work, plain.variance() * at_work * at_work, count};
    all.log_time = {logs.mean() + natural_log(larger(at_work, 1e-9)), logs.variance(), count};
    return all;
}

// The average counts as known from all invocations. So does the mean logarithm if the sample `is_even`: made
// of quantiles of all times. Else the mean logarithm counts as known from the sample. Both count as exact if
// the sample is `in_sequence`: made of the times of all invocations.
WEIR_INLINE time_sample times_of(const recorded_stage& stage) {
    constexpr double least_time = 0.5;
    time_sample all{.num_tasks = stage.num_tasks - smaller(stage.num_failures, stage.num_tasks)};
    moments plain, logs;
    double size = 0;
    for (const recorded_task& each : stage.tasks) {
        if (each.failed) continue;
        const double time = static_cast<double>(sum(each.run, each.await).count());
        ++size;
        plain.add(time, 1);
        logs.add(natural_log(larger(least_time, time)), 1);
    }
    all.time = {plain.mean(), plain.variance(), larger(size, static_cast<double>(all.num_tasks))};
    all.log_time = {logs.mean(), logs.variance(), stage.is_even ? all.time.count : size};
    all.is_exact = stage.in_sequence;
    if (all.is_exact) all.time.variance = all.log_time.variance = 0;
    return all;
}

WEIR_INLINE double mean_change::distance() const noexcept {
    constexpr double sure = 1e3;
    constexpr double most = 1e100;  // so that the square is finite
    const double size = larger(difference, -difference);
    if (size <= 0) return 0;
    if (error <= 0) return sure;
    const double t = smaller(size / error, most);
    return smaller(sure,
                   root(freedom * natural_log(1 + t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3));
}

WEIR_INLINE confidence_interval mean_change::interval() const noexcept {
    const double reach = t_quantile(freedom) * error;
    return {exponential(difference - reach) - 1, exponential(difference + reach) - 1};
}

WEIR_INLINE mean_change change_of(const uncertain_mean& before, const uncertain_mean& after) noexcept {
    constexpr double most_freedom = 1e9;
    const double a = before.squared_error(), b = after.squared_error();
    const double parts = (before.count > 1 ? a * a / (before.count - 1) : a * a) +
                         (after.count > 1 ? b * b / (after.count - 1) : b * b);
    const double freedom = parts > 0 ? smaller(most_freedom, (a + b) * (a + b) / parts) : most_freedom;
    return {after.mean - before.mean, root(a + b), freedom};
}

// The logarithm of an uncertain mean, with its variance by the delta method.
WEIR_INLINE uncertain_mean log_of(const uncertain_mean& of) noexcept {
    if (of.mean <= 0) return {0, 0, of.count};
    return {natural_log(of.mean), of.variance / (of.mean * of.mean), of.count};
}

WEIR_INLINE time_change change_of(const time_sample& before, const time_sample& after) noexcept {
    return {change_of(log_of(before.time), log_of(after.time)), change_of(before.log_time, after.log_time)};
}

// The mean of the times of a stage's sample, and the standard error of the mean of `n` such times, in
// seconds; both 0 without a sample, or if `n` is 0.
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
        const double deviation = seconds(each) - all.mean;
        square += deviation * deviation / count;
    }
    all.error = root(square / static_cast<double>(n));
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
