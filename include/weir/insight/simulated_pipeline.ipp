// weir insight, internal: bodies of the functions of insight/simulator.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_SIMULATED_PIPELINE_IPP
#define WEIR_INSIGHT_SIMULATED_PIPELINE_IPP

#include <weir/insight/simulator.hpp>

#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <algorithm>  // for std::pop_heap, std::push_heap
#include <utility>    // for std::as_const

namespace weir::detail {

WEIR_INLINE std::vector<std::uint32_t> shuffled(std::size_t n, std::uint64_t seed) {
    std::vector<std::uint32_t> order(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto other = number_as<std::size_t>(high_product(splitmix64(~seed, i), i + 1));
        order[i] = order[other];
        order[other] = static_cast<std::uint32_t>(i);
    }
    return order;
}

WEIR_INLINE std::size_t num_slots(const pipeline_settings& settings) noexcept {
    std::size_t n = 0;
    for (const stage_settings& each : settings.stages) n += each.concurrency;
    return n;
}

WEIR_INLINE simulated_pipeline::simulated_pipeline(const pipeline_settings& settings,
                                                   std::span<const recorded_stage> recorded,
                                                   const predict_options& options, bool is_resample)
    : settings_(settings), options_(options), is_resample_(is_resample), stages_(settings.stages.size()),
      queues_(stages_.size() - 1), pools_(settings.pools.size()), slots_(num_slots(settings)) {
    for (std::size_t i = 0; i < pools_.size(); ++i) {
        pools_[i].is_limited = settings.pools[i] != 0;
        pools_[i].free = settings.pools[i];
    }
    std::size_t who = 0;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        const stage_settings& s = settings.stages[i];
        stage& next = stages_[i];
        next.settings = &s;
        next.recorded = &recorded[i];
        next.keeps_order =
            s.role == stage_role::function && s.output_order == output_order::input && s.concurrency > 1;
        next.seed = subseed(options.seed, i);
        // A resample without a result has no rate, and would be simulated for `most_made` items.
        while (is_resample && !resample_gives_items(next)) next.seed = subseed(next.seed, i);
        next.working = s.concurrency;
        if (!recorded[i].in_sequence) next.order = shuffled(recorded[i].tasks.size(), next.seed);
        if (s.role != stage_role::consumer) {
            queues_[i].capacity = s.byte_room == 0 ? s.capacity : smaller(s.capacity, s.byte_room);
            if (next.keeps_order) queues_[i].put_in_order_by = static_cast<index>(i);
        }
        for (std::size_t k = 0; k < s.concurrency; ++k) slots_[who++].stage = static_cast<index>(i);
    }
    end_ = smaller<instant>(options.until.count(), INT64_MAX / static_cast<instant>(slots_.size()));
}

WEIR_INLINE std::uint64_t simulated_pipeline::resampled(const stage& of, std::uint64_t i) noexcept {
    return high_product(splitmix64(of.seed, i), of.recorded->tasks.size());
}

WEIR_INLINE bool simulated_pipeline::resample_gives_items(const stage& of) noexcept {
    const std::vector<recorded_task>& tasks = of.recorded->tasks;
    bool any = tasks.empty();
    for (std::size_t i = 0; i < tasks.size() && !any; ++i) any = tasks[resampled(of, i)].results != 0;
    return any;
}

WEIR_INLINE recorded_task simulated_pipeline::draw(const stage& of, std::uint64_t k) const noexcept {
    const recorded_stage& recorded = *of.recorded;
    if (recorded.tasks.empty()) return {};
    const std::uint64_t n = recorded.tasks.size();
    std::uint64_t i = k % n;
    // Each n successive invocations use all n tasks, in the order `of.order`, from a random position on.
    if (!recorded.in_sequence) i = of.order[(i + high_product(splitmix64(of.seed, k / n), n)) % n];
    if (is_resample_) i = resampled(of, i);
    recorded_task task = recorded.tasks[i];
    const double factor = of.settings->time_factor;
    if (!are_equal(factor, 1)) {
        const auto scaled = [factor](duration d) {
            return duration(nearest<std::int64_t>(static_cast<double>(d.count()) * factor));
        };
        task.run = scaled(task.run);
        task.await = scaled(task.await);
    }
    duration& longer = task.run > duration(0) ? task.run : task.await;
    if (!are_equal(factor, 0)) longer = sum(longer, recorded.overhead);
    return task;
}

WEIR_INLINE void simulated_pipeline::enter(slot& me, slot_state next) noexcept {
    stages_[me.stage].spent[static_cast<std::size_t>(me.state)] += now_ - me.since;
    me.since = now_;
    me.state = next;
}

