// weir stages, internal: one invocation of a stage's work: what goes around it, its account, its failure
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_INVOKING_STAGE_HPP
#define WEIR_STAGES_INVOKING_STAGE_HPP

#include <weir/executor/slot_accounting.hpp>
#include <weir/platform/config.hpp>
#include <weir/stages/followed_stage.hpp>
#include <weir/stages/in_hand.hpp>
#include <weir/stages/stage_kind.hpp>

#include <cstdint>    // for std::int64_t, std::uint64_t
#include <exception>  // for std::current_exception
#include <utility>    // for std::move

namespace weir::detail {

// `Kind`: see `stage_kind`.
template <class Kind>
class invoking_stage : public followed_stage<Kind> {
  public:
    using followed_stage<Kind>::followed_stage;
    using slot = slot_of<typename Kind::policy_type>;

  protected:
    auto duty_of(slot& me, coroutine_env& env) const noexcept {
        const bool surrounded =
            Kind::is_invoked && (this->wants_call() || this->limit() > duration(0) || !this->hooks().empty());
        const bool watched = surrounded || me.trail != nullptr;
        return duty<slot, typename Kind::tools>{me, env, watched, surrounded, me.trail, {}, 0, 0, {}};
    }

    WEIR_NOINLINE void surround(auto& now, auto& take) noexcept {
        // What is followed is surrounded, too, so that its end is heard of where nobody else wants to.
        const bool followed = now.on->trail != nullptr && this->begin_visit(now, take);
        if constexpr (Kind::is_invoked) {
            if (!followed && !now.on->is_surrounded) return;
            if (!this->is_call(now)) return;
            detail::begins_overhead(now.on->me);
            surround_call(now);
            now.began = this->begins(now.on->me);
        }
    }
    WEIR_NOINLINE void surround_call(auto& now) noexcept {
        any_item came;
        if constexpr (Kind::takes) {
            if (now.item != nullptr)
                came = any_item(
                    std::as_const(epoch_item_traits<typename Kind::item_taken>::value_of(*now.item)));
        }
        now.on->around.emplace(this->hooks(), this->run_.ends(), this->name(), this->item_number(now),
                               now.mine.epoch, now.on->me.number(), came, this->limit(), now.on->env,
                               now.error);
    }

    WEIR_NOINLINE void end_surroundings(auto& now) noexcept {
        if (now.on->trail != nullptr) this->visit_has_worked(now);
        any_item result;
        if constexpr (!Kind::gives_several && requires { now.value.has_value(); }) {
            using made = epoch_item_traits<typename std::remove_reference_t<decltype(now.value)>::value_type>;
            if (!now.error && now.value && !made::is_mark(*now.value)) {
                result = any_item(std::as_const(made::value_of(*now.value)));
            }
        }
        now.on->around->end(result, now.error);
        now.on->around.reset();
    }

    // Not in the coroutine: g++ 12 keeps a try block's temporaries too long there.
    void attempt(auto& now) noexcept {
        try {
            this->work(now);
        } catch (...) {
            now.error = std::current_exception();
        }
    }

    // The work is done, or has failed: hooks hear of it, its time is noted, a failure is told.
    WEIR_ALWAYS_INLINE verdict conclude(auto& now, auto& take) noexcept {
        slot& me = now.on->me;
        this->release(now);
        if constexpr (Kind::takes && !Kind::gives_item) take.drop();  // its destructor is part of the work
        // What can't wait, and gives one result, is timed together with others (see `stopwatch`), but not
        // where hooks are called before and after.
        const bool is_surrounded = Kind::is_invoked && now.on->around;
        const bool is_timed = Kind::waits || Kind::results_are_work || is_surrounded;
        if (Kind::is_invoked && is_timed) now.spent += this->work_done(me, now.began);
        if (is_surrounded) {
            detail::begins_overhead(me);
            end_surroundings(now);
        }
        if constexpr (requires { this->commit(now); }) {
            if (!now.error) now.error = this->commit(now);
        }
        if (Kind::is_invoked && !is_timed && now.error) now.spent = this->failed(me);
        if (now.error) {
            const std::int64_t spent = Kind::is_invoked ? now.spent : 0;
            if constexpr (Kind::is_tolerant) {
                if (this->is_tolerable(now)) {
                    if (!this->tolerates(me, this->item_number(now), std::move(now.error), spent))
                        return verdict::fatal;
                    this->acknowledge(now);
                    return verdict::dropped;
                }
            }
            this->gave_up(me, this->item_number(now), std::move(now.error), spent);
            return verdict::fatal;
        }
        if constexpr (Kind::results_are_work) this->acknowledge(now);
        if (!Kind::is_invoked || !this->counted(now)) {
            this->went_on(me);
            return verdict::good;
        }
        is_timed ? this->gave(me, now.spent) : this->gave(me);
        if constexpr (Kind::is_tolerant) {
            if (!this->succeeded()) return verdict::last;
        }
        return verdict::good;
    }
};

}  // namespace weir::detail

#endif
