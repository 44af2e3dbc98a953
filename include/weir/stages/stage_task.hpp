// weir stages, internal: the task of a slot's worker on one item: its time, failure, hooks, trace and sample
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_STAGE_TASK_HPP
#define WEIR_STAGES_STAGE_TASK_HPP

#include <weir/channel/any_channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/task_sampler.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/later.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/running_stage.hpp>
#include <weir/stages/iteration.hpp>
#include <weir/stages/slot_loop.hpp>
#include <weir/stages/stage_kind.hpp>
#include <weir/stages/worker_waits.hpp>
#include <weir/task/slot_accounting.hpp>

#include <cstddef>    // for std::nullptr_t
#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::exception_ptr
#include <utility>    // for std::as_const

namespace weir::detail {

// The item on which a task begins, for hooks and traces (which follow some items through the run). `from`:
// the queue of the item; null: the item comes from no queue, or there is no item. `queue_number`: its number
// there. `is_made`: the stage makes the item without input.
template <class Policy>
struct task_item {
    std::uint64_t number;  // of the item at the stage
    std::uint64_t epoch;
    any_item input;
    any_channel<Policy>* from = nullptr;
    std::uint64_t queue_number = 0;
    bool is_made = false;
};

// What a worker does for its tasks besides the work: all that does not depend on the kind of the stage.
// Created once, when the worker starts. While a worker is watched, it calls hooks, traces items and records
// samples; a worker that is not watched does none of these. The sample of a slot has the times of single
// tasks, chosen at random; that of an `aggregate` has the sizes of batches. Most functions are rare paths.
template <class Policy>
class task_context {
    using slot_type = slot_of<Policy>;

  public:
    // `needs_call`: the stage's function takes the `invocation`.
    task_context(running_stage<Policy>& stage, slot_type& me, coroutine_env& e, const stage_traits& traits,
                 bool needs_call, duration time_limit) noexcept;

    // Begins the task, if there is work: for the hooks and the time limit, the trace, and the sample.
    void begin_watched(const task_item<Policy>& of, iteration_state& it) noexcept;
    // Ends the task for the hooks and the trace. `gave_none`: a stage without input made a mark or nothing.
    void end_guard(bool gave_none, const any_item& output, std::exception_ptr& error) noexcept;
    // Records a result, before its put, in the sample and the trace. `has_item`: the result contains the
    // current item; `lacks_item`: there is a current item, and the result does not contain it.
    void watch_result(std::uint64_t item, std::uint64_t epoch, bool is_mark, bool has_item,
                      bool lacks_item) noexcept;
    // Ends the iteration for the sample and the trace. `holds_items`: the stage still holds items.
    void end_watched(bool holds_items) noexcept;
    // Records a failed task. Returns whether the stage goes on. `is_timed`: `it.spent` is the task's time.
    bool fail(std::uint64_t item, iteration_state& it, bool is_timed, bool is_tolerated) noexcept;
    // A task has ended, and the clock was read. Records the task if it is part of the sample, or watches the
    // worker from now on if the next task is.
    WEIR_ALWAYS_INLINE void end_sample([[maybe_unused]] bool failed) noexcept {
        if constexpr (Policy::statistics) {
            if (slot.meter.is_sampled_next()) end_or_begin_sample(failed);
        }
    }

    slot_type& slot;
    coroutine_env& env;  // of the worker's coroutine: its executor, and what ends its waits
    item_tracer tracer;
    bool is_watched;  // `needs_guard_`, or the run traces items, or a sample needs the next task
    // With `numbers_results`, the number of tasks that have ended. Else, with `works_without_item`, the
    // number of items that have come, without marks. Otherwise 0, and not used.
    std::uint64_t number = 0;
    later<invocation_guard> guard;  // calls the hooks of the current task, and has its time limit

  private:
    // Returns whether a trace follows the item.
    bool begin_trace(const task_item<Policy>& of, bool has_work) noexcept;
    // The rare part of `end_sample`.
    void end_or_begin_sample(bool failed) noexcept;

