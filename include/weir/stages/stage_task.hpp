// weir stages, internal: the task of a slot's worker on one item: its time, failure, hooks, trace and sample
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_STAGE_TASK_HPP
#define WEIR_STAGES_STAGE_TASK_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/task_sampler.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/stages/iteration.hpp>
#include <weir/stages/slot_loop.hpp>
#include <weir/stages/stage_kind.hpp>
#include <weir/stages/worker_waits.hpp>
#include <weir/task/slot_accounting.hpp>

#include <cstdint>      // for std::int64_t, std::uint64_t
#include <string_view>  // for std::string_view
#include <utility>      // for std::as_const, std::move

namespace weir::detail {

// The base of a `stage_worker`: begins and ends the task on an item. Rare paths are not inlined. The sample
// of a slot has the times of single tasks, chosen at random; that of an `aggregate` has the sizes of batches.
template <class Kind>
class stage_task : public slot_machine {
    using C = typename Kind::input_item;
    using D = typename Kind::output_item;
    using slot = slot_of<typename Kind::policy_type>;
    using iteration = typename Kind::iteration;
    using context = typename iteration::context_type;
    static constexpr stage_traits traits = Kind::traits;

  public:
    stage_task(const stage_task&) = delete;
    stage_task& operator=(const stage_task&) = delete;

  protected:
    stage_task(Kind& stage, slot& me) noexcept : stage_(stage), me_(me), input_(me) {}
    ~stage_task() override = default;

    // Called when the worker begins. Returns false if the slot gets no resources: the stage has failed.
    bool begin_work(coroutine_env& env) noexcept {
        stage_.worker_started(me_);
        const bool guarded =
            traits.counts_tasks &&
            (stage_.needs_invocation() || stage_.time_limit() > duration(0) || !stage_.hooks().empty());
        context_.emplace(me_, env, guarded, traits.origin);
        begin_samples();
        return stage_.acquire_resources(context_.value);
    }

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

    std::uint64_t item_number(const iteration& it) noexcept {
        const bool has_own = !traits.works_without_item || (it.item != nullptr && !it.place.mark);
        return !traits.numbers_results && has_own ? stage_.number_of(it.place) : context_.value.number;
    }
    bool counts_as_task(const iteration& it) const noexcept {
        return it.has_work && stage_.counts_as_task(it);
    }

    WEIR_ALWAYS_INLINE task_end end_task(iteration& it) noexcept {
        stage_.end_task(it);
        // The destructor of the item is part of the task.
        if constexpr (Kind::has_input && !traits.forwards_item) input_.drop();
        // The stopwatch times several tasks together if they cannot wait and have one result each. Tasks
        // between hooks are timed one by one.
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
        if (was_read) end_sample(false);
        return !stage_.tolerates_failure(it) || stage_.is_within_failure_rate() ? task_end::succeeded
                                                                                : task_end::last;
    }
    WEIR_NOINLINE void begin_watched(iteration& it) noexcept {
        begin_guard_and_trace(it);
        if constexpr (is_measured) {
            if (me_.sampler == nullptr || !traits.counts_tasks || !it.has_work) return;
            if (me_.sampler->is_of_batches()) {
                me_.sampler->take_item();
            } else if (me_.meter.is_sampled_next()) {
                me_.sampler->begin_task(me_);
            }
        }
    }
    WEIR_NOINLINE void begin_guard_and_trace(iteration& it) noexcept {
        const bool is_followed = context_.value.tracer.is_on() && begin_trace(it);
        // An item that a trace follows has an `invocation_guard`, too: `end_guard` records the task's end.
        if (!traits.counts_tasks || !it.has_work || !(is_followed || context_.value.needs_guard)) return;
        detail::begin_overhead(me_);
        any_item input;
        if constexpr (Kind::has_input) {
            if (it.item != nullptr) input = any_item(std::as_const(epoch_item_traits<C>::value_of(*it.item)));
        }
        context_.value.guard.emplace(stage_.hooks(), stage_.run().own_stop(), stage_.name(), item_number(it),
                                     it.place.epoch, me_.number(), input, stage_.time_limit(),
                                     context_.value.env, it.error);
        it.began = stage_.begin_work(me_);
    }
    WEIR_NOINLINE void end_guard(iteration& it) noexcept {
        if (context_.value.tracer.is_on())
            context_.value.tracer.worked(it.error != nullptr, it.item == nullptr && !counts_as_task(it));
        context_.value.guard->end(it.error ? any_item() : stage_.result_for_hooks(it), it.error);
        context_.value.guard.reset();
    }

