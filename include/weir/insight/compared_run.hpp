// weir insight, internal: a run as `diff` compares it, made from statistics or from a recording
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_COMPARED_RUN_HPP
#define WEIR_INSIGHT_COMPARED_RUN_HPP

#include <weir/insight/recording.hpp>
#include <weir/insight/run_difference.hpp>
#include <weir/insight/time_comparison.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>

#include <cstddef>   // for std::ptrdiff_t, std::size_t
#include <cstdint>   // for std::uint64_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace weir::detail {

// A stage, or the consumer, of a run.
struct compared_stage {
    std::string name;
    bool is_consumer = false;     // a stage may have the name "consumer", too
    std::size_t concurrency = 1;  // the number of slots, the workers of the stage
    std::size_t capacity = 0;     // of the queue behind the stage, in items; 0 if unknown or none
    bool keeps_order = false;
    std::size_t threads = 0;  // of the stage's executor; 0 if unlimited or unknown
    double batch_size = 0;    // as `stage_settings::batch_size`; 0: makes no batches, or unknown
    std::uint64_t num_tasks = 0;
    std::uint64_t num_failures = 0;
    // The share of the slots' time in `run` and `await`; of the consumer, the share of the run's time. None
    // if all slots were always off.
    std::optional<double> busy = std::nullopt;
    time_sample times = {};
    slot_times states = {};
};

class compared_run {
  public:
    explicit compared_run(const pipeline_stats& stats);
    explicit compared_run(const recording& from);

    // An upper bound for the square of the relative standard error of `rate`.
    double rate_error() const noexcept;

    std::string refused;  // why the run can't be compared; empty if it can be
    std::vector<compared_stage> stages;
    double rate = 0;  // items per second; 0 if unknown
    std::uint64_t num_items = 0;
    std::optional<recording> model;  // for simulations of the run; none if it can't be simulated
    std::string no_model;            // why there is no model

  private:
    // Adds the consumer, unless it takes no time. Called when `rate` is set.
    void add(const recorded_stage& consumer);
};

// A stage of the first run, and its counterpart in the second run: see pairs_of().
struct stage_pair {
    const compared_stage* before;
    const compared_stage* after;

    bool has_times() const noexcept { return before->times.time.mean > 0 || after->times.time.mean > 0; }
};

// Stages of the same name, in the order of the first run. Of several stages of one name, the first ones are
// paired, then the second ones, and so on. A consumer is paired only with a consumer. Stages without a
// counterpart are left out.
std::vector<stage_pair> pairs_of(const compared_run& before, const compared_run& after);

// Sentences on settings that differ, "concurrency of decode: 2 -> 4", and on stages that only one run has.
// A consumer that only one run has is left out.
std::vector<std::string> changed_settings(const compared_run& before, const compared_run& after,
                                          const std::vector<stage_pair>& pairs);

// Returns the states whose share of the slots' time differs by more than chance, and by at least 2 % of that
// time; by at least 5 %, if a run can't be simulated, because chance is then unknown.
std::vector<state_difference> changed_states(const compared_run& before, const compared_run& after,
                                             const std::vector<stage_pair>& pairs);

// The sentence of the verdict of `explain` on the run's `model`, or why there is no verdict.
std::string verdict_on(const compared_run& run);

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/insight/compared_run.ipp>
#endif

#endif
