// weir stages, internal: the stage that applies a function, at work
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_RUNNING_PIPE_HPP
#define WEIR_STAGES_RUNNING_PIPE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/running_stage.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/function_call.hpp>
#include <weir/stages/output_sequencer.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/time_limit.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>     // for std::size_t
#include <cstdint>     // for std::int64_t
#include <exception>   // for std::exception_ptr
#include <functional>  // for std::invoke
#include <optional>    // for std::optional
#include <utility>     // for std::move

namespace weir::detail {

// `Given`: a function, or a factory of them. `C`: what the queue before holds.
template <class Given, class C, class Policy>
class running_pipe final : public running_stage<Policy> {
    using F = typename function_of<Given>::type;
    using In = carried_value_t<C>;
    using types = pipe_types<F, In>;
    using call_of = function_call<types, F, In>;
    using Out = typename types::value;
    using D = carry_t<C, Out>;
    using load = epoch_item_traits<C>;
    using input = channel<C, Policy>;
    using output = channel<D, Policy>;
    using typename running_stage<Policy>::slot;
    using typename running_stage<Policy>::worker;
    static constexpr bool may_be_plain =
        !types::waits && !types::takes_call && !is_epoch_item<C> && !is_slot_factory<Given>;

  public:
    template <class G>
    running_pipe(run_context& run, const stage_options& options, G&& f, input& in, output& out)
        : running_stage<Policy>(run, "pipe", options), given_(std::forward<G>(f)), in_(in), out_(out),
          limit_(options.time_limit),
          takes_turns_(options.output_order == output_order::input || is_epoch_item<C>),
          turns_(turn_rule(options.output_order == output_order::input, run.first_epoch()),
                 "for its turn to give an item on") {
        if constexpr (!Policy::statistics) detail::measure_nothing(given_);
        run_context::check(limit_ >= duration(0), options,
                           "has a negative time limit; 0 means that there is none");
        if constexpr (types::gives_many) {
            run_context::check(options.output_order == output_order::completion, options,
                               "gives many items for one, each as it comes: with several slots it "
                               "can't keep the order of the input");
            run_context::check(limit_ == duration(0), options,
                               "gives many items for one, at the pace of the next stage: it can't have "
                               "a time limit");
        }
    }

  private:
    bool resizable() const noexcept override { return true; }
    void recall(slot& who) noexcept override { detail::inside(in_).recall(who); }
    std::optional<transfer_stats> transfers() const override { return detail::transfers_of(given_); }

    worker make_worker(slot& me) override {
        if constexpr (types::gives_many) {
            return give_many(me);
        } else {
            if constexpr (may_be_plain) {
                if (!takes_turns_ && limit_ == duration(0) && !this->has_hooks()) return give_plainly(me);
            }
            return give_one(me);
        }
    }

    // What `give_one` does where nothing is asked for but a result of each item: three stages that do
    // nothing take 40 ns an item by it, 85 ns by the other.
    worker give_plainly(slot& me) {
        this->arrive(me);
        bool over = false;
        while (!over) {
            while (this->serves(me)) {
                get_operation<input> get(in_, &me);
                std::optional<C> item = co_await get;
                if (!item) {
                    over = !get.was_recalled();
                    break;
                }
                bool begins = true;
                while (begins && this->is_held_up()) begins = co_await this->admitted(me);
                over = !begins;
                if (over) break;
                std::optional<Out> result;
                std::exception_ptr error;
                try {
                    call_of::keep(result, std::invoke(given_, std::move(*item)));
                } catch (...) {
                    error = std::current_exception();
                }
                item.reset();  // its destructor is part of the work
                if (error) {
                    this->failed(me);
                    over = !this->tolerates(me, get.number(), std::move(error));
                    if (over) break;
                    continue;
                }
                over = !this->succeeded(me);
                if (!result && !over) continue;
                if (result) {
                    put_operation<output> put(out_, *result, &me);
                    const bool taken = co_await put;
                    over = over || !taken;
                }
                if (over) break;
            }
            if (!over) over = !co_await this->next_shift(me);
        }
        in_.cancel();
        this->leave(me, out_);
    }

