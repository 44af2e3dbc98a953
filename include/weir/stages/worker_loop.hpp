// weir stages, internal: the one loop of every worker: take, be admitted, work, give on in turn, account
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_WORKER_LOOP_HPP
#define WEIR_STAGES_WORKER_LOOP_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/stages/in_hand.hpp>
#include <weir/stages/invoking_stage.hpp>
#include <weir/stages/stage.hpp>

#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::current_exception
#include <optional>   // for std::nullopt
#include <utility>    // for std::move

namespace weir::detail {

// A stage at work: all that stages have in common, once. `Kind`: see `stage_kind`.
template <class Kind>
class worker_loop final : public invoking_stage<Kind> {
    using base = invoking_stage<Kind>;
    using typename base::worker;
    using C = typename base::item_taken;
    using D = typename base::item_given;

  public:
    using base::base;
    using typename base::slot;

  private:
    bool resizable() const noexcept final { return Kind::any_concurrency; }
    bool takes_threads() const noexcept final { return !Kind::waits && !Kind::results_wait; }
    void recall(slot& who) noexcept final {
        if constexpr (base::takes) detail::inside(*this->in_).recall(who);
        if constexpr (requires { this->recall_idle(); }) this->recall_idle();
    }
    worker make_worker(slot& me) final { return work_through(me); }

    // The coroutine only waits. What is to be awaited next is decided by the functions below it, which need
    // no frame: three stages that do nothing take 61 ns an item so, 115 with all in the coroutine.
    worker work_through(slot& me) {
        worker_loop& kind = *this;
        coroutine_env& env = *co_await my_env();
        this->arrive(me);
        auto on = kind.duty_of(me, env);
        typename Kind::taking take(me);
        put_operation<typename base::output> put(me);
        bool goes_on = kind.equip(on);
        while (goes_on) {
            typename Kind::pass now;
            now.on = &on;
            kind.take(take, me, now);
            const bool came = co_await take;
            D* what = taken(now, take, came);
            while (what != nullptr || now.then > step::end) {
                if (what != nullptr) {
                    put.next(*what, kind.output_for(now));
                    const bool is_in = co_await put;
                    what = offered(now, take, is_in);
                    continue;
                }
                goes_on = true;
                if (now.then == step::admit) {
                    goes_on = co_await this->admitted(me);
                    if constexpr (Kind::makes_items) {
                        const std::uint64_t sources = kind.sources(now);
                        if (goes_on && sources != 0) co_await this->run_.budget()->wait(sources, me);
                    }
                }
                if constexpr (Kind::has_turns) {
                    if (now.then == step::turn) goes_on = co_await kind.turn(now, me);
                }
                if constexpr (Kind::waits) {
                    if (now.then == step::work) {
                        try {
                            auto pending = kind.begin(now);
                            if constexpr (Kind::drops_result) {
                                static_cast<void>(co_await kind.awaiting(pending, env));
                            } else {
                                auto got = co_await kind.awaiting(pending, env);
                                kind.keep(now, std::move(got));
                            }
                        } catch (...) {
                            now.error = std::current_exception();
                        }
                    }
                }
                if constexpr (Kind::has_time_limit) {
                    if (now.then == step::limit) {
                        co_await on.around->limit().off();
                        on.around->limit().judge(now.value, now.error);
                    }
                }
                if constexpr (Kind::results_wait) {
                    if (now.then == step::value) {
                        try {
                            auto got = co_await kind.next_value(now);
                            kind.keep_next(now, std::move(got));
                        } catch (...) {
                            now.error = std::current_exception();
                        }
                    }
                }
                if constexpr (Kind::any_concurrency) {
                    if (now.then == step::shift) {
                        kind.put_away(on);
                        const bool is_back = co_await this->next_shift(me);
                        now.then = is_back && kind.equip(on) ? step::take : step::end;
                        break;
                    }
                }
                if constexpr (requires { kind.cancel_timeout(now); }) {
                    if (now.then == step::patience) {
                        co_await kind.cancel_timeout(now);
                        kind.forget_timeout(now);
                    }
                }
                what = resume(now, take, goes_on);
            }
            goes_on = now.then == step::take;
            take.drop();
        }
        kind.put_away(on);
        kind.take_no_more(me);
        if constexpr (requires { kind.linger(me); }) co_await kind.linger(me);
        kind.leave_stage(me);
    }

    // An item came, or none.
    WEIR_ALWAYS_INLINE D* taken(auto& now, auto& take, bool came) noexcept {
        now.said = verdict::good;
        now.has_ended = false;
        if (!came && !now.error) {
            now.has_ended = !take.was_recalled();
            if (Kind::any_concurrency && !now.has_ended) return wait(now, step::shift);
            if (!Kind::works_without_item) return wait(now, step::end);
        }
        if constexpr (base::takes) {
            came ? look_at(now, take) : void(now.item = nullptr);
        } else {
            now.item = nullptr;
        }
        if constexpr (Kind::gathers_parts) {
            if (!this->is_complete(now)) return wait(now, step::take);
        }
        return ask(now, take);
    }

