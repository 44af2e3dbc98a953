// weir insight, internal: simulates the slots and queues of a pipeline without coroutines, event by event
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_SIMULATOR_HPP
#define WEIR_INSIGHT_SIMULATOR_HPP

#include <weir/insight/simulated_pipeline.hpp>

#include <cstdint>  // for std::uint64_t
#include <span>     // for std::span

namespace weir::detail {

// Simulates one run. The slots (workers of stages) that continue at one instant are handled in any order: no
// statistic depends on this order, because free threads are assigned only when all slots have been handled.
class simulator : private simulated_pipeline {
  public:
    // Lifetime: all arguments outlive the simulator. `settings` has passed check_settings().
    // `is_resample`: whether the sample of each stage is replaced by one as large, drawn from the sample at
    // random with replacement.
    simulator(const pipeline_settings& settings, std::span<const recorded_stage> recorded,
              const predict_options& options, bool is_resample)
        : simulated_pipeline(settings, recorded, options, is_resample) {}

    // Simulates the run to its end. Called once.
    prediction run();

  private:
    // A source without `pipeline_settings::num_items` ends after `most_made` items, so that a simulation ends
    // even if a stage drops all items.
    static constexpr std::uint64_t most_made = 10'000'000;

    // Runs the steps of the slot with the index `who`. Returns when the slot is in an invocation, waits, or
    // has ended, or when the simulation is over.
    void proceed(index who);

    // The steps of a slot: one function for each `phase`, and begin_work(), the part of begin() that starts
    // an invocation. They set `slot::next`. take() and give() return false if the slot waits.
    bool take(slot& me, index who);
    void begin(slot& me, index who);
    void begin_work(slot& me, index who);
    void end_run(slot& me, index who);
    void finish(slot& me, index who);
    bool give(slot& me, index who);
    void count_put(slot& me);
    void end(slot& me);

    void assign_threads();

    // In a stage that keeps the order of its items: whether the slot need not wait for the turn of its item.
    // True if it is the item's turn. Also true if the item has at most one result, for which the queue has
    // room beside a result of each earlier item that hasn't left: the result moves to `stage::early`.
    bool is_turn_or_early(slot& me, stage& of, queue& to);
    // Called when the item whose turn it was has left. The early results directly behind this item leave,
    // too, up to the first item that is not finished; then look_in_line() runs.
    void leave_in_order(stage& of, queue& to);
    // Continues the slots of `stage::in_line` for which is_turn_or_early() has become true.
    void look_in_line(stage& of, queue& to);
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/simulator.ipp>
#endif

#endif
