// weir stages, internal: one invocation of a stage's work: what goes around it, its account, its failure
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_INVOKING_STAGE_HPP
#define WEIR_STAGES_INVOKING_STAGE_HPP

#include <weir/platform/config.hpp>
#include <weir/stages/in_hand.hpp>
#include <weir/stages/stage_kind.hpp>

#include <exception>  // for std::current_exception
#include <utility>    // for std::move

namespace weir::detail {

template <class Kind, class C, class D, class Policy>
class invoking_stage : public stage_kind<Kind, C, D, Policy> {
    using base = stage_kind<Kind, C, D, Policy>;

  public:
    using base::base;
    using typename base::slot;

  protected:
    WEIR_NOINLINE void surround(auto& now) noexcept {
        now.on->around.emplace(this->run_, this->name(), this->item_number(now), now.mine.epoch,
                               now.on->me.index(), this->self().limit(), now.on->executor, now.error);
    }

    WEIR_NOINLINE void end_surroundings(auto& now) noexcept {
        now.on->around->end(now.error);
        now.on->around.reset();
    }

    // Not in the coroutine: g++ 12 keeps a try block's temporaries too long there.
    void attempt(auto& now) noexcept {
        try {
            this->self().work(now);
        } catch (...) {
            now.error = std::current_exception();
        }
    }

    // The work is done, or has failed: hooks hear of it, its time is noted, a failure is told.
    WEIR_ALWAYS_INLINE verdict conclude(auto& now, auto& take) noexcept {
        Kind& kind = this->self();
        slot& me = now.on->me;
        kind.release(now);
        if constexpr (base::takes && !Kind::gives_item) take.drop();  // its destructor is part of the work
        if (Kind::is_invoked && now.on->around) end_surroundings(now);
        if constexpr (requires { kind.commit(now); }) {
            if (!now.error) now.error = kind.commit(now);
        }
        // What can't wait, and gives one result, is timed together with others: see `stopwatch`.
        constexpr bool is_timed = Kind::waits || Kind::results_are_work;
        if constexpr (Kind::is_invoked && is_timed) {
            now.spent += this->work_done(me, now.began);
        } else if (Kind::is_invoked && now.error) {
            this->failed(me);
        }
        if (now.error) {
            if constexpr (Kind::is_tolerant) {
                if (kind.is_tolerable(now)) {
                    if (!this->tolerates(me, this->item_number(now), std::move(now.error)))
                        return verdict::fatal;
                    kind.acknowledge(now);
                    return verdict::dropped;
                }
            }
            this->gave_up(me, this->item_number(now), std::move(now.error));
            return verdict::fatal;
        }
        if constexpr (Kind::results_are_work) kind.acknowledge(now);
        if (!Kind::is_invoked || !kind.counts(now)) {
            this->went_on(me);
            return verdict::good;
        }
        if constexpr (Kind::is_tolerant && is_timed) {
            return this->succeeded(me, now.spent) ? verdict::good : verdict::last;
        } else if constexpr (Kind::is_tolerant) {
            return this->succeeded(me) ? verdict::good : verdict::last;
        } else if constexpr (is_timed) {
            this->gave(me, now.spent);
        } else {
            this->gave(me);
        }
        return verdict::good;
    }
};

}  // namespace weir::detail

#endif
