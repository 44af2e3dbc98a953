// weir stages, internal: stages of one slot with a stateful operation, such as batching and shuffling
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_TRANSFORM_HPP
#define WEIR_STAGES_TRANSFORM_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_worker.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <exception>    // for std::exception_ptr
#include <optional>     // for std::optional
#include <type_traits>  // for std::remove_cvref_t
#include <utility>      // for std::exchange, std::forward, std::move

namespace weir::detail {

// A transform is a stage with one slot that calls an operation: an object made for each run. The operation
// sees items only: `running_transform` handles ends of epochs (passes over the data), and checkpoints. Only
// `push` is required:
//     void push(In&& item, std::optional<Out>& result)  takes an item; may store one result
//     void pop(std::optional<Out>& result)    stores the next result; called until it stores none
//     bool done() const                       `pop` would store none: saves the call
//     void end(std::optional<Out>& result)    the input or an epoch has ended; may store one result
//     void begin_epoch(std::uint64_t epoch)   the next items are of this epoch; not called without epochs
//     bool finished() const                   the stage ends: it takes no more items
//     bool holds() const                      items are held for a later result
//     duration max_delay() const              how long items may be held; 0: no limit. Needs `holds` and:
//     void expire()                           the time is over: the next `pop` stores the held items
// An exception stops the run. A task is a `push` and its `pop`s; its time does not include waits for room.
//
// For traces (of items) and checkpoints (of consumed items), it declares from which items it makes a result:
//
//     static constexpr result_origin origin   `its_item`, the item pushed last, by default
//     bool result_lacks_item() const          the result of the last `push` is made of earlier items only
//     bool is_elementwise() const             element k of a result is made of the k-th item; default: true
//     std::optional<std::size_t> num_results()   if result k is element k of the item: the number of elements
template <class Op>
inline constexpr bool has_max_delay = requires(const Op& op) { op.max_delay(); };

template <class Op>
inline constexpr result_origin origin_of = result_origin::its_item;
template <class Op>
    requires requires { Op::origin; }
inline constexpr result_origin origin_of<Op> = Op::origin;

// The current result. `Out`: its type in the operation; `D`: its type in the queue. If items have epochs, `D`
// is an `epoch_item`: an item with its epoch and origin, or the mark (message) that ends an epoch.
template <class Out, class D>
struct transformed {
    std::optional<Out> made;
    [[no_unique_address]] std::conditional_t<std::is_same_v<Out, D>, nothing, std::optional<D>> carried;
    bool is_first = true;      // no result was fetched yet
    bool was_popped = false;   // `pop` stored the result, not `push`
    bool mark_is_due = false;  // after all results, the mark at the end of the epoch follows
    bool gave_any = false;     // a result was put in this iteration
};

// The item type of the queue behind the stage. `Out`: the result type of the operation.
template <class C, class Out>
using transform_output = std::conditional_t<is_epoch_item<Out>, Out, carry_t<C, Out>>;

template <class Op, class C, class Out, class Policy>
class running_transform : public stage_kind<C, transform_output<C, Out>, Policy> {
    using D = transform_output<C, Out>;
    using base = stage_kind<C, D, Policy>;
    using typename base::item_traits;
    using typename base::slot;

  public:
    using resources = std::conditional_t<has_max_delay<Op>, hold_timer<channel<C, Policy>, slot>, nothing>;
    using iteration = typename base::template iteration_with<transformed<Out, D>, resources>;
    static constexpr stage_traits traits{.makes_results_later = true,
                                         .works_without_item = true,
                                         .origin = origin_of<Op>};

    running_transform(run_context& run, const stage_options& options, const char* kind, Op&& op,
                      channel<C, Policy>& in, channel<D, Policy>& out)
        : base(run, kind, options, &in, &out), op_(std::move(op)), ends_part_(run.is_in_split()) {
        begin_epoch(run.first_epoch());
        end_input_if_finished();
    }

