// weir stages, internal: stages of one slot that are no function: several items in for one out, or so
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_TRANSFORM_HPP
#define WEIR_STAGES_TRANSFORM_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_of.hpp>
#include <weir/task/delayed_action.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <exception>    // for std::exception_ptr
#include <optional>     // for std::optional
#include <type_traits>  // for std::remove_cvref_t
#include <utility>      // for std::exchange, std::forward, std::move

namespace weir::detail {

// Runs an `Op`, which is made for one run and used by one slot. `C` is what the queue before holds, `D` what
// the one behind does. All but `push` is optional:
//
//     void push(C&& item, std::optional<D>& out)  an item comes, never a mark; what leaves at once is put out
//     void end(std::optional<D>& out, bool cut)   the stream or an epoch has ended: what is held is to leave,
//                              or dropped; `cut`: maybe before its end, so that nothing of it is known to be
//                              dropped for good
//     void enter(std::uint64_t epoch)             what comes next, or leaves at its end, is of this epoch
//     void pop(std::optional<D>& out)             what leaves next; called until it puts nothing out
//     bool done() const        a pop would put nothing out; spares the call
//     bool finished() const    it wants no more items; the stage ends
//     duration patience() const  for how long it may hold what it holds; 0: for ever. With it:
//     bool holds() const       whether it holds anything
//     void hurry()             it has held it for so long: that is to leave
//
// Whatever it throws stops the run: there is no next item to go on with. One invocation is a push with
// its pops, without the waits for room between them.
template <class Op>
inline constexpr bool is_patient = requires(const Op& op) { op.patience(); };

//     static constexpr result_origin results_are_of   if that is not the item that was pushed last
// If it is `all`, what a push puts out has all items but that one, and what a pop does has it.
template <class Op>
inline constexpr result_origin results_are_of = result_origin::its_item;
template <class Op>
    requires requires { Op::results_are_of; }
inline constexpr result_origin results_are_of<Op> = Op::results_are_of;

template <class D>
struct transformed {
    std::optional<D> result;
    bool is_first = true;      // nothing of it was given yet
    bool was_popped = false;   // the result
    bool mark_is_due = false;  // when all is given that was held
    bool gave_any = false;
};

template <class Stage, class Slot>
struct held_for_a_time {
    struct expire {
        Stage* stage;
        Slot* who;
        void operator()() const noexcept { stage->let_go(*who); }
    };
    std::optional<delayed_action<expire>> patience_over;
    time_point came{};  // the last item, which may have waited for what was to leave before it
};

template <class Op, class C, class D, class Policy>
class running_transform : public stage_kind<C, D, Policy> {
    using base = stage_kind<C, D, Policy>;
    using typename base::slot;
    using time_limited = held_for_a_time<running_transform, slot>;

  public:
    using resources = std::conditional_t<is_patient<Op>, time_limited, nothing>;
    using iteration = typename base::template iteration_with<transformed<D>, resources>;
    static constexpr stage_traits traits{.makes_results_later = true,
                                         .works_without_item = true,
                                         .origin = detail::results_are_of<Op>};

    running_transform(run_context& run, const stage_options& options, const char* kind, Op&& op,
                      channel<C, Policy>& in, channel<D, Policy>& out)
        : base(run, kind, options, &in, &out), op_(std::move(op)) {
        enter(run.first_epoch());
    }

