// weir channel, internal: bodies of the functions of channel/choice.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHOICE_IPP
#define WEIR_CHANNEL_CHOICE_IPP

#include <weir/channel/choice.hpp>

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/numbers.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t

namespace weir::detail {

template <class Platform>
WEIR_INLINE std::size_t choice_operation<Platform>::first_to_try() const noexcept {
    std::size_t i = 0;
    while (cases_[i] == nullptr) ++i;
    if (count_ == 1) return i;
    return static_cast<std::size_t>(high_product(splitmix64(0, cases_[i]->number()), count_));
}

template <class Platform>
WEIR_INLINE bool choice_operation<Platform>::give_up(std::coroutine_handle<> h,
                                                     const coroutine_env& env) noexcept {
    if (env.ends != nullptr && env.ends->stop->stop_requested())
        choice_.stop(stopped_by::run);
    else if (stop_.stop_requested())
        choice_.stop(stopped_by::request);
    else
        static_cast<void>(choice_.claim(nullptr));
    return yield(h, env);
}

template <class Platform>
bool choice_operation<Platform>::suspend(std::coroutine_handle<> h, const coroutine_env& env) {
    executor& ex = detail::executor_of(env);
    later<time_point> until;  // empty: no time limit
    if (!limit_.is_for_ever()) {
        const time_point now = ex.now();
        if (until.emplace(limit_.after(now)) <= now) return give_up(h, env);
    }
    choice_.begin(h, ex, until ? &*until : nullptr);
    // The callbacks claim the choice at once if the stop is already requested.
    if (env.ends != nullptr) on_end_.emplace(*env.ends->stop, end_waiting{&choice_, stopped_by::run});
    if (stop_.stop_possible()) on_stop_.emplace(stop_, end_waiting{&choice_, stopped_by::request});
    is_unsettled_ = true;
    for (std::size_t i = 0; i < count_; ++i) {
        if (cases_[i] == nullptr) continue;
        const auto result = cases_[i]->join(choice_, env.measured);
        if (result == any_case::joined::waits) continue;
        if (result == any_case::joined::too_late) break;
        chosen_ = i;
        return false;
    }
    return choice_.try_suspend();  // if true, this frame may be running elsewhere from here on
}

template <class Platform>
WEIR_INLINE void choice_operation<Platform>::settle() noexcept {
    if (!is_unsettled_) return;
    is_unsettled_ = false;
    listen_no_more();
    const auto* const winner = chosen_ == count_ ? choice_.winner() : nullptr;
    for (std::size_t i = 0; i < count_; ++i) {
        if (cases_[i] == nullptr || i == chosen_) continue;
        if (winner != nullptr && cases_[i]->is_of(winner)) {
            chosen_ = i;
        } else {
            cases_[i]->leave();
        }
    }
}

}  // namespace weir::detail

#endif