    running_stage<Policy>& stage_;
    const stage_traits traits_;
    const duration time_limit_;
    const bool needs_guard_;  // hooks, a time limit, or a function that takes the `invocation`
};

WEIR_COMPILED(class task_context<measured>);
WEIR_COMPILED(class task_context<summed>);
WEIR_COMPILED(class task_context<unmeasured>);

// `Resources`: the objects that each slot of the stage has for itself, for example a function made by
// `per_slot`.
template <class Policy, class Resources>
struct worker_context : task_context<Policy> {
    using task_context<Policy>::task_context;
    Resources resources;
};

// The base of a `stage_worker`: begins and ends the task on an item. Rare paths are not inlined.
template <class Kind>
class stage_task : public slot_machine {
    using C = typename Kind::input_item;
    using D = typename Kind::output_item;
    using policy = typename Kind::policy_type;
    using slot = slot_of<policy>;
    using iteration = typename Kind::iteration;
    using context = typename iteration::context_type;
    static constexpr stage_traits traits = Kind::traits;

  public:
    stage_task(const stage_task&) = delete;
    stage_task& operator=(const stage_task&) = delete;

  protected:
    stage_task(Kind& stage, slot& me) noexcept : stage_(stage), me_(me), input_(me) {}
    ~stage_task() override = default;

    // Makes the context and the resources of the slot, when the worker begins. Returns false if the slot gets
    // no resources: the stage has failed, or the run is stopped.
    bool begin_work(coroutine_env& env) noexcept {
        running_stage<policy>& stage = stage_;
        const bool needs_call = stage_.needs_invocation();
        const duration limit = stage_.time_limit();
        context_.emplace(stage, me_, env, traits, needs_call, limit);
        return stage_.acquire_resources(context_.value);
    }

    // Called when an item, or a mark, was taken: stores it, and its place, in the iteration.
    WEIR_ALWAYS_INLINE void read_item(iteration& it) noexcept {
        it.item = input_.item();
        it.place.number = input_.number();
        if constexpr (is_epoch_item<C>) {
            it.place.epoch = it.item->epoch();
            it.place.mark = it.item->is_mark();
        }
        if constexpr (!traits.numbers_results) {
            if (traits.works_without_item && !it.place.mark)
                context_.value.number = stage_.number_of(it.place) + 1;
        }
        stage_.on_item(it);
    }

    // The number of the current item at this stage: see `task_context::number` and `stage_kind::number_of`.
    std::uint64_t item_number(const iteration& it) noexcept {
        const bool has_own = !traits.works_without_item || (it.item != nullptr && !it.place.mark);
        return !traits.numbers_results && has_own ? stage_.number_of(it.place) : context_.value.number;
    }
    // Whether statistics count this iteration: see `stage_kind::counts_as_task`.
    bool counts_as_task(const iteration& it) const noexcept {
        return it.has_work && stage_.counts_as_task(it);
    }