    WEIR_NOINLINE void watch_result(iteration& it, const D& result) noexcept {
        const bool is_mark = epoch_item_traits<D>::is_mark(result);
        if constexpr (is_measured) {
            if (me_.sampler != nullptr && !is_mark) count_sampled_result(it);
        }
        item_tracer& tracer = context_.value.tracer;
        if (!tracer.is_on()) return;
        tracer.record_result(is_mark, stage_.has_item(it), item_number(it), it.place.epoch);
    }

    WEIR_NOINLINE void end_watched(iteration& it) noexcept {
        if constexpr (is_measured) {
            if (me_.sampler != nullptr) end_sampled_item();
        }
        if (context_.value.tracer.is_on()) context_.value.tracer.end(stage_.holds_items(it));
    }

    D* finish(iteration& it) noexcept {
        if (context_.value.is_watched) end_watched(it);
        it.ends_stage = it.ends_stage || stage_.is_finished(it);
        return stage_.stops_timer(it, it.ends_stage) ? set_next(it, worker_step::hold_timer)
                                                     : next_iteration(it);
    }
    D* next_iteration(iteration& it) noexcept {
        it.ends_stage = it.ends_stage || !stage_.start_timer(it);
        return set_next(it, it.ends_stage ? worker_step::end : worker_step::take);
    }

    static D* set_next(iteration& it, worker_step next) noexcept {
        it.next = next;
        return nullptr;
    }

  private:
    static constexpr bool is_measured = Kind::policy_type::statistics;

    // Begins to record samples, if the run has any. A worker of an `aggregate` is watched all the time, as a
    // batch is made of many tasks. For samples, other workers are watched only during a task of the sample.
    void begin_samples() noexcept {
        if constexpr (is_measured) {
            if (me_.sampler == nullptr || !traits.counts_tasks) return;
            if (std::string_view(stage_.kind()) == "aggregate") {
                me_.sampler->sample_batches();
                me_.meter.sample_after(stopwatch::no_sample);
            }
            context_.value.is_watched = true;
        }
    }
    // A task has ended, and the clock was read. Records the task if it is part of the sample, or watches the
    // worker from now on if the next task is.
    WEIR_ALWAYS_INLINE void end_sample([[maybe_unused]] bool failed) noexcept {
        if constexpr (is_measured) {
            if (me_.meter.is_sampled_next()) end_or_begin_sample(failed);
        }
    }
    WEIR_NOINLINE void end_or_begin_sample(bool failed) noexcept {
        if (context_.value.is_watched) me_.sampler->end_task(me_, failed);
        context_.value.is_watched = true;
    }
    void count_sampled_result([[maybe_unused]] iteration& it) noexcept {
        if (!me_.sampler->is_of_batches()) return me_.sampler->count_result();
        const bool lacks_item = traits.origin == result_origin::all_held && it.item != nullptr &&
                                !it.place.mark && !stage_.has_item(it);
        me_.sampler->give_batch(lacks_item, me_.last_reading);
    }
    void end_sampled_item() noexcept {
        std::uint64_t between = 0;
        if (me_.sampler->end_item(me_, between)) me_.meter.sample_after(between);
        context_.value.is_watched =
            context_.value.is_always_watched || me_.sampler->is_of_batches() || me_.meter.is_sampled_next();
    }

    WEIR_NOINLINE task_end handle_failure(iteration& it, bool is_timed) noexcept {
        std::int64_t spent = 0;
        if (traits.counts_tasks) spent = is_timed ? it.spent : stage_.end_failed_work(me_);
        if constexpr (is_measured) {
            if (is_timed) me_.meter.count_timed_invocation();
        }
        const std::uint64_t failures = me_.failures();
        const bool is_tolerated = stage_.tolerates_failure(it);
        bool goes_on = false;
        if (is_tolerated) {
            goes_on = stage_.record_failure(me_, item_number(it), std::move(it.error), spent);
        } else {
            stage_.fail_stage(me_, item_number(it), std::move(it.error), spent);
        }
        if (me_.failures() != failures) end_sample(true);  // a task that a stop has ended is no failure
        if (!goes_on) return task_end::fatal;
        stage_.acknowledge(it);
        return task_end::tolerated;
    }

    bool begin_trace(iteration& it) noexcept {
        item_tracer& tracer = context_.value.tracer;
        if constexpr (Kind::has_input && !traits.gathers_parts) {
            if (it.has_work && it.item != nullptr && !input_.is_added()) {
                return tracer.begin(input_.queue(), input_.queue_number(), item_number(it), it.place.epoch);
            }
        }
        if (it.has_work && it.item == nullptr && traits.origin == result_origin::its_item) {
            return tracer.begin_new(context_.value.number, item_number(it), it.place.epoch);
        }
        tracer.begin_none();
        return false;
    }

  protected:
    Kind& stage_;
    slot& me_;
    in_place<context> context_;
    typename Kind::input input_;
};

}  // namespace weir::detail

#endif
