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
#include <weir/stages/iteration.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/worker_waits.hpp>

#include <coroutine>    // for std::suspend_never
#include <cstdint>      // for std::uint64_t
#include <exception>    // for std::current_exception
#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t, std::is_same_v
#include <utility>      // for std::forward, std::move

namespace weir::detail {

// Those defaults of stage kinds (classes of stages) that depend on no item type, so that a program has each
// once. See stage_kind, which has the others.
struct kind_defaults {
    // ---- the beginning of a worker. The numbers below are the steps in stage_worker.hpp.
    // Makes the objects that each slot (worker) has for itself. Called when the worker begins, and
    // when its slot is used again after a change of the concurrency. Returns false after a reported failure,
    // or if the run is stopped: the worker ends.
    bool acquire_resources(auto& /*context*/) noexcept { return true; }
    void release_resources(auto& /*context*/) noexcept {}  // when it ends, or leaves service
    // Whether the function of the stage takes the `invocation`, which describes the call.
    bool needs_invocation() const noexcept { return false; }
    duration time_limit() const noexcept { return duration(0); }

    // ---- 1 and 2: take an item, and wait until the run admits the slot
    // Stores what the kind needs of the item. Called when an item, or a mark (the end of an epoch, a pass
    // over the data), was taken.
    void on_item(iteration_state& /*it*/) noexcept {}
    // For a stage that makes items, such as a source: the bit mask of the sources of these items, for the
    // run's `byte_budget`, which limits the bytes in the queues. Otherwise 0.
    std::uint64_t byte_sources(const iteration_state& /*it*/) const noexcept { return 0; }

    // ---- 3 and 4: work, and account for the task (one call of the function)
    // A `work` that returns an awaitable is called only if `has_work` returned true. A `work` that returns
    // void is called in each iteration without an error, also for an end-of-epoch mark.
    void work(iteration_state& /*it*/) noexcept {}
    // Returns the awaitable for the worker, made from the result of `work`. Default: a wrapper of this
    // result, which records that the slot waits.
    static decltype(auto) make_awaitable(auto& awaitable, coroutine_env& env) {
        return detail::await_measured(awaitable, env);
    }
    // Called instead of `work` if the iteration already has an error, for example because a hook threw: may
    // tell the function that the item is left out.
    void on_skipped(iteration_state& /*it*/) noexcept {}
    // Called if the task took longer than its time limit: destroys the result.
    void discard_result(iteration_state& /*it*/) noexcept {}
    // Prepares the next result. May return an awaitable, whose result the worker gives to `store_fetched`.
    // An exception fails the task: see `tolerates_failure`.
    void fetch_result(iteration_state& /*it*/) noexcept {}
    // Whether the result that `next_result` has returned is the last one.
    bool is_last_result(const iteration_state& /*it*/) const noexcept { return true; }
    // The result that hooks (functions of the user, called around each task) see.
    any_item result_for_hooks(iteration_state& /*it*/) const noexcept { return any_item(); }
    // Called when the task has ended, before the item is destroyed: destroys the state of the task.
    // `end_task` and `commit` are also called in an iteration without work, as for a mark.
    void end_task(iteration_state& /*it*/) noexcept {}
    // Called after `end_task` if the iteration has no error. To fail the item, the kind sets `error`.
    void commit(iteration_state& /*it*/) noexcept {}
    // Whether a failed task may fail its item only: see `max_failures`. False: a failed task fails the stage.
    bool tolerates_failure(const iteration_state& /*it*/) const noexcept { return false; }
    // Whether statistics count the work as a task. Called after the work, if `has_work` returned true.
    bool counts_as_task(const iteration_state& /*it*/) const noexcept { return true; }
    // Called if the failure of an item is tolerated; with `makes_results_later`, also if its task succeeded.
    // From then on, only the results of the item, if any, have to be consumed for a checkpoint (the record of
    // consumed items) to count the item: see `acknowledge_drop`.
    void acknowledge(iteration_state& /*it*/) noexcept {}

