// weir insight, internal: whether times differ: tests of two samples, changes of a workload, noise of a rate
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_TIME_COMPARISON_HPP
#define WEIR_INSIGHT_TIME_COMPARISON_HPP

#include <weir/insight/recording.hpp>
#include <weir/measure/item_pace.hpp>
#include <weir/measure/stats.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t

namespace weir::detail {

// natural_log: std::log for finite numbers above 0. normal_tail: the x that a standard normal variable
// exceeds with probability `p`, above 0 and at most 0.5. Not from <cmath>, which takes long to compile.
// Source of normal_tail: Abramowitz and Stegun, "Handbook of mathematical functions" (1964), 26.2.23.
double natural_log(double x) noexcept;
double normal_tail(double p) noexcept;

// Computes mean and variance of weighted values.
// Source: D. H. D. West, "Updating mean and variance estimates", Communications of the ACM 22 (1979).
class moments {
  public:
    // `spread`: the variance within the values that `value` stands for, as those in a bucket of a histogram.
    void add(double value, double weight, double spread = 0) noexcept {
        if (weight <= 0) return;
        weights_ += weight;
        const double step = value - mean_;
        mean_ += step * weight / weights_;
        squares_ += weight * (step * (value - mean_) + spread);
    }
    double mean() const noexcept { return mean_; }
    double variance() const noexcept { return weights_ > 1 ? squares_ / (weights_ - 1) : 0; }

  private:
    double weights_ = 0;
    double mean_ = 0;
    double squares_ = 0;
};

// A mean, the variance of the values (0 if the mean is exact), and the number of independent values: 0 if the
// mean is unknown.
struct uncertain_mean {
    double mean = 0;
    double variance = 0;
    double count = 0;

    double squared_error() const noexcept { return count > 0 ? variance / count : 0; }
};

// The times of a stage's successful invocations in one run, and their number.
struct time_sample {
    std::uint64_t num_tasks = 0;
    bool is_exact = false;         // the times are those of all invocations in sequence, not a sample
    uncertain_mean time = {};      // ns
    uncertain_mean log_time = {};  // of the natural logarithms of the times in ns
};

// Returns the times in a stage's histogram, scaled to the time in which the function had a thread or awaited.
// The times in a bucket count as uniformly distributed; the mean is that of the histogram, which is exact.
time_sample times_of(const stage_stats& stage);
time_sample times_of(const recorded_stage& stage);

// The difference of two means of logarithms, so that a difference of 0.1 is about 10 %.
struct mean_change {
    double difference = 0;
    double error = 0;    // the standard error of `difference`
    double freedom = 0;  // degrees of freedom of the t distribution

    // The size of the difference in standard errors: the t statistic, converted to the value of a normal
    // distribution that is exceeded with the same probability. At most 1000, as with an error of 0.
    // Source: D. L. Wallace, "Bounds on normal approximations to Student's and the chi-square distributions",
    // Annals of Mathematical Statistics 30 (1959).
    double distance() const noexcept;
    // As a share: 0.1 is 10 % more.
    double share() const noexcept { return exponential(difference) - 1; }
    confidence_interval interval() const noexcept;  // of share(), 95 %
};

// The difference of two means of logarithms, with the degrees of freedom of Welch's test.
// Source: B. L. Welch, "The generalization of Student's problem when several different population variances
// are involved", Biometrika 34 (1947).
mean_change change_of(const uncertain_mean& before, const uncertain_mean& after) noexcept;

// The change of the average time, and that of the typical time, which is the geometric mean. If the
// times have a long tail, as in a log-normal distribution with sigma 1, the typical time is known more
// precisely.
struct time_change {
    mean_change average;
    mean_change typical;
};
time_change change_of(const time_sample& before, const time_sample& after) noexcept;

// Returns the index of the first stage whose mean time has changed between two recordings (samples of a run's
// times); the consumer, which takes the results, is the last. Or the number of stages if no time has changed.
// Returns 0, too, if the recordings have different numbers of stages. A change is more than 10 % of the
// larger mean plus five times the larger standard error. Stages whose invocations together take less than 5 %
// of the duration of `now` don't count. For the consumer, 30 % replaces both shares: its time includes waits
// of its thread for a processor.
std::size_t find_other_times(const recording& before, const recording& now);

// How much the rate of a lap (a part of a run) with `num_items` items varies by chance, as a share: twice the
// largest relative standard error of the stages' mean times; at most 0.2.
double noise_of(const recording& lap, std::uint64_t num_items);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/time_comparison.ipp>
#endif

#endif
