// weir insight, internal: bodies of the functions of insight/recording.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_RECORDING_IPP
#define WEIR_INSIGHT_RECORDING_IPP

#include <weir/insight/recording.hpp>

#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <stdexcept>    // for std::invalid_argument
#include <string_view>  // for std::string_view

namespace weir {

namespace detail {

inline constexpr std::size_t sample_size = 1'024;
inline constexpr std::uint32_t most_results = 1'000'000;  // of an invocation; more only in damaged files

// Quantiles of a histogram at equal steps of probability, in ns, scaled so that their mean is that of the
// histogram. As many as the histogram has durations, at most `most`.
WEIR_INLINE std::vector<double> evenly_sampled(const histogram& of, std::uint64_t most) {
    std::vector<double> times;
    const std::uint64_t count = of.count();
    const std::uint64_t n = smaller(count, most);
    double sum = 0;
    std::uint64_t before = 0;  // the number of durations in earlier buckets
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

// Makes tasks from times in ns. `run_share`: the part of each time that is `run`; the rest is `await`.
// `results`: the mean number of results of a task. The stride makes the numbers of results independent of the
// times, which are sorted.
WEIR_INLINE std::vector<recorded_task> to_tasks(const std::vector<double>& times, double run_share,
                                                double results) {
    const std::size_t n = times.size();
    std::vector<recorded_task> tasks(n);
    double given = 0;
    constexpr std::size_t stride = 619;  // a prime
    for (std::size_t i = 0; i < n; ++i) {
        const double time = times[n % stride == 0 ? i : i * stride % n];
        const auto whole = nearest<std::int64_t>(time);
        const auto run = nearest<std::int64_t>(time * run_share);
        const auto count = nearest<std::uint32_t>(results * static_cast<double>(i + 1) - given);
        given += count;
        tasks[i] = {.run = duration(run), .await = duration(whole - run), .results = count};
    }
    return tasks;
}

WEIR_INLINE double ratio_of(std::uint64_t of, std::uint64_t to) {
    return to == 0 ? 1 : static_cast<double>(of) / static_cast<double>(to);
}

WEIR_INLINE double failed_share(const stage_stats& stage) {
    return smaller(1.0, ratio_of(stage.num_failures, larger<std::uint64_t>(stage.num_tasks, 1)));
}

// Makes tasks of a stage without samples. The histogram has the times of successful invocations only; failed
// ones all get their average time. `results`: the mean number of results of all invocations.
WEIR_INLINE std::vector<recorded_task> estimated_tasks(const stage_stats& stage, double results) {
    const double busy = static_cast<double>(stage.times().busy().count());
    const double run_share = busy > 0 ? static_cast<double>(stage.times().run.count()) / busy : 1;
    const double at_work = share_without_thread_waits(stage);
    const double failed = failed_share(stage);
    const auto n = static_cast<double>(smaller<std::uint64_t>(stage.num_tasks, sample_size));
    const auto num_failed = nearest<std::size_t>(failed * n);
    std::vector<double> times = evenly_sampled(stage.task_times, sample_size - num_failed);
    for (double& each : times) each *= at_work;
    if (!stage.outputs.empty() && failed < 1) results /= 1 - failed;
    std::vector<recorded_task> tasks = to_tasks(times, run_share, results);
    const double failure_time = static_cast<double>(stage.ave_failure_time().count()) * at_work;
    for (const recorded_task& each : to_tasks(std::vector<double>(num_failed, failure_time), run_share, 0))
        tasks.push_back({each.run, each.await, 0, true});
    return tasks;
}

WEIR_INLINE duration to_duration(double ns) { return duration(nearest<std::int64_t>(ns)); }

WEIR_INLINE double nanoseconds(const task_sample& one) {
    return static_cast<double>(one.run.count()) + static_cast<double>(one.await.count()) +
           static_cast<double>(one.runnable.count());
}

// \returns the factor that makes the mean time of a sample equal to `mean`, the mean of all invocations in
//          ns; 1 if one of these means is 0. `failed`: true: both means are those of failed invocations;
//          false: of successful ones.
WEIR_INLINE double factor_to(double mean, bool failed, const task_samples& samples) {
    double sum = 0;
    double count = 0;
    for (const task_sample& each : samples.tasks) {
        if (each.failed != failed) continue;
        sum += nanoseconds(each);
        ++count;
    }
    return sum > 0 && mean > 0 ? mean * count / sum : 1;
}

// Replaces invocations by others of the sample, at random, until the mean number of results is `wanted`:
// their sum is off by less than half a result. Gives up after a number of attempts.
WEIR_INLINE void correct_results(std::vector<recorded_task>& tasks, double wanted) {
    const std::vector<recorded_task> all = tasks;
    const auto n = static_cast<double>(tasks.size());
    double missing = wanted * n;
    for (const recorded_task& each : tasks) missing -= each.results;
    const double sign = missing < 0 ? -1 : 1;
    missing *= sign;
    // The number of attempts suffices if some results differ; if all are equal, no attempt changes anything.
    for (std::uint64_t k = 0; missing >= 0.5 && k < 64 * tasks.size(); ++k) {
        recorded_task& old = tasks[number_as<std::size_t>(high_product(splitmix64(1, k), tasks.size()))];
        const recorded_task& other = all[number_as<std::size_t>(high_product(splitmix64(2, k), all.size()))];
        const double more = sign * (static_cast<double>(other.results) - static_cast<double>(old.results));
        if (more <= 0 || more >= missing + 0.5) continue;
        missing -= more;
        old = other;
    }
}

// The tasks of the samples that a run kept of a stage. If the samples lack some invocations, the tasks are
// changed so that the means of times and results are those of all invocations. `results`: the mean number of
// results of all invocations.
WEIR_INLINE std::vector<recorded_task> sampled_tasks(const stage_stats& stage, double results) {
    const task_samples& samples = *stage.samples;
    const bool has_all = samples.one_in == 1;
    const bool has_results = !stage.outputs.empty();  // else each success counts as an item of the consumer
    const double factors[] = {
        has_all ? 1 : factor_to(static_cast<double>(stage.ave_time().count()), false, samples),
        has_all ? 1 : factor_to(static_cast<double>(stage.ave_failure_time().count()), true, samples)};
    std::vector<recorded_task> tasks(samples.tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const task_sample& each = samples.tasks[i];
        const double factor = factors[each.failed ? 1 : 0];
        tasks[i].run = to_duration(static_cast<double>(each.run.count()) * factor);
        tasks[i].await = to_duration(static_cast<double>(each.await.count()) * factor);
        tasks[i].failed = each.failed;
        tasks[i].results = has_results ? smaller(each.results, most_results) : each.failed ? 0U : 1U;
    }
    if (!has_all && has_results) correct_results(tasks, results);
    return tasks;
}

// \returns the largest size, if about 9 in 10 batches or more have it; `sizes` then stays empty. If fewer
//          have it, returns the average, and stores the sizes of the sampled batches in `sizes`.
WEIR_INLINE std::size_t sampled_batch_size(const task_samples& batches, std::vector<std::uint32_t>& sizes) {
    std::uint64_t sum = 0;
    std::uint32_t most = 1;
    std::size_t full = 0;
    for (const task_sample& each : batches.tasks) {
        sum += each.taken;
        full = each.taken > most ? 1 : each.taken == most ? full + 1 : full;
        most = larger(most, each.taken);
    }
    const std::size_t n = batches.tasks.size();
    if (10 * full + 9 >= 9 * n) return most;
    for (const task_sample& each : batches.tasks) sizes.push_back(each.taken);
    return number_as<std::size_t>((sum + n / 2) / n);
}

WEIR_INLINE bool has_samples(const stage_stats& stage) {
    return stage.samples && !stage.samples->tasks.empty();
}

// The recording of a run's consumer, which takes the results. `last`: the consumer's input queue.
WEIR_INLINE recorded_stage recorded_consumer(const pipeline_stats& stats, const channel_stats& last) {
    recorded_stage consumer;
    consumer.num_tasks = stats.num_items;
    const duration waited = smaller(sum(last.get_blocked, time_before_first_get(stats, last)), stats.elapsed);
    const duration mean = (stats.elapsed - waited) / static_cast<std::int64_t>(stats.num_items);
    const bool is_sampled = stats.consumer && !stats.consumer->tasks.empty();
    std::vector<recorded_task> tasks(is_sampled ? stats.consumer->tasks.size() : 1);
    if (is_sampled) {
        const task_samples& samples = *stats.consumer;
        const double factor =
            samples.one_in == 1 ? 1 : factor_to(static_cast<double>(mean.count()), false, samples);
        for (std::size_t i = 0; i < tasks.size(); ++i)
            tasks[i].run = to_duration(static_cast<double>(samples.tasks[i].run.count()) * factor);
    } else {
        tasks[0].run = mean;
    }
    consumer.tasks.swap(tasks);
    return consumer;
}

[[noreturn]] WEIR_INLINE void refuse_recording(std::string_view why) {
    throw std::invalid_argument(concat({"weir: this run can't be predicted: ", why}));
}

}  // namespace detail

WEIR_INLINE recording record_of(const pipeline_stats& stats) {
    recording all;
    const std::size_t n = stats.stages.size();
    if (n < 2 || (stats.elapsed > duration(0) && stats.stages[0].elapsed <= duration(0)))
        detail::refuse_recording("it has no statistics");
    if (stats.num_items == 0) detail::refuse_recording("no item has reached the consumer");
    all.rate = stats.first_item ? stats.first_item->rate() : stats.rate();
    // `pools[i]`: the threads of the executor of stage i if no earlier stage has this executor; else 0.
    all.settings.pools = std::vector<std::size_t>(n);
    // Without a sink, the last stage uses the items itself, as `for_each` does.
    const bool has_sink = detail::role_of(stats.stages.back()) == stage_role::sink;
    const std::size_t num_stages = n + (has_sink ? 1 : 2);
    all.settings.stages = std::vector<stage_settings>(num_stages);
    all.stages = std::vector<recorded_stage>(num_stages);
    for (std::size_t i = 0; i < n; ++i) {
        const stage_stats& stage = stats.stages[i];
        for (const std::size_t queue : stage.outputs) {
            if (queue >= stats.channels.size()) detail::refuse_recording("its statistics lack a queue");
        }
        if (i == 0 && detail::role_of(stage) != stage_role::source)
            detail::refuse_recording("its first stage is no source");
        const bool is_linear = stage.inputs.size() <= 1 && stage.outputs.size() <= 1 &&
                               (i == 0 || (stage.inputs.size() == 1 && !stats.stages[i - 1].outputs.empty() &&
                                           stats.stages[i - 1].outputs[0] == stage.inputs[0]));
        if (!is_linear) detail::refuse_recording("it has branches, which predictions don't know yet");
        if (!detail::has_samples(stage) && !stage.task_times.has_quantiles())
            detail::refuse_recording("its policy keeps no histograms of the times");
        stage_settings& settings = all.settings.stages[i];
        settings.name = stage.name;
        settings.role = detail::role_of(stage);
        settings.concurrency = detail::larger<std::size_t>(stage.concurrency, 1);
        if (stage.setup) {
            if (stage.setup->keeps_order) settings.output_order = output_order::input;
            settings.is_resizable = stage.setup->is_resizable;
            settings.pool = detail::smaller(stage.setup->executor, i);
            all.settings.pools[settings.pool] = stage.setup->threads;
        }
        recorded_stage& sample = all.stages[i];
        sample.num_tasks = stage.num_tasks;
        sample.num_failures = stage.num_failures;
        double results = 1;
        // The items of a `for_each` include the failed ones, and those of a prediction do not.
        if (stage.outputs.empty()) all.rate *= 1 - detail::failed_share(stage);
        if (!stage.outputs.empty()) {
            const channel_stats& behind = stats.channels.at(stage.outputs[0]);
            settings.capacity = detail::larger<std::size_t>(behind.capacity, 1);
            if (stage.setup && behind.max_bytes != 0 && stage.setup->item_bytes != 0) {
                settings.byte_room =
                    detail::larger<std::size_t>(behind.max_bytes / stage.setup->item_bytes, 1);
            }
            results = detail::smaller(detail::ratio_of(behind.num_put, stage.num_tasks),
                                      static_cast<double>(detail::most_results));
            if (settings.role == stage_role::aggregate) {
                const std::uint64_t taken = stats.channels.at(stage.inputs[0]).num_get;
                settings.batch_size = detail::nearest<std::size_t>(detail::ratio_of(taken, behind.num_put));
                if (detail::has_samples(stage))
                    settings.batch_size = detail::sampled_batch_size(*stage.samples, sample.batch_sizes);
                if (settings.batch_size == 0) settings.batch_size = 1;
            }
        }
        if (settings.role == stage_role::source || settings.role == stage_role::function) {
            sample.is_even = !detail::has_samples(stage);
            sample.tasks = sample.is_even ? detail::estimated_tasks(stage, results)
                                          : detail::sampled_tasks(stage, results);
        }
        if (!detail::gives_items(sample)) {
            detail::refuse_recording(
                detail::concat({"of the recorded items of stage '", stage.name, "', none goes on"}));
        }
    }
    const auto name_added_stage = [&all, n](std::size_t i, std::string name, stage_role role) {
        for (std::size_t k = 0; k < n; ++k) {
            if (all.settings.stages[k].name == name) name = "the " + name;
        }
        all.settings.stages[i].name = name;
        all.settings.stages[i].role = role;
    };
    if (!has_sink) name_added_stage(n, "sink", stage_role::sink);
    name_added_stage(num_stages - 1, "consumer", stage_role::consumer);
    if (!stats.stages.back().outputs.empty()) {
        all.stages.back() =
            detail::recorded_consumer(stats, stats.channels.at(stats.stages.back().outputs[0]));
    }
    detail::check_settings(all.settings);
    all.num_items = stats.num_items;
    return all;
}

}  // namespace weir

#endif