    worker give_one(slot& me) {
        [[maybe_unused]] coroutine_env& env = *co_await my_env();
        this->arrive(me);
        bool over = false;
        while (!over) {
            std::optional<F> own;
            F* const f = function_for(me, own);
            over = f == nullptr;
            while (!over && this->serves(me)) {
                get_operation<input> get(in_, &me);
                std::optional<C> item = co_await get;
                if (!item) {
                    over = !get.was_recalled();
                    break;
                }
                bool going = true;
                while (going && this->is_held_up()) going = co_await this->admitted(me);
                auto about = load::provenance_of(*item);
                const turn mine{get.number(), about.epoch(), load::is_mark(*item)};
                std::optional<D> result;
                bool last = false;
                if (!going) {
                    block(mine);
                    over = true;
                    break;
                }
                if (mine.mark) {
                    if constexpr (is_epoch_item<C>) result.emplace(D::end_of_epoch(mine.epoch));
                } else {
                    std::optional<Out> value;
                    std::exception_ptr error;
                    std::size_t hooked = 0;
                    [[maybe_unused]] const std::int64_t began = me.mark;
                    std::optional<limited> watch;
                    if (limit_ > duration(0)) error = set_limit(watch, *env.home);
                    const invocation call(this->name(), number_of(mine), mine.epoch, me.index(),
                                          watch ? watch->token() : this->run_.ends());
                    if (this->has_hooks() && !error) this->before(call, hooked, error);
                    if (!error) {
                        try {
                            if constexpr (types::waits) {
                                auto pending = call_of::invoke(*f, load::value_of(*item), call);
                                auto got = co_await detail::await_measured(pending, env);
                                call_of::keep(value, std::move(got));
                            } else {
                                call_of::keep(value, call_of::invoke(*f, load::value_of(*item), call));
                            }
                        } catch (...) {
                            error = std::current_exception();
                        }
                    } else if constexpr (requires { f->left_out(call); }) {
                        f->left_out(call);
                    }
                    if (watch) {
                        co_await watch->off();
                        watch->judge(value, error);
                    }
                    item.reset();  // its destructor is part of the work
                    if (hooked > 0) this->after(call, hooked, error);
                    [[maybe_unused]] std::int64_t spent = 0;
                    if constexpr (types::waits) {
                        spent = this->work_done(me, began);
                    } else if (error) {
                        this->failed(me);
                    }
                    if (error) {
                        if (!this->tolerates(me, call.item(), std::move(error))) {
                            block(mine);
                            over = true;
                            break;
                        }
                    } else {
                        if constexpr (types::waits) {
                            last = !this->succeeded(me, spent);
                        } else {
                            last = !this->succeeded(me);
                        }
                        if (value) result.emplace(load::carry(*value, std::move(about)));
                    }
                    // NOLINTNEXTLINE(bugprone-use-after-move): moved only into a result
                    if (!result) about.settle();
                }
                if (!result && !takes_turns_ && !last) continue;
                if (takes_turns_) going = co_await turns_.wait(mine, me, slot_state::wait_turn);
                if (going && result) {
                    put_operation<output> put(out_, *result, &me);
                    going = co_await put;
                }
                over = last || !going;
                if (over) {
                    block(mine);
                } else if (takes_turns_) {
                    turns_.update([&mine](turn_rule& rule) { rule.leave(mine); });
                }
            }
            own.reset();
            if (over || !co_await this->next_shift(me)) break;
        }
        this->leave(me, out_);
    }

