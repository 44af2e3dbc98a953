// weir stages, internal: the worker of a slot: takes an item, works on it, puts its results; and its stage
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_STAGE_WORKER_HPP
#define WEIR_STAGES_STAGE_WORKER_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/owned.hpp>
#include <weir/stages/iteration.hpp>
#include <weir/stages/slot_loop.hpp>
#include <weir/stages/stage_task.hpp>
#include <weir/stages/worker_waits.hpp>
#include <weir/task/detached_task.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::uint8_t
#include <exception>  // for std::current_exception

namespace weir::detail {

// The worker of one slot, as a state machine; a stage with `.concurrency = n` has n slots. One iteration:
//   1. take an item;
//   2. wait until the run admits the slot: for the end of a pause, later stages, a budget of bytes or items;
//   3. work: call the function of the stage, between hooks and within the time limit;
//   4. account for the task: record its time, or its failure;
//   5. for each result: wait until the item may leave the stage (its turn), and put the result;
//   6. leave the turn, and take the next item.
// With `makes_results_later`, the worker waits for the turn before step 3.
// The coroutine is suspended while `advance` runs, so a take or put that waits need not return to it first.
// Three empty stages take 61 ns an item; as one coroutine with all steps they took 115. Functions return the
// result to put, or null: then `it.next` is the next step.
template <class Kind>
class stage_worker final : public stage_task<Kind> {
    using base = stage_task<Kind>;
    using C = typename Kind::input_item;
    using D = typename Kind::output_item;
    using slot = slot_of<typename Kind::policy_type>;
    using iteration = typename Kind::iteration;
    static constexpr stage_traits traits = Kind::traits;
    enum class state : std::uint8_t { take, taken, put, was_put, waited, end, closed_input };

  public:
    stage_worker(Kind& stage, slot& me) noexcept : base(stage, me), output_(me), waits_(stage, me) {}

    void begin(coroutine_env& env) noexcept override {
        state_ = this->begin_work(env) ? state::take : state::end;
    }
    std::coroutine_handle<> advance(worker_handle worker) override {
        iteration& it = iteration_.value;
        D* result = nullptr;
        for (state now = state_;;) {
            switch (now) {
                case state::take:
                    iteration_.emplace();
                    it.context = &context_.value;
                    stage_.take(input_, me_, it);
                    if (!input_.await_ready()) {
                        state_ = state::taken;
                        if (const auto next = detail::suspend_in(input_, worker)) return next;
                    }
                    [[fallthrough]];
                case state::taken:
                    result = taken(it, input_.await_resume());
                    if (result == nullptr) break;
                    [[fallthrough]];
                case state::put:
                    stage_.begin_put(output_, result, stage_.output_for(it), it);
                    if (!output_.await_ready()) {
                        state_ = state::was_put;
                        if (const auto next = detail::suspend_in(output_, worker)) return next;
                    }
                    [[fallthrough]];
                case state::was_put:
                    result = was_put(it, output_.await_resume());
                    break;
                case state::waited:
                    result = resume_after_wait(it);
                    break;
                case state::end:
                    if (const auto next = end(worker)) return next;
                    [[fallthrough]];
                case state::closed_input:
                    close();
                    return nullptr;
            }
            if (result != nullptr || it.next == worker_step::skip) {
                now = state::put;
            } else if (it.next > worker_step::skip) {  // a step that waits
                now = state_ = state::waited;
                if (const auto next = detail::suspend_in(waits_.begin(it, context_.value), worker))
                    return next;
            } else {
                now = it.next == worker_step::take ? state::take : state::end;
                iteration_.reset();  // before the item: a generator may refer to it until its end
                input_.drop();
            }
        }
    }

