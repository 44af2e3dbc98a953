// weir insight, internal: bodies of the functions of insight/predict.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_PREDICT_IPP
#define WEIR_INSIGHT_PREDICT_IPP

#include <weir/insight/predict.hpp>

#include <weir/insight/simulator.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::move, std::swap

namespace weir {

namespace detail {

WEIR_INLINE void check_recording(const pipeline_settings& settings, const recording& from) {
    if (from.stages.size() != from.settings.stages.size()) {
        throw std::invalid_argument("weir: the recording has settings and samples of different stages");
    }
    const auto refuse = [](const std::string& stage, const char* why, const char* rest) {
        throw std::invalid_argument(concat({"weir: ", why, " stage '", stage, "'", rest}));
    };
    constexpr const char* is_other = "the recording is of another pipeline: it has no times for";
    for (std::size_t i = 0; i < settings.stages.size(); ++i) {
        if (i >= from.stages.size() || from.settings.stages[i].name != settings.stages[i].name ||
            from.settings.stages[i].role != settings.stages[i].role) {
            refuse(settings.stages[i].name, is_other, "");
        }
        bool is_negative = from.stages[i].overhead < duration(0);
        for (const recorded_task& each : from.stages[i].tasks) {
            is_negative = is_negative || each.run < duration(0) || each.await < duration(0);
        }
        if (is_negative) refuse(settings.stages[i].name, "the recording has a negative time for", "");
        if (!gives_items(from.stages[i]))
            refuse(settings.stages[i].name, "no item of", " goes on, so there is no rate to predict");
    }
    if (from.stages.size() > settings.stages.size()) refuse(from.settings.stages.back().name, is_other, "");
    refuse_if(!is_finite(from.rate), "weir: the rate of the recording is infinite, or is no number");
}

WEIR_INLINE double elements_per_item(const pipeline_settings& settings) {
    std::vector<double> batches;
    for (const stage_settings& each : settings.stages) {
        if (each.role == stage_role::aggregate) batches.push_back(static_cast<double>(each.batch_size));
        if (each.role == stage_role::disaggregate && !batches.empty()) batches.pop_back();
    }
    double all = 1;
    for (const double size : batches) all *= size;
    return all;
}

WEIR_INLINE double mean_rate(const prediction& p) noexcept {
    double sum = p.rate;
    for (const double each : p.resampled) sum += each;
    return sum / static_cast<double>(1 + p.resampled.size());
}

WEIR_INLINE predict_options short_simulation(double tasks, double most) noexcept {
    constexpr double tasks_of_usual_item = 20, fewest = 40;
    const double items = larger(fewest, smaller(most, most * tasks_of_usual_item / tasks));
    predict_options how;
    how.items = static_cast<std::uint64_t>(items);
    how.skipped = how.items / 10;
    return how;
}

WEIR_INLINE double mean_seconds(const recorded_stage& stage) noexcept {
    double sum = 0;
    for (const recorded_task& each : stage.tasks)
        sum += static_cast<double>(each.run.count()) + static_cast<double>(each.await.count());
    return stage.tasks.empty() ? 0 : sum * 1e-9 / static_cast<double>(stage.tasks.size());
}

WEIR_INLINE predict_options in_whole_waves(predict_options how, const pipeline_settings& settings,
                                           const recording& from) noexcept {
    if (from.num_items == 0) return how;
    double at_once = 1;  // items in a stage
    for (std::size_t i = 0; i < from.stages.size() && i < settings.stages.size(); ++i) {
        const double tasks =
            static_cast<double>(from.stages[i].num_tasks) / static_cast<double>(from.num_items);
        auto workers = static_cast<double>(settings.stages[i].concurrency);
        // No more slots work than the rate needs; a change may double it.
        if (from.rate > 0)
            workers = smaller(workers, 2 * (1 + from.rate * tasks * mean_seconds(from.stages[i])));
        at_once = larger(at_once, workers / larger(1.0, tasks));
    }
    const auto wave = nearest<std::uint64_t>(at_once);
    const bool is_valid = 0 < how.skipped && how.skipped < how.items;  // else predict() throws
    if (!is_valid || wave == 1 || 20 * wave <= how.items) return how;
    const std::uint64_t waves = (how.items + wave - 1) / wave;
    const std::uint64_t skipped = larger<std::uint64_t>(2, (how.skipped + wave - 1) / wave);
    how.items = larger(waves, skipped + 3) * wave;
    how.skipped = skipped * wave;
    return how;
}

WEIR_INLINE double tasks_per_item(const recording& from) noexcept {
    double tasks = 0;
    for (const recorded_stage& each : from.stages) tasks += static_cast<double>(each.num_tasks);
    return from.num_items == 0 ? 1 : larger(1.0, tasks / static_cast<double>(from.num_items));
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
    prediction all = detail::simulator(settings, from.stages, options, false).run();
    all.low = all.high = all.rate;
    if (options.resamples == 0) return all;
    std::vector<double> rates;  // in ascending order; std::sort would take longer to compile
    predict_options resample = options;
    for (std::size_t i = 0; i < options.resamples; ++i) {
        resample.seed = detail::subseed(options.seed ^ 0x9e3779b97f4a7c15U, i);
        const double rate = detail::simulator(settings, from.stages, resample, true).run().rate;
        all.resampled.push_back(rate);
        rates.push_back(rate);
        for (std::size_t k = i; k > 0 && rates[k - 1] > rate; --k) std::swap(rates[k - 1], rates[k]);
    }
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
    // These simulations use the seed of `today` (the prediction with the run's own settings): so they deviate
    // from the mean as `today.rate` does.
    const double wanted = from.rate * today.rate / explained;
    // The bound of the search is twice the overhead (the library's time for an invocation) that explains the
    // measured rate if the slowest stage has `widest` slots (workers), always at work. With fewer slots, a
    // smaller overhead explains this rate.
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