    void work(iteration& it) {  // called by the worker, as the functions below: see stages/stage_kind.hpp
        it.mark_is_due = is_epoch_item<C> && it.place.mark;
        if (this->has_work(it)) {
            if constexpr (has_max_delay<Op>) it.context->resources.item_came(*it.context->env.executor);
            push(it);
            end_input_if_finished();
            it.mark_is_due = is_epoch_item<C> && ends_part_ && is_complete();
        } else if (it.item != nullptr || it.input_ended) {
            if constexpr (requires { op_.end(it.made); }) op_.end(it.made);
            carry(it);
            if (!holds()) settle(it.input_ended || this->may_end_early());
        } else if constexpr (has_max_delay<Op>) {
            op_.expire();
        }
    }
    void fetch_result(iteration& it) {
        if (!std::exchange(it.is_first, false)) result(it).reset();
        if constexpr (pops) {
            it.was_popped = !result(it);
            if (it.was_popped) op_.pop(it.made);
            carry(it);
        }
    }
    // For checkpoints (records of consumed items): the operation is done with the item, which counts as
    // consumed when its results have been consumed.
    void end_task(iteration& it) noexcept {
        if (traits.origin == result_origin::its_item && !it.error) provenance_.acknowledge();
    }
    D* next_result(iteration& it) noexcept {
        if constexpr (is_epoch_item<D>) {
            if (!result(it) && std::exchange(it.mark_is_due, false)) {
                result(it).emplace(D::end_of_epoch(it.place.epoch));
                begin_epoch(it.place.epoch + 1);
            }
        }
        it.gave_any = it.gave_any || result(it);
        return detail::pointer_to(result(it));
    }
    bool is_last_result(const iteration& it) const noexcept {
        if constexpr (!pops) {
            return !it.mark_is_due;
        } else if constexpr (requires { op_.done(); }) {
            return op_.done() && !it.mark_is_due;
        } else {
            return false;
        }
    }
    bool is_finished(const iteration& it) const noexcept { return it.input_ended || is_complete(); }

    bool has_item(const iteration& it) const noexcept { return it.was_popped; }
    bool holds_items(const iteration&) const noexcept { return holds(); }

    // The timer stops at the end of the stage, after its own expiry, when no item is held, and after a
    // result: the time then counts from a later item.
    bool stops_timer(const iteration& it, bool ends) const noexcept {
        if constexpr (has_max_delay<Op>) {
            const bool expired = it.item == nullptr && !it.input_ended;
            return it.context->resources.runs() && (ends || it.gave_any || expired || !op_.holds());
        } else {
            return false;
        }
    }
    auto cancel_timer(iteration& it) noexcept {
        if constexpr (has_max_delay<Op>) {
            return it.context->resources.cancel();
        } else {
            return no_wait();
        }
    }
    void timer_cancelled([[maybe_unused]] iteration& it) noexcept {
        if constexpr (has_max_delay<Op>) it.context->resources.finish_cancel(it.context->slot);
    }
    // Starts the timer if the operation holds items. False: memory for it was lacking; the stage has failed.
    bool start_timer([[maybe_unused]] iteration& it) noexcept {
        if constexpr (has_max_delay<Op>) {
            auto& timer = it.context->resources;
            if (timer.runs() || op_.max_delay() == duration(0) || !op_.holds()) return true;
            try {
                timer.start(*it.context->env.executor, op_.max_delay(), *this->in_, it.context->slot);
            } catch (...) {
                this->fail_stage(it.context->slot, it.context->number, std::current_exception());
                return false;
            }
        }
        return true;
    }

  private:
    static constexpr bool is_tracked = !std::is_same_v<Out, D>;  // a result gets an epoch and an origin
    static constexpr bool pops = requires(Op& op, std::optional<Out>& out) { op.pop(out); };

    static auto& result(iteration& it) noexcept {  // the result for the next queue
        if constexpr (is_tracked) {
            return it.carried;
        } else {
            return it.made;
        }
    }

