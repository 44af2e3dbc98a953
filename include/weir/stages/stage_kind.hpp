// weir stages, internal: the base of every stage kind, and of those that call a function with each item
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_STAGE_KIND_HPP
#define WEIR_STAGES_STAGE_KIND_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/env.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/running_stage.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/intake.hpp>
#include <weir/stages/iteration.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/stage.hpp>

#include <coroutine>    // for std::suspend_never
#include <cstdint>      // for std::uint64_t
#include <exception>    // for std::current_exception
#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t, std::is_same_v
#include <utility>      // for std::forward, std::move

namespace weir::detail {

// An awaitable of bool that never waits.
struct no_wait : std::suspend_never {
    static bool await_resume() noexcept { return true; }
};

// A stage kind derives from this class. It has the state that all slots of the stage share, and is used by
// the `stage_worker` of each slot. `C`: the item type of the queue before the stage, or `nothing`;
// `D`: that of the queue behind the stage. A kind has to have two members:
//     using iteration = typename base::template iteration_with<State>;   what it needs for each item
//     D* next_result(iteration& it) noexcept;   the next result, which stays until it is put; null: none
// and, unless each result is the item itself,
//     void work(iteration& it);                 once for each item. An exception fails the item, or the stage
// `work` may return an awaitable instead; then the kind has
//     void store_result(iteration& it, Result&& result);   what awaiting it gave
// A kind overrides each of the defaults below by a member with the same name.
template <class C, class D, class Policy>
class stage_kind : public running_stage<Policy> {
  public:
    using typename running_stage<Policy>::slot;
    using policy_type = Policy;
    using item_taken = C;
    using item_given = D;
    using input_queue = channel<C, Policy>;
    using output_queue = channel<D, Policy>;

    stage_kind(run_context& run, const char* kind, const stage_options& options, input_queue* in,
               output_queue* out)
        : running_stage<Policy>(run, kind, options), in_(in), out_(out) {}

    using load = epoch_item_traits<C>;
    template <class State = nothing, class Resources = nothing>
    using iteration_with = iteration_of<C, D, slot, State, Resources>;

    static constexpr bool has_input = !std::is_same_v<C, nothing>;
    static constexpr stage_traits traits{};
    // How a worker takes an item: see intake.hpp.
    using input = std::conditional_t<has_input, intake<input_queue>, no_intake>;

    // ---- in the order in which a worker calls them
    // Called when the worker begins, and when its slot is used again after a change of the concurrency.
    // False: the kind has reported a failure, and the worker ends.
    bool acquire_resources(auto& /*context*/) noexcept { return true; }
    void release_resources(auto& /*context*/) noexcept {}
    // Whether the function of the stage takes the `invocation`, which describes the call.
    bool needs_invocation() const noexcept { return false; }
    duration time_limit() const noexcept { return duration(0); }

    // Tells `from` where the next item comes from.
    void take(input& from, slot& /*me*/, auto& /*it*/) noexcept {
        if constexpr (has_input) from.prepare(*in_);
    }
    // An item came.
    void on_item(auto& /*it*/) noexcept {}
    // Of a kind that gathers parts: whether all parts of the item have come.
    bool completes_item(auto& /*it*/, input& /*from*/) noexcept { return true; }
    // Whether there is an item to work on.
    bool has_work(const auto& it) const noexcept {
        return !it.place.mark && (it.item != nullptr || !has_input);
    }
    // A set of bits, one for each source of the run that this stage is part of: see `byte_budget`.
    std::uint64_t byte_sources(const auto& /*it*/) const noexcept { return 0; }

    void work(auto& /*it*/) noexcept {}
    // Wraps the awaitable that `work` has returned. The wrapper records that the slot waits.
    static decltype(auto) observe(auto& awaitable, coroutine_env& env) {
        return detail::await_measured(awaitable, env);
    }
    // Called in place of `work` for an item that failed before.
    void on_skipped(auto& /*it*/) noexcept {}
    // The result came after the time limit.
    void discard_result(auto& /*it*/) noexcept {}
    // Prepares the next result. It may return an awaitable; `store_fetched` then gets what awaiting it gave.
    // An exception fails the item.
    void fetch_result(auto& /*it*/) noexcept {}
    // Whether the result that `next_result` has returned is the last one.
    bool is_last_result(const auto& /*it*/) const noexcept { return true; }
    // The result as the hooks see it.
    any_item result_for_hooks(auto& /*it*/) const noexcept { return any_item(); }
    // The task has ended: destroys state of the task, before the item is destroyed.
    void end_task(auto& /*it*/) noexcept {}
    // The task has succeeded, and its results are about to be put. Sets `error` of the iteration to fail it.
    void commit(auto& /*it*/) noexcept {}
    // Whether a failed task fails its item only, and not the stage.
    bool tolerates_failure(const auto& /*it*/) const noexcept { return false; }
    // Whether the work counts as a task. Called after the work, if `has_work` returned true.
    bool counts_as_task(const auto& /*it*/) const noexcept { return true; }
    // The worker has put all results of the item, or tolerates its failure. A checkpoint then counts the item
    // as consumed: see `acknowledge_drop`.
    void acknowledge(auto& /*it*/) noexcept {}

    // Where the stage keeps an order: a worker waits for its turn before it puts, and leaves it afterwards.
    bool is_ordered() const noexcept { return false; }
    no_wait wait_for_turn(auto& /*it*/, slot& /*me*/) noexcept { return {}; }
    // False: the stage ends.
    bool leave_turn(const auto& /*it*/) noexcept { return true; }
    // The item never leaves the stage: refuses its turn, and every later one.
    void block_turns(const auto& /*it*/) noexcept {}

