// weir stages, internal: the task of a worker on one item: its time, failure, hooks and trace, and its waits
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_STAGE_TASK_HPP
#define WEIR_STAGES_STAGE_TASK_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/stages/iteration.hpp>
#include <weir/stages/slot_loop.hpp>
#include <weir/stages/stage_kind.hpp>
#include <weir/task/slot_accounting.hpp>

#include <cstdint>      // for std::int64_t, std::uint64_t
#include <type_traits>  // for std::decay_t, std::is_same_v
#include <utility>      // for std::as_const, std::declval, std::forward, std::move

namespace weir::detail {

// The awaiter of a take or put operation. The worker reuses it for each item.
template <class Operation>
class erased_operation final : public any_awaiter {
  public:
    template <class Slot>
    explicit erased_operation(Slot& me) noexcept
        : any_awaiter(has_symmetric_transfer<Operation>), operation(me) {}

    std::coroutine_handle<> suspend(worker_handle worker) override {
        return detail::suspend_in(operation, worker);
    }

    Operation operation;
};

// `awaited_work`: the awaiter for the awaitable that `Kind::work` returns; `nothing` if `work` returns void.
// `awaited_fetch`: the same for `Kind::fetch_result`.
template <class Kind,
          class Returned = decltype(std::declval<Kind&>().work(std::declval<typename Kind::iteration&>()))>
struct awaited_work {
    using kept = std::decay_t<Returned>;
    using type = erased_call<kept, decltype(std::declval<Kind&>().observe(std::declval<kept&>(),
                                                                          std::declval<coroutine_env&>()))>;
};
template <class Kind>
struct awaited_work<Kind, void> {
    using type = nothing;
};
template <class Kind, class Returned = decltype(std::declval<Kind&>().fetch_result(
                          std::declval<typename Kind::iteration&>()))>
struct awaited_fetch {
    using type = erased_call<Returned, Returned&&>;
};
template <class Kind>
struct awaited_fetch<Kind, void> {
    using type = nothing;
};
template <class Kind>
inline constexpr bool awaits_work = !std::is_same_v<typename awaited_work<Kind>::type, nothing>;
template <class Kind>
inline constexpr bool awaits_fetch = !std::is_same_v<typename awaited_fetch<Kind>::type, nothing>;

// The waits of one worker, one at a time.
template <class Kind>
class worker_waits {
    using slot = slot_of<typename Kind::policy_type>;
    using iteration = typename Kind::iteration;
    using context = typename iteration::context_type;

  public:
    worker_waits(Kind& stage, slot& me) noexcept : stage_(stage), me_(me) {}

    // Begins the wait for the step `next` of the iteration. Returns null if the worker need not wait. The
    // worker then calls `end`; at once after null, otherwise when the worker is resumed.
    WEIR_NOINLINE any_awaiter* begin(iteration& it, context& all) noexcept {
        switch (it.next) {
            case worker_step::admission:
                return rare_wait_.begin([this] { return stage_.wait_for_admission(me_); });
            case worker_step::byte_budget:
                return rare_wait_.begin(
                    [&] { return stage_.run().budget()->wait(stage_.byte_sources(it), me_); });
            case worker_step::turn:
                return rare_wait_.begin([&] { return stage_.wait_for_turn(it, me_); });
            case worker_step::work:
                if constexpr (awaits_work<Kind>) {
                    return work_wait_.begin([&] { return stage_.work(it); },
                                            [&](auto& awaitable) -> decltype(auto) {
                                                return stage_.observe(awaitable, all.env);
                                            },
                                            it.error);
                }
                break;
            case worker_step::time_limit:
                return rare_wait_.begin([&all] { return all.guard->timer()->off(); });
            case worker_step::fetch_result:
                if constexpr (awaits_fetch<Kind>) {
                    return fetch_wait_.begin([&] { return stage_.fetch_result(it); },
                                             [](auto& awaitable) -> auto&& { return std::move(awaitable); },
                                             it.error);
                }
                break;
            case worker_step::service:
                stage_.release_resources(all);
                return rare_wait_.begin([this] { return stage_.wait_for_service(me_); });
            case worker_step::hold_timer:
                return rare_wait_.begin([&] { return stage_.cancel_timer(it); });
            case worker_step::take:
            case worker_step::end:
            case worker_step::skip:
                break;
        }
        return nullptr;
    }
    // Returns false if a turn or an admission was refused, or if the slot does not return into service.
    WEIR_NOINLINE bool end(iteration& it, context& all) noexcept {
        switch (it.next) {
            case worker_step::admission:
            case worker_step::byte_budget:
            case worker_step::turn:
                return rare_wait_.resume();
            case worker_step::work:
                if constexpr (awaits_work<Kind>) {
                    const auto store = [&](auto&&... result) {
                        stage_.store_result(it, std::forward<decltype(result)>(result)...);
                    };
                    work_wait_.end(store, it.error);
                }
                break;
            case worker_step::time_limit:
                rare_wait_.resume();
                if (all.guard->timer()->fail_if_late(it.error)) stage_.discard_result(it);
                break;
            case worker_step::fetch_result:
                if constexpr (awaits_fetch<Kind>) {
                    fetch_wait_.end(
                        [&](auto&& next) { stage_.store_fetched(it, std::forward<decltype(next)>(next)); },
                        it.error);
                }
                break;
            case worker_step::service:
                return rare_wait_.resume() && stage_.acquire_resources(all);
            case worker_step::hold_timer:
                rare_wait_.resume();
                stage_.timer_cancelled(it);
                break;
            case worker_step::take:
            case worker_step::end:
            case worker_step::skip:
                break;
        }
        return true;
    }