    // ---- 5 and 6: the turn of the item (when it may leave the stage), and the put of each result
    // Whether results go into the next queue in the order of the items' numbers, whatever the order in which
    // they are done: see `channel_puts`. Then each item has one result or none, and `begin_put` is also
    // called with null, for an item without a result.
    bool puts_in_order() const noexcept { return false; }
    // For a stage that keeps another order, such as that of epochs: a worker waits for its item's turn before
    // it puts (with `makes_results_later`, before it works), and ends the turn after the last put.
    bool is_ordered() const noexcept { return false; }
    no_wait wait_for_turn(iteration_state& /*it*/, auto& /*slot*/) noexcept { return {}; }
    // Ends the turn. Returns false if the stage ends.
    bool leave_turn(const iteration_state& /*it*/) noexcept { return true; }
    // Called if the stage ends at the item. Refuses the turns of later items; in a stage with
    // `puts_in_order`, the puts of their results.
    void block_turns(const iteration_state& /*it*/) noexcept {}
    // Whether the iteration continues after a put that failed, because the queue of the result is closed.
    bool continues_when_output_closed(iteration_state& /*it*/) noexcept { return false; }
    // Whether a worker ends if its turn or admission is refused, or its output is closed.
    bool ends_when_refused() const noexcept { return true; }
    // Called at the end of an iteration: whether the stage ends now.
    bool is_finished(const iteration_state& /*it*/) const noexcept { return false; }

    // ---- kinds that hold items for a limited time
    // `stops_timer`: whether the timer has to be cancelled at the end of an iteration; `ends`: whether the
    // stage ends. If `stops_timer` returns true, the worker awaits `cancel_timer`, and then calls
    // `timer_cancelled`. Before the next item is taken, `start_timer` starts a timer if one is needed; false:
    // that failed.
    bool stops_timer(iteration_state& /*it*/, bool /*ends*/) noexcept { return false; }
    no_wait cancel_timer(iteration_state& /*it*/) noexcept { return {}; }
    void timer_cancelled(iteration_state& /*it*/) noexcept {}
    bool start_timer(iteration_state& /*it*/) noexcept { return true; }

    // For `result_origin::all_held`. `has_item`: whether the result contains the current item. `holds_items`:
    // whether the stage holds items for a later result.
    bool has_item(const iteration_state& /*it*/) const noexcept { return true; }
    bool holds_items(const iteration_state& /*it*/) const noexcept { return false; }

    // ---- the end of a worker: see stage_kind
    no_wait wait_before_end(auto& /*slot*/) noexcept { return {}; }
    // Called when slots have to go out of service, as the concurrency was reduced: their flags
    // `slot::recalled` are set. If slots of the kind may wait for something other than an item of the queue
    // before the stage, ends such waits of slots with this flag, so that they see the flag.
    void recall_idle() noexcept {}
};

// The base of a stage kind. A kind has the state that all slots of a stage share; the `stage_worker` of each
// slot calls its functions. `C`: the item type of the queue before the stage, or `nothing`, for a source;
// `D`: the item type of the queue behind the stage. A kind has to declare two members:
//     using iteration = typename base::template iteration_with<State>;   with the kind's state for an item
//     D* next_result(iteration& it) noexcept;   returns the next result, valid until it is put, or null
// and, unless each result is the item itself,
//     void work(iteration& it);                 called for each item; an exception fails the item or stage
// `work` may return an awaitable instead. The kind then declares a function that takes its result:
//     void store_result(iteration& it, Result&& result);
// All functions below, and in kind_defaults, are defaults. None is virtual: a kind hides a default with a
// member of the same name.
template <class C, class D, class Policy>
class stage_kind : public running_stage<Policy>, public kind_defaults {
  public:
    using typename running_stage<Policy>::slot;
    using policy_type = Policy;
    using input_item = C;
    using output_item = D;
    using input_queue = channel<C, Policy>;
    using output_queue = channel<D, Policy>;

    stage_kind(run_context& run, const char* kind, const stage_options& options, input_queue* in,
               output_queue* out)
        : running_stage<Policy>(run, kind, options), in_(in), out_(out), first_epoch_(run.first_epoch()) {}

    using item_traits = epoch_item_traits<C>;
    template <class State = nothing, class Resources = nothing>
    using iteration_with = iteration_of<C, D, Policy, State, Resources>;

    static constexpr bool has_input = !std::is_same_v<C, nothing>;
    // Properties such as `makes_results_later`: see iteration.hpp.
    static constexpr stage_traits traits{};
    // How a worker takes an item: see worker_waits.hpp.
    using input = std::conditional_t<has_input, intake<input_queue>, no_intake>;
    // How a worker puts a result.
    using output = put_operation<output_queue>;