  private:
    // Continues after a take. `came`: the take has got an item; false: the take failed, the input ended, or
    // the slot was recalled (has to leave service, or may hold its items no longer).
    WEIR_ALWAYS_INLINE D* taken(iteration& it, bool came) noexcept {
        it.task = task_end::succeeded;
        it.input_ended = false;
        it.ends_stage = false;
        it.item = nullptr;
        if (came) {
            if constexpr (Kind::has_input) this->read_item(it);
            if constexpr (traits.gathers_parts) {
                if (!stage_.completes_item(it, input_)) return set_next(it, worker_step::take);
            }
        } else if (!it.error) {
            it.input_ended = !input_.was_recalled();
            if (!it.input_ended && stage_.is_resizable()) return set_next(it, worker_step::service);
            if (!traits.works_without_item) return set_next(it, worker_step::end);
        }
        return continue_at(phase::admission, it);
    }

    enum class phase : std::uint8_t { admission, work, after_work, task_end, fetch, result };

    // Continues the iteration with the phase `from` and the phases behind it, up to the next wait or put.
    WEIR_ALWAYS_INLINE D* continue_at(phase from, iteration& it) noexcept {
        switch (from) {
            case phase::admission:
                if (stage_.may_have_to_wait() &&
                    stage_.must_wait(stage_.byte_sources(it), !Kind::has_input || !it.place.mark)) {
                    return set_next(it, worker_step::admission);
                }
                // A take that failed has no item, and so no turn.
                if (traits.makes_results_later && !it.error && stage_.is_ordered())
                    return set_next(it, worker_step::turn);
                [[fallthrough]];
            case phase::work:
                it.began = stage_.begin_work(me_);
                it.spent = 0;
                it.has_work = stage_.has_work(it);
                if (context_.value.is_watched) this->begin_watched(it);
                if (it.error) {
                    stage_.on_skipped(it);
                } else if constexpr (!awaits_work<Kind>) {
                    try {
                        stage_.work(it);
                    } catch (...) {
                        it.error = std::current_exception();
                    }
                } else if (it.has_work) {
                    return set_next(it, worker_step::work);
                }
                [[fallthrough]];
            case phase::after_work:
                if (context_.value.guard && context_.value.guard->timer() != nullptr)
                    return set_next(it, worker_step::time_limit);
                [[fallthrough]];
            case phase::task_end:
                if constexpr (!traits.makes_results_later) {
                    it.task = this->end_task(it);
                    if (it.task == task_end::fatal) return abandon(it);
                }
                [[fallthrough]];
            case phase::fetch:
                if constexpr (awaits_fetch<Kind>) {
                    if (!it.error && it.has_work) return set_next(it, worker_step::fetch_result);
                } else if (!it.error && it.task == task_end::succeeded) {
                    try {
                        stage_.fetch_result(it);
                    } catch (...) {
                        it.error = std::current_exception();
                    }
                }
                [[fallthrough]];
            case phase::result:
                break;
        }
        D* result = it.error || it.task == task_end::tolerated ? nullptr : stage_.next_result(it);
        it.has_more_results = result != nullptr && !stage_.is_last_result(it);
        if (context_.value.is_watched && result != nullptr) this->watch_result(it, *result);
        if constexpr (traits.makes_results_later) {
            if (it.has_more_results) {
                it.spent += stage_.end_work(me_, it.began);
            } else {
                it.task = this->end_task(it);
                if (it.task == task_end::fatal) return abandon(it);
                if (it.task == task_end::tolerated) result = nullptr;
            }
        } else if (stage_.puts_in_order()) {
            if (it.task == task_end::last) stage_.block_turns(it);
            if (result == nullptr) return set_next(it, worker_step::skip);
        } else if (stage_.is_ordered()) {
            it.to_put = result;
            return set_next(it, worker_step::turn);
        }
        return result != nullptr ? result : skip_put(it);
    }
    // As `continue_at`, not inlined: for an iteration that has waited, and for later results of an item.
    WEIR_NOINLINE D* continue_rarely(phase from, iteration& it) noexcept { return continue_at(from, it); }

