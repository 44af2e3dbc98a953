// weir run, internal: the interfaces through which a watchdog and a profiler see a run
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_INTERFACES_HPP
#define WEIR_RUN_RUN_INTERFACES_HPP

#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/item_pace.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/process.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <exception>  // for std::exception_ptr
#include <optional>   // for std::optional
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir::detail {

// A slot as a watchdog sees it. A watchdog reports deadlocks: it makes a graph of all waits of a run.
struct slot_seen {
    const slot* who = nullptr;
    bool gone = false;  // the slot has ended, and its stage has closed its outputs if it was the last
    bool runs = false;  // the stage's function has a thread; only with `states`, and if the run measures
};

struct stage_seen {
    std::vector<const wait_site*> from;  // the queues from which the stage takes
    std::vector<const wait_site*> to;
    std::vector<slot_seen> per_slot;
};

struct run_seen {
    std::vector<stage_seen> stages;
    const wait_site* last = nullptr;  // the queue from which the consumer takes
    bool has_failed = false;
};

// A run that has begun. Registered from the start until before its stages are destroyed.
class watched_run : public registered {
  public:
    static constexpr registry_kind registered_as = registry_kind::run;

    // `states`: also sets `slot_seen::runs`, which takes a lock for each slot.
    virtual void inspect(run_seen& seen, bool states) const = 0;

  protected:
    watched_run() noexcept : registered(registry_kind::run) {}
    ~watched_run() = default;
};

// Whether the slots of a stage work.
struct stage_activity {
    bool is_idle;        // every slot waits
    bool is_starved;     // a slot waits for an item
    std::int64_t since;  // when the last slot began to wait, in ns of the run's clock
};

// Figures of a stage since the start of the run. Figures of queues are sums over all queues of the stage.
struct stage_figures {
    std::size_t num_inputs = 0;
    std::size_t num_slots = 0;
    std::uint64_t given = 0;    // items put into the queues before the stage
    std::uint64_t taken = 0;    // items got from these queues
    std::uint64_t results = 0;  // items put into the queues behind the stage
    std::uint64_t num_tasks = 0;
    std::uint64_t num_failures = 0;
    duration task_time{};  // of successful tasks
    duration starved{};    // time in which a slot waited at a queue before the stage
    slot_times times;
};

// A run whose stages are profiled: tried one by one, before all work together. `stage` is an index into
// `pipeline_stats::stages`. No stage begins with an item before `admit`; after the profile all do.
class profiled_run {
  public:
    virtual time_point current_time() const = 0;
    virtual const std::string& name_of(std::size_t stage) const noexcept = 0;
    virtual const char* kind_of(std::size_t stage) const noexcept = 0;
    // The run was stopped, or has failed: further figures say nothing about its stages.
    virtual bool was_interrupted() const = 0;
    // The run is paused by `run_control::pause`.
    virtual bool is_halted() const noexcept = 0;
    virtual std::size_t num_stages() const noexcept = 0;
    virtual bool can_change_slots(std::size_t stage) const noexcept = 0;
    // The limit of slots in a trial: with more, functions that never suspend could block all threads of the
    // stage's executor.
    virtual std::size_t max_slots(std::size_t stage) const = 0;
    virtual stage_activity activity(std::size_t stage) const = 0;
    virtual stage_figures figures(std::size_t stage) const = 0;
    virtual void set_slots(std::size_t stage, std::size_t num_slots) = 0;
    // Sets the number of slots to the concurrency that the pipeline describes.
    virtual void reset_slots(std::size_t stage) = 0;
    // Makes room for so many more items in each queue behind the stage.
    virtual void add_capacity(std::size_t stage, std::size_t items) = 0;
    // Lets the stage begin with so many items, and no more.
    virtual void admit(std::size_t stage, std::size_t items) noexcept = 0;
    // How many items the stage has begun with since `admit`, and how fast.
    virtual pace_meter meter(std::size_t stage) const noexcept = 0;
    // Ends the run.
    virtual void end() noexcept = 0;

  protected:
    ~profiled_run() = default;
};

// Decides the steps of a profile. Called on a thread of the run's executor.
class run_profiler {
  public:
    virtual ~run_profiler() = default;
    // Does the next step. Returns when to call it again; nothing: the profile is complete.
    virtual std::optional<time_point> step(profiled_run& run) = 0;
    // Publishes the result. Then the run continues.
    virtual void finish(profiled_run& run) = 0;
    // Called if `step` or `finish` threw.
    virtual void abandon(profiled_run& run, std::exception_ptr error) noexcept = 0;
};

}  // namespace weir::detail

#endif
