// weir insight, internal: bodies of the functions of insight/diff.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_DIFF_IPP
#define WEIR_INSIGHT_DIFF_IPP

#include <weir/insight/diff.hpp>

#include <weir/insight/time_comparison.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir {

namespace detail {

WEIR_INLINE std::string signed_percent(double share) {
    const std::string size = units::fixed(100 * larger(share, -share), 1);
    return (share < 0 && size != "0.0" ? "-" : "+") + size + " %";
}

WEIR_INLINE std::string time_text(const stage_difference& d) {
    return concat({"'", d.stage, "' takes "}) + units::fixed(100 * larger(d.change, -d.change), 1) + " % " +
           (d.change < 0 ? "less time" : "longer") + " (" + signed_percent(d.interval.low) + " to " +
           signed_percent(d.interval.high) + ")" + (d.is_typical ? " by the geometric mean" : "") + ": " +
           units::time(d.after) + " instead of " + units::time(d.before);
}

WEIR_INLINE std::string failures_text(const stage_difference& d) {
    return concat({"'", d.stage, "' fails "}) + (d.failed_after > d.failed_before ? "more" : "less") +
           " often: " + units::percent(d.failed_after) + " of the invocations instead of " +
           units::percent(d.failed_before);
}

WEIR_INLINE std::string rate_text(const run_difference& d) {
    return units::rate(d.rate_after) + " instead of " + units::rate(d.rate_before) + " (" +
           signed_percent(d.rate_after / d.rate_before - 1) + ")";
}

WEIR_INLINE std::string detectable_text(const run_difference& d) {
    std::string text;
    std::string too_few;
    for (const stage_difference& each : d.stages) {
        const std::string count = each.is_exact ? "known exactly"
                                                : units::count(each.num_before) + " and " +
                                                      units::count(each.num_after) + " invocations";
        if (!each.detectable) {
            too_few += concat({"too few to compare: '", each.stage, "', ", count}) + "\n";
        } else {
            text += concat({"  '", each.stage, "': "}) + units::fixed(100 * *each.detectable, 1) + " % (" +
                    count + ")\n";
        }
    }
    if (!text.empty())
        text = "in 95 of 100 cases, runs as long as these show a change of a time by at least:\n" + text;
    return text + too_few;
}

WEIR_INLINE std::string state_text(const state_difference& d) {
    std::string text = concat({"  '", d.stage, "' "}) + d.state + ": " + units::percent(d.after) +
                       " of its slots' time instead of " + units::percent(d.before);
    if (d.change) {
        text +=
            " (" + signed_percent(d.change->low) + " to " + signed_percent(d.change->high) + " of the time)";
    }
    return text + "\n";
}

}  // namespace detail

WEIR_INLINE bool run_difference::has_difference() const noexcept {
    bool any = rate_changed || !settings.empty();
    for (const stage_difference& each : stages) any = any || each.has_changed || each.failures_changed;
    return any;
}

WEIR_INLINE std::string run_difference::sentence() const {
    if (!refused.empty()) return "the runs can't be compared: " + refused;
    std::string text;
    const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
    for (const stage_difference& each : stages) {
        if (each.has_changed) add(detail::time_text(each));
        if (each.failures_changed) add(detail::failures_text(each));
    }
    for (const std::string& each : settings) add(each);
    if (rate_changed) add("the rate is " + detail::rate_text(*this));
    return text.empty() ? "no difference was seen" : text;
}

WEIR_INLINE std::string run_difference::text() const {
    std::string text = sentence() + "\n";
    if (!refused.empty()) return text;
    if (rate_before > 0 && rate_after > 0) text += "rate: " + detail::rate_text(*this) + "\n";
    if (!states.empty()) text += "states:\n";
    for (const state_difference& each : states) text += detail::state_text(each);
    if (!verdict_before.empty()) text += "verdict before: " + verdict_before + "\n";
    if (!verdict_after.empty()) text += "verdict after: " + verdict_after + "\n";
    return text + detail::detectable_text(*this);
}

namespace detail {

// For `stage_difference::detectable`: a normal variable whose mean is 1.645 standard deviations above a limit
// exceeds this limit in 95 of 100 cases.
inline constexpr double power_distance = 1.645;
inline constexpr std::uint64_t fewest_compared = 10;  // successful invocations of a stage in each run

// The distances, in standard errors, beyond which a difference is named. A stage has a test of the average
// time and one of the typical time (the geometric mean). The test with the smaller error gets most of the
// level (`likely`), as this test shows smaller changes; `unlikely` is for the other one. `rest`: for the
// tests of failures and rate.
struct test_distances {
    double likely, unlikely, rest;