    void work(iteration& it) {
        it.mark_is_due = is_epoch_item<C> && it.place.mark;
        if (this->has_work(it)) {
            if constexpr (is_patient<Op>) it.context->resources.came = it.context->env.executor->now();
            op_.push(std::move(*it.item), it.result);
        } else if (it.item != nullptr || it.input_ended) {
            if constexpr (requires { op_.end(it.result, true); }) {
                op_.end(it.result, it.input_ended || this->is_cut_short());
            }
            if (it.mark_is_due) enter(it.place.epoch + 1);
        } else if constexpr (is_patient<Op>) {
            op_.hurry();
        }
    }
    void fetch_result(iteration& it) {
        if (!std::exchange(it.is_first, false)) it.result.reset();
        if constexpr (pops) {
            it.was_popped = !it.result;
            if (it.was_popped) op_.pop(it.result);
        }
    }
    D* next_result(iteration& it) noexcept {
        if constexpr (is_epoch_item<D>) {
            if (!it.result && std::exchange(it.mark_is_due, false)) {
                it.result.emplace(D::end_of_epoch(it.place.epoch));
            }
        }
        it.gave_any = it.gave_any || it.result;
        return it.result ? &*it.result : nullptr;
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
    bool is_finished(const iteration& it) const noexcept {
        if constexpr (requires { op_.finished(); }) {
            return it.input_ended || op_.finished();
        } else {
            return it.input_ended;
        }
    }

    bool has_item(const iteration& it) const noexcept { return it.was_popped; }
    bool holds_items(const iteration&) const noexcept {
        if constexpr (traits.origin == result_origin::all_held) {
            return op_.holds();
        } else {
            return false;
        }
    }

    // A timer that expires while an item is in hand leaves what is held due.
    bool stops_timer(const iteration& it, bool ends) const noexcept {
        if constexpr (is_patient<Op>) {
            const bool expired = it.item == nullptr && !it.input_ended;
            return it.context->resources.patience_over && (ends || it.gave_any || expired || !op_.holds());
        } else {
            return false;
        }
    }
    auto cancel_timer(iteration& it) noexcept {
        if constexpr (is_patient<Op>) {
            return it.context->resources.patience_over->off();
        } else {
            return no_wait();
        }
    }
    void timer_cancelled([[maybe_unused]] iteration& it) noexcept {
        if constexpr (is_patient<Op>) {
            it.context->resources.patience_over.reset();
            it.context->slot.recalled.store(false, std::memory_order_relaxed);
        }
    }
    // False: there is no memory for a timer, which ends the stage.
    bool start_timer([[maybe_unused]] iteration& it) noexcept {
        if constexpr (is_patient<Op>) {
            auto& held = it.context->resources;
            if (held.patience_over || op_.patience() == duration(0) || !op_.holds()) return true;
            try {
                executor& ex = *it.context->env.executor;
                held.patience_over.emplace(ex, op_.patience() - (ex.now() - held.came),
                                           typename time_limited::expire{this, &it.context->slot});
            } catch (...) {
                this->fail_stage(it.context->slot, it.context->number, std::current_exception());
                return false;
            }
        }
        return true;
    }
    void let_go(slot& who) noexcept {
        who.recalled.store(true, std::memory_order_relaxed);
        detail::inside(*this->in_).recall(who);
    }

  private:
    void enter([[maybe_unused]] std::uint64_t epoch) noexcept {
        if constexpr (is_epoch_item<C> && requires { op_.enter(epoch); }) op_.enter(epoch);
    }

    static constexpr bool pops = requires(Op& op, std::optional<D>& out) { op.pop(out); };

    Op op_;
};

// The description of such a stage has
//     static constexpr const char* kind;       as statistics name it
//     static constexpr const char* one_slot;   ends the sentence that says why it has one slot
//     static constexpr const char* no_checkpoint;  ends the sentence that says why its run has none; or null
//     template <class C> using output = ...;   what is in the queue behind it, if `C` is in that before it
//     op(self, queue)                          makes its `Op` for one run
struct transform_stage : stage_base {
    template <class C>
    using output = C;

    template <class Self, class Policy, class C>
    static auto& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        using own = std::remove_cvref_t<Self>;
        using D = typename own::template output<C>;
        run.refuse_unless(self.options.concurrency == 1, self.options, own::one_slot);
        if constexpr (requires { own::no_checkpoint; }) {
            if (own::no_checkpoint) run.has_no_checkpoint(self.options, own::no_checkpoint);
        }
        auto op = own::op(std::forward<Self>(self), in);
        // NOLINTNEXTLINE(bugprone-use-after-move): another part of it
        return run.template append<stage_of<running_transform<decltype(op), C, D, Policy>>>(self.options, in,
                                                                                            own::kind,
                                                                                            std::move(op));
    }
};

}  // namespace weir::detail

#endif
