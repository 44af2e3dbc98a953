// weir run, internal: bodies of the functions of run/profile_trial.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_PROFILE_TRIAL_IPP
#define WEIR_RUN_PROFILE_TRIAL_IPP

#include <weir/run/profile_trial.hpp>

#include <weir/platform/config.hpp>

namespace weir {

WEIR_INLINE double profile_trial::rate() const noexcept {
    return pace ? pace->rate() : detail::per_second(num_items, elapsed);
}

WEIR_INLINE std::optional<confidence_interval> profile_trial::speed_up(
    const profile_trial& base) const noexcept {
    if (!pace || !base.pace) return std::nullopt;
    return detail::speed_up(*pace, *base.pace);
}

}  // namespace weir

namespace weir::detail {

WEIR_INLINE std::size_t trial_shares::trials(std::size_t items) const noexcept {
    std::size_t n = 1;
    while (n < concurrencies_.size() && enough(n + 1) <= items) ++n;
    return n;
}

WEIR_INLINE std::size_t trial_shares::share(std::size_t trial, std::size_t n, std::size_t items,
                                            std::size_t left) const noexcept {
    const double mine = part(trial, n) * static_cast<double>(items) + rounding;
    if (trial + 1 < n) left = detail::smaller(left, static_cast<std::size_t>(mine));
    return left > concurrencies_[trial] ? left - left % concurrencies_[trial] : left;
}

WEIR_INLINE std::size_t trial_shares::enough(std::size_t n) const noexcept {
    double most = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t least = detail::larger<std::size_t>(10, 4 * concurrencies_[i]);
        most = detail::larger(most, static_cast<double>(least) / part(i, n));
    }
    return static_cast<std::size_t>(most + 1 - rounding);
}

WEIR_INLINE double trial_shares::part(std::size_t trial, std::size_t n) const noexcept {
    double sum = 0;
    for (const std::size_t each : concurrencies_.first(n)) sum += static_cast<double>(each);
    return (1 / static_cast<double>(n) + static_cast<double>(concurrencies_[trial]) / sum) / 2;
}

}  // namespace weir::detail

#endif
