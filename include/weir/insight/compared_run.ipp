// weir insight, internal: bodies of the functions of insight/diff.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_COMPARED_RUN_IPP
#define WEIR_INSIGHT_COMPARED_RUN_IPP

#include <weir/insight/diff.hpp>

#include <weir/insight/predict.hpp>
#include <weir/insight/recording.hpp>
#include <weir/insight/verdict.hpp>
#include <weir/measure/item_pace.hpp>
#include <weir/measure/unit_text.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <array>      // for std::array
#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::move

namespace weir::detail {

inline constexpr std::string_view library_prefix = "weir: ";

WEIR_INLINE std::string without_library(const char* message) {
    const std::string_view text = message;
    return std::string(text.starts_with(library_prefix) ? text.substr(library_prefix.size()) : text);
}

// The share of the time of a stage's slots (workers) that the slots spent in `run` and `await`. The time in
// which a slot was `off` (not begun, or ended) doesn't count.
WEIR_INLINE std::optional<double> busy_share(const slot_times& times) noexcept {
    const duration all = times.total() - times.off;
    if (all <= duration(0)) return std::nullopt;
    return static_cast<double>(times.busy().count()) / static_cast<double>(all.count());
}

// If only the average of the times of the consumer (which takes the results) is known, the deviation counts
// as 1.5 times the average: more than in an exponential distribution (1), or in a log-normal one with sigma 1
// (1.31).
WEIR_INLINE void compared_run::add(const recorded_stage& consumer) {
    constexpr double unknown_variation = 1.5;
    compared_stage next{.name = "consumer", .is_consumer = true, .num_tasks = num_items};
    next.times = times_of(consumer);
    if (next.times.time.mean <= 0) return;
    next.busy = next.times.time.mean * 1e-9 * rate;
    if (consumer.tasks.size() == 1 && !consumer.in_sequence) {
        const double deviation = unknown_variation * next.times.time.mean;
        next.times.time.variance = deviation * deviation;
        next.times.log_time = {};
    }
    stages.push_back(std::move(next));
}

WEIR_INLINE compared_run::compared_run(const pipeline_stats& stats) : num_items(stats.num_items) {
    if (stats.stages.size() < 2 || stats.stages[0].elapsed <= duration(0)) {
        refused = "it has no statistics";
        return;
    }
    try {
        model = record_of(stats);
    } catch (const std::invalid_argument& e) {
        no_model = without_library(e.what());
    }
    for (std::size_t i = 0; i < stats.stages.size(); ++i) {
        const stage_stats& stage = stats.stages[i];
        if (!stage.task_times.has_quantiles()) {
            refused = "its policy keeps no histograms of the times";
            return;
        }
        compared_stage next{.name = stage.name, .concurrency = stage.concurrency};
        if (!stage.outputs.empty() && stage.outputs[0] < stats.channels.size())
            next.capacity = stats.channels[stage.outputs[0]].capacity;
        if (stage.setup) {
            next.keeps_order = stage.setup->keeps_order;
            next.threads = stage.setup->threads;
        }
        if (model && model->settings.stages[i].role == stage_role::aggregate)
            next.batch_size = static_cast<double>(model->settings.stages[i].batch_size);
        next.num_tasks = stage.num_tasks;
        next.num_failures = stage.num_failures;
        next.times = times_of(stage);
        next.states = stage.times();
        next.busy = busy_share(next.states);
        stages.push_back(std::move(next));
    }
    rate = stats.first_item ? stats.first_item->rate() : stats.rate();
    if (model) add(model->stages.back());
}

WEIR_INLINE compared_run::compared_run(const recording& from) : rate(from.rate), num_items(from.num_items) {
    prediction today;
    try {
        today = predict(from.settings, from, in_whole_waves({}, from.settings, from));
    } catch (const std::invalid_argument& e) {
        refused = without_library(e.what());
        return;
    }
    model = from;
    for (std::size_t i = 0; i + 1 < from.stages.size(); ++i) {
        const stage_settings& set = from.settings.stages[i];
        compared_stage next{.name = set.name, .concurrency = set.concurrency, .capacity = set.capacity};
        next.keeps_order = set.output_order == output_order::input;
        next.threads = from.settings.pools[set.pool];
        if (set.role == stage_role::aggregate) next.batch_size = static_cast<double>(set.batch_size);
        next.num_tasks = from.stages[i].num_tasks;
        next.num_failures = from.stages[i].num_failures;
        if (!from.stages[i].tasks.empty()) next.times = times_of(from.stages[i]);
        next.states = today.stages[i].times;
        next.busy = busy_share(next.states);
        stages.push_back(std::move(next));
    }
    if (num_items == 0) num_items = from.stages.back().num_tasks;
    if (rate <= 0) rate = today.rate;
    add(from.stages.back());
}

WEIR_INLINE double compared_run::rate_error() const noexcept {
    double most = 0;
    for (const compared_stage& each : stages) {
        const uncertain_mean& time = each.times.time;
        if (time.mean > 0) most = larger(most, time.squared_error() / (time.mean * time.mean));
    }
    return most;
}

WEIR_INLINE std::vector<stage_pair> pairs_of(const compared_run& before, const compared_run& after) {
    std::vector<stage_pair> pairs;
    std::vector<bool> is_paired(after.stages.size());
    for (const compared_stage& each : before.stages) {
        for (std::size_t i = 0; i < after.stages.size(); ++i) {
            const compared_stage& other = after.stages[i];
            if (is_paired[i] || other.name != each.name || other.is_consumer != each.is_consumer) continue;
            is_paired[i] = true;
            pairs.push_back({&each, &other});
            break;
        }
    }
    return pairs;
}

// \returns "2 -> 4"; a number of 0 is written "no limit".
WEIR_INLINE std::string change_text(std::size_t before, std::size_t after) {
    const auto number = [](std::size_t n) { return n == 0 ? "no limit" : std::to_string(n); };
    return number(before) + " -> " + number(after);
}

// Whether the sizes of batches differ by more than an incomplete last batch of each run explains: such a
// batch lowers the average `compared_stage::batch_size`. False if one of the sizes is unknown.
WEIR_INLINE bool has_other_batches(const compared_stage& a, const compared_stage& b) noexcept {
    const auto uncertain = [](const compared_stage& of) {
        return of.num_tasks == 0 ? 0 : of.batch_size * of.batch_size / static_cast<double>(of.num_tasks);
    };
    const double difference = a.batch_size - b.batch_size;
    return smaller(a.batch_size, b.batch_size) > 0 &&
           larger(difference, -difference) > uncertain(a) + uncertain(b);
}

WEIR_INLINE std::vector<std::string> changed_settings(const compared_run& before, const compared_run& after,
                                                      const std::vector<stage_pair>& pairs) {
    std::vector<std::string> all;
    for (const stage_pair& each : pairs) {
        const compared_stage& a = *each.before;
        const compared_stage& b = *each.after;
        const auto compare = [&](const char* what, std::size_t from, std::size_t to) {
            if (from != to) all.push_back(concat({what, a.name, ": ", change_text(from, to)}));
        };
        compare("concurrency of ", a.concurrency, b.concurrency);
        if (a.capacity != 0 && b.capacity != 0) compare("capacity behind ", a.capacity, b.capacity);
        compare("threads for ", a.threads, b.threads);
        if (a.keeps_order != b.keeps_order) {
            all.push_back(concat(
                {"order of ", a.name, ": ", a.keeps_order ? "input -> completion" : "completion -> input"}));
        }
        if (has_other_batches(a, b)) {
            compare("batches of ", number_as<std::size_t>(a.batch_size + 0.5),
                    number_as<std::size_t>(b.batch_size + 0.5));
        }
    }
    const auto list = [&](const compared_run& run, const char* which, auto is_in) {
        for (const compared_stage& each : run.stages) {
            bool is_paired = each.is_consumer;
            for (const stage_pair& pair : pairs) is_paired = is_paired || is_in(pair) == &each;
            if (!is_paired) all.push_back(concat({"only the ", which, " run has stage ", each.name}));
        }
    };
    list(before, "first", [](const stage_pair& p) { return p.before; });
    list(after, "second", [](const stage_pair& p) { return p.after; });
    return all;
}

// For each state, in the order of `states_by_number`: its share of the time of a stage's slots without `off`,
// or the variance of this share.
using shares_by_state = std::array<double, slot_states>;

WEIR_INLINE shares_by_state shares_of(const slot_times& times) noexcept {
    shares_by_state shares{};
    const double all = static_cast<double>((times.total() - times.off).count());
    for (std::size_t i = 0; i < slot_states; ++i) {
        const slot_state state = states_by_number[i].state;
        if (all <= 0 || state == slot_state::off) continue;
        shares[i] = static_cast<double>((times.*states_by_number[i].time).count()) / all;
    }
    return shares;
}

inline constexpr std::size_t state_simulations = 16;

// For each stage of a run and each state of its slots: the variance of the state's share of the slots' time,
// from simulations that differ in their random draws.
class simulated_shares {
  public:
    explicit simulated_shares(const compared_run& run) {
        constexpr double most_items = 2'000;
        constexpr std::uint64_t fewest_items = 20;
        if (!run.model) return;
        predict_options how = short_simulation(tasks_per_item(*run.model), most_items);
        how.items = larger(fewest_items, smaller(how.items, run.num_items));
        how.skipped = how.items / 10;
        std::vector<std::array<moments, slot_states>> all(run.model->stages.size());
        for (how.seed = 1; how.seed <= state_simulations; ++how.seed) {
            const prediction p = predict(run.model->settings, *run.model, how);
            for (std::size_t i = 0; i < all.size(); ++i) {
                const shares_by_state shares = shares_of(p.stages[i].times);
                for (std::size_t k = 0; k < slot_states; ++k) all[i][k].add(shares[k], 1);
            }
        }
        // The run may be longer than a simulation: then its shares vary less.
        const double factor =
            static_cast<double>(how.items) / static_cast<double>(larger(how.items, run.num_items));
        for (const auto& each : all) {
            shares_by_state& variances = variances_.emplace_back();
            for (std::size_t k = 0; k < slot_states; ++k) variances[k] = each[k].variance() * factor;
        }
    }

