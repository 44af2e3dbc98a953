// weir stages, internal: one invocation of a stage's work: what goes around it, its account, its failure
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_INVOKING_STAGE_HPP
#define WEIR_STAGES_INVOKING_STAGE_HPP

#include <weir/platform/config.hpp>
#include <weir/stages/in_hand.hpp>
#include <weir/stages/stage_kind.hpp>

#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::current_exception
#include <utility>    // for std::move

namespace weir::detail {

// `Kind`: see `stage_kind`.
template <class Kind>
class invoking_stage : public Kind {
  public:
    using Kind::Kind;
    using slot = slot_of<typename Kind::policy_type>;

  protected:
    WEIR_NOINLINE void surround(auto& now) noexcept {
        any_item came;
        if constexpr (Kind::takes)
            came = any_item(std::as_const(epoch_item_traits<typename Kind::item_taken>::value_of(*now.item)));
        now.on->around.emplace(this->hooks(), this->run_.ends(), this->name(), item_number(now),
                               now.mine.epoch, now.on->me.index(), came, this->limit(), now.on->executor,
                               now.error);
    }

    WEIR_NOINLINE void end_surroundings(auto& now) noexcept {
        any_item made;
        if constexpr (!Kind::gives_several && requires { now.value.has_value(); }) {
            using made_of =
                epoch_item_traits<typename std::remove_reference_t<decltype(now.value)>::value_type>;
            if (!now.error && now.value && !made_of::is_mark(*now.value)) {
                made = any_item(std::as_const(made_of::value_of(*now.value)));
            }
        }
        now.on->around->end(made, now.error);
        now.on->around.reset();
    }

    // Of the item in hand, or the last one.
    std::uint64_t item_number(const auto& now) const noexcept {
        return Kind::numbers_itself || Kind::works_without_item ? now.on->nth : this->number_of(now.mine);
    }
    bool counted(const auto& now) const noexcept {
        if constexpr (requires { this->counts(now); }) {
            return this->counts(now);
        } else {
            return this->is_call(now);
        }
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
        if (Kind::is_invoked && now.on->around) end_surroundings(now);
        if constexpr (requires { this->commit(now); }) {
            if (!now.error) now.error = this->commit(now);
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
                if (this->is_tolerable(now)) {
                    if (!this->tolerates(me, item_number(now), std::move(now.error))) return verdict::fatal;
                    this->acknowledge(now);
                    return verdict::dropped;
                }
            }
            this->gave_up(me, item_number(now), std::move(now.error));
            return verdict::fatal;
        }
        if constexpr (Kind::results_are_work) this->acknowledge(now);
        if (!Kind::is_invoked || !counted(now)) {
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
