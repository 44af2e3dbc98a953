// weir run, internal: the stages and queues of a run as a profiler sees and changes them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_PROFILED_GRAPH_HPP
#define WEIR_RUN_PROFILED_GRAPH_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/item_pace.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/config.hpp>
#include <weir/run/diagnosis.hpp>
#include <weir/run/run_graph.hpp>
#include <weir/run/run_interfaces.hpp>
#include <weir/run/stage_gate.hpp>
#include <weir/run/stage_options.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for SIZE_MAX, std::uint64_t
#include <exception>  // for std::current_exception
#include <memory>     // for std::unique_ptr
#include <optional>   // for std::optional
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::detail {

// Implements `profiled_run` by a run's stages and queues. Remembers their described capacities and slots, and
// restores them at the end of the profile. `run_core` calls the profiler.
template <class Policy>
class profiled_graph : public run_graph<Policy>, public profiled_run {
    using base = run_graph<Policy>;

  public:
    // `profiler`: profiles the stages before they work together; null: none.
    profiled_graph(executor& ex, run_options options,
                   std::unique_ptr<run_profiler> profiler = detail::diagnosis(Policy::statistics))
        : base(ex, std::move(options)), profiler_(std::move(profiler)) {
        this->set_profiled(profiler_ != nullptr);
    }

    time_point current_time() const override { return this->main_executor().now(); }
    const std::string& name_of(std::size_t stage) const noexcept override { return stages_[stage]->name(); }
    bool was_interrupted() const override { return this->has_failed() || this->was_stopped(); }
    bool is_halted() const noexcept override { return this->is_paused() && !this->ends().stop_requested(); }
    std::size_t num_stages() const noexcept override { return stages_.size(); }
    // Not for a for_each of one slot: the order of its actions may matter.
    bool can_change_slots(std::size_t stage) const noexcept override {
        const bool acts = stages_[stage]->outputs().empty();
        return stages_[stage]->is_resizable() && (!acts || slots_[stage].before > 1);
    }
    // A stage that is still at work may block a thread, and one thread is left free; but of two threads both
    // are used, else there would be nothing to compare.
    std::size_t max_slots(std::size_t stage) const override {
        const executor_traits& where = stages_[stage]->own_executor().traits();
        if (!stages_[stage]->blocks_threads() || where.exclusive) return SIZE_MAX;
        std::size_t taken = 0;
        for (const auto& each : stages_) {
            each->for_each_slot([&taken](slot& s) { taken += has_thread(s.state_since().first) ? 1U : 0U; });
        }
        const std::size_t left = where.parallelism > taken ? where.parallelism - taken : 1;
        return detail::larger(slots_[stage].before, where.parallelism == 2 ? left : left - 1);
    }
    stage_activity activity(std::size_t stage) const override {
        std::uint64_t before = 0;
        std::uint64_t after = 0;
        stage_activity all = look_at_slots(stage, before);
        // A slot that was idle may have been woken by another one that became idle later: looks twice.
        all.is_idle = all.is_idle && look_at_slots(stage, after).is_idle && before == after;
        all.is_idle = all.is_idle || this->have_all_left();  // abandoned slots are idle, too
        return all;
    }
    const char* kind_of(std::size_t stage) const noexcept override { return stages_[stage]->kind(); }
    stage_figures figures(std::size_t stage) const override {
        const pipeline_stats all = this->stats();
        const stage_stats& s = all.stages[stage];
        stage_figures f;
        f.num_inputs = s.inputs.size();
        f.num_slots = s.per_slot.size();
        for (const std::size_t each : s.inputs) {
            f.given += all.channels[each].num_put;
            f.taken += all.channels[each].num_get;
            f.starved += all.channels[each].get_blocked;
        }
        for (const std::size_t each : s.outputs) f.results += all.channels[each].num_put;
        f.num_tasks = s.num_tasks;
        f.num_failures = s.num_failures;
        f.task_time = s.task_time;
        f.times = s.times();
        return f;
    }
    void set_slots(std::size_t stage, std::size_t num_slots) override {
        stages_[stage]->set_concurrency(num_slots);
        slots_[stage].now = num_slots;
    }
    void reset_slots(std::size_t stage) override {
        const changed& its = slots_[stage];
        if (its.now == its.before || stages_[stage]->concurrency() != its.now) return;
        set_slots(stage, its.before);
    }
    void add_capacity(std::size_t stage, std::size_t items) override {
        for (const std::size_t each : stages_[stage]->outputs()) {
            const site_seen seen = look(each);
            if (rooms_[each].before == 0) rooms_[each].before = seen.capacity;
            rooms_[each].now = seen.size + items;
            queues_[each]->set_capacity(rooms_[each].now);
        }
    }
    void admit(std::size_t stage, std::size_t items) noexcept override {
        stages_[stage]->quota()->admit(items, slots_[stage].now);
    }
    pace_meter meter(std::size_t stage) const noexcept override { return stages_[stage]->quota()->meter(); }

  protected:
    using base::queues_;
    using base::stages_;

    ~profiled_graph() = default;

    // Called before the start: no stage may begin with an item.
    void hold_stages() {
        rooms_.resize(queues_.size());
        slots_.resize(stages_.size());
        for (std::size_t i = 0; i < stages_.size(); ++i) {
            stages_[i]->add_quota();
            slots_[i].before = slots_[i].now = stages_[i]->concurrency();
        }
    }
    // Returns when the profiler wants to be called next; nothing: it has ended.
    std::optional<time_point> take_step() noexcept {
        try {
            const std::optional<time_point> next = profiler_->step(*this);
            if (!next) profiler_->finish(*this);
            return next;
        } catch (...) {
            profiler_->abandon(*this, std::current_exception());
            return std::nullopt;
        }
    }
    // Restores the described capacities and slots, unless they were changed by others meanwhile.
    void release_stages() noexcept {
        for (std::size_t i = 0; i < queues_.size(); ++i) {
            try {
                if (rooms_[i].before == 0 || look(i).capacity != rooms_[i].now) continue;
                queues_[i]->set_capacity(rooms_[i].before);
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
    // The run ends: refuses slots that wait for their quota.
    void end_profiling() noexcept {
        for (auto& stage : stages_) {
            if (stage->quota() != nullptr) stage->quota()->end();
        }
    }

  private:
    // `sum`: of the times at which the slots entered their states: it changes if a slot changed its state.
    stage_activity look_at_slots(std::size_t stage, std::uint64_t& sum) const {
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
    site_seen look(std::size_t queue) const {
        site_seen seen;
        queues_[queue]->inspect(seen);
        return seen;
    }

    struct changed {
        std::size_t before = 0;
        std::size_t now = 0;
    };
    std::unique_ptr<run_profiler> profiler_;
    std::vector<changed> rooms_;  // of the queues; 0: not changed
    std::vector<changed> slots_;
};

WEIR_COMPILED(class profiled_graph<measured>);
WEIR_COMPILED(class profiled_graph<summed>);
WEIR_COMPILED(class profiled_graph<unmeasured>);

}  // namespace weir::detail

#endif
