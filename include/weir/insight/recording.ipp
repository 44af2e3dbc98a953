// weir insight, internal: bodies of the functions of insight/recording.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_RECORDING_IPP
#define WEIR_INSIGHT_RECORDING_IPP

#include <weir/insight/recording.hpp>

#include <weir/platform/bounds.hpp>
#include <weir/platform/config.hpp>

#include <stdexcept>  // for std::invalid_argument

namespace weir {

namespace detail {

inline constexpr std::size_t sample_size = 1'024;

// Times at equal distances in the distribution of a histogram, scaled so that their mean is that of the
// histogram.
WEIR_INLINE std::vector<double> evenly_sampled(const histogram& of) {
    std::vector<double> times;
    const std::uint64_t count = of.count();
    const std::uint64_t n = smaller<std::uint64_t>(count, sample_size);
    double sum = 0;
    std::uint64_t before = 0;  // durations in earlier buckets
    for (const histogram_bucket& each : of.buckets()) {
        const double greatest = static_cast<double>(smaller(each.greatest, (of.max)()).count());
        const double width = greatest - static_cast<double>(each.least.count());
        while (times.size() < n) {
            const double rank = (static_cast<double>(times.size()) + 0.5) * static_cast<double>(count) /
                                static_cast<double>(n);
            const double inside = (rank - static_cast<double>(before)) / static_cast<double>(each.count);
            if (inside > 1) break;
            times.push_back(static_cast<double>(each.least.count()) + inside * width);
            sum += times.back();
        }
        before += each.count;
    }
    const double wanted = static_cast<double>(of.sum().count()) / static_cast<double>(count == 0 ? 1 : count);
    const double factor = sum > 0 ? wanted * static_cast<double>(times.size()) / sum : 0;
    for (double& each : times) each *= factor;
    return times;
}

// `results`: the mean number of results of a task. The numbers of results do not depend on the times.
WEIR_INLINE std::vector<recorded_task> to_tasks(const std::vector<double>& times, double run_share,
                                                double results) {
    std::vector<recorded_task> tasks;
    double given = 0;
    const std::size_t n = times.size();
    constexpr std::size_t stride = 619;  // a prime
    for (std::size_t i = 0; i < n; ++i) {
        const double time = times[n % stride == 0 ? i : i * stride % n];
        const auto whole = static_cast<std::int64_t>(time + 0.5);
        const auto run = static_cast<std::int64_t>(time * run_share + 0.5);
        const auto count = static_cast<std::uint32_t>(results * static_cast<double>(i + 1) - given + 0.5);
        given += count;
        tasks.push_back({duration(run), duration(whole - run), count});
    }
    return tasks;
}

WEIR_INLINE stage_role role_of(const stage_stats& stage) {
    if (stage.kind == "source") return stage_role::source;
    if (stage.kind == "sink") return stage_role::sink;
    if (stage.kind == "aggregate") return stage_role::aggregate;
    if (stage.kind == "disaggregate") return stage_role::disaggregate;
    return stage_role::function;
}

WEIR_INLINE double ratio_of(std::uint64_t of, std::uint64_t to) {
    return to == 0 ? 1 : static_cast<double>(of) / static_cast<double>(to);
}

WEIR_INLINE void refuse_recording(const std::string& why) {
    throw std::invalid_argument("weir: this run can't be predicted: " + why);
}

}  // namespace detail

WEIR_INLINE recording record_of(const pipeline_stats& stats) {
    constexpr double most_results = 1e6;  // of a task; more only in a damaged file
    recording all;
    const std::size_t n = stats.stages.size();
    if (n < 2) detail::refuse_recording("it has no statistics");
    if (stats.num_items == 0) detail::refuse_recording("no item has reached the consumer");
    all.settings.pools.assign(n, 0);  // pool i: the executor of stage i, if that is the first stage with it
    for (std::size_t i = 0; i < n; ++i) {
        const stage_stats& stage = stats.stages[i];
        for (const std::size_t queue : stage.outputs) {
            if (queue >= stats.channels.size()) detail::refuse_recording("its statistics lack a queue");
        }
        const bool is_linear = stage.inputs.size() <= 1 && stage.outputs.size() <= 1 &&
                               (i == 0 || (stage.inputs.size() == 1 && !stats.stages[i - 1].outputs.empty() &&
                                           stats.stages[i - 1].outputs[0] == stage.inputs[0]));
        if (!is_linear) detail::refuse_recording("it has branches, which predictions don't know yet");
        if (!stage.task_times.has_quantiles())
            detail::refuse_recording("its policy keeps no histograms of the times");

        stage_settings settings{.name = stage.name, .role = detail::role_of(stage)};
        settings.concurrency = detail::larger<std::size_t>(stage.concurrency, 1);
        const slot_times spent = stage.times();
        if (stage.setup) {
            if (stage.setup->keeps_order) settings.output_order = output_order::input;
            settings.pool = detail::smaller(stage.setup->executor, i);
            all.settings.pools[settings.pool] = stage.setup->threads;
        }
        recorded_stage sample{.num_tasks = stage.num_tasks, .num_failures = stage.num_failures};
        double results = 1;
        if (!stage.outputs.empty()) {
            const channel_stats& behind = stats.channels.at(stage.outputs[0]);
            settings.capacity = detail::larger<std::size_t>(behind.capacity, 1);
            results = detail::smaller(detail::ratio_of(behind.num_put, stage.num_tasks), most_results);
            if (settings.role == stage_role::aggregate) {
                const std::uint64_t taken = stats.channels.at(stage.inputs[0]).num_get;
                settings.batch_size = static_cast<std::size_t>(detail::ratio_of(taken, behind.num_put) + 0.5);
                if (settings.batch_size == 0) settings.batch_size = 1;
            }
        }
        if (settings.role == stage_role::source || settings.role == stage_role::function) {
            const double busy = static_cast<double>(spent.busy().count());
            const double whole = static_cast<double>(stage.busy.count());
            const double run_share = busy > 0 ? static_cast<double>(spent.run.count()) / busy : 1;
            // The time of a task includes that in which the function was ready and had no thread.
            const double work_share = whole > busy ? busy / whole : 1;
            std::vector<double> times = detail::evenly_sampled(stage.task_times);
            for (double& each : times) each *= work_share;
            sample.tasks = detail::to_tasks(times, run_share, results);
        }
        all.settings.stages.push_back(std::move(settings));
        all.stages.push_back(std::move(sample));
    }
    if (all.settings.stages.back().role != stage_role::sink) {  // the last stage is a for_each
        all.settings.stages.push_back({.name = "sink", .role = stage_role::sink});
        all.stages.emplace_back();
    }
    all.settings.stages.push_back({.name = "consumer", .role = stage_role::consumer});
    all.stages.emplace_back();
    if (!stats.stages.back().outputs.empty()) {
        const channel_stats& last = stats.channels.at(stats.stages.back().outputs[0]);
        const duration waited = detail::smaller(last.get_blocked, stats.elapsed);
        const duration each = (stats.elapsed - waited) / static_cast<std::int64_t>(stats.num_items);
        all.stages.back().tasks.push_back({each, duration(0), 1});
        all.stages.back().num_tasks = stats.num_items;
    }
    all.num_items = stats.num_items;
    all.rate = stats.first_item ? stats.first_item->rate() : stats.rate();
    return all;
}

}  // namespace weir

#endif
