// weir run, internal: the base of a stage in a run: statistics, failures, hooks; and the sink
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUNNING_STAGE_HPP
#define WEIR_RUN_RUNNING_STAGE_HPP

#include <weir/measure/channel_meter.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/run/worker_set.hpp>
#include <weir/task/slot_accounting.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <exception>  // for std::exception_ptr
#include <optional>   // for std::optional
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::detail {

// The base of every stage in a run. The functions from `worker_started` to `leave` are called by the workers
// (the coroutines of the slots), in about this order. `Policy`: what the run measures: `measured`, `summed`
// or `unmeasured`.
template <class Policy>
class running_stage : public worker_set<Policy> {
  public:
    using typename worker_set<Policy>::slot;

    running_stage(run_context& run, const char* kind, const stage_options& options);
    ~running_stage() override;

    // The queues that the stage takes from and puts into, by their indices in the run.
    void connect(std::vector<std::size_t> inputs, std::vector<std::size_t> outputs) noexcept {
        inputs_ = std::move(inputs);
        outputs_ = std::move(outputs);
    }

    const char* kind() const noexcept { return kind_; }
    const std::vector<std::size_t>& inputs() const noexcept { return inputs_; }
    const std::vector<std::size_t>& outputs() const noexcept { return outputs_; }

    // Calls `stage_begins` of each hook (an object of the user), before the workers start. False: a hook
    // threw, and the run fails.
    bool call_begin_hooks() noexcept;

    // The statistics until the time `until`. `still` gets when slots last changed their states, for `idle`.
    stage_stats stats(std::int64_t until, stillness& still) const;

  protected:
    using worker_set<Policy>::run_;

  public:
    using typename worker_set<Policy>::worker;

    // The hooks of the run, then those of the stage.
    const std::vector<shared_hook>& hooks() const noexcept { return hooks_; }

    // Whether the input of the stage may have ended early, because of a stop or a failure.
    bool may_end_early() const noexcept { return run_.may_give_up() || run_.has_failed(); }

    // The worker runs for the first time: its slot now has a thread.
    void worker_started(slot& me) const noexcept { detail::slot_resumed(me); }

    // Reads the clock once, and divides the time since the last reading among the tasks since then: a reading
    // for each would cost more than a short task (`stopwatch`).
    void read_clock([[maybe_unused]] slot& me) const noexcept {
        if constexpr (Policy::statistics) me.catch_up(this->now());
    }

    // A task (one invocation of the stage's function) begins, or continues after the put of one of its
    // results. Returns the last reading of the clock. Reads the clock anew only if the slot is in the state
    // `overhead` (the library worked for it, outside of tasks).
    std::int64_t begin_work(slot& me) const noexcept {
        if constexpr (Policy::statistics) {
            if (me.is_in_overhead()) end_overhead(me);
        }
        return me.last_reading;
    }

    // The worker has done other work than tasks since the last reading of the clock. So until the next
    // reading, the current time can't be estimated from the number of tasks (see `stopwatch::can_estimate`).
    void record_other_work([[maybe_unused]] slot& me) const noexcept {
        if constexpr (Policy::statistics) me.meter.record_other_work();
    }

    // Work of a task that began at `began` has ended. Reads the clock; returns the time of the work.
    std::int64_t end_work(slot& me, std::int64_t began) const noexcept {
        read_clock(me);
        return me.last_reading - began;
    }

    // Records a successful task. `spent`: the result of `end_work`. Returns true: `end_work` has read the
    // clock at the task's end.
    bool record_task([[maybe_unused]] slot& me, [[maybe_unused]] std::int64_t spent) const noexcept {
        if constexpr (Policy::statistics) {
            me.tasks.record(spent);
            me.meter.count_timed_invocation();
        }
        return true;
    }

    // Records a successful task that never suspends. Returns whether the clock was read at the task's end:
    // short tasks share a reading (see `stopwatch`).
    bool record_task([[maybe_unused]] slot& me) const noexcept {
        if constexpr (Policy::statistics) {
            if (!me.meter.count_invocation()) return false;
            read_clock(me);
            return true;
        }
        return false;
    }

    // Called after a successful task. Counts the success if the limit of failures is a rate, a share of the
    // invocations. False: this invocation is the first one at which the rate is checked (number
    // `failure_limit::probation`), earlier failures exceed the rate, and the run stops.
    [[nodiscard]] bool is_within_failure_rate() noexcept { return !by_rate_ || check_failure_rate(); }

    // A task that never suspends threw. Reads the clock. Returns the time of the task in ns: the time since
    // the last reading, less the estimated time of the tasks that succeeded since; without statistics 0.
    std::int64_t end_failed_work(slot& me) const noexcept {
        if constexpr (Policy::statistics) {
            return me.catch_up_failed(this->now());
        } else {
            static_cast<void>(me);
            return 0;
        }
    }

    // A task threw, after `spent` ns. False: the stage ends. Either the limit is exceeded, or the user's
    // function `run_options::on_failure` threw, or a stop of the run ended the task, which is no failure.
    bool record_failure(slot& me, std::uint64_t item, std::exception_ptr error, std::int64_t spent) noexcept;

    // Reports and records a failure that no limit tolerates, as the stage can't continue: the run stops.
    void fail_stage(slot& me, std::uint64_t item, std::exception_ptr error, std::int64_t spent = 0) noexcept;

    // The worker takes no more items. The last worker of the stage calls `hook::stage_ends`, and closes the
    // outputs.
    template <class... Channels>
    void leave(slot& me, Channels&... outputs) noexcept {
        const bool last = worker_set<Policy>::leave(me);
        const bool calls_hooks = last && num_begun_hooks_ > 0;
        if (calls_hooks) {
            detail::begin_overhead(me);
            call_end_hooks();
        }
        this->go_off(me, calls_hooks);
        run_.worker_left();  // before close(): a consumer that sees the end may end the statistics
        if (last) (outputs.close(), ...);
        // The last access to the slot. release; pairs with worker_set::inspect(): a caller that sees all
        // slots gone also sees the outputs closed
        me.gone.store(true, std::memory_order_release);
    }

  private:
    // Figures of copies to or from a device, and of waits for memory blocks of a pool; none for a stage that
    // has neither. Any thread, at any time.
    virtual std::optional<transfer_stats> transfers() const { return std::nullopt; }
    // Figures of items that the function added to its own stage; none for a stage whose function can't add.
    // Any thread, at any time.
    virtual std::optional<added_stats> added() const { return std::nullopt; }
    // Whether the stage, a source that awaits, reads a channel. None for a source that does not await, and
    // for other stages.
    virtual std::optional<bool> awaits_others() const { return std::nullopt; }

    // A task begins: the slot goes from the state `overhead` back to `run`.
    WEIR_NOINLINE void end_overhead(slot& me) const noexcept {
        read_clock(me);
        me.enter_run(me.last_reading);
    }
    void call_end_hooks() noexcept;
    // Counts the failure, and tells the reports and `on_failure`. False: a stop caused the error, which is no
    // failure; or `on_failure` threw, which stops the run.
    bool report_failure(slot& me, std::uint64_t item, std::exception_ptr error, std::int64_t spent) noexcept;
    bool check_failure_rate() noexcept;
    // Record the failure as one that stops the run. `reported`: `run_options::on_failure` was called with the
    // failure. False: the run's destructor calls the function of `set_failure_sink` with the failure, unless
    // a consumer got it.
    void stop_run(const failure_counter::entry& failed, bool reported) noexcept;
    void stop_run(std::uint64_t item, std::exception_ptr error, bool reported = false) noexcept;

    const char* kind_;
    std::vector<shared_hook> hooks_;
    std::vector<std::size_t> inputs_;
    std::vector<std::size_t> outputs_;
    std::size_t num_begun_hooks_ = 0;  // hooks whose `stage_begins` has returned
    failure_counter own_counts_;
    failure_counter& failure_counts_;  // `own_counts_`; or, without `max_failures`, those of the run
    const bool keeps_order_;           // whether the results keep the order of the items; for statistics
    const bool by_rate_;  // successes are counted only for a rate: one counter for all slots is slow
};

// A sink only passes items on. So one queue stands for the queue before the sink, the item in the sink's
// slot, and the queue behind it. No coroutine has to be resumed for the sink, which saves a fifth of an
// item's time in a pipeline of three stages that do nothing. This class divides the capacity and the
// statistics of that one queue between the three.
class fused_sink {
  public:
    fused_sink(const stage_options& options, std::size_t capacity_before)
        : options_(options), before_(capacity_before) {}

    const stage_options& options() const noexcept { return options_; }

    // The capacity of both queues, and one item in the slot.
    std::size_t total_capacity() const noexcept { return before_ + 1 + options_.capacity; }

    // Change the capacity of the queue behind the sink, or before it. `set` sets the total capacity of the
    // one queue. If `set` throws, nothing is changed.
    template <class Set>
    void set_capacity_behind(std::size_t capacity, const Set& set) {
        set(before_ + 1 + capacity);
        options_.capacity = capacity;
    }
    template <class Set>
    void set_capacity_before(std::size_t capacity, const Set& set) {
        set(capacity + 1 + options_.capacity);
        before_ = capacity;
    }

    // Divides the statistics of the queue at index `last` among two queues and the sink. `kept`: the figures
    // of the sink, if the run measures.
    void split(pipeline_stats& s, std::size_t last, const later<sink_figures>& kept) const;

  private:
    // Sets the figures of the sink and of its two queues, in a run that measures.
    static void measured(channel_stats& before, stage_stats& sink, channel_stats& behind,
                         const sink_figures& kept);

    stage_options options_;
    std::size_t before_;  // the capacity of the queue before the sink
};

WEIR_COMPILED(class running_stage<measured>);
WEIR_COMPILED(class running_stage<summed>);
WEIR_COMPILED(class running_stage<unmeasured>);

}  // namespace weir::detail

#include <weir/run/running_stage.ipp>

#endif