    // The variances of stage number `stage` of the run. Null if the run can't be simulated.
    const shares_by_state* of(std::ptrdiff_t stage) const noexcept {
        const auto i = static_cast<std::size_t>(stage);
        return i < variances_.size() ? &variances_[i] : nullptr;
    }

  private:
    std::vector<shares_by_state> variances_;
};

WEIR_INLINE std::vector<state_difference> changed_states(const compared_run& before,
                                                         const compared_run& after,
                                                         const std::vector<stage_pair>& pairs) {
    constexpr double least = 0.02, least_unless_simulated = 0.05;
    const simulated_shares first(before), second(after);
    std::vector<state_difference> all;
    for (const stage_pair& each : pairs) {
        const shares_by_state a = shares_of(each.before->states), b = shares_of(each.after->states);
        const shares_by_state* const errors_a = first.of(each.before - before.stages.data());
        const shares_by_state* const errors_b = second.of(each.after - after.stages.data());
        for (std::size_t k = 0; k < slot_states; ++k) {
            const double difference = b[k] - a[k];
            const double distance = larger(difference, -difference);
            state_difference next{each.before->name, states_by_number[k].name, a[k], b[k]};
            if (errors_a != nullptr && errors_b != nullptr) {
                const double reach =
                    t_quantile(state_simulations - 1) * root((*errors_a)[k] + (*errors_b)[k]);
                next.change = confidence_interval{difference - reach, difference + reach};
                if (next.change->holds(0)) continue;
            }
            if (distance >= (next.change ? least : least_unless_simulated)) all.push_back(std::move(next));
        }
    }
    return all;
}

WEIR_INLINE std::string verdict_on(const compared_run& run) {
    if (!run.model) return "not sure why it is not faster: " + run.no_model;
    try {
        return explain(*run.model).sentence;
    } catch (const std::invalid_argument& e) {
        return "not sure why it is not faster: " + without_library(e.what());
    }
}

}  // namespace weir::detail

#endif
