// weir simulation, internal: bodies of the functions of simulation/world.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_WORLD_IPP
#define WEIR_SIMULATION_WORLD_IPP

#include <weir/simulation/world.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>     // for std::min, std::move_backward
#include <charconv>      // for std::from_chars
#include <exception>     // for std::current_exception, std::nested_exception
#include <span>          // for std::span
#include <stdexcept>     // for std::invalid_argument
#include <string>        // for std::to_string
#include <system_error>  // for std::errc
#include <utility>       // for std::exchange

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
    end_of_priorities_ = much_longer * (length + 1);
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

WEIR_INLINE std::size_t decisions::choose(std::span<void* const> options) {
    if (kind_ != kind::priorities || step_ == end_of_priorities_) return choose(options.size());
    std::size_t best = highest(options);
    for (std::size_t i = 0; i < changes_.size(); ++i) {
        if (changes_[i] != step_) continue;
        priority_of(options[best]) = i;
        best = highest(options);
    }
    ++step_;
    if (options.size() == 1) return 0;
    return record(made_.size() < given_.size() ? given_[made_.size()] : best, options.size());
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

WEIR_INLINE std::uint64_t& decisions::priority_of(void* option) {
    const auto [place, is_new] = priorities_.try_emplace(option);
    if (is_new) place->second = depth_ + draw();
    return place->second;
}

WEIR_INLINE std::size_t decisions::highest(std::span<void* const> options) {
    std::size_t best = 0;
    std::uint64_t most = priority_of(options[0]);
    for (std::size_t i = 1; i < options.size(); ++i) {
        const std::uint64_t priority = priority_of(options[i]);
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

WEIR_INLINE void* ready_list::take(std::size_t i) noexcept {
    const auto first = places_.begin() + static_cast<std::ptrdiff_t>(first_);
    const auto at = first + static_cast<std::ptrdiff_t>(i);
    void* const taken = *at;
    if (i < size() / 2) {
        std::move_backward(first, at, at + 1);
        ++first_;
    } else {
        places_.erase(at);
    }
    if (empty()) {
        places_.resize(1);
        first_ = 1;
    }
    return taken;
}

WEIR_INLINE void ready_list::move_to_front() noexcept {
    places_.erase(places_.begin() + 1, places_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 1;
}

WEIR_INLINE std::string text_of(const std::exception_ptr& error) {
    std::string text = weir::detail::error_text(error);
    try {
        std::rethrow_exception(error);
    } catch (const std::nested_exception& outer) {
        if (outer.nested_ptr()) text += ": " + text_of(outer.nested_ptr());
    } catch (...) {  // NOLINT(bugprone-empty-catch): nothing is nested in it
    }
    return text;
}

}  // namespace weir::simulation::detail

namespace weir::simulation {

WEIR_INLINE world::world(detail::decisions& decisions, std::size_t most_steps)
    : decisions_(&decisions), most_steps_(most_steps) {}

WEIR_INLINE void world::add(timer& t) noexcept {
    if (!clock_.add(t)) post(t.waiter());
}

WEIR_INLINE void world::cancel(timer& t) noexcept {
    if (clock_.cancel(t)) post(t.waiter());
}

WEIR_INLINE bool world::drive(weir::detail::parker& done, time_point limit) {
    // Whether an action of at_step() made this call, outside of coroutines, and no coroutine blocks a thread.
    const bool acts = std::exchange(is_acting_, false) && !turns_.any_blocked();
    if (turns_.is_held_here() && !acts) {
        turns_.drive(*this, done, limit);
        return true;
    }
    is_limit_reached_ = false;
    while ((!done.is_set() || !thread_goes_on()) && !is_limit_reached_) {
        acts ? turn(done, limit) : turns_.drive(*this, done, limit);
    }
    is_acting_ = acts;
    return true;
}

WEIR_INLINE std::size_t world::draw(std::size_t n) {
    if (n - 1 >= UINT32_MAX) {
        throw std::invalid_argument(n == 0 ? "weir: draw(0): there is no number below 0"
                                           : "weir: draw(n) chooses one of at most 2^32 - 1 numbers");
    }
    return decisions_->choose(n);
}

WEIR_INLINE void world::demand(bool right, const char* what) {
    if (!right) throw failed_check(what);
}

WEIR_INLINE void world::at_step(std::size_t step, std::function<void()> action) {
    if (step <= steps_) return action();
    actions_.emplace(step, std::move(action));  // behind the actions of the same step that were added before
    next_action_ = actions_.begin()->first;
}

WEIR_INLINE void world::run() {
    weir::detail::parker nobody;
    for (runs_ = true; runs_;) turns_.drive(*this, nobody, (time_point::max)());
}

WEIR_INLINE std::string world::left_behind() const {
    if (ready_.empty()) return {};
    return std::to_string(ready_.size()) + (ready_.size() == 1 ? " coroutine was" : " coroutines were") +
           " still ready to run when the scenario ended";
}

WEIR_INLINE bool world::thread_goes_on() {
    if (ready_.empty()) return true;
    const std::size_t next = decisions_->choose(ready_.all_behind(this));
    if (next == 0) return true;
    chosen_ = next;
    return false;
}

WEIR_INLINE void world::turn(weir::detail::parker&, time_point limit) {
    if (step(limit)) return;
    if (limit != (time_point::max)()) {
        if (limit > now()) clock_.set(limit);
        is_limit_reached_ = true;
    } else if (runs_ && !turns_.any_blocked()) {
        runs_ = false;
    } else {
        throw_deadlock(waiters());
    }
}

WEIR_INLINE bool world::step(time_point limit) {
    if (ready_.empty() && !clock_.advance(limit, [this](std::coroutine_handle<> h) { post(h); })) {
        return false;
    }
    if (steps_ >= most_steps_) {
        break_off("the schedule has " + std::to_string(most_steps_) +
                  " steps and goes on; raise most_steps if it should");
        users().allow_leftovers();
        throw deadlock_error("weir: " + broken_);
    }
    if (steps_ == next_action_) act();
    if (ready_.empty()) return true;  // the action ran all coroutines
    std::size_t next = std::exchange(chosen_, 0);
    next = next != 0 && next <= ready_.size() ? next - 1 : decisions_->choose(ready_.all());
    const auto h = std::coroutine_handle<>::from_address(ready_.take(next));
    ++steps_;
    resume(h);
    if (broken_.empty()) examine();
    return true;
}

WEIR_INLINE void world::act() {
    while (next_action_ == steps_) {
        const std::function<void()> action = std::move(actions_.begin()->second);
        actions_.erase(actions_.begin());
        next_action_ = actions_.empty() ? never : actions_.begin()->first;
        is_acting_ = true;
        try {
            action();
        } catch (...) {
            break_off(detail::text_of(std::current_exception()));
        }
        is_acting_ = false;
    }
}

WEIR_INLINE void world::examine() {
    std::string what = weir::detail::contradiction_in(sites_);
    if (!what.empty()) break_off(std::move(what));
    for (const auto& invariant : invariants_) {
        try {
            invariant();
        } catch (...) {
            break_off(detail::text_of(std::current_exception()));
        }
    }
}

WEIR_INLINE void world::break_off(std::string what) {
    if (broken_.empty()) broken_ = "after step " + std::to_string(steps_) + ": " + std::move(what);
}

}  // namespace weir::simulation

#endif
