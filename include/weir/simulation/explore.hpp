// weir simulation: runs a scenario under many schedules, and shows the one that fails
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_EXPLORE_HPP
#define WEIR_SIMULATION_EXPLORE_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/random_bits.hpp>
#include <weir/simulation/decisions.hpp>
#include <weir/simulation/world.hpp>

#include <algorithm>     // for std::any_of, std::count_if, std::fill, std::min
#include <charconv>      // for std::from_chars
#include <concepts>      // for std::invocable
#include <cstddef>       // for std::size_t
#include <cstdint>       // for std::uint32_t, std::uint64_t
#include <cstdlib>       // for std::getenv
#include <exception>     // for std::exception, std::rethrow_if_nested
#include <functional>    // for std::function, std::ref
#include <stdexcept>     // for std::invalid_argument, std::runtime_error
#include <string>        // for std::string
#include <string_view>   // for std::string_view
#include <system_error>  // for std::errc
#include <type_traits>   // for std::is_invocable_v
#include <utility>       // for std::move
#include <vector>        // for std::vector

namespace weir::simulation {

/// How a scenario is explored.
struct explore_options {
    /// How many schedules, at most; fewer if there are no more.
    std::size_t schedules = 1'000;

    /// How the next step is chosen.
    simulation::strategy strategy = simulation::strategy::random;

    /// Of the first schedule; each has one of its own, which depends on this and its number.
    std::uint64_t seed = 1;

    /// Of `strategy::priorities`: how many decisions have to fall in order for the fault to show.
    unsigned depth = 3;

    /// Of `strategy::exhaustive`: how many decisions may be others than first come, first served.
    std::size_t deviations = static_cast<std::size_t>(-1);

    /// A schedule that has more steps has failed: it does not end.
    std::size_t most_steps = 100'000;

    /// Not empty: only this schedule, as the message of a failure gives it.
    std::string replay = {};

    /// How many schedules may be tried to make the one that failed shorter.
    std::size_t attempts_to_shrink = 2'000;
};

/// What was explored, all of it without a failure.
struct explored {
    std::size_t schedules = 0;  ///< how many there were
    std::size_t steps = 0;      ///< of all schedules together
    bool complete = false;      ///< there are no other schedules within the bounds
};

/// A schedule under which the scenario fails. `what()` says how, and how to see it again.
class schedule_failure : public std::runtime_error {
  public:
    /// \param message  what `what()` gives; `cause`, `seed` and `schedule`: what the members give.
    schedule_failure(const std::string& message, std::string cause, std::uint64_t seed, std::string schedule)
        : std::runtime_error(message), cause_(std::move(cause)), seed_(seed), schedule_(std::move(schedule)) {
    }

    /// What went wrong, under the shortest schedule that was found.
    [[nodiscard]] const std::string& cause() const noexcept { return cause_; }
    /// The seed of the schedule that failed first: `WEIR_SEED`.
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
    /// The shortest schedule: `WEIR_SCHEDULE`, or `explore_options::replay`.
    [[nodiscard]] const std::string& schedule() const noexcept { return schedule_; }

  private:
    std::string cause_;
    std::uint64_t seed_;
    std::string schedule_;
};

namespace detail {

// Not a template, so that only the call of the scenario is compiled again for each.
class explorer {
  public:
    using scenario = std::function<void(world&)>;

    explorer(scenario run, explore_options options) : run_(std::move(run)), options_(std::move(options)) {
        if (options_.schedules == 0) {
            throw std::invalid_argument("weir: explore with 0 schedules shows nothing; ask for at least 1");
        }
        if (weir::detail::was_negative(options_.schedules) ||
            weir::detail::was_negative(options_.most_steps) ||
            weir::detail::was_negative(options_.attempts_to_shrink)) {
            throw std::invalid_argument(
                "weir: explore was given a negative number of schedules, steps or attempts");
        }
        if (options_.depth == 0) {
            throw std::invalid_argument(
                "weir: a fault has a depth of at least 1: see explore_options::depth");
        }
        // NOLINTBEGIN(concurrency-mt-unsafe): nothing here sets one
        const char* const schedule = std::getenv("WEIR_SCHEDULE");
        const char* const text = std::getenv("WEIR_SEED");
        // NOLINTEND(concurrency-mt-unsafe)
        if (schedule != nullptr) options_.replay = schedule;
        if (text != nullptr) {
            const std::string_view all = text;
            const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), only_);
            has_only_ = error == std::errc() && end == all.data() + all.size();
            if (!has_only_) {
                throw std::invalid_argument("weir: WEIR_SEED='" + std::string(all) +
                                            "' is no seed; copy it from the message of the failure");
            }
        }
    }

