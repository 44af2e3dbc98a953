// weir run, internal: the interfaces through which a watchdog and a profiler see a run
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_INTERFACES_HPP
#define WEIR_RUN_RUN_INTERFACES_HPP

#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/item_pace.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/registry.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <exception>  // for std::exception_ptr
#include <optional>   // for std::optional
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir::detail {

struct slot_seen {
    const slot* who = nullptr;
    bool gone = false;  // it has ended, and closed what it had to close
    bool runs = false;  // its function has a thread; if that was asked for, and is measured
};

struct stage_seen {
    std::vector<const wait_site*> from;
    std::vector<const wait_site*> to;
    std::vector<slot_seen> per_slot;
};

struct run_seen {
    std::vector<stage_seen> stages;
    const wait_site* last = nullptr;  // from which the consumer takes
    bool has_failed = false;
};

// A run that has begun; not in the registry any more before its stages are destroyed.
class watched_run : public registered {
  public:
    static constexpr registry_kind registered_as = registry_kind::run;

    // `states`: with those of the slots, which costs a lock each.
    virtual void inspect(run_seen& seen, bool states) const = 0;

  protected:
    watched_run() noexcept : registered(registry_kind::run) {}
    ~watched_run() = default;
};

// What the slots of a stage do.
struct stage_activity {
    bool is_idle;        // nothing, until something comes
    bool is_starved;     // one waits for an item
    std::int64_t since;  // the last of them has come to rest, in ns of the run's clock
};

// What a stage has done from the start of the run on; of its queues, the sums.
struct stage_figures {
    std::size_t num_inputs = 0;
    std::size_t num_slots = 0;
    std::uint64_t given = 0;    // put into the queues before it
    std::uint64_t taken = 0;    // got from those
    std::uint64_t results = 0;  // put into the queues behind it
    std::uint64_t num_tasks = 0;
    std::uint64_t num_failures = 0;
    duration task_time{};  // of those that didn't fail
    duration starved{};    // the queues before it had a slot wait
    slot_times times;
};

// A run while it is rehearsed. A stage is told by its place, that of `pipeline_stats::stages`. No stage
// begins with an item before it is let; when the rehearsal is over all are.
class profiled_run {
  public:
    virtual time_point instant() const = 0;
    virtual const std::string& name_of(std::size_t stage) const noexcept = 0;
    virtual const char* kind_of(std::size_t stage) const noexcept = 0;
    // Stopped, or failed: what follows says nothing about its stages.
    virtual bool was_interrupted() const = 0;
    // By `run_control::pause`: then nothing moves.
    virtual bool is_halted() const noexcept = 0;
    virtual std::size_t num_stages() const noexcept = 0;
    virtual bool can_change_slots(std::size_t stage) const noexcept = 0;
    // With more its functions, which don't await, could block all threads of its executor.
    virtual std::size_t max_slots(std::size_t stage) const = 0;
    virtual stage_activity activity(std::size_t stage) const = 0;
    virtual stage_figures figures(std::size_t stage) const = 0;
    virtual void set_slots(std::size_t stage, std::size_t num_slots) = 0;
    // As it was described.
    virtual void reset_slots(std::size_t stage) = 0;
    // Room for so many items more in each queue behind it.
    virtual void add_capacity(std::size_t stage, std::size_t items) = 0;
    virtual void admit(std::size_t stage, std::size_t items) noexcept = 0;
    // With how many it has begun since then, and how fast.
    virtual pace_meter meter(std::size_t stage) const noexcept = 0;
    // The run, too.
    virtual void end() noexcept = 0;

  protected:
    ~profiled_run() = default;
};

// What is done with it.
class run_profiler {
  public:
    virtual ~run_profiler() = default;
    // Does what is to be done now; returns when it wants to look again, and nothing at its end. On a thread
    // of the run's executor.
    virtual std::optional<time_point> step(profiled_run& run) = 0;
    // What was found goes to whoever wanted it; then the run goes on.
    virtual void finish(profiled_run& run) = 0;
    // One of the two above threw.
    virtual void abandon(profiled_run& run, std::exception_ptr error) noexcept = 0;
};

}  // namespace weir::detail

#endif