    // Each value is put as soon as it is there. The time of the invocation is that of the function,
    // without its waits for room.
    worker give_many(slot& me) {
        [[maybe_unused]] coroutine_env& env = *co_await my_env();
        this->arrive(me);
        bool over = false;
        while (!over) {
            std::optional<F> own;
            F* const f = function_for(me, own);
            over = f == nullptr;
            while (!over && this->serves(me)) {
                get_operation<input> get(in_, &me);
                std::optional<C> item = co_await get;
                if (!item) {
                    over = !get.was_recalled();
                    break;
                }
                bool taken = true;
                bool last = false;
                while (taken && this->is_held_up()) taken = co_await this->admitted(me);
                auto about = load::provenance_of(*item);
                const turn mine{get.number(), about.epoch(), load::is_mark(*item)};
                if (taken && takes_turns_ && !mine.mark) {
                    taken = co_await turns_.wait(mine, me, slot_state::wait_turn);
                }
                if (taken && mine.mark) {
                    if constexpr (is_epoch_item<C>) {
                        D mark = D::end_of_epoch(mine.epoch);
                        taken = co_await turns_.wait(mine, me, slot_state::wait_turn);
                        if (taken) {
                            put_operation<output> put(out_, mark, &me);
                            taken = co_await put;
                        }
                    }
                } else if (taken) {
                    std::optional<typename types::result> values;
                    std::exception_ptr error;
                    std::size_t hooked = 0;
                    std::int64_t spent = 0;
                    std::int64_t began = me.mark;
                    const invocation call(this->name(), number_of(mine), mine.epoch, me.index(),
                                          this->run_.ends());
                    if (this->has_hooks()) this->before(call, hooked, error);
                    if (!error) {
                        try {
                            if constexpr (types::waits) {
                                auto pending = call_of::invoke(*f, load::value_of(*item), call);
                                auto got = co_await detail::await_measured(pending, env);
                                values.emplace(std::move(got));
                            } else {
                                values.emplace(call_of::invoke(*f, load::value_of(*item), call));
                            }
                        } catch (...) {
                            error = std::current_exception();
                            this->tick(me);
                        }
                    }
                    [[maybe_unused]] bool first = true;
                    while (!error && taken) {
                        std::optional<Out> value;
                        std::optional<D> result;
                        try {
                            if constexpr (is_async_generator<typename types::result>) {
                                auto got = co_await values->next();
                                detail::replace(value, std::move(got));
                            } else {
                                detail::replace(value, detail::next_of<Out>(*values, first));
                                first = false;
                            }
                            if (value) result.emplace(load::carry(*value, about.share()));
                        } catch (...) {
                            error = std::current_exception();
                        }
                        if (!result) break;
                        spent += this->work_done(me, began);
                        put_operation<output> put(out_, *result, &me);
                        taken = co_await put;
                        began = me.mark;
                    }
                    values.reset();
                    item.reset();
                    if (hooked > 0) this->after(call, hooked, error);
                    spent += this->work_done(me, began);
                    if (error) {
                        taken = this->tolerates(me, call.item(), std::move(error));
                    } else if (taken) {
                        last = !this->succeeded(me, spent);
                    }
                    if (taken) about.settle();
                }
                over = last || !taken;
                if (over) {
                    block(mine);
                } else if (takes_turns_) {
                    turns_.update([&mine](turn_rule& rule) { rule.leave(mine); });
                }
            }
            own.reset();
            if (over || !co_await this->next_shift(me)) break;
        }
        this->leave(me, out_);
    }

    // The slot's own function, or the one of all. Null: it could not be made, and the stage gives up.
    F* function_for(slot& me, [[maybe_unused]] std::optional<F>& own) noexcept {
        if constexpr (is_slot_factory<Given>) {
            try {
                own.emplace(given_.make());
                this->tick(me);
                return &*own;
            } catch (...) {
                this->tick(me);
                this->gave_up(me, 0, std::current_exception());
                in_.cancel();  // what the other slots have in hand is finished
                return nullptr;
            }
        } else {
            static_cast<void>(me);
            return &given_;
        }
    }

    std::exception_ptr set_limit(std::optional<limited>& watch, executor& home) const noexcept {
        try {
            watch.emplace(home, limit_, this->run_.ends());
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    // Nothing comes of this item, and of none that has to leave after it.
    void block(const turn& mine) noexcept {
        if (takes_turns_) turns_.update([&mine](turn_rule& rule) { rule.block(mine); });
        in_.cancel();
    }

    // Marks are no items.
    std::uint64_t number_of(const turn& t) const noexcept {
        return t.number - (t.epoch - (is_epoch_item<C> ? this->run_.first_epoch() : t.epoch));
    }

    Given given_;
    input& in_;
    output& out_;
    const duration limit_;
    const bool takes_turns_;
    output_sequencer turns_;
};

}  // namespace weir::detail

#endif