    WEIR_ALWAYS_INLINE D* ask(auto& now, auto& take) noexcept {
        if (this->run_.may_hold_up() &&
            this->is_held_up(this->sources(now), !base::takes || !now.mine.mark)) {
            return wait(now, step::admit);
        }
        if constexpr (Kind::has_turns && Kind::results_are_work) {
            if (this->takes_turns()) return wait(now, step::turn);
        }
        return begin_work(now, take);
    }

    // `then` is to be awaited before anything is given.
    static D* wait(auto& now, step then) noexcept {
        now.then = then;
        return nullptr;
    }
    // That was awaited. `goes_on`: not in vain.
    WEIR_NOINLINE D* resume(auto& now, auto& take, bool goes_on) noexcept {
        if (!goes_on) return refused(now);
        if (now.then == step::admit) return ask(now, take);
        if (now.then == step::turn) return Kind::results_are_work ? begin_work(now, take) : offer(now);
        if (now.then == step::work) return worked(now, take);
        if (now.then == step::limit) return done(now, take);
        if (now.then == step::value) return give_next(now, take);
        return now.then == step::given ? offered(now, take, true) : next_round(now);
    }

    WEIR_ALWAYS_INLINE D* begin_work(auto& now, auto& take) noexcept {
        now.began = this->begins(now.on->me);
        now.spent = 0;
        if (now.on->is_watched) this->surround(now, take);
        if (now.error) {
            this->left_out(now);
        } else if (Kind::waits && this->is_call(now)) {
            return wait(now, step::work);
        } else {
            this->attempt(now);
        }
        return worked(now, take);
    }
    WEIR_ALWAYS_INLINE D* worked(auto& now, auto& take) noexcept {
        if constexpr (Kind::has_time_limit) {
            if (now.on->around && now.on->around->has_limit()) return wait(now, step::limit);
        }
        return done(now, take);
    }

    WEIR_ALWAYS_INLINE D* done(auto& now, auto& take) noexcept {
        if constexpr (!Kind::results_are_work) {
            now.said = this->conclude(now, take);
            if (now.said == verdict::fatal) return refused(now);
        }
        return give(now, take);
    }

    WEIR_ALWAYS_INLINE D* give(auto& now, auto& take) noexcept {
        if (Kind::results_wait && !now.error && this->is_call(now)) return wait(now, step::value);
        return give_next(now, take);
    }

    WEIR_ALWAYS_INLINE D* give_next(auto& now, auto& take) noexcept {
        now.what = now.error || now.said == verdict::dropped ? nullptr : this->next(now);
        this->see_result(now);
        if constexpr (Kind::gives_several) now.has_more = now.what != nullptr && !this->is_done(now);
        if constexpr (Kind::results_are_work) {
            if (Kind::gives_several && now.has_more) {
                now.spent += this->work_done(now.on->me, now.began);
            } else {
                now.said = this->conclude(now, take);
                if (now.said == verdict::fatal) return refused(now);
                if (now.said == verdict::dropped) now.what = nullptr;
            }
        } else if constexpr (Kind::has_turns) {
            if (this->takes_turns()) return wait(now, step::turn);
        }
        return offer(now);
    }

    WEIR_ALWAYS_INLINE D* offer(auto& now) noexcept {
        return now.what != nullptr ? now.what : wait(now, step::given);
    }

    WEIR_ALWAYS_INLINE D* offered(auto& now, auto& take, bool is_in) noexcept {
        if (!is_in && !this->goes_on_without(now)) return refused(now);
        now.is_over = false;
        if constexpr (Kind::results_are_work) now.began = this->begins(now.on->me);
        if (Kind::gives_several && now.has_more) return give(now, take);
        if (Kind::numbers_itself && this->counted(now)) ++now.on->nth;
        if (now.said == verdict::last) return refused(now);
        if constexpr (Kind::has_turns) {
            if (this->takes_turns()) now.is_over = !this->leave_turn(now);
        }
        return finish(now);
    }

    // Nothing more comes of it, as the stage has to end, nobody wants it, or its turn never comes.
    WEIR_NOINLINE D* refused(auto& now) noexcept {
        if (Kind::is_invoked && now.on->around) this->end_surroundings(now);
        now.is_over = now.said >= verdict::last || this->ends_when_refused();
        if (now.is_over) this->block(now);
        return finish(now);
    }

    D* finish(auto& now) noexcept {
        this->see_end(now);
        now.is_over = now.is_over || this->is_over(now);
        if constexpr (requires { this->cancel_timeout(now); }) {
            if (this->is_timeout_over(now, now.is_over)) return wait(now, step::patience);
        }
        return next_round(now);
    }

    D* next_round(auto& now) noexcept {
        if constexpr (requires { this->cancel_timeout(now); }) {
            now.is_over = now.is_over || !this->set_timeout(now);
        }
        now.then = now.is_over ? step::end : step::take;
        return nullptr;
    }

    WEIR_ALWAYS_INLINE void look_at(auto& now, auto& take) noexcept {
        now.item = take.item();
        now.mine.number = take.number();
        if constexpr (is_epoch_item<C>) {
            now.mine.epoch = now.item->epoch();
            now.mine.mark = now.item->is_mark();
        }
        this->see_part(now, take);
        if constexpr (Kind::works_without_item && !Kind::numbers_itself) {
            if (!now.mine.mark) now.on->nth = this->number_of(now.mine);
        }
        this->accept(now);
    }
};

}  // namespace weir::detail

#endif
