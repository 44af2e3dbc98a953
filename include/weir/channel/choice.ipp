// weir channel, internal: bodies of the functions of channel/choice.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHOICE_IPP
#define WEIR_CHANNEL_CHOICE_IPP

#include <weir/channel/choice.hpp>

#include <weir/platform/config.hpp>

namespace weir::detail {

template <class Platform>
WEIR_INLINE bool choice_operation<Platform>::await_ready() {
    const std::size_t first = first_to_try();
    for (std::size_t i = 0; i < count_; ++i) {
        const std::size_t at = first + i < count_ ? first + i : first + i - count_;
        if (cases_[at] == nullptr || !cases_[at]->try_now()) continue;
        chosen_ = at;
        return !cases_[at]->ends_slice();
    }
    return limit_.is_nothing();
}

template <class Platform>
WEIR_INLINE auto choice_operation<Platform>::ready_at() noexcept -> std::int64_t {
    settle();
    if (yielded_at_ != 0) return yielded_at_;
    return chosen_ == count_ ? choice_.timed_out_at() : cases_[chosen_]->ready();
}

template <class Platform>
WEIR_INLINE void choice_operation<Platform>::clean_up() noexcept {
    if (!is_unsettled_) return;
    listen_no_more();
    choice_.abandon();
    for (std::size_t i = 0; i < count_; ++i) {
        if (cases_[i] != nullptr) cases_[i]->leave();
    }
}

template <class Platform>
WEIR_INLINE auto choice_operation<Platform>::resumed() -> std::size_t {
    settle();
    if (choice_.was_stopped(stopped_by::run)) throw stopped();
    return chosen_;
}

template <class Platform>
WEIR_INLINE auto choice_operation<Platform>::status_without_case() const noexcept -> channel_status {
    return choice_.was_stopped(stopped_by::request) ? channel_status::stopped : channel_status::timed_out;
}

template <class Platform>
WEIR_INLINE auto choice_operation<Platform>::first_to_try() const noexcept -> std::size_t {
    std::size_t i = 0;
    while (cases_[i] == nullptr) ++i;
    if (count_ == 1) return i;
    return static_cast<std::size_t>(high_product(splitmix64(0, cases_[i]->number()), count_));
}

template <class Platform>
WEIR_INLINE bool choice_operation<Platform>::yield(std::coroutine_handle<> h,
                                                   const coroutine_env& env) noexcept {
    if (env.executor == nullptr) return false;
    if (env.measured != nullptr) yielded_at_ = clock_of(*env.measured);
    env.executor->post(h);  // the coroutine may be running elsewhere from here on
    return true;
}

template <class Platform>
WEIR_NOINLINE WEIR_INLINE bool choice_operation<Platform>::suspend(std::coroutine_handle<> h,
                                                                   const coroutine_env& env) {
    executor& ex = detail::executor_of(env);
    std::optional<time_point> until;
    if (!limit_.is_for_ever()) {
        const time_point now = ex.now();
        until = limit_.after(now);
        if (*until <= now) return false;
    }
    choice_.begin(h, ex, until ? &*until : nullptr);
    // The callbacks claim the choice at once if the stop was requested before.
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
WEIR_INLINE void choice_operation<Platform>::listen_no_more() noexcept {
    on_stop_.reset();
    on_end_.reset();
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