    explored explore() {
        if (!options_.replay.empty()) return replay();
        const explored all = options_.strategy == strategy::exhaustive ? try_all() : try_some();
        if (!seen_something_) {
            throw std::invalid_argument(
                "weir: explore has shown nothing: the scenario ran no coroutine in its world; give the world "
                "to "
                "what is tested, as in sync_wait(world, task) or pipeline.start<stepwise>(world)");
        }
        return all;
    }

  private:
    using choices = std::vector<std::uint32_t>;

    explored try_some() {
        const std::size_t length = set_strategy();
        for (std::size_t i = 0; done_.schedules < options_.schedules || has_only_; ++i) {
            const std::uint64_t seed = has_only_ ? only_ : weir::detail::splitmix64(options_.seed, i);
            decisions_.begin(seed, {}, length);
            if (std::string cause = attempt(); !cause.empty()) fail(cause, seed);
            if (has_only_) break;
        }
        return done_;
    }

    // How long a schedule may become, where the strategy asks: measured by one that is first come, first
    // served. What the schedules so far have shown would do better, but a seed alone couldn't find its
    // schedule again.
    std::size_t set_strategy() {
        if (options_.strategy == strategy::random) {
            decisions_.be_random();
            return 0;
        }
        decisions_.be_first();
        decisions_.begin(0);
        if (std::string cause = attempt(); !cause.empty()) fail(cause, 0);
        decisions_.be_by_priority(options_.depth);
        return last_steps_ + last_steps_ / 4;
    }

    // One schedule, by the decisions that have begun. Returns what went wrong, if anything.
    std::string attempt() {
        world here(decisions_, options_.most_steps);
        std::string cause;
        try {
            run_(here);
        } catch (const std::exception& e) {
            cause = text_of(e);
        } catch (...) {
            cause = "something that is no std::exception was thrown";
        }
        ++done_.schedules;
        done_.steps += here.steps();
        last_steps_ = here.steps();
        seen_something_ =
            seen_something_ || here.steps() != 0 || !decisions_.made().empty() || here.now() != time_point();
        if (!here.broken().empty()) return here.broken();
        if (cause.empty()) cause = here.left_behind();
        return cause;
    }

    // With what is nested in it: a pipeline_failure carries the exception of the stage.
    static std::string text_of(const std::exception& e) {
        std::string text = e.what();
        try {
            std::rethrow_if_nested(e);
        } catch (const std::exception& inner) {
            text += ": " + text_of(inner);
        } catch (...) {
            text += ": something that is no std::exception";
        }
        return text.empty() ? "an exception without a text was thrown" : text;
    }

    choices chosen() const {
        choices all;
        for (const decision& each : decisions_.made()) all.push_back(each.chosen);
        return all;
    }

    explored replay() {
        decisions_.be_first();
        decisions_.begin(0, from_text(options_.replay));
        if (std::string cause = attempt(); !cause.empty()) {
            throw schedule_failure("weir: under the schedule " + to_text(chosen()) + ": " + cause, cause, 0,
                                   to_text(chosen()));
        }
        return done_;
    }

    // Depth first: the last decision that can still be another one becomes it, and what follows is first
    // come, first served again.
    explored try_all() {
        decisions_.be_first();
        choices given;
        while (done_.schedules < options_.schedules) {
            decisions_.begin(0, given);
            if (std::string cause = attempt(); !cause.empty()) fail(cause, 0);
            const std::vector<decision>& made = decisions_.made();
            given = chosen();
            while (!given.empty() && !may_deviate(given, made[given.size() - 1].of)) given.pop_back();
            if (given.empty()) {
                done_.complete = true;
                break;
            }
            ++given.back();
        }
        return done_;
    }
    bool may_deviate(const choices& given, std::uint32_t of) const {
        if (given.back() + 1 >= of) return false;
        const auto others = std::count_if(given.begin(), given.end() - 1, is_other);
        return static_cast<std::size_t>(others) < options_.deviations;
    }

