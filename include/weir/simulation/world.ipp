// weir simulation, internal: bodies of the functions of simulation/world.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SIMULATION_WORLD_IPP
#define WEIR_SIMULATION_WORLD_IPP

#include <weir/simulation/world.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::lower_bound, std::rotate
#include <exception>  // for std::current_exception
#include <span>       // for std::span
#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::exchange

namespace weir::simulation {

WEIR_INLINE world::world(detail::decisions& decisions, std::size_t most_steps)
    : decisions_(&decisions), most_steps_(most_steps) {
    ready_.reserve(256);  // as posting can't fail
}

WEIR_INLINE void world::add(timer& t) noexcept {
    if (!clock_.add(t)) post(t.waiter());
}

WEIR_INLINE void world::cancel(timer& t) noexcept {
    if (clock_.cancel(t)) post(t.waiter());
}

WEIR_INLINE bool world::drive(weir::detail::parker& done, time_point limit) {
    // Called by an action outside of all coroutines, and no coroutine waits on another thread for its turn.
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
    if (n == 0) throw std::invalid_argument("weir: draw(0): there is no number below 0");
    return decisions_->choose(n);
}

WEIR_INLINE void world::demand(bool right, const char* what) {
    if (!right) throw failed_check(what);
}

WEIR_INLINE void world::at_step(std::size_t step, std::function<void()> action) {
    if (step <= steps_) return action();
    // Among actions of one step, those added before stay nearer to the end: they run first.
    const auto place = std::lower_bound(actions_.begin(), actions_.end(), step,
                                        [](const planned& a, std::size_t at) { return a.step > at; });
    actions_.insert(place, {step, std::move(action)});
    next_action_ = actions_.back().step;
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
    ready_.push_back(this);  // then moved to the front: g++ 12 warns of a null pointer in insert()
    std::rotate(ready_.begin(), ready_.end() - 1, ready_.end());
    const std::size_t next = decisions_->choose(std::span<void* const>(ready_));
    ready_.erase(ready_.begin());
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
    if (ready_.empty()) return true;  // the action ran all of them
    std::size_t next = std::exchange(chosen_, 0);
    next = next != 0 && next <= ready_.size() ? next - 1 : decisions_->choose(std::span<void* const>(ready_));
    const auto h = std::coroutine_handle<>::from_address(ready_[next]);
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(next));
    ++steps_;
    resume(h);
    if (broken_.empty()) examine();
    return true;
}

WEIR_INLINE void world::act() {
    while (!actions_.empty() && actions_.back().step == steps_) {
        const std::function<void()> action = std::move(actions_.back().action);
        actions_.pop_back();
        next_action_ = actions_.empty() ? never : actions_.back().step;
        is_acting_ = true;
        try {
            action();
        } catch (...) {
            is_acting_ = false;
            throw;
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
            break_off(weir::detail::error_text(std::current_exception()));
        }
    }
}

WEIR_INLINE void world::break_off(std::string what) {
    if (broken_.empty()) broken_ = "after step " + std::to_string(steps_) + ": " + std::move(what);
}

}  // namespace weir::simulation

#endif
