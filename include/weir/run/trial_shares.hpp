// weir run, internal: how the items of a stage are divided among its trials
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_TRIAL_SHARES_HPP
#define WEIR_RUN_TRIAL_SHARES_HPP

#include <weir/platform/bounds.hpp>

#include <cstddef>  // for std::size_t
#include <span>     // for std::span

namespace weir::detail {

// Half of all items are divided evenly among the trials, the other half in proportion to their slots.
class trial_shares {
  public:
    // `slots`: of the trials, upwards; not empty, and there as long as this is.
    explicit trial_shares(std::span<const std::size_t> concurrencies) noexcept
        : concurrencies_(concurrencies) {}

    std::span<const std::size_t> concurrencies() const noexcept { return concurrencies_; }

    // How many trials are made with so many items: those with the fewest slots, one at least.
    std::size_t trials(std::size_t items) const noexcept {
        std::size_t n = 1;
        while (n < concurrencies_.size() && enough(n + 1) <= items) ++n;
        return n;
    }
    // What one of the first `n` trials has of all items, of which some are left; the last one has these.
    // Where there are enough, each slot gets as many.
    std::size_t share(std::size_t trial, std::size_t n, std::size_t items, std::size_t left) const noexcept {
        const double mine = part(trial, n) * static_cast<double>(items) + rounding;
        if (trial + 1 < n) left = detail::smaller(left, static_cast<std::size_t>(mine));
        return left > concurrencies_[trial] ? left - left % concurrencies_[trial] : left;
    }

    // How many items the first `n` trials take, so that each slot has four, and each trial ten. So those
    // before a trial have used up more places that only later stages free than it has slots, or were stuck:
    // with more slots than places, items that overtake each other could wait for each other for ever.
    std::size_t enough(std::size_t n) const noexcept {
        double most = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t least = detail::larger<std::size_t>(10, 4 * concurrencies_[i]);
            most = detail::larger(most, static_cast<double>(least) / part(i, n));
        }
        return static_cast<std::size_t>(most + 1 - rounding);
    }

  private:
    static constexpr double rounding = 1e-6;

    double part(std::size_t trial, std::size_t n) const noexcept {
        double sum = 0;
        for (const std::size_t each : concurrencies_.first(n)) sum += static_cast<double>(each);
        return (1 / static_cast<double>(n) + static_cast<double>(concurrencies_[trial]) / sum) / 2;
    }

    std::span<const std::size_t> concurrencies_;
};

}  // namespace weir::detail

#endif