    void push(iteration& it) {  // gives the item to the operation
        if constexpr (is_tracked) {
            provenance item_provenance = item_traits::provenance_of(*it.item);
            op_.push(std::move(item_traits::value_of(*it.item)), it.made);
            bool lacks_item = false;
            if constexpr (requires { op_.result_lacks_item(); })
                lacks_item = it.made && op_.result_lacks_item();
            if (lacks_item) carry(it);
            if (traits.origin == result_origin::its_item) {
                provenance_ = std::move(item_provenance);
                place_ = 0;
            } else {
                provenance_.add(std::move(item_provenance));
            }
            carry(it);
        } else {
            op_.push(std::move(*it.item), it.made);
        }
    }
    // Turns the result of the operation into an item of the next queue.
    void carry([[maybe_unused]] iteration& it) {
        if constexpr (is_tracked) {
            if (!it.made) return;
            it.carried.emplace(item_traits::carry(*it.made, of_result()));
            it.made.reset();
        }
    }
    provenance of_result() noexcept {  // the epoch and origin of a result
        if constexpr (traits.origin != result_origin::its_item) {
            if constexpr (requires { op_.is_elementwise(); }) {
                if (!op_.is_elementwise()) provenance_.clear_elementwise();
            }
            return std::move(provenance_);  // a moved-from provenance keeps its epoch
        } else {
            if constexpr (requires { op_.num_results(); }) {
                if (const auto all = op_.num_results()) return provenance_.of_element(place_++, *all);
            }
            if constexpr (!pops) return std::move(provenance_);
            return provenance_.share();
        }
    }
    // The operation holds no item any more. A checkpoint counts dropped items as consumed; but not with `cut`
    // (the epoch may be incomplete): a run that continues from the checkpoint repeats these items.
    void settle(bool cut) noexcept {
        if (!cut) provenance_.acknowledge();
        if constexpr (is_tracked) provenance_ = provenance(provenance_.epoch());
    }

    bool holds() const noexcept {  // items for a later result
        if constexpr (requires { op_.holds(); }) {
            return op_.holds();
        } else {
            return false;
        }
    }
    bool is_complete() const noexcept {  // takes no more items
        if constexpr (requires { op_.finished(); }) return op_.finished();
        return false;
    }
    void end_input_if_finished() noexcept {  // the stages before it then end, too
        if (is_complete()) this->in_->cancel();
    }
    void begin_epoch([[maybe_unused]] std::uint64_t epoch) noexcept {
        if constexpr (is_epoch_item<C>) {
            if constexpr (requires { op_.begin_epoch(epoch); }) op_.begin_epoch(epoch);
            provenance_ = provenance(epoch);
        }
    }

    Op op_;  // made for this run
    // In a branch of a `split`, an epoch is a part of a batch: there, a mark follows the last item.
    const bool ends_part_;
    typename item_traits::provenance provenance_;  // of the next result: its epoch and origin
    std::size_t place_ = 0;                        // index in the item of the element that leaves next
};

// Base of the classes that describe a transform, such as `shuffle_stage`. `Own` declares:
//     static constexpr const char* kind;           its name in statistics
//     static constexpr const char* one_slot;       end of the sentence that says why the stage has one slot
//     static constexpr const char* no_checkpoint;  likewise: why the run has no checkpoint; default: null
//     template <class T> using result = ...;       type of the results for items T; default: T
//     template <class T> static auto op(const Own&)   makes the operation for one run
//     static constexpr bool takes_elements;        true: T is the queue's element type; default: false
template <class Own>
struct transform_stage : stage_base {
    static constexpr bool takes_elements = false;
    static constexpr const char* no_checkpoint = nullptr;
    template <class T>
    using result = T;

    template <class C>
    struct types {
        using item = std::conditional_t<Own::takes_elements, C, carried_value_t<C>>;
        using made = typename Own::template result<item>;
        using output = transform_output<C, made>;
    };
    template <class C>
    using output = typename types<C>::output;

    template <class Self, class Policy, class C>
    static auto& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        run.refuse_unless(self.options.concurrency == 1, self.options, Own::one_slot);
        if (Own::no_checkpoint) run.set_no_checkpoint(self.options, Own::no_checkpoint);
        auto op = Own::template op<typename types<C>::item>(std::forward<Self>(self));
        using running = stage_of<running_transform<decltype(op), C, typename types<C>::made, Policy>>;
        // NOLINTNEXTLINE(bugprone-use-after-move): moves another member
        return run.template append<running>(self.options, in, Own::kind, std::move(op));
    }
};

}  // namespace weir::detail

#endif
