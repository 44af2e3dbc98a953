// weir stages, internal: bodies of the functions of stages/stage_task.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_STAGE_TASK_IPP
#define WEIR_STAGES_STAGE_TASK_IPP

#include <weir/stages/stage_task.hpp>

#include <weir/platform/config.hpp>

#include <cstdint>      // for std::int64_t, std::uint64_t
#include <string_view>  // for std::string_view
#include <utility>      // for std::move

namespace weir::detail {

// Begins to record samples, if the run does. A watched worker calls hooks, traces items and records samples.
// A worker of an `aggregate` is watched all the time, as a batch is made of many tasks. For samples, other
// workers are watched only during a task of the sample.
template <class Policy>
WEIR_INLINE task_context<Policy>::task_context(running_stage<Policy>& stage, slot_type& me, coroutine_env& e,
                                               const stage_traits& traits, bool needs_call,
                                               duration time_limit) noexcept
    : slot(me), env(e), tracer(me, traits.origin), stage_(stage), traits_(traits), time_limit_(time_limit),
      needs_guard_(traits.counts_tasks &&
                   (needs_call || time_limit > duration(0) || !stage.hooks().empty())) {
    stage_.worker_started(slot);
    is_watched = needs_guard_ || tracer.is_on();
    if constexpr (Policy::statistics) {
        if (slot.sampler == nullptr || !traits_.counts_tasks) return;
        if (std::string_view(stage_.kind()) == "aggregate") {
            slot.sampler->sample_batches();
            slot.meter.sample_after(stopwatch::no_sample);
        }
        is_watched = true;
    }
}

template <class Policy>
WEIR_NOINLINE WEIR_INLINE void task_context<Policy>::begin_watched(const task_item<Policy>& of,
                                                                   iteration_state& it) noexcept {
    const bool is_followed = tracer.is_on() && begin_trace(of, it.has_work);
    if (!traits_.counts_tasks || !it.has_work) return;
    // An item that a trace follows has an `invocation_guard`, too: `end_guard` records the task's end.
    if (is_followed || needs_guard_) {
        detail::begin_overhead(slot);
        guard.emplace(stage_.hooks(), stage_.run().own_stop(), stage_.name(), of.number, of.epoch,
                      slot.number(), of.input, time_limit_, env, it.error);
        it.began = stage_.begin_work(slot);
    }
    if constexpr (Policy::statistics) {
        if (slot.sampler == nullptr) return;
        if (slot.sampler->is_of_batches()) {
            slot.sampler->take_item();
        } else if (slot.meter.is_sampled_next()) {
            slot.sampler->begin_task(slot);
        }
    }
}

template <class Policy>
WEIR_INLINE bool task_context<Policy>::begin_trace(const task_item<Policy>& of, bool has_work) noexcept {
    if (has_work && of.from != nullptr) return tracer.begin(*of.from, of.queue_number, of.number, of.epoch);
    if (has_work && of.is_made && traits_.origin == result_origin::its_item)
        return tracer.begin_new(number, of.number, of.epoch);
    tracer.begin_none();
    return false;
}

template <class Policy>
WEIR_NOINLINE WEIR_INLINE void task_context<Policy>::end_guard(bool gave_none, const any_item& output,
                                                               std::exception_ptr& error) noexcept {
    if (tracer.is_on()) tracer.worked(error != nullptr, gave_none);
    guard->end(output, error);
    guard.reset();
}

template <class Policy>
WEIR_NOINLINE WEIR_INLINE void task_context<Policy>::watch_result(std::uint64_t item, std::uint64_t epoch,
                                                                  bool is_mark, bool has_item,
                                                                  bool lacks_item) noexcept {
    if constexpr (Policy::statistics) {
        if (slot.sampler != nullptr && !is_mark) {
            if (slot.sampler->is_of_batches()) {
                slot.sampler->give_batch(lacks_item, slot.last_reading);
            } else {
                slot.sampler->count_result();
            }
        }
    }
    if (tracer.is_on()) tracer.record_result(is_mark, has_item, item, epoch);
}

template <class Policy>
WEIR_NOINLINE WEIR_INLINE void task_context<Policy>::end_watched(bool holds_items) noexcept {
    if constexpr (Policy::statistics) {
        if (slot.sampler != nullptr) {
            std::uint64_t between = 0;
            if (slot.sampler->end_item(slot, between)) slot.meter.sample_after(between);
            is_watched = needs_guard_ || tracer.is_on() || slot.sampler->is_of_batches() ||
                         slot.meter.is_sampled_next();
        }
    }
    if (tracer.is_on()) tracer.end(holds_items);
}

template <class Policy>
WEIR_NOINLINE WEIR_INLINE bool task_context<Policy>::fail(std::uint64_t item, iteration_state& it,
                                                          bool is_timed, bool is_tolerated) noexcept {
    std::int64_t spent = 0;
    if (traits_.counts_tasks) spent = is_timed ? it.spent : stage_.end_failed_work(slot);
    if constexpr (Policy::statistics) {
        if (is_timed) slot.meter.count_timed_invocation();
    }
    const std::uint64_t failures = slot.failures();
    bool goes_on = false;
    if (is_tolerated) {
        goes_on = stage_.record_failure(slot, item, std::move(it.error), spent);
    } else {
        stage_.fail_stage(slot, item, std::move(it.error), spent);
    }
    if (slot.failures() != failures) end_sample(true);  // a task that a stop has ended is no failure
    return goes_on;
}

template <class Policy>
WEIR_NOINLINE WEIR_INLINE void task_context<Policy>::end_or_begin_sample(
    [[maybe_unused]] bool failed) noexcept {
    if constexpr (Policy::statistics) {
        if (is_watched) slot.sampler->end_task(slot, failed);
        is_watched = true;
    }
}

}  // namespace weir::detail

#endif
