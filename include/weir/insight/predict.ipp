// weir insight, internal: bodies of the functions of insight/predict.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_PREDICT_IPP
#define WEIR_INSIGHT_PREDICT_IPP

#include <weir/insight/predict.hpp>

#include <weir/insight/simulator.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/config.hpp>

#include <algorithm>  // for std::sort
#include <span>       // for std::span
#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::move

namespace weir {

namespace detail {

WEIR_INLINE void check_recording(const pipeline_settings& settings, const recording& from) {
    if (from.stages.size() != from.settings.stages.size()) {
        throw std::invalid_argument("weir: the recording has settings and samples of different stages");
    }
    const auto refuse = [](const std::string& name) {
        throw std::invalid_argument(
            "weir: the recording is of another pipeline: it has no times for stage '" + name + "'");
    };
    for (std::size_t i = 0; i < settings.stages.size(); ++i) {
        if (i >= from.stages.size() || from.settings.stages[i].name != settings.stages[i].name ||
            from.settings.stages[i].role != settings.stages[i].role) {
            refuse(settings.stages[i].name);
        }
        bool gives_items = from.stages[i].tasks.empty();
        bool is_negative = from.stages[i].overhead < duration(0);
        for (const recorded_task& each : from.stages[i].tasks) {
            gives_items = gives_items || each.results != 0;
            is_negative = is_negative || each.run < duration(0) || each.await < duration(0);
        }
        if (is_negative) {
            throw std::invalid_argument("weir: the recording has a negative time for stage '" +
                                        settings.stages[i].name + "'");
        }
        if (!gives_items) {
            throw std::invalid_argument("weir: no item of stage '" + settings.stages[i].name +
                                        "' goes on, so there is no rate to predict");
        }
    }
    if (from.stages.size() > settings.stages.size()) refuse(from.settings.stages.back().name);
    refuse_if(!is_finite(from.rate), "weir: the rate of the recording is infinite, or is no number");
}

// The rate of resample `number`: a simulation whose sample of each stage is as large as the recorded one, and
// is drawn from that at random with replacement.
WEIR_INLINE double resampled_rate(const pipeline_settings& settings, const recording& from,
                                  predict_options options, std::size_t number) {
    const std::uint64_t seed = subseed(options.seed ^ 0x9e3779b97f4a7c15U, number);
    std::vector<std::vector<recorded_task>> drawn(from.stages.size());
    std::vector<std::span<const recorded_task>> samples;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        const std::vector<recorded_task>& tasks = from.stages[i].tasks;
        for (std::size_t k = 0; k < tasks.size(); ++k) {
            drawn[i].push_back(tasks[high_product(splitmix64(subseed(seed, i), k), tasks.size())]);
        }
        samples.emplace_back(drawn[i]);
    }
    options.seed = seed;
    return simulator(settings, samples, from.stages, options).run().rate;
}

WEIR_INLINE double mean_rate(const prediction& p) noexcept {
    double sum = p.rate;
    for (const double each : p.resampled) sum += each;
    return sum / static_cast<double>(1 + p.resampled.size());
}

}  // namespace detail

WEIR_INLINE prediction predict(const pipeline_settings& settings, const recording& from,
                               const predict_options& options) {
    detail::check_settings(settings);
    detail::check_recording(settings, from);
    detail::refuse_if(options.items < 2 || detail::was_negative(options.items),
                      "weir: a prediction needs at least 2 items (predict_options::items)");
    detail::refuse_if(options.skipped == 0 || options.skipped >= options.items,
                      "weir: a prediction skips at least 1 item, and fewer than it simulates "
                      "(predict_options::skipped)");
    detail::refuse_if(detail::was_negative(options.resamples),
                      "weir: the resamples of a prediction were negative (predict_options::resamples)");
    detail::refuse_if(options.until < duration(0),
                      "weir: a prediction can't end before it begins (predict_options::until)");
    std::vector<std::span<const recorded_task>> samples;
    samples.reserve(from.stages.size());
    for (const recorded_stage& each : from.stages) samples.emplace_back(each.tasks);
    prediction all = detail::simulator(settings, samples, from.stages, options).run();
    all.low = all.high = all.rate;
    if (options.resamples == 0) return all;
    for (std::size_t i = 0; i < options.resamples; ++i) {
        all.resampled.push_back(detail::resampled_rate(settings, from, options, i));
    }
    std::vector<double> rates = all.resampled;
    std::sort(rates.begin(), rates.end());
    all.low = detail::smaller(all.rate, rates[rates.size() / 20]);
    all.high = detail::larger(all.rate, rates[rates.size() - 1 - rates.size() / 20]);
    return all;
}

WEIR_INLINE recording detail::calibrated(recording from, const prediction& today, predict_options options) {
    const double explained = mean_rate(today);
    if (from.rate <= 0 || explained <= from.rate || today.low <= from.rate) return from;
    std::size_t widest = 1;
    for (const stage_settings& each : from.settings.stages) widest = larger(widest, each.concurrency);
    options.resamples = 0;
    const auto rate_with = [&](double nanoseconds) {
        for (recorded_stage& each : from.stages) {
            each.overhead = duration(static_cast<std::int64_t>(smaller(nanoseconds, 9e18)));
        }
        return predict(from.settings, from, options).rate;
    };
    // These simulations use the seed of `today.rate`, so they deviate from the mean as `today.rate` does.
    const double wanted = from.rate * today.rate / explained;
    // The search is bounded by twice the overhead that explains the measured rate if the slowest stage has as
    // many slots as any, all of them always at work. With fewer slots, a smaller overhead explains it.
    double high = 2e9 * (1 / from.rate - 1 / explained) * static_cast<double>(widest);
    double low = 0;
    if (rate_with(high) > wanted) high = 0;
    constexpr int halvings = 12;
    for (int i = 0; i < halvings && high > 0; ++i) {
        const double middle = (low + high) / 2;
        (rate_with(middle) > wanted ? low : high) = middle;
    }
    (void)rate_with(high);
    return from;
}

WEIR_INLINE recording calibrated(recording from, const predict_options& options) {
    const prediction today = predict(from.settings, from, options);
    return detail::calibrated(std::move(from), today, options);
}

}  // namespace weir

#endif
