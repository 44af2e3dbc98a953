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
#include <weir/task/timeout.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::exception_ptr
#include <optional>   // for std::optional
#include <utility>    // for std::move

namespace weir::detail {

// Runs an `Op`, which is made for one run and used by one slot. `C` is what the queue before holds, `D`
// what the one behind does:
//
//     void push(C&& item);          an item comes, never a mark
//     std::optional<D> pop();       what is to leave now: called until it gives nothing, or `done`
//     void end();                   the stream or an epoch has ended: what is held is to leave, or dropped
//     void cut_off();               optional: the same where the stream ended, maybe before its end, so
//                                   that nothing of it is known to be dropped for good
//     bool done() const;            optional: a pop would give nothing; spares the call
//     bool finished() const;        optional: it wants no more items; the stage ends
//     duration patience() const;    optional: for how long it may hold what it holds; 0: for ever. With it:
//     bool holds() const;           whether it holds anything
//     void hurry();                 it has held it for so long: that is to leave
//
// Whatever it throws stops the run: there is no next item to go on with. One invocation is a push with
// its pops, without the waits for room between them.
template <class Op>
inline constexpr bool is_patient = requires(const Op& op) { op.patience(); };

template <class D>
struct transformed {
    std::optional<D> result;
    bool mark_is_due = false;  // when all is given that was held
    bool gave_any = false;
};

// Lets go a slot that waits for an item when what it holds is due.
template <class Stage, class Slot>
struct held_for_a_time {
    struct ring {
        Stage* stage;
        Slot* who;
        void operator()() const noexcept { stage->let_go(*who); }
    };
    std::optional<timeout<ring>> alarm;
    time_point came{};  // the last item, which may have waited for what was to leave before it
};

template <class Op, class C, class D, class Policy>
class running_transform final : public worker_loop<running_transform<Op, C, D, Policy>, C, D, Policy> {
    using base = worker_loop<running_transform, C, D, Policy>;
    using typename base::slot;
    using time_limited = held_for_a_time<running_transform, slot>;

  public:
    using tools = std::conditional_t<is_patient<Op>, time_limited, nothing>;
    using pass = typename base::template hand<transformed<D>, tools>;
    static constexpr bool works_without_item = true;
    static constexpr bool gives_several = true;
    static constexpr bool results_are_work = true;

    running_transform(run_context& run, const stage_options& options, const char* kind, Op&& op,
                      channel<C, Policy>& in, channel<D, Policy>& out)
        : base(run, kind, options, &in, &out), op_(std::move(op)) {}

    void work(pass& now) {
        now.mark_is_due = is_epoch_item<C> && now.mine.mark;
        if (this->is_call(now)) {
            if constexpr (is_patient<Op>) now.on->tools.came = now.on->home.now();
            op_.push(std::move(*now.item));
        } else if (now.item != nullptr) {
            op_.end();
        } else if (now.has_ended) {
            cut_off();
        } else {
            hurry();
        }
    }
    D* next(pass& now) noexcept {
        try {
            detail::replace(now.result, op_.pop());
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
        if constexpr (requires { op_.done(); }) {
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

    // ---- what is due after some time
    // If it rang while there was an item in hand, what is held is still due.
    bool is_alarm_over(const pass& now, bool over) const noexcept
        requires is_patient<Op>
    {
        const bool rang = now.item == nullptr && !now.has_ended;
        return now.on->tools.alarm && (over || now.gave_any || rang || !op_.holds());
    }
    auto alarm(pass& now) noexcept
        requires is_patient<Op>
    {
        return now.on->tools.alarm->off();
    }
    void forget_alarm(pass& now) noexcept {
        now.on->tools.alarm.reset();
        now.on->me.recalled.store(false, std::memory_order_relaxed);
    }
    // False: there is no memory for it, which ends the stage.
    bool set_alarm(pass& now) noexcept {
        if (now.on->tools.alarm || op_.patience() == duration(0) || !op_.holds()) return true;
        try {
            executor& home = now.on->home;
            now.on->tools.alarm.emplace(home, op_.patience() - (home.now() - now.on->tools.came),
                                        typename time_limited::ring{this, &now.on->me});
            return true;
        } catch (...) {
            this->gave_up(now.on->me, this->item_number(now), std::current_exception());
            return false;
        }
    }
    void let_go(slot& who) noexcept {
        who.recalled.store(true, std::memory_order_relaxed);
        detail::inside(*this->in_).recall(who);
    }

  private:
    void cut_off() {
        if constexpr (requires { op_.cut_off(); }) {
            op_.cut_off();
        } else {
            op_.end();
        }
    }
    void hurry() {
        if constexpr (is_patient<Op>) op_.hurry();
    }

    Op op_;
};

// Puts such a stage into a run. `what`: ends a sentence that says why there is one slot.
template <class D, class Op, class Policy, class C>
channel<D, Policy>& attach_transform(run_core<Policy>& run, const char* kind, const stage_options& options,
                                     const char* what, Op op, channel<C, Policy>& in) {
    run.check(options.concurrency == 1, options, what);
    return run.template append<running_transform<Op, C, D, Policy>>(options, in, kind, std::move(op));
}

}  // namespace weir::detail

#endif
