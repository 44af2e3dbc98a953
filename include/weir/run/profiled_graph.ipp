// weir run, internal: bodies of the functions of run/profiled_graph.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_PROFILED_GRAPH_IPP
#define WEIR_RUN_PROFILED_GRAPH_IPP

#include <weir/run/profiled_graph.hpp>

#include <weir/platform/config.hpp>

#include <exception>  // for std::current_exception
#include <utility>    // for std::move

namespace weir::detail {

template <class Policy>
WEIR_INLINE profiled_graph<Policy>::profiled_graph(executor& ex, run_options options,
                                                   owned<run_profiler> profiler)
    : base(ex, std::move(options)), profiler_(std::move(profiler)) {
    this->set_profiled(profiler_ != nullptr);
}

template <class Policy>
WEIR_INLINE auto profiled_graph<Policy>::max_slots(std::size_t stage) const -> std::size_t {
    const executor& where = stages_[stage]->own_executor();
    if (!stages_[stage]->blocks_threads() || where.traits().exclusive) return SIZE_MAX;  // or virtual time
    std::size_t taken = 0;
    for (const auto& each : stages_) {
        each->for_each_slot([&taken](slot& s) { taken += has_thread(s.state_since().first) ? 1U : 0U; });
    }
    const std::size_t threads = where.parallelism();
    const std::size_t left = threads > taken ? threads - taken : 1;
    return detail::larger(slots_[stage].before, threads == 2 ? left : left - 1);
}

template <class Policy>
WEIR_INLINE auto profiled_graph<Policy>::activity(std::size_t stage) const -> stage_activity {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    stage_activity all = look_at_slots(stage, before);
    // A slot that was idle may have been woken by another one that became idle later: looks twice.
    all.is_idle = all.is_idle && look_at_slots(stage, after).is_idle && before == after;
    all.is_idle = all.is_idle || this->have_all_left();  // slots of destroyed workers are idle, too
    return all;
}

template <class Policy>
WEIR_INLINE auto profiled_graph<Policy>::figures(std::size_t stage) const -> stage_figures {
    stillness still;
    const std::int64_t until = this->now();
    const stage_stats s = stages_[stage]->stats(until, still);
    stage_figures f;
    f.num_inputs = s.inputs.size();
    f.num_slots = s.per_slot.size();
    for (const std::size_t each : s.inputs) {
        const channel_stats queue = queues_[each]->stats(until);
        f.given += queue.num_put;
        f.taken += queue.num_get;
        f.starved += queue.get_blocked;
    }
    // `num_early`: results that wait in the queue for the result of an earlier item; `num_put` lacks them.
    for (const std::size_t each : s.outputs)
        f.results += queues_[each]->stats(until).num_put + queues_[each]->num_early();
    f.num_tasks = s.num_tasks;
    f.num_failures = s.num_failures;
    f.task_time = s.task_time;
    f.times = s.times();
    return f;
}

template <class Policy>
WEIR_INLINE void profiled_graph<Policy>::add_capacity(std::size_t stage, std::size_t items) {
    for (const std::size_t each : stages_[stage]->outputs()) {
        const site_seen seen = look(each);
        if (queue_capacities_[each].before == 0) queue_capacities_[each].before = seen.capacity;
        queue_capacities_[each].now = seen.size + items;
        queues_[each]->set_capacity(queue_capacities_[each].now);
    }
}

template <class Policy>
WEIR_INLINE void profiled_graph<Policy>::hold_stages() {
    queue_capacities_.resize(queues_.size());
    slots_.resize(stages_.size());
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        stages_[i]->add_quota();
        slots_[i].before = slots_[i].now = stages_[i]->concurrency();
    }
}

template <class Policy>
WEIR_INLINE auto profiled_graph<Policy>::take_step() noexcept -> std::optional<time_point> {
    try {
        const std::optional<time_point> next = profiler_->step(*this);
        if (!next) profiler_->finish(*this);
        return next;
    } catch (...) {
        profiler_->abandon(*this, std::current_exception());
        return std::nullopt;
    }
}

template <class Policy>
WEIR_INLINE void profiled_graph<Policy>::release_stages() noexcept {
    for (std::size_t i = 0; i < queues_.size(); ++i) {
        try {
            if (queue_capacities_[i].before == 0 || look(i).capacity != queue_capacities_[i].now) continue;
            queues_[i]->set_capacity(queue_capacities_[i].before);
        } catch (...) {
            continue;  // no memory: the queue stays as it is
        }
    }
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        try {
            reset_slots(i);
        } catch (...) {
            continue;
        }
    }
    this->set_profiled(false);
    for (auto& stage : stages_) stage->quota()->open();
}

template <class Policy>
WEIR_INLINE auto profiled_graph<Policy>::mark_begin_of_rest() noexcept -> std::optional<time_point> {
    try {
        pipeline_stats all = this->stats();
        bool is_long = false;
        for (const channel_stats& each : all.channels) is_long = is_long || each.size > each.capacity;
        before_rest_ = std::move(all);
        if (!is_long || next_pause_ > longest_pause || this->have_all_left()) return std::nullopt;
        const time_point next = weir::saturating_add(current_time(), next_pause_);
        next_pause_ *= 2;
        return next;
    } catch (...) {
        return std::nullopt;  // no memory: `conclude_profile` subtracts the statistics of an earlier call
    }
}

template <class Policy>
WEIR_INLINE void profiled_graph<Policy>::conclude_profile() noexcept {
    try {
        profiler_->conclude(this->stats() - before_rest_);
    } catch (...) {
        return;  // no memory, so there is no conclusion
    }
}

template <class Policy>
WEIR_INLINE auto profiled_graph<Policy>::look_at_slots(std::size_t stage, std::uint64_t& sum) const
    -> stage_activity {
    stage_activity all{true, false, this->begin_.time_since_epoch().count()};
    stages_[stage]->for_each_slot([&all, &sum](slot& each) {
        const auto [state, since] = each.state_since();
        all.is_idle = all.is_idle && detail::is_idle(state);
        all.is_starved = all.is_starved || state == slot_state::wait_get;
        all.since = detail::larger(all.since, since);
        sum += static_cast<std::uint64_t>(since);
    });
    return all;
}

template <class Policy>
WEIR_INLINE auto profiled_graph<Policy>::look(std::size_t queue) const -> site_seen {
    site_seen seen;
    queues_[queue]->inspect(seen);
    return seen;
}

}  // namespace weir::detail

#endif
