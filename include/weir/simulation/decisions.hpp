// weir simulation: the decisions that make up a schedule: made, recorded, and made again
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_DECISIONS_HPP
#define WEIR_SIMULATION_DECISIONS_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/random_bits.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint32_t, std::uint64_t
#include <span>         // for std::span
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::pair, std::swap
#include <vector>       // for std::vector

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
    void be_by_priority(unsigned depth) noexcept;

    // A new schedule. `length`: how many steps it may have, for the strategy that has to guess.
    void begin(std::uint64_t seed, std::span<const std::uint32_t> given = {}, std::size_t length = 0);

    // Of `n` things, which one; `n` > 0.
    std::size_t choose(std::size_t n);

    // The same of coroutines, or whatever else goes on by itself, each known by an address.
    std::size_t choose(std::span<void* const> who);

    const std::vector<decision>& made() const noexcept { return made_; }

    // Equal for equal schedules, and only for those, but for one in 2^32.
    std::uint32_t digest() const noexcept;

  private:
    enum class kind { first, random, priorities };

    static constexpr std::uint64_t much_longer = 8;

    // xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016)
    std::uint64_t draw() noexcept;

    // What is given may have been made where there was more to choose from.
    std::size_t record(std::size_t chosen, std::size_t n);

    std::uint64_t& priority_of(void* who);
    std::size_t highest(std::span<void* const> who);

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
std::string to_text(const std::vector<std::uint32_t>& chosen);

std::vector<std::uint32_t> from_text(std::string_view text);

}  // namespace detail

}  // namespace weir::simulation

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/simulation/decisions.ipp>
#endif

#endif
