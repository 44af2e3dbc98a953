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
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/owned.hpp>
#include <weir/run/diagnosis.hpp>
#include <weir/run/run_graph.hpp>
#include <weir/run/run_report.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/run/worker_set.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace weir::detail {

// Implements `profiled_run` by a run's stages and queues. At the end of the profile, in which each stage runs
// alone, restores the capacities and the numbers of slots (workers) that the pipeline describes. `run_core`
// calls the profiler. `Policy`: what the run measures: `measured`, `summed` or `unmeasured`.
template <class Policy>
class profiled_graph : public run_graph<Policy>, public profiled_run {
    using base = run_graph<Policy>;

  public:
    // `profiler`: profiles the stages before they work together; null: the stages are not profiled.
    profiled_graph(executor& ex, run_options options,
                   owned<run_profiler> profiler = detail::diagnosis(Policy::statistics));

    time_point current_time() const override { return this->main_executor().now(); }
    const std::string& name_of(std::size_t stage) const noexcept override { return stages_[stage]->name(); }
    bool was_interrupted() const override { return this->has_failed() || this->was_stopped(); }
    bool is_halted() const noexcept override {
        return this->is_paused() && !this->own_stop().stop_requested();
    }
    std::size_t num_stages() const noexcept override { return stages_.size(); }
    // True for a stage that can have several slots. False for a last stage, such as a `for_each`, that the
    // pipeline gives one slot: the order in which its function is called may matter.
    bool can_change_slots(std::size_t stage) const noexcept override {
        const bool is_last = stages_[stage]->outputs().empty();
        return stages_[stage]->is_resizable() && (!is_last || slots_[stage].before > 1);
    }
    // SIZE_MAX for a stage whose function can suspend, and on virtual time (a simulated clock, which one
    // thread runs). Else the number of threads of its executor, less the threads that slots of the run occupy
    // now, and less one that is kept free for later stages. An executor of two threads keeps none free: with
    // one slot only, trials could not be compared. Never less than the concurrency that the pipeline
    // describes.
    std::size_t max_slots(std::size_t stage) const override;
    stage_activity activity(std::size_t stage) const override;
    const char* kind_of(std::size_t stage) const noexcept override { return stages_[stage]->kind(); }
    stage_figures figures(std::size_t stage) const override;
    void set_slots(std::size_t stage, std::size_t num_slots) override {
        stages_[stage]->set_concurrency(num_slots);
        slots_[stage].now = num_slots;
    }
    void reset_slots(std::size_t stage) override {
        const changed& of_stage = slots_[stage];
        if (of_stage.now == of_stage.before || stages_[stage]->concurrency() != of_stage.now) return;
        set_slots(stage, of_stage.before);
    }
    void add_capacity(std::size_t stage, std::size_t items) override;
    void admit(std::size_t stage, std::size_t items) noexcept override {
        stages_[stage]->quota()->admit(items, slots_[stage].now);
    }
    pace_meter meter(std::size_t stage) const noexcept override { return stages_[stage]->quota()->meter(); }

  protected:
    using base::queues_;
    using base::stages_;

    ~profiled_graph() = default;

    // Called before the start: gives each stage a quota (how many items it may still begin with) of 0. So no
    // stage begins with an item until `admit` is called for it.
    void hold_stages();
    // Calls the profiler. Returns when to call `take_step` again; nothing: the profile has ended, or the
    // profiler threw.
    std::optional<time_point> take_step() noexcept;
    // Restores the described capacities and slots, unless the program has changed them meanwhile. From then
    // on all stages work.
    void release_stages() noexcept;
    bool has_conclusion() const noexcept { return profiler_->has_conclusion(); }
    // After the profile: keeps the current statistics, which `conclude_profile` subtracts. As long as a queue
    // holds more items than its capacity, returns when to be called again. Returns nothing if no queue does,
    // if all workers have ended, if memory lacks, or if the pause would exceed `longest_pause`.
    std::optional<time_point> mark_begin_of_rest() noexcept;
    // Called when all stages have ended: gives the profiler the statistics since the last call of
    // `mark_begin_of_rest`.
    void conclude_profile() noexcept;
    // The run ends: refuses the slots that wait for `admit`, so that they end.
    void end_profiling() noexcept {
        for (auto& stage : stages_) {
            if (stage->quota() != nullptr) stage->quota()->end();
        }
    }

  private:
    // Adds the instants at which the slots entered their states to `sum`. If a later call gets an equal sum,
    // no slot has changed its state meanwhile. `activity` calls this twice: a slot may wake another that was
    // seen idle.
    stage_activity look_at_slots(std::size_t stage, std::uint64_t& sum) const;
    site_seen look(std::size_t queue) const;  // the size and capacity of the queue now

    // The pause between two calls of `mark_begin_of_rest`: doubled from call to call, from 1 ms to an hour.
    // Then the calls end: virtual time notices no deadlock as long as a timer is set.
    static constexpr duration first_pause{1'000'000};
    static constexpr duration longest_pause{3'600'000'000'000};

    // The capacity of a queue, or the number of slots of a stage.
    struct changed {
        std::size_t before = 0;  // as the pipeline describes; 0: not changed
        std::size_t now = 0;     // as the profile has set
    };
    owned<run_profiler> profiler_;
    pipeline_stats before_rest_;  // the statistics that `conclude_profile` subtracts
    duration next_pause_ = first_pause;
    std::vector<changed> queue_capacities_;  // by the index of the queue
    std::vector<changed> slots_;             // by the index of the stage
};

WEIR_COMPILED(class profiled_graph<measured>);
WEIR_COMPILED(class profiled_graph<summed>);
WEIR_COMPILED(class profiled_graph<unmeasured>);

}  // namespace weir::detail

#include <weir/run/profiled_graph.ipp>

#endif
