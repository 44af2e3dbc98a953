// weir insight, internal: bodies of the functions of insight/tuning_plan.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_TUNING_CHANGES_IPP
#define WEIR_INSIGHT_TUNING_CHANGES_IPP

#include <weir/insight/tuning_plan.hpp>

#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::move

namespace weir::detail {

WEIR_INLINE void check_same_run(const pipeline_stats& before, const pipeline_stats& now) {
    bool is_same = before.elapsed <= now.elapsed && before.num_items <= now.num_items;
    for (std::size_t i = 0; is_same && i < before.stages.size(); ++i)
        is_same = before.stages.size() == now.stages.size() && before.stages[i].name == now.stages[i].name;
    refuse_if(!is_same,
              "weir: a tuner is of one run, and these statistics are of another run, or earlier ones; make a "
              "tuner for each run");
}

WEIR_INLINE bool are_same(const pipeline_settings& a, const pipeline_settings& b) {
    for (std::size_t i = 0; i < a.stages.size(); ++i) {
        if (a.stages[i].concurrency != b.stages[i].concurrency) return false;
        if (a.stages[i].capacity != b.stages[i].capacity) return false;
    }
    return a.pools == b.pools;
}
WEIR_INLINE bool has_settings(const std::vector<pipeline_settings>& all, const pipeline_settings& one) {
    for (const pipeline_settings& each : all) {
        if (are_same(each, one)) return true;
    }
    return false;
}

WEIR_INLINE pipeline_settings reduced(const pipeline_settings& from, const pipeline_settings& to) {
    pipeline_settings all = from;
    const auto lower = [](std::size_t& one, std::size_t other) { one = smaller(one, other); };
    for (std::size_t i = 0; i < all.stages.size(); ++i) {
        lower(all.stages[i].concurrency, to.stages[i].concurrency);
        lower(all.stages[i].capacity, to.stages[i].capacity);
    }
    for (std::size_t i = 0; i < all.pools.size(); ++i) lower(all.pools[i], to.pools[i]);
    return all;
}

WEIR_INLINE pipeline_settings fitted(pipeline_settings settings, const plan_limits& limits) {
    while (true) {
        const resources used = resources_of(settings, limits);
        if (is_within(used, limits)) return settings;
        const bool needs_slots = limits.num_slots != 0 && used.num_slots > limits.num_slots;
        const bool needs_threads = limits.threads != 0 && used.threads > limits.threads;
        const std::size_t over = needs_threads ? used.threads - limits.threads
                                 : needs_slots ? used.num_slots - limits.num_slots
                                               : used.items() - limits.items;
        std::size_t* most = nullptr;
        for (std::size_t i = 0; i < limits.fixed_room.size(); ++i) {
            std::size_t& num_slots = settings.stages[i].concurrency;
            std::size_t& room = settings.stages[i].capacity;
            if (!limits.fixed_slots[i] && num_slots > 1 && (most == nullptr || num_slots > *most))
                most = &num_slots;
            if (!needs_slots && !limits.fixed_room[i] && room > 1 && (most == nullptr || room > *most)) {
                most = &room;
            }
        }
        if (needs_threads) most = &settings.pools[limits.pool];
        if (most == nullptr) {
            throw std::invalid_argument(
                "weir: the budget of tune is too small for this pipeline: each stage needs a slot, and each "
                "queue room for an item");
        }
        // Steps of 1 would take long. At most two numbers of each stage can fall, its slots and its capacity.
        // So the greatest number falls by `share` at least. The threads of a pool fall by the whole excess.
        const std::size_t share = larger<std::size_t>(1, over / (2 * limits.fixed_room.size()));
        *most -= needs_threads ? over : smaller(share, *most - 1);
    }
}

WEIR_INLINE resources resources_in_use(const pipeline_settings& current, const plan_limits& limits,
                                       const pipeline_stats& now, const pipeline_stats& lap) {
    resources used = resources_of(current, limits);
    for (std::size_t i = 0; i < now.stages.size(); ++i) {
        const std::vector<slot_times>& slots_of_stage = lap.stages[i].per_slot;
        for (std::size_t k = now.stages[i].concurrency; k < slots_of_stage.size(); ++k) {
            if (slots_of_stage[k].off == duration(0)) ++used.num_slots;
        }
        if (now.stages[i].outputs.empty()) continue;
        const channel_stats& queue = now.channels[now.stages[i].outputs[0]];
        if (queue.size > queue.capacity) used.places += queue.size - queue.capacity;
    }
    return used;
}

// Changes numbers of slots (workers of stages), capacities and numbers of threads, and counts the resources
// that they take.
class cautious_changes {
  public:
    cautious_changes(const plan_limits& limits, const resources& used) : limits_(limits), used_(used) {}

    void lower(change_kind kind, const std::string& stage, std::size_t& number, std::size_t target) {
        if (target >= number) return;
        number = target;
        add(kind, stage, number);
    }
    void raise(change_kind kind, const std::string& stage, std::size_t& number, std::size_t target) {
        std::size_t& sum = kind == change_kind::concurrency ? used_.num_slots
                           : kind == change_kind::capacity  ? used_.places
                                                            : used_.threads;
        if (target <= number) return;
        // Binary search for the greatest increase that fits into the limits.
        const std::size_t before = sum;
        std::size_t more = 0;
        for (std::size_t too_much = target - number + 1; too_much - more > 1;) {
            const std::size_t middle = more + (too_much - more) / 2;
            sum = before + middle;
            (is_within(used_, limits_) ? more : too_much) = middle;
        }
        sum = before + more;
        number += more;
        if (more != 0) add(kind, stage, number);
    }
    std::vector<setting_change> made() && { return std::move(made_); }

  private:
    void add(change_kind kind, const std::string& stage, std::size_t number) {
        made_.push_back({kind, stage, static_cast<double>(number), limits_.pool});
    }

    const plan_limits& limits_;
    resources used_;
    std::vector<setting_change> made_;
};

WEIR_INLINE std::vector<setting_change> changes_towards(const pipeline_settings& target,
                                                        pipeline_settings& reached, const plan_limits& limits,
                                                        resources used) {
    cautious_changes all(limits, used);
    const std::size_t n = limits.fixed_room.size();
    for (const auto change : {&cautious_changes::lower, &cautious_changes::raise}) {
        for (std::size_t i = 0; i < n; ++i) {
            const stage_settings& to = target.stages[i];
            stage_settings& one = reached.stages[i];
            (all.*change)(change_kind::concurrency, to.name, one.concurrency, to.concurrency);
            (all.*change)(change_kind::capacity, to.name, one.capacity, to.capacity);
        }
        if (limits.threads == 0) continue;
        (all.*change)(change_kind::threads, {}, reached.pools[limits.pool], target.pools[limits.pool]);
    }
    return std::move(all).made();
}

}  // namespace weir::detail

#endif