    [[noreturn]] void fail(std::string cause, std::uint64_t seed) {
        const std::size_t number = done_.schedules;
        const choices first = chosen();
        const std::uint32_t mark = decisions_.digest();
        decisions_.be_first();
        decisions_.begin(0, first);
        const std::string again = attempt();
        std::string message = "weir: schedule " + std::to_string(number) + " fails: ";
        if (again.empty() || decisions_.digest() != mark) {
            message += cause +
                       "\n  The same decisions gave another outcome the second time: the scenario "
                       "depends on something else, as addresses, the time, other threads or what "
                       "earlier schedules left behind.";
            throw schedule_failure(message, cause, seed, to_text(first));
        }
        choices shortest = shrink(first);
        decisions_.begin(0, shortest);
        if (std::string last = attempt(); !last.empty()) cause = std::move(last);
        const std::string schedule = to_text(shortest);
        message += cause;
        if (seed != 0) message += "\n  again: WEIR_SEED=" + std::to_string(seed);
        message += "\n  shortest schedule found (" + count(deviations(shortest)) +
                   " than first come, first served; it began with " + std::to_string(deviations(first)) +
                   "): WEIR_SCHEDULE=\"" + schedule + "\"";
        throw schedule_failure(message, cause, seed, schedule);
    }

    static bool is_other(std::uint32_t chosen) { return chosen != 0; }
    static std::size_t deviations(const choices& all) {
        return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_other));
    }
    static std::string count(std::size_t n) {
        return std::to_string(n) + (n == 1 ? " decision other" : " decisions other");
    }

    bool may_try() const { return attempts_ < options_.attempts_to_shrink; }
    bool fails(const choices& given) {
        ++attempts_;
        decisions_.begin(0, given);
        return !attempt().empty();
    }

    // Fewer decisions that are not the first on offer. Source of the halving: Zeller, Hildebrandt,
    // "Simplifying and isolating failure-inducing input", IEEE TSE 28 (2002).
    choices shrink(choices best) {
        for (std::size_t size = best.size(); size != 0; size /= 2) {
            for (std::size_t begin = 0; begin < best.size() && may_try();) {
                const std::size_t end = std::min(begin + size, best.size());
                const bool differs = std::any_of(&best[begin], &best[begin] + (end - begin), is_other);
                if (differs) {
                    choices trial = best;
                    std::fill(&trial[begin], &trial[begin] + (end - begin), 0);
                    if (fails(trial)) best = std::move(trial);
                }
                begin = end;
            }
        }
        for (std::size_t i = 0; i < best.size(); ++i) {
            while (best[i] > 1 && may_try()) {
                choices trial = best;
                --trial[i];
                if (!fails(trial)) break;
                best = std::move(trial);
            }
        }
        while (!best.empty() && best.back() == 0) best.pop_back();
        return best;
    }

    const scenario run_;
    explore_options options_;
    std::uint64_t only_ = 0;
    bool has_only_ = false;
    decisions decisions_;
    explored done_;
    std::size_t last_steps_ = 0;  // of the last schedule
    bool seen_something_ = false;
    std::size_t attempts_ = 0;
};

}  // namespace detail

/// Runs a scenario again and again, each time in a world of its own and under another schedule, until one
/// fails or all are done.
///
///     weir::simulation::explore([](weir::simulation::world& w) {
///         auto run = my_pipeline().start<weir::simulation::stepwise>(w);
///         int items = 0;
///         while (run.get()) ++items;
///         w.check(items == 20, "20 items come out");
///     }, {.schedules = 100'000});
///
/// \param scenario  starts what is to be tested in the world, waits for it, and checks. It has failed if it
///                  throws, if after any step a channel or an invariant (`world::always`) is in
///                  contradiction to itself, if it doesn't end, or leaves something that is ready to
///                  run. All that it does has to follow from the world's decisions: no other clock, thread
///                  or random numbers.
/// \returns what was explored.
/// Errors: `schedule_failure` of the first schedule that fails, made as short as possible;
///         `std::invalid_argument` for options that make no sense, and where nothing ran in the world. In the
///         environment, `WEIR_SEED` makes each `explore` run that schedule only, `WEIR_SCHEDULE` the one
///         that was found in the end.
/// Threads: all on the calling one.
/// Cost: some 40 ns a step of coroutines over channels, 110 of a measured pipeline, whose setting up is the
///       most of what a short schedule costs (4 us for three stages).
template <std::invocable<world&> Scenario>
explored explore(Scenario scenario, explore_options options = {}) {
    return detail::explorer(std::ref(scenario), std::move(options)).explore();
}

/// What is no scenario gets a sentence.
template <class Scenario>
    requires(!std::invocable<Scenario&, world&>)
explored explore(Scenario, const explore_options& = {}) {
    static_assert(std::is_invocable_v<Scenario&, world&>,
                  "weir: explore needs a scenario: a function that takes a simulation::world&, starts what "
                  "is to be tested on it, and checks");
    return {};
}

}  // namespace weir::simulation

#endif
