// weir simulation, internal: bodies of the functions of simulation/explore.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_EXPLORE_IPP
#define WEIR_SIMULATION_EXPLORE_IPP

#include <weir/simulation/explore.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>     // for std::any_of, std::count_if, std::fill, std::min
#include <charconv>      // for std::from_chars
#include <cstdlib>       // for std::getenv
#include <exception>     // for std::current_exception
#include <stdexcept>     // for std::invalid_argument
#include <string_view>   // for std::string_view
#include <system_error>  // for std::errc

namespace weir::simulation::detail {

WEIR_INLINE explorer::explorer(scenario run, explore_options options)
    : run_(std::move(run)), options_(std::move(options)) {
    if (options_.schedules == 0) {
        throw std::invalid_argument("weir: explore with 0 schedules shows nothing; ask for at least 1");
    }
    if (weir::detail::was_negative(options_.schedules) || weir::detail::was_negative(options_.most_steps) ||
        weir::detail::was_negative(options_.attempts_to_shrink)) {
        throw std::invalid_argument(
            "weir: explore was given a negative number of schedules, steps or attempts");
    }
    if (options_.depth == 0) {
        throw std::invalid_argument("weir: a fault has a depth of at least 1: see explore_options::depth");
    }
    // NOLINTBEGIN(concurrency-mt-unsafe): the library sets no variable
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

WEIR_INLINE explored explorer::explore() {
    if (!options_.replay.empty()) return replay();
    const explored all = options_.strategy == strategy::exhaustive ? try_all() : try_some();
    if (!seen_something_) {
        throw std::invalid_argument(
            "weir: explore has shown nothing: the scenario ran no coroutine in its world; give the world to "
            "what is tested, as in sync_wait(world, task) or pipeline.start<stepwise>(world)");
    }
    return all;
}

WEIR_INLINE explored explorer::try_some() {
    const std::size_t length = set_strategy();
    for (std::size_t i = 0; done_.schedules < options_.schedules || has_only_; ++i) {
        const std::uint64_t seed = has_only_ ? only_ : weir::detail::splitmix64(options_.seed, i);
        decisions_.begin(seed, {}, length);
        if (std::string cause = attempt(); !cause.empty()) fail(cause, seed);
        if (has_only_) break;
    }
    return done_;
}

WEIR_INLINE std::size_t explorer::set_strategy() {
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

WEIR_INLINE std::string explorer::attempt() {
    world here(decisions_, options_.most_steps);
    std::string cause;
    try {
        run_(here);
    } catch (...) {
        cause = text_of(std::current_exception());
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

WEIR_INLINE auto explorer::chosen() const -> choices {
    choices all;
    for (const decision& each : decisions_.made()) all.push_back(each.chosen);
    return all;
}

WEIR_INLINE explored explorer::replay() {
    decisions_.be_first();
    decisions_.begin(0, from_text(options_.replay));
    if (std::string cause = attempt(); !cause.empty()) {
        throw schedule_failure("weir: under the schedule " + to_text(chosen()) + ": " + cause, cause, 0,
                               to_text(chosen()));
    }
    return done_;
}

WEIR_INLINE explored explorer::try_all() {
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

WEIR_INLINE bool explorer::may_deviate(const choices& given, std::uint32_t of) const {
    if (given.back() + 1 >= of) return false;
    const auto others = std::count_if(given.begin(), given.end() - 1, deviates);
    return static_cast<std::size_t>(others) < options_.deviations;
}

WEIR_INLINE void explorer::fail(std::string cause, std::uint64_t seed) {
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
    message += "\n  shortest schedule found (" + deviations_text(deviations(shortest)) +
               " than first come, first served; it began with " + std::to_string(deviations(first)) +
               "): WEIR_SCHEDULE=\"" + schedule + "\"";
    throw schedule_failure(message, cause, seed, schedule);
}

WEIR_INLINE std::size_t explorer::deviations(const choices& all) {
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), deviates));
}

WEIR_INLINE std::string explorer::deviations_text(std::size_t n) {
    return std::to_string(n) + (n == 1 ? " decision other" : " decisions other");
}

WEIR_INLINE bool explorer::fails(const choices& given) {
    ++attempts_;
    decisions_.begin(0, given);
    return !attempt().empty();
}

WEIR_INLINE auto explorer::shrink(choices best) -> choices {
    for (std::size_t size = best.size(); size != 0; size /= 2) {
        for (std::size_t begin = 0; begin < best.size() && may_try();) {
            const std::size_t end = (std::min)(begin + size, best.size());
            const bool differs = std::any_of(&best[begin], &best[begin] + (end - begin), deviates);
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

}  // namespace weir::simulation::detail

namespace weir::simulation {

WEIR_INLINE void detail::demand_identity(bool right, const char* what, const std::string& name,
                                         const char* identity) {
    if (!right) {
        throw failed_check(std::string("the statistics contradict themselves: ") + what + " '" + name +
                           "': " + identity);
    }
}

WEIR_INLINE void check_identities(const pipeline_stats& stats) {
    constexpr duration none(0);
    for (const stage_stats& stage : stats.stages) {
        const auto holds = [&stage](bool right, const char* identity) {
            detail::demand_identity(right, "stage", stage.name, identity);
        };
        for (const slot_times& each : stage.per_slot) {
            for (const auto& state : weir::detail::states_by_number) {
                holds(each.*state.time >= none, "no slot was in a state for less than no time");
            }
            holds(each.total() == stage.elapsed, "the states of a slot sum to the time that passed");
        }
        holds(stage.busy == stage.times().busy(), "the slots are busy while they run or await");
        holds(stage.num_failures <= stage.num_tasks, "no more fail than are tried");
        holds(stage.task_times.count() == stage.num_tasks - stage.num_failures, "each success has a time");
    }
    for (const channel_stats& queue : stats.channels) {
        const auto holds = [&queue](bool right, const char* identity) {
            detail::demand_identity(right, "queue", queue.name, identity);
        };
        holds(queue.num_put == queue.num_get + queue.num_discarded + queue.size,
              "what was put was got, was discarded, or is inside");
        holds(none <= queue.empty && queue.empty <= queue.elapsed, "it is empty for a part of the time");
        holds(none <= queue.put_blocked && queue.put_blocked <= queue.put_wait,
              "who waits alone waits as long as all do");
        holds(none <= queue.get_blocked && queue.get_blocked <= queue.get_wait,
              "who waits alone waits as long as all do");
        holds(queue.put_blocked + queue.empty <= queue.elapsed, "nobody waits to put while it is empty");
        holds(queue.get_blocked <= queue.empty, "nobody waits to get while something is there");
        // An `unmeasured` run counts operations, but has no waits and no time.
        const bool is_measured = queue.elapsed > none || queue.put_waits.count() + queue.get_waits.count();
        holds(!is_measured ||
                  (queue.put_waits.count() == queue.num_put && queue.get_waits.count() == queue.num_get),
              "each operation has a wait");
    }
    if (!stats.first_item) return;
    const auto holds = [](bool right, const char* identity) {
        detail::demand_identity(right, "pipeline", "", identity);
    };
    const first_item_stats& first = *stats.first_item;
    holds(first.after >= none && none <= first.since && first.since <= stats.elapsed,
          "the first item came while it ran");
    holds(first.num_items <= stats.num_items && stats.num_items - first.num_items <= 1,
          "what came since is all but the first item");
}

}  // namespace weir::simulation

#endif