    WEIR_NOINLINE D* skip_put(iteration& it) noexcept { return was_put(it, true); }  // no result to put
    WEIR_ALWAYS_INLINE D* was_put(iteration& it, bool is_in) noexcept {  // `is_in`: the put succeeded
        if (!is_in && !stage_.continues_when_output_closed(it)) return abandon(it);
        if constexpr (traits.makes_results_later) it.began = stage_.begin_work(me_);
        if (it.has_more_results) {
            if constexpr (traits.makes_results_later) return continue_at(phase::fetch, it);
            return continue_rarely(phase::fetch, it);
        }
        if (traits.numbers_results && this->counts_as_task(it)) ++context_.value.number;
        if (it.task == task_end::last) return abandon(it);
        if (stage_.is_ordered()) it.ends_stage = !stage_.leave_turn(it);
        return finish(it);
    }

    // Continues the iteration when the wait of the step `it.next` has ended.
    WEIR_NOINLINE D* resume_after_wait(iteration& it) noexcept {
        const bool goes_on = waits_.end(it, context_.value);
        if (it.next == worker_step::service)
            return set_next(it, goes_on ? worker_step::take : worker_step::end);
        if (!goes_on) return abandon(it);
        const bool checks_bytes = it.next == worker_step::admission && stage_.byte_sources(it) != 0;
        if (checks_bytes) return set_next(it, worker_step::byte_budget);
        switch (it.next) {
            case worker_step::admission:
            case worker_step::byte_budget:
                return continue_rarely(phase::admission, it);
            case worker_step::turn:
                if (!traits.makes_results_later) return it.to_put != nullptr ? it.to_put : skip_put(it);
                return continue_rarely(phase::work, it);
            case worker_step::work:
                return continue_rarely(phase::after_work, it);
            case worker_step::time_limit:
                return continue_rarely(phase::task_end, it);
            case worker_step::fetch_result:
                return continue_rarely(phase::result, it);
            case worker_step::hold_timer:
                return next_iteration(it);
            case worker_step::take:
            case worker_step::end:
            case worker_step::skip:
            case worker_step::service:
                break;
        }
        return nullptr;
    }
    WEIR_NOINLINE std::coroutine_handle<> end(worker_handle worker) {  // the worker ends; then close()
        static_assert(noexcept(stage_.close_input(me_)) && noexcept(stage_.close_output(me_)));
        stage_.release_resources(context_.value);
        stage_.close_input(me_);
        state_ = state::closed_input;
        return detail::suspend_in(waits_.begin_last_wait(), worker);
    }
    WEIR_NOINLINE void close() noexcept {  // after the last wait
        waits_.end_last_wait();
        stage_.close_output(me_);
    }

    using base::abandon;
    using base::context_;
    using base::finish;
    using base::input_;
    using base::me_;
    using base::next_iteration;
    using base::set_next;
    using base::stage_;
    state state_ = state::take;     // where `advance` continues
    typename Kind::output output_;  // puts the results
    later<iteration> iteration_;    // the current one
    worker_waits<Kind> waits_;      // other waits than for takes and puts
};

// The class of a stage in a run: its kind, and the functions by which the run makes workers and ends waits.
template <class Kind>
class stage_of final : public Kind {
  public:
    using Kind::Kind;

  private:
    using slot = slot_of<typename Kind::policy_type>;
    using worker = stage_worker<Kind>;

    bool blocks_threads() const noexcept override { return !awaits_work<Kind> && !awaits_fetch<Kind>; }
    void recall(slot& waiting) noexcept override {
        if constexpr (Kind::has_input) detail::base_of(*this->in_).recall(waiting);
    }
    void recall_other_waits() noexcept override { this->recall_idle(); }
    detached_task<void> make_worker(slot& me) override {
        return run_machine(owned<slot_machine>(new worker(*this, me)));
    }
};

}  // namespace weir::detail

#endif
