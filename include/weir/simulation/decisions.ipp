// weir simulation, internal: bodies of the functions of simulation/decisions.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_DECISIONS_IPP
#define WEIR_SIMULATION_DECISIONS_IPP

#include <weir/simulation/decisions.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>     // for std::min
#include <charconv>      // for std::from_chars
#include <stdexcept>     // for std::invalid_argument
#include <string>        // for std::to_string
#include <system_error>  // for std::errc

namespace weir::simulation::detail {

WEIR_INLINE void decisions::be_by_priority(unsigned depth) noexcept {
    kind_ = kind::priorities;
    depth_ = depth;
}

WEIR_INLINE void decisions::begin(std::uint64_t seed, std::span<const std::uint32_t> given,
                                  std::size_t length) {
    given_.assign(given.begin(), given.end());
    made_.clear();
    random_ = weir::detail::splitmix64(seed, 1) | 1;
    priorities_.clear();
    changes_.clear();
    step_ = 0;
    fair_from_ = much_longer * (length + 1);
    if (kind_ != kind::priorities) return;
    for (unsigned i = 1; i < depth_; ++i) changes_.push_back((draw() * (length + 1)) >> 32);
}

WEIR_INLINE std::size_t decisions::choose(std::size_t n) {
    if (n == 1) return 0;
    return record(made_.size() < given_.size() ? given_[made_.size()]
                  : kind_ == kind::first       ? 0
                                               : (draw() * n) >> 32,
                  n);
}

WEIR_INLINE std::size_t decisions::choose(std::span<void* const> who) {
    if (kind_ != kind::priorities || step_ == fair_from_) return choose(who.size());
    std::size_t best = highest(who);
    for (std::size_t i = 0; i < changes_.size(); ++i) {
        if (changes_[i] != step_) continue;
        priority_of(who[best]) = i;
        best = highest(who);
    }
    ++step_;
    if (who.size() == 1) return 0;
    return record(made_.size() < given_.size() ? given_[made_.size()] : best, who.size());
}

WEIR_INLINE std::uint32_t decisions::digest() const noexcept {
    weir::detail::digest d;
    for (const decision& each : made_) d.add((std::uint64_t{each.of} << 32) | each.chosen);
    return d.value();
}

WEIR_INLINE std::uint64_t decisions::draw() noexcept {
    random_ ^= random_ >> 12;
    random_ ^= random_ << 25;
    random_ ^= random_ >> 27;
    return (random_ * 0x2545f4914f6cdd1dULL) >> 32;
}

WEIR_INLINE std::size_t decisions::record(std::size_t chosen, std::size_t n) {
    chosen = (std::min)(chosen, n - 1);
    made_.push_back({static_cast<std::uint32_t>(chosen), static_cast<std::uint32_t>(n)});
    return chosen;
}

WEIR_INLINE std::uint64_t& decisions::priority_of(void* who) {
    for (auto& [known, priority] : priorities_) {
        if (known == who) return priority;
    }
    return priorities_.emplace_back(who, depth_ + draw()).second;
}

WEIR_INLINE std::size_t decisions::highest(std::span<void* const> who) {
    std::size_t best = 0;
    std::uint64_t most = priority_of(who[0]);
    for (std::size_t i = 1; i < who.size(); ++i) {
        const std::uint64_t priority = priority_of(who[i]);
        if (priority <= most) continue;
        best = i;
        most = priority;
    }
    return best;
}

WEIR_INLINE std::string to_text(const std::vector<std::uint32_t>& chosen) {
    std::string text;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        if (chosen[i] == 0) continue;
        if (!text.empty()) text += ' ';
        text += std::to_string(i) + ':' + std::to_string(chosen[i]);
    }
    return text.empty() ? "0:0" : text;
}

WEIR_INLINE std::vector<std::uint32_t> from_text(std::string_view text) {
    constexpr std::size_t longest = 10'000'000;
    std::vector<std::uint32_t> chosen;
    const std::string all(text);
    const auto number = [&](auto& into) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        return error == std::errc();
    };
    while (!text.empty()) {
        std::size_t index = 0;
        std::uint32_t value = 0;
        bool right = number(index) && index < longest && text.starts_with(':');
        if (right) text.remove_prefix(1);
        right = right && number(value) && (text.empty() || text.front() == ' ');
        if (!right) {
            throw std::invalid_argument("weir: '" + all +
                                        "' is no schedule; one looks like \"3:1 17:2\": "
                                        "copy it from the message of the failure");
        }
        if (chosen.size() <= index) chosen.resize(index + 1);
        chosen[index] = value;
        while (text.starts_with(' ')) text.remove_prefix(1);
    }
    return chosen;
}

}  // namespace weir::simulation::detail

#endif