    // Prepares `from` to take the next item. The worker then awaits `from`.
    void take(input& from, slot& /*me*/, iteration_state& /*it*/) noexcept {
        if constexpr (has_input) from.prepare(*in_);
    }
    // For a kind that joins several input items, the parts, to one item: whether all parts have come.
    bool completes_item(iteration_state& /*it*/, input& /*from*/) noexcept { return true; }
    // Whether there is an item to work on. Default: an item was taken that is no mark, or the kind has no
    // input, such as a source.
    bool has_work(const auto& it) const noexcept {
        return !it.place.mark && (it.item != nullptr || !has_input);
    }
    // The queue for the result that `next_result` has returned.
    output_queue& output_for(const iteration_state& /*it*/) noexcept { return *out_; }
    // Prepares `to` to put the result. The worker then awaits `to`.
    WEIR_ALWAYS_INLINE static void begin_put(output& to, D* result, output_queue& queue,
                                             const iteration_state& /*it*/) noexcept {
        to.next(*result, queue);
    }
    // Each is called once when a worker ends, in this order. `close_input` ends the queue before the stage.
    // Functions of the user may run in it: destructors of items, the rule of a merge. They may request a stop
    // of the run. The worker then waits for `wait_before_end`, until nothing else uses the stage.
    // `close_output` of the last worker closes the next queue. Both are noexcept: after an exception, the
    // next queue would stay open, and the run would not end.
    void close_input(slot& /*me*/) noexcept { in_->cancel(); }
    void close_output(slot& me) noexcept { this->leave(me, *out_); }

    // The number of an item, without the end-of-epoch marks before it.
    template <class Place>
    std::uint64_t number_of(const Place& place) const noexcept {
        return place.number - (is_epoch_item<C> ? place.epoch - first_epoch_ : 0);
    }

  protected:
    // Called for an item that has no result, or no further one: a checkpoint counts the item as consumed when
    // its results, if any, are. Does nothing after a stop request, because the function may have given up for
    // this reason.
    void acknowledge_drop(provenance given) const noexcept {
        if (!this->run_.may_give_up()) given.acknowledge();
    }
    static void acknowledge_drop(no_provenance) noexcept {}

    input_queue* const in_;
    output_queue* const out_;
    const std::uint64_t first_epoch_;  // of the queue `in_`; sources that are added later may set another one
};

// How a stage calls its function: with an item. `Given`: the function, or a factory of functions; `C`: the
// item type of the queue before the stage.
template <class Given, class C>
struct function_call {
    using traits =
        typename the_function<typename function_of<Given>::type>::template is_given<carried_value_t<C>>;
    // The part of an iteration's state that has the second argument of the function: see `traversal_call`.
    using argument_state = nothing;
};

// The base of the stage kinds that call a function with each item. `Given`: the function, or a factory that
// makes one for each slot; `Types`: the `call_traits` of the function. The state that a derived kind gives to
// `iteration_with` has a member `item_provenance`: the epoch of the item, and its origin for checkpoints.
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
        : base(run, kind, options, &in, &out), given_(std::forward<G>(f)), limit_(options.time_limit) {
        if constexpr (!Policy::statistics) detail::measure_nothing(given_);
    }

    bool is_resizable() const noexcept override { return true; }
    bool tolerates_failure(const iteration_state&) const noexcept { return true; }
    bool needs_invocation() const noexcept { return Types::takes_call; }
    duration time_limit() const noexcept { return limit_; }
    bool acquire_resources([[maybe_unused]] auto& context) noexcept {
        if constexpr (is_slot_factory<Given>) {
            if (this->run_.own_stop().stop_requested()) return false;
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

    void on_item(auto& it) noexcept { it.item_provenance = base::item_traits::provenance_of(*it.item); }
    void on_skipped(auto& it) noexcept {
        if constexpr (requires { function(it).left_out(it.context->guard->call()); }) {
            if (it.context->guard) function(it).left_out(it.context->guard->call());
        }
    }
    decltype(auto) call(auto& it) {  // calls the function with the item
        auto& item = base::item_traits::value_of(*it.item);
        const invocation* call = nullptr;
        if constexpr (Types::takes_call) call = &it.context->guard->call();
        if constexpr (requires { it.second_argument; }) {
            return detail::call(function(it), std::move(item), call, *it.second_argument);
        } else {
            return detail::call(function(it), std::move(item), call);
        }
    }
    void acknowledge(auto& it) noexcept { this->acknowledge_drop(std::move(it.item_provenance)); }

  private:
    auto& function([[maybe_unused]] auto& it) noexcept {  // that of the slot
        if constexpr (is_slot_factory<Given>) {
            return *it.context->resources;
        } else {
            return given_;
        }
    }
    std::optional<transfer_stats> transfers() const override { return detail::transfers_of(given_); }

    Given given_;           // the function, or its factory
    const duration limit_;  // of the time of a call
};

}  // namespace weir::detail

#endif
