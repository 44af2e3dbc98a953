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
#include <weir/stages/worker_loop.hpp>
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

//     static constexpr made_of results_are_of   if that is not the item that was pushed last
// If it is `all`, what a push puts out has all items but that one, and what a pop does has it.
template <class Op>
inline constexpr made_of results_are_of = made_of::its_item;
template <class Op>
    requires requires { Op::results_are_of; }
inline constexpr made_of results_are_of<Op> = Op::results_are_of;

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
    using tools = std::conditional_t<is_patient<Op>, time_limited, nothing>;
    using pass = typename base::template hand<transformed<D>, tools>;
    static constexpr bool works_without_item = true;
    static constexpr bool gives_several = true;
    static constexpr bool results_are_work = true;
    static constexpr made_of results_are_of = detail::results_are_of<Op>;

    running_transform(run_context& run, const stage_options& options, const char* kind, Op&& op,
                      channel<C, Policy>& in, channel<D, Policy>& out)
        : base(run, kind, options, &in, &out), op_(std::move(op)) {
        enter(run.first_epoch());
    }

    void work(pass& now) {
        now.mark_is_due = is_epoch_item<C> && now.mine.mark;
        if (this->is_call(now)) {
            if constexpr (is_patient<Op>) now.on->tools.came = now.on->env.executor->now();
            op_.push(std::move(*now.item), now.result);
        } else if (now.item != nullptr || now.has_ended) {
            if constexpr (requires { op_.end(now.result, true); }) {
                op_.end(now.result, now.has_ended || this->is_cut_short());
            }
            if (now.mark_is_due) enter(now.mine.epoch + 1);
        } else if constexpr (is_patient<Op>) {
            op_.hurry();
        }
    }
    D* next(pass& now) noexcept {
        try {
            if (!std::exchange(now.is_first, false)) now.result.reset();
            if constexpr (pops) {
                now.was_popped = !now.result;
                if (now.was_popped) op_.pop(now.result);
            }
        } catch (...) {
            now.error = std::current_exception();
            return nullptr;
        }
        if constexpr (is_epoch_item<D>) {
            if (!now.result && std::exchange(now.mark_is_due, false)) {
                now.result.emplace(D::end_of_epoch(now.mine.epoch));
            }
        }
        now.gave_any = now.gave_any || now.result;
        return now.result ? &*now.result : nullptr;
    }
    bool is_done(const pass& now) const noexcept {
        if constexpr (!pops) {
            return !now.mark_is_due;
        } else if constexpr (requires { op_.done(); }) {
            return op_.done() && !now.mark_is_due;
        } else {
            return false;
        }
    }
    bool is_over(const pass& now) const noexcept {
        if constexpr (requires { op_.finished(); }) {
            return now.has_ended || op_.finished();
        } else {
            return now.has_ended;
        }
    }

    bool has_item(const pass& now) const noexcept { return now.was_popped; }
    bool holds(const pass&) const noexcept { return op_.holds(); }

    // ---- what is due after some time
    // If it expired while there was an item in hand, what is held is still due.
    bool is_timeout_over(const pass& now, bool over) const noexcept
        requires is_patient<Op>
    {
        const bool expired = now.item == nullptr && !now.has_ended;
        return now.on->tools.patience_over && (over || now.gave_any || expired || !op_.holds());
    }
    auto cancel_timeout(pass& now) noexcept
        requires is_patient<Op>
    {
        return now.on->tools.patience_over->off();
    }
    void forget_timeout(pass& now) noexcept {
        now.on->tools.patience_over.reset();
        now.on->me.recalled.store(false, std::memory_order_relaxed);
    }
    // False: there is no memory for it, which ends the stage.
    bool set_timeout(pass& now) noexcept {
        if (now.on->tools.patience_over || op_.patience() == duration(0) || !op_.holds()) return true;
        try {
            executor& ex = *now.on->env.executor;
            now.on->tools.patience_over.emplace(ex, op_.patience() - (ex.now() - now.on->tools.came),
                                                typename time_limited::expire{this, &now.on->me});
            return true;
        } catch (...) {
            this->gave_up(now.on->me, now.on->nth, std::current_exception());
            return false;
        }
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
        return run.template append<worker_loop<running_transform<decltype(op), C, D, Policy>>>(self.options,
                                                                                               in, own::kind,
                                                                                               std::move(op));
    }
};

}  // namespace weir::detail

#endif