    test_distances(double level, std::size_t stages) noexcept {
        const double all = 2 * static_cast<double>(larger<std::size_t>(stages, 1));  // two-sided
        likely = normal_tail(0.8 * level / all);
        unlikely = normal_tail(0.1 * level / all);
        rest = normal_tail(0.1 * level / (all + 2));
    }
};

// Whether a change by the share `share`, or the reverse change, is by at least the share `least`.
WEIR_INLINE bool is_large(double share, double least) noexcept {
    return larger(share, 1 / (1 + share) - 1) >= least;
}

WEIR_INLINE duration rounded(double ns) noexcept {
    const double half_more = ns + 0.5;
    return duration(static_cast<std::int64_t>(half_more));
}

WEIR_INLINE void compare_times(stage_difference& to, const compared_stage& a, const compared_stage& b,
                               const test_distances& from, double least_change) {
    to.num_before = a.times.num_tasks;
    to.num_after = b.times.num_tasks;
    to.before = rounded(a.times.time.mean);
    to.after = rounded(b.times.time.mean);
    to.is_exact = a.times.is_exact && b.times.is_exact;
    if (!to.is_exact && smaller(to.num_before, to.num_after) < fewest_compared) return;
    const time_change change = change_of(a.times, b.times);
    const bool has_typical = a.times.log_time.count > 0 && b.times.log_time.count > 0;
    const bool is_average_likely = !has_typical || change.average.error <= change.typical.error;
    const auto is_named = [&](const mean_change& each, bool is_likely) {
        return each.distance() > (is_likely ? from.likely : from.unlikely) &&
               is_large(each.share(), least_change);
    };
    // The least change of a stage's time that matters, as a share of the time of its slots (workers);
    // `least_share_unless_sampled` if only the average times are known.
    constexpr double least_share = 0.002, least_share_unless_sampled = 0.05;
    const double busy = larger(1e-9, larger(a.busy.value_or(1), b.busy.value_or(1)));
    const double least = has_typical ? least_share : least_share_unless_sampled;
    const bool matters =
        is_large(change.average.share(), least / busy) || is_large(change.typical.share(), least / busy);
    const bool average = is_named(change.average, is_average_likely);
    const bool typical = has_typical && is_named(change.typical, !is_average_likely);
    to.has_changed = matters && (average || typical);
    to.is_typical = typical && !average && change.average.interval().holds(0);
    const mean_change& shown = to.is_typical ? change.typical : change.average;
    to.change = shown.share();
    to.interval = shown.interval();
    if (to.is_typical) {
        to.before = rounded(exponential(a.times.log_time.mean));
        to.after = rounded(exponential(b.times.log_time.mean));
    }
    const double error = is_average_likely ? change.average.error : change.typical.error;
    to.detectable = larger(least_change, exponential((from.likely + power_distance) * error) - 1);
}

WEIR_INLINE void compare_failures(stage_difference& to, const compared_stage& a, const compared_stage& b,
                                  const test_distances& from) {
    constexpr double fewest_failures = 10;
    const double n = static_cast<double>(a.num_tasks), m = static_cast<double>(b.num_tasks);
    const double failed = static_cast<double>(a.num_failures) + static_cast<double>(b.num_failures);
    if (n <= 0 || m <= 0) return;
    to.failed_before = static_cast<double>(a.num_failures) / n;
    to.failed_after = static_cast<double>(b.num_failures) / m;
    const double share = failed / (n + m);
    const double error = root(share * (1 - share) * (1 / n + 1 / m));
    const double difference = to.failed_after - to.failed_before;
    const double size = larger(difference, -difference);
    to.failures_changed = failed >= fewest_failures && size > 0 && size >= from.rest * error;
}

// The relative error of a rate is at most the greatest relative error of the stages' mean times. This upper
// bound is used.
WEIR_INLINE void compare_rates(run_difference& to, const compared_run& a, const compared_run& b,
                               const test_distances& from, double least_change) {
    to.rate_before = a.rate;
    to.rate_after = b.rate;
    if (!(a.rate > 0 && b.rate > 0) || !is_finite(b.rate / a.rate)) return;
    const mean_change change{natural_log(b.rate / a.rate), root(a.rate_error() + b.rate_error()), 1e9};
    to.rate_changed = change.distance() > from.rest && is_large(change.share(), least_change);
}

WEIR_INLINE run_difference diff_of(const compared_run& a, const compared_run& b,
                                   const diff_options& options) {
    refuse_if(!is_finite(options.level) || options.level <= 0 || options.level >= 1,
              "weir: diff_options::level is a probability between 0 and 1, such as 0.002");
    refuse_if(!is_finite(options.least_change) || options.least_change < 0,
              "weir: diff_options::least_change must not be negative; 0.03 is 3 %");
    run_difference all;
    if (!a.refused.empty() || !b.refused.empty()) {
        all.refused = a.refused.empty() ? "the second run: " + b.refused : "the first run: " + a.refused;
        return all;
    }
    const std::vector<stage_pair> pairs = pairs_of(a, b);
    if (pairs.empty()) {
        all.refused =
            "these are runs of different pipelines: no stage of one has the name of one of the other";
        return all;
    }
    all.settings = changed_settings(a, b, pairs);
    std::size_t timed = 0;
    for (const stage_pair& each : pairs) timed += each.has_times() ? 1U : 0U;
    const test_distances from(options.level, timed);
    for (const stage_pair& each : pairs) {
        if (!each.has_times()) continue;
        stage_difference& next = all.stages.emplace_back();
        next.stage = each.before->name;
        compare_times(next, *each.before, *each.after, from, options.least_change);
        compare_failures(next, *each.before, *each.after, from);
    }
    compare_rates(all, a, b, from, options.least_change);
    if (options.explain) {
        all.verdict_before = verdict_on(a);
        all.verdict_after = verdict_on(b);
    }
    if (all.has_difference()) all.states = changed_states(a, b, pairs);
    return all;
}

}  // namespace detail

WEIR_INLINE run_difference diff(const pipeline_stats& before, const pipeline_stats& after,
                                const diff_options& options) {
    return detail::diff_of(detail::compared_run(before), detail::compared_run(after), options);
}

WEIR_INLINE run_difference diff(const recording& before, const recording& after,
                                const diff_options& options) {
    return detail::diff_of(detail::compared_run(before), detail::compared_run(after), options);
}

}  // namespace weir

#endif