WEIR_INLINE void simulated_pipeline::settle(queue& q) noexcept {
    const instant passed = now_ - q.last;
    if (passed == 0) return;
    q.last = now_;
    q.put_wait += passed * static_cast<instant>(q.putters.size());
    if (!q.putters.empty()) q.put_blocked += passed;
    if (!q.getters.empty()) q.get_blocked += passed;
    if (q.items.empty()) q.empty += passed;
}

WEIR_INLINE bool simulated_pipeline::put(queue& to, item what, index who) {
    settle(to);
    if (to.getters.empty() && (!to.putters.empty() || to.items.size() >= to.capacity)) {
        to.putters.push(who);
        return false;
    }
    let_in(to, what);
    return true;
}

WEIR_INLINE void simulated_pipeline::let_in(queue& to, item what) {
    ++to.num_put;
    if (to.getters.empty()) {
        to.items.push(what);
        return;
    }
    const index getter = to.getters.pop();
    slots_[getter].holds = what;
    slots_[getter].number = to.num_get++;
    wake(getter, phase::begin);
}

WEIR_INLINE void simulated_pipeline::wake_after(instant time, index who) {
    add(events_, {now_ + smaller(time, end_ - now_), num_events_++, 0, who});
}

WEIR_INLINE void simulated_pipeline::add(std::vector<event>& heap, const event& one) {
    heap.push_back(one);
    std::push_heap(heap.begin(), heap.end());
}

WEIR_INLINE simulated_pipeline::index simulated_pipeline::remove_first(std::vector<event>& heap) {
    std::pop_heap(heap.begin(), heap.end());
    const index who = heap.back().who;
    heap.pop_back();
    return who;
}

WEIR_INLINE void simulated_pipeline::wake(index who, phase next) {
    slot& them = slots_[who];
    // For no time: later steps of this instant enter other states.
    enter(them, slot_state::run);
    them.next = next;
    ready_.push(who);
}

WEIR_INLINE void simulated_pipeline::begin_batch(stage& of) {
    of.batch = make_batch();
    of.full_size = of.settings->batch_size;
    const std::vector<std::uint32_t>& sizes = of.recorded->batch_sizes;
    const std::size_t n = sizes.size();
    if (n == 0) return;
    double sum = 0;
    for (const std::uint32_t each : sizes) sum += each;
    const auto chosen = number_as<std::size_t>(high_product(splitmix64(of.seed, of.num_batches++), n));
    const auto recorded = larger<std::uint64_t>(nearest<std::uint64_t>(sum / static_cast<double>(n)), 1);
    const double factor = static_cast<double>(of.full_size) / static_cast<double>(recorded);
    of.full_size = larger<std::size_t>(nearest<std::size_t>(sizes[chosen] * factor), 1);
}

WEIR_INLINE simulated_pipeline::item simulated_pipeline::make_batch() {
    if (free_batches_.empty()) {
        batches_.emplace_back();
        return static_cast<item>(batches_.size());
    }
    const item batch = free_batches_.back();
    free_batches_.pop_back();
    return batch;
}

WEIR_INLINE void simulated_pipeline::drop(item what) {
    if (what == 0) return;
    for (const item each : std::as_const(batches_[what - 1])) drop(each);
    batches_[what - 1].clear();
    free_batches_.push_back(what);
}

WEIR_INLINE prediction simulated_pipeline::result() {
    prediction all;
    all.elapsed = duration(now_);
    all.num_items = consumed_;
    const instant measured = larger<instant>(measured_to_ - measured_from_, 1);
    if (consumed_ > options_.skipped) {
        all.rate = static_cast<double>(consumed_ - options_.skipped) * 1e9 / static_cast<double>(measured);
    }
    for (slot& each : slots_) enter(each, each.state);
    std::vector<predicted_stage> stages(stages_.size());
    for (std::size_t i = 0; i < stages.size(); ++i) {
        stages[i].name = settings_.stages[i].name;
        stages[i].num_tasks = stages_[i].finished;
        for (std::size_t k = 0; k < slot_states; ++k)
            stages[i].times.*states_by_number[k].time = duration(stages_[i].spent[k]);
    }
    std::vector<predicted_queue> queues(queues_.size());
    for (std::size_t i = 0; i < queues.size(); ++i) {
        queue& q = queues_[i];
        settle(q);
        queues[i] = {settings_.stages[i].name,
                     q.items.size(),
                     q.num_put,
                     q.num_get,
                     duration(q.put_wait),
                     duration(q.put_blocked),
                     duration(q.get_blocked),
                     duration(q.empty)};
    }
    all.stages.swap(stages);
    all.queues.swap(queues);
    return all;
}

}  // namespace weir::detail

#endif