    // Ends the task: records its time or failure, and calls the hooks behind it.
    WEIR_ALWAYS_INLINE task_end end_task(iteration& it) noexcept {
        stage_.end_task(it);
        // The destructor of the item is part of the task.
        if constexpr (Kind::has_input && !traits.forwards_item) input_.drop();
        // The slot's stopwatch times several tasks together if they cannot wait and have one result each.
        // Tasks between hooks are timed one by one.
        const bool is_guarded = traits.counts_tasks && context_.value.guard;
        const bool is_timed = awaits_work<Kind> || traits.makes_results_later || is_guarded;
        if (traits.counts_tasks && is_timed) it.spent += stage_.end_work(me_, it.began);
        if (is_guarded) {
            detail::begin_overhead(me_);
            end_guard(it);
        }
        if (!it.error) stage_.commit(it);
        if (it.error) return handle_failure(it, is_timed);
        if constexpr (traits.makes_results_later) stage_.acknowledge(it);
        if (!traits.counts_tasks || !counts_as_task(it)) {
            stage_.record_other_work(me_);
            return task_end::succeeded;
        }
        const bool was_read = is_timed ? stage_.record_task(me_, it.spent) : stage_.record_task(me_);
        if (was_read) context_.value.end_sample(false);
        return !stage_.tolerates_failure(it) || stage_.is_within_failure_rate() ? task_end::succeeded
                                                                                : task_end::last;
    }
    // Tell the context of the item before its task, of the end of its task, and of a result before its put.
    WEIR_NOINLINE void begin_watched(iteration& it) noexcept {
        task_item<policy> of{item_number(it), it.place.epoch, any_item()};
        of.is_made = it.item == nullptr;
        if constexpr (Kind::has_input) {
            if constexpr (!traits.gathers_parts) {  // else `it.item` is the mark behind the last part
                if (it.item != nullptr && !it.place.mark)
                    of.input = any_item(std::as_const(epoch_item_traits<C>::value_of(*it.item)));
                if (it.item != nullptr && !input_.is_added()) {
                    of.from = &input_.queue();
                    of.queue_number = input_.queue_number();
                }
            }
        }
        context_.value.begin_watched(of, it);
    }
    WEIR_NOINLINE void end_guard(iteration& it) noexcept {
        context_.value.end_guard(it.item == nullptr && !counts_as_task(it),
                                 it.error ? any_item() : stage_.result_for_hooks(it), it.error);
    }
    WEIR_NOINLINE void watch_result(iteration& it, const D& result) noexcept {
        const bool has_item = stage_.has_item(it);
        context_.value.watch_result(item_number(it), it.place.epoch, epoch_item_traits<D>::is_mark(result),
                                    has_item, !has_item && it.item != nullptr && !it.place.mark);
    }

    // Ends the iteration, and sets the next step: to cancel the timer for held items, to take an item, or to
    // end. Returns null, as there is no result to put.
    D* finish(iteration& it) noexcept {
        if (context_.value.is_watched) context_.value.end_watched(stage_.holds_items(it));
        it.ends_stage = it.ends_stage || stage_.is_finished(it);
        return stage_.stops_timer(it, it.ends_stage) ? set_next(it, worker_step::hold_timer)
                                                     : next_iteration(it);
    }
    // After `finish`, when no timer has to be cancelled, or it is.
    D* next_iteration(iteration& it) noexcept {
        it.ends_stage = it.ends_stage || !stage_.start_timer(it);
        return set_next(it, it.ends_stage ? worker_step::end : worker_step::take);
    }

    // Ends the iteration without `leave_turn`: the stage has to end, the output is closed, or the turn or the
    // admission was refused.
    WEIR_NOINLINE D* abandon(iteration& it) noexcept {
        if (context_.value.guard) this->end_guard(it);
        it.ends_stage = it.task >= task_end::last || stage_.ends_when_refused();
        if (it.ends_stage) stage_.block_turns(it);
        return finish(it);
    }

    // Returns null, as there is no result to put before this step.
    static std::nullptr_t set_next(iteration_state& it, worker_step next) noexcept {
        it.next = next;
        return nullptr;
    }

  private:
    // Records the failure of the task. Returns `tolerated` if only the item is lost, `fatal` if the stage
    // ends.
    WEIR_NOINLINE task_end handle_failure(iteration& it, bool is_timed) noexcept {
        if (!context_.value.fail(item_number(it), it, is_timed, stage_.tolerates_failure(it)))
            return task_end::fatal;
        stage_.acknowledge(it);
        return task_end::tolerated;
    }

  protected:
    Kind& stage_;
    slot& me_;
    later<context> context_;      // made by begin_work()
    typename Kind::input input_;  // takes the items
};

}  // namespace weir::detail

#include <weir/stages/stage_task.ipp>

#endif
