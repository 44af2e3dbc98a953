// weir stages, internal: stages of one slot that are no function: several items in for one out, or so
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_TRANSFORM_HPP
#define WEIR_STAGES_TRANSFORM_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/running_stage.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/stage.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/timeout.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <exception>  // for std::exception_ptr
#include <memory>     // for std::make_unique
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
template <class Op, class C, class D, class Policy>
class running_transform final : public running_stage<Policy> {
    using input = channel<C, Policy>;
    using output = channel<D, Policy>;
    using load = epoch_item_traits<C>;
    using typename running_stage<Policy>::slot;
    using typename running_stage<Policy>::worker;
    static constexpr bool is_patient = requires(const Op& op) { op.patience(); };

  public:
    running_transform(run_context& run, const char* kind, const stage_options& options, Op&& op, input& in,
                      output& out)
        : running_stage<Policy>(run, kind, options), op_(std::move(op)), in_(in), out_(out) {}

  private:
    // Lets go a slot that waits for an item: what it holds is due.
    struct ring {
        running_transform* stage;
        slot* who;
        void operator()() const noexcept {
            who->recalled.store(true, std::memory_order_relaxed);
            detail::inside(stage->in_).recall(*who);
        }
    };

    worker make_worker(slot& me) override { return work(me); }

    worker work(slot& me) {
        [[maybe_unused]] coroutine_env& env = *co_await my_env();
        this->arrive(me);
        std::optional<timeout<ring>> bell;
        std::uint64_t number = 0;            // of the last item or mark
        std::uint64_t nth = 0;               // of the last item: marks are none
        [[maybe_unused]] time_point came{};  // the last item, where patience has an end
        bool over = false;
        while (!over) {
            std::optional<C> item;
            if (this->serves(me)) {
                get_operation<input> get(in_, &me);
                std::optional<C> got = co_await get;
                over = !got && !get.was_recalled();
                if (got) {
                    number = get.number();
                    detail::replace(item, std::move(got));
                }
            }
            // Also where nothing came, as what is held may leave then.
            bool begins = true;
            while (begins && this->is_held_up()) begins = co_await this->admitted(me);
            if (!begins) {
                item.reset();
                over = true;
            }
            const bool is_mark = item && load::is_mark(*item);
            const bool is_item = item && !is_mark;
            std::uint64_t epoch = 0;
            if constexpr (is_epoch_item<C>) {
                if (item) epoch = item->epoch();
            }
            if (is_item) nth = number - (epoch - first_epoch(epoch));
            if constexpr (is_patient) {
                if (is_item && op_.patience() > duration(0)) came = env.home->now();
            }
            std::int64_t began = me.mark;
            std::int64_t spent = 0;
            std::size_t hooked = 0;
            std::exception_ptr error;
            if (is_item && this->has_hooks()) this->before(me, nth, epoch, hooked, error);
            const bool in_time = over || item.has_value();
            if (!error) error = is_item ? push(*item) : over ? cut_off() : in_time ? end() : hurry();
            bool more = true;
            bool gave_any = false;
            while (more) {
                std::optional<D> result;
                if (!error) error = pop(result);
                more = result.has_value() && !is_done();
                if (!more && hooked > 0) this->after(me, nth, epoch, hooked, error);
                spent += this->work_done(me, began);
                if (error) {
                    this->gave_up(me, nth, std::move(error));
                    over = true;
                    break;
                }
                if (!more && is_item) this->gave(me, spent);
                if (!result) break;
                gave_any = true;
                put_operation<output> put(out_, *result, &me);
                const bool taken = co_await put;
                began = me.mark;
                if (!taken) {
                    if (more && hooked > 0) this->after(me, nth, epoch, hooked, error);
                    over = true;
                    break;
                }
            }
            if constexpr (is_epoch_item<D>) {
                if (is_mark && !over) {
                    D mark = D::end_of_epoch(epoch);
                    put_operation<output> put(out_, mark, &me);
                    const bool taken = co_await put;
                    over = !taken;
                }
            }
            if constexpr (is_patient) {
                // If it rang while there was an item in hand, what is held is still due.
                if (bell && (over || gave_any || !in_time || !op_.holds())) {
                    co_await bell->off();
                    bell.reset();
                    me.recalled.store(false, std::memory_order_relaxed);
                }
                if (!over && !bell && op_.patience() > duration(0) && op_.holds()) {
                    error = set(bell, env, me, came);
                    if (error) {
                        this->gave_up(me, nth, std::move(error));
                        over = true;
                    }
                }
            }
            if (is_finished()) over = true;
        }
        in_.cancel();
        this->leave(me, out_);
    }

    // Not in the coroutine: g++ 12 keeps a try block's temporaries too long there.
    std::exception_ptr push(C& item) noexcept {
        try {
            op_.push(std::move(item));
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }
    std::exception_ptr end() noexcept {
        try {
            op_.end();
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }
    std::exception_ptr cut_off() noexcept {
        try {
            if constexpr (requires { op_.cut_off(); }) {
                op_.cut_off();
            } else {
                op_.end();
            }
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }
    std::exception_ptr hurry() noexcept {
        try {
            if constexpr (is_patient) op_.hurry();
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }
    std::exception_ptr pop(std::optional<D>& result) noexcept {
        try {
            detail::replace(result, op_.pop());
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }
    // `since`: when what is held came, which may have waited for what was to leave before it.
    std::exception_ptr set(std::optional<timeout<ring>>& bell, coroutine_env& env, slot& me,
                           time_point since) noexcept {
        try {
            if constexpr (is_patient) {
                bell.emplace(*env.home, op_.patience() - (env.home->now() - since), ring{this, &me});
            }
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    bool is_done() const noexcept {
        if constexpr (requires { op_.done(); }) {
            return op_.done();
        } else {
            return false;
        }
    }
    bool is_finished() const noexcept {
        if constexpr (requires { op_.finished(); }) {
            return op_.finished();
        } else {
            return false;
        }
    }
    std::uint64_t first_epoch(std::uint64_t otherwise) const noexcept {
        return is_epoch_item<C> ? this->run_.first_epoch() : otherwise;
    }

    Op op_;
    input& in_;
    output& out_;
};

// Puts such a stage into a run. `what`: ends a sentence that says why there is one slot.
template <class D, class Op, class Policy, class C>
channel<D, Policy>& attach_transform(run_core<Policy>& run, const char* kind, const stage_options& options,
                                     const char* what, Op op, channel<C, Policy>& in) {
    run.check(options.concurrency == 1, options, what);
    auto& out = run.template add_queue<D>(options);
    run.add_stage(std::make_unique<running_transform<Op, C, D, Policy>>(run, kind, options, std::move(op), in,
                                                                        out),
                  {&in}, {&out});
    return out;
}

}  // namespace weir::detail

#endif