    // Begin and end the wait for `wait_before_end` of the stage.
    any_awaiter* begin_last_wait() noexcept {
        return rare_wait_.begin([this] { return stage_.wait_before_end(me_); });
    }
    void end_last_wait() noexcept { rare_wait_.resume(); }

  private:
    Kind& stage_;
    slot& me_;
    seldom_awaiter rare_wait_;
    typename awaited_work<Kind>::type work_wait_;
    typename awaited_fetch<Kind>::type fetch_wait_;
};

// The base of a `stage_worker`: begins and ends the task on an item. Rare paths are not inlined.
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
        context_.construct([&] { return context(me_, env, guarded, traits.origin); });
        return stage_.acquire_resources(context_.value);
    }

    std::uint64_t item_number(const iteration& it) noexcept {
        if (traits.numbers_results || traits.works_without_item) return context_.value.number;
        return stage_.number_of(it.place);
    }
    bool counts_as_task(const iteration& it) const noexcept {
        return it.has_work && stage_.counts_as_task(it);
    }

    WEIR_ALWAYS_INLINE task_end end_task(iteration& it) noexcept {
        stage_.end_task(it);
        // The destructor of the item is part of the task.
        if constexpr (Kind::has_input && !traits.forwards_item) input_.operation.drop();
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
        is_timed ? stage_.record_task(me_, it.spent) : stage_.record_task(me_);
        return !stage_.tolerates_failure(it) || stage_.is_within_failure_rate() ? task_end::succeeded
                                                                                : task_end::last;
    }
    WEIR_NOINLINE void begin_guard_and_trace(iteration& it) noexcept {
        const bool is_followed = context_.value.tracer.is_on() && begin_trace(it);
        // A followed item has a guard, too, so that the end of its task is recorded.
        if (!traits.counts_tasks || !it.has_work || !(is_followed || context_.value.needs_guard)) return;
        detail::begin_overhead(me_);
        any_item input;
        if constexpr (Kind::has_input) {
            if (it.item != nullptr) input = any_item(std::as_const(epoch_item_traits<C>::value_of(*it.item)));
        }
        context_.value.guard.emplace(stage_.hooks(), stage_.run().ends(), stage_.name(), item_number(it),
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

    WEIR_NOINLINE void trace_result(iteration& it, const D& result) noexcept {
        item_tracer& tracer = context_.value.tracer;
        if (!tracer.is_on()) return;
        tracer.record_result(epoch_item_traits<D>::is_mark(result), stage_.has_item(it), item_number(it),
                             it.place.epoch);
    }

    WEIR_NOINLINE void end_trace(iteration& it) noexcept {
        if (context_.value.tracer.is_on()) context_.value.tracer.end(stage_.holds_items(it));
    }

  private:
    WEIR_NOINLINE task_end handle_failure(iteration& it, bool is_timed) noexcept {
        std::int64_t spent = 0;
        if (traits.counts_tasks) spent = is_timed ? it.spent : stage_.end_failed_work(me_);
        if (!stage_.tolerates_failure(it)) {
            stage_.fail_stage(me_, item_number(it), std::move(it.error), spent);
            return task_end::fatal;
        }
        if (!stage_.record_failure(me_, item_number(it), std::move(it.error), spent)) return task_end::fatal;
        stage_.acknowledge(it);
        return task_end::tolerated;
    }

    bool begin_trace(iteration& it) noexcept {
        item_tracer& tracer = context_.value.tracer;
        if constexpr (Kind::has_input && !traits.gathers_parts) {
            if (it.has_work && it.item != nullptr && !input_.operation.is_added()) {
                return tracer.begin(input_.operation.queue(), input_.operation.queue_number(),
                                    item_number(it), it.place.epoch);
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
    erased_operation<typename Kind::input> input_;
};

}  // namespace weir::detail

#endif