    // The queue for the result that `next_result` has returned.
    output_queue& output_for(const auto& /*it*/) noexcept { return *out_; }
    // Whether the stage continues when the consumer of that queue has closed it.
    bool continues_when_output_closed(auto& /*it*/) noexcept { return false; }
    // Whether a worker that is refused its turn or admission ends.
    bool ends_when_refused() const noexcept { return true; }
    // Asked when all results are put: whether the stage ends with this iteration.
    bool is_finished(const auto& /*it*/) const noexcept { return false; }

    // For a kind that holds items for a limited time. Before the next item is taken, `stops_timer` says
    // whether the timer has to be cancelled; `start_timer` starts one where that is needed, and returns false
    // where that fails.
    bool stops_timer(auto& /*it*/, bool /*ends*/) noexcept { return false; }
    no_wait cancel_timer(auto& /*it*/) noexcept { return {}; }
    void timer_cancelled(auto& /*it*/) noexcept {}
    bool start_timer(auto& /*it*/) noexcept { return true; }

    // For `result_origin::all_held`: whether the result contains the current item, and whether items are
    // held.
    bool has_item(const auto& /*it*/) const noexcept { return true; }
    bool holds_items(const auto& /*it*/) const noexcept { return false; }

    // The worker ends: it closes the input, waits until nothing else uses the stage, and closes the output.
    void close_input(slot& /*me*/) noexcept { in_->cancel(); }
    no_wait wait_before_end(slot& /*me*/) noexcept { return {}; }
    void close_output(slot& me) noexcept { this->leave(me, *out_); }
    // Ends the waits of the kind for a slot that the concurrency of the stage no longer includes.
    void recall_idle() noexcept {}

    // The number of an item, without the end-of-epoch marks before it.
    template <class Place>
    std::uint64_t number_of(const Place& place) const noexcept {
        return place.number - (is_epoch_item<C> ? place.epoch - this->run_.first_epoch() : 0);
    }

  protected:
    // The function has made no result of an item: a checkpoint counts the item as consumed. After a request
    // to stop the item is not consumed, because the function may have given up for that reason.
    void acknowledge_drop(provenance given) const noexcept {
        if (!this->run_.may_give_up()) given.acknowledge();
    }
    static void acknowledge_drop(no_provenance) noexcept {}

    input_queue* const in_;
    output_queue* const out_;
};

// How a stage calls its function. `Given`: the function, or a factory of functions; `C`: the item type of the
// queue before the stage.
template <class Given, class C>
struct function_call {
    using traits =
        typename the_function<typename function_of<Given>::type>::template is_given<carried_value_t<C>>;
    using more = nothing;  // state of an iteration for further arguments of the function
};

// The function, made for each slot or once for all. `Given`: it, or the factory of them; `Types`: its
// `call_traits`. The state of an iteration has a member `item_provenance`.
template <class Given, class Types, class C, class D, class Policy>
class function_stage : public stage_kind<C, D, Policy> {
    using base = stage_kind<C, D, Policy>;
    using Function = typename function_of<Given>::type;

  public:
    using typename base::slot;
    // Each slot has its own function if there is a factory.
    using resources = std::conditional_t<is_slot_factory<Given>, std::optional<Function>, nothing>;
    static constexpr bool waits = Types::waits;

    template <class G>
    function_stage(run_context& run, const char* kind, const stage_options& options, G&& f,
                   channel<C, Policy>& in, typename base::output_queue& out)
        : base(run, kind, options, &in, &out), given_(std::forward<G>(f)) {
        if constexpr (!Policy::statistics) detail::measure_nothing(given_);
        run_context::refuse_unless(options.time_limit >= duration(0), options,
                                   "has a negative time limit; 0 means that there is none");
    }

    bool is_resizable() const noexcept override { return true; }
    bool tolerates_failure(const auto&) const noexcept { return true; }
    bool needs_invocation() const noexcept { return Types::takes_call; }
    bool acquire_resources([[maybe_unused]] auto& context) noexcept {
        if constexpr (is_slot_factory<Given>) {
            try {
                context.resources.emplace(given_.make());
                this->read_clock(context.slot);
            } catch (...) {
                this->read_clock(context.slot);
                this->fail_stage(context.slot, 0, std::current_exception());
                return false;  // the other slots finish their current items
            }
        }
        return true;
    }
    void release_resources([[maybe_unused]] auto& context) noexcept {
        if constexpr (is_slot_factory<Given>) context.resources.reset();
    }

    void on_item(auto& it) noexcept { it.item_provenance = base::load::provenance_of(*it.item); }
    void on_skipped(auto& it) noexcept {
        if constexpr (requires { function(it).left_out(it.context->guard->call()); }) {
            if (it.context->guard) function(it).left_out(it.context->guard->call());
        }
    }
    decltype(auto) call(auto& it) {
        auto& item = base::load::value_of(*it.item);
        const invocation* call = nullptr;
        if constexpr (Types::takes_call) call = &it.context->guard->call();
        if constexpr (requires { it.more; }) {
            return detail::call(function(it), std::move(item), call, *it.more);
        } else {
            return detail::call(function(it), std::move(item), call);
        }
    }
    void acknowledge(auto& it) noexcept { this->acknowledge_drop(std::move(it.item_provenance)); }

  private:
    auto& function([[maybe_unused]] auto& it) noexcept {
        if constexpr (is_slot_factory<Given>) {
            return *it.context->resources;
        } else {
            return given_;
        }
    }
    std::optional<transfer_stats> transfers() const override { return detail::transfers_of(given_); }

    Given given_;
};

}  // namespace weir::detail

#endif
