// weir simulation: the decisions that make up a schedule: made, recorded, and made again
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_DECISIONS_HPP
#define WEIR_SIMULATION_DECISIONS_HPP

#include <weir/platform/random_bits.hpp>

#include <algorithm>     // for std::min
#include <charconv>      // for std::from_chars
#include <cstddef>       // for std::size_t
#include <cstdint>       // for std::uint32_t, std::uint64_t
#include <span>          // for std::span
#include <stdexcept>     // for std::invalid_argument
#include <string>        // for std::string, std::to_string
#include <string_view>   // for std::string_view
#include <system_error>  // for std::errc
#include <utility>       // for std::pair, std::swap
#include <vector>        // for std::vector

namespace weir::simulation {

/// How it is decided what happens next, of several things that may.
enum class strategy {
    /// Each is as likely. Finds what many schedules show.
    random,
    /// Each coroutine has a priority, drawn when it is first seen, and the highest goes first; at a few
    /// steps, drawn too, the one that would go becomes the lowest. Finds what needs a few decisions in
    /// a certain order, with a probability of at least 1 in n * k^(d-1), for n coroutines, k steps and a
    /// fault of depth d. A schedule that becomes much longer than first come, first served goes on at
    /// random, so that who polls doesn't keep off for ever who it waits for. Source: Burckhardt, Kothari,
    /// Musuvathi, Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding bugs"
    /// (PCT), ASPLOS 2010.
    priorities,
    /// All schedules, one after the other, for what is small; with a bound on how many decisions differ
    /// from first come, first served, for what is less so. Source of the bound: Emmi, Qadeer,
    /// Rakamaric, "Delay-bounded scheduling", POPL 2011.
    exhaustive,
};

namespace detail {

// One of `of` was chosen. Only where there was something to decide.
struct decision {
    std::uint32_t chosen;
    std::uint32_t of;
    friend bool operator==(const decision&, const decision&) = default;
};

// The decisions of one schedule. The first are given, if wanted; those after them follow the strategy,
// or are all the first of what is offered, which means first come, first served.
class decisions {
  public:
    // For all schedules from here on: what follows what is given.
    void be_random() noexcept { kind_ = kind::random; }
    void be_first() noexcept { kind_ = kind::first; }
    void be_by_priority(unsigned depth) noexcept {
        kind_ = kind::priorities;
        depth_ = depth;
    }

    // A new schedule. `length`: how many steps it may have, for the strategy that has to guess.
    void begin(std::uint64_t seed, std::span<const std::uint32_t> given = {}, std::size_t length = 0) {
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

    // Of `n` things, which one; `n` > 0.
    std::size_t choose(std::size_t n) {
        if (n == 1) return 0;
        return record(made_.size() < given_.size() ? given_[made_.size()]
                      : kind_ == kind::first       ? 0
                                                   : (draw() * n) >> 32,
                      n);
    }

    // The same of coroutines, or whatever else goes on by itself, each known by an address.
    std::size_t choose(std::span<void* const> who) {
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

    const std::vector<decision>& made() const noexcept { return made_; }

    // Equal for equal schedules, and only for those, but for one in 2^32.
    std::uint32_t digest() const noexcept {
        weir::detail::digest d;
        for (const decision& each : made_) d.add((std::uint64_t{each.of} << 32) | each.chosen);
        return d.value();
    }

  private:
    enum class kind { first, random, priorities };

    static constexpr std::uint64_t much_longer = 8;

    // xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016)
    std::uint64_t draw() noexcept {
        random_ ^= random_ >> 12;
        random_ ^= random_ << 25;
        random_ ^= random_ >> 27;
        return (random_ * 0x2545f4914f6cdd1dULL) >> 32;
    }

    // What is given may have been made where there was more to choose from.
    std::size_t record(std::size_t chosen, std::size_t n) {
        chosen = (std::min)(chosen, n - 1);
        made_.push_back({static_cast<std::uint32_t>(chosen), static_cast<std::uint32_t>(n)});
        return chosen;
    }

    std::uint64_t& priority_of(void* who) {
        for (auto& [known, priority] : priorities_) {
            if (known == who) return priority;
        }
        return priorities_.emplace_back(who, depth_ + draw()).second;
    }
    std::size_t highest(std::span<void* const> who) {
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

    kind kind_ = kind::first;
    unsigned depth_ = 1;
    std::vector<std::uint32_t> given_;
    std::vector<decision> made_;
    std::uint64_t random_ = 1;
    std::vector<std::pair<void*, std::uint64_t>> priorities_;
    std::vector<std::uint64_t> changes_;  // the steps at which a priority becomes one of the lowest
    std::uint64_t step_ = 0;              // up to the one from which on all are as likely
    std::uint64_t fair_from_ = 0;         // which is this one
};

// Decisions as text: `3:1 17:2`, which is the decision's number and what was chosen, where that is not
// the first. Empty: first come, first served throughout is "0:0".
inline std::string to_text(const std::vector<std::uint32_t>& chosen) {
    std::string text;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        if (chosen[i] == 0) continue;
        if (!text.empty()) text += ' ';
        text += std::to_string(i) + ':' + std::to_string(chosen[i]);
    }
    return text.empty() ? "0:0" : text;
}

inline std::vector<std::uint32_t> from_text(std::string_view text) {
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

}  // namespace detail

}  // namespace weir::simulation

#endif
