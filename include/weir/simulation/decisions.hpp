// weir simulation: the decisions that make up a schedule: makes, records and replays them
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

/// How the next step is chosen, if several are possible.
enum class strategy {
    /// All steps are equally likely. Finds faults that many schedules show.
    random,
    /// Each coroutine gets a random priority when it is first seen; the one with the highest priority runs.
    /// At a few random steps this coroutine gets the lowest priority. Finds faults that need a few decisions
    /// in a certain order, with a probability of at least 1 in n * k^(d-1), for n coroutines, k steps and a
    /// fault of depth d. A schedule that becomes much longer than first come, first served continues with
    /// `random`, so that a coroutine that polls doesn't starve the one that it waits for. Source: Burckhardt,
    /// Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding
    /// bugs" (PCT), ASPLOS 2010.
    priorities,
    /// All schedules, one after the other, for small scenarios. For larger ones,
    /// `explore_options::deviations` bounds how many decisions differ from first come, first served. Source
    /// of the bound: Emmi, Qadeer, Rakamaric, "Delay-bounded scheduling", POPL 2011.
    exhaustive,
};

namespace detail {

// The option `chosen` of `of` options, at least two: with one option there is no decision.
struct decision {
    std::uint32_t chosen;
    std::uint32_t of;
    friend bool operator==(const decision&, const decision&) = default;
};

// The decisions of one schedule. The first ones may be given. Those after them follow a strategy, or all
// choose option 0, which means first come, first served.
class decisions {
  public:
    // Set how decisions after the given ones are made, for all schedules that begin from now on.
    void be_random() noexcept { kind_ = kind::random; }
    void be_first() noexcept { kind_ = kind::first; }
    void be_by_priority(unsigned depth) noexcept;

    // Begins a new schedule. `length`: its expected number of steps, for `be_by_priority`.
    void begin(std::uint64_t seed, std::span<const std::uint32_t> given = {}, std::size_t length = 0);

    // Chooses one of `n` options, at least one, and returns its index.
    std::size_t choose(std::size_t n);

    // The same for coroutines, or the scenario's thread, each identified by an address.
    std::size_t choose(std::span<void* const> who);

    const std::vector<decision>& made() const noexcept { return made_; }

    // A hash of the decisions: equal for equal schedules; for others with a probability of 1 in 2^32.
    std::uint32_t digest() const noexcept;

  private:
    enum class kind { first, random, priorities };

    static constexpr std::uint64_t much_longer = 8;

    // xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016)
    std::uint64_t draw() noexcept;

    // Records a decision and returns it. A given decision may be too large here: limits it to `n` - 1.
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
    std::uint64_t step_ = 0;              // the current step, at most fair_from_
    std::uint64_t fair_from_ = 0;         // from this step on all options are equally likely
};

// Decisions as text: `3:1 17:2` are pairs of a decision's number and the chosen option. Options 0 are left
// out; "0:0" if there are no others: first come, first served.
std::string to_text(const std::vector<std::uint32_t>& chosen);

std::vector<std::uint32_t> from_text(std::string_view text);

}  // namespace detail

}  // namespace weir::simulation

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/simulation/decisions.ipp>
#endif

#endif
