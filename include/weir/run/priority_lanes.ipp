// weir run, internal: bodies of the functions of run/priority_lanes.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_PRIORITY_LANES_IPP
#define WEIR_RUN_PRIORITY_LANES_IPP

#include <weir/run/priority_lanes.hpp>

#include <weir/platform/config.hpp>

#include <mutex>  // for std::lock_guard
#include <new>    // for std::bad_alloc

namespace weir {

WEIR_INLINE priority_lanes::priority_lanes(executor& base) : base_(&base, detail::executor_user::lanes) {
    const std::size_t threads = base.traits().parallelism;
    pumps_.reserve(threads);
    for (std::size_t i = 0; i < threads; ++i) pumps_.push_back(pump(*this));
    for (auto& each : pumps_) idle_.push_back(each.prepare(base, nullptr, *this));
}

WEIR_INLINE priority_lanes::~priority_lanes() {
    // In a forked child, a pump that no longer runs may hold the lock. If a coroutine called `std::exit`, its
    // pump never rests again.
    if (base_->orphaned() || detail::exits_in_a_coroutine()) {
        for (auto& each : pumps_) each.forget();
        return;
    }
    bool busy;
    {
        const std::lock_guard guard(lock_);
        closing_ = true;
        busy = idle_.size() != pumps_.size();
    }
    if (busy) detail::block_until(all_idle_, *base_);
}

WEIR_INLINE detail::detached_task<void> priority_lanes::pump(priority_lanes& all) {
    while (true) {
        int left = longest_slice;
        while (left > 0 && all.run_first()) --left;
        co_await pause(all, left == 0);
    }
}

WEIR_INLINE executor& priority_lanes::add() {
    lanes_.push_back(std::make_unique<lane>(*this));
    return *lanes_[lanes_.size() - 1];
}

WEIR_INLINE bool priority_lanes::has_more_urgent(const executor& than) const noexcept {
    bool ahead = false;
    for (const auto& each : lanes_) {
        if (ahead && !each->waiting.empty()) return true;
        ahead = ahead || each.get() == &than;
    }
    return false;
}

WEIR_INLINE bool priority_lanes::lane::drive(flag& done, time_point limit) {
    const bool is_pump = all_.has_lane(detail::current_executor());
    if (is_pump) all_.pump_blocks();
    const bool driven = all_.base_->drive(done, limit);
    if (is_pump) all_.pump_goes_on();
    return driven;
}

WEIR_INLINE bool priority_lanes::lane::run_one() {
    void* const next = waiting.pop();
    if (next != nullptr) resume(std::coroutine_handle<>::from_address(next));
    return next != nullptr;
}

WEIR_INLINE executor_traits priority_lanes::lane::traits_of(executor& base) {
    executor_traits all = base.traits();
    all.continues_with_forks = false;
    all.way_into = &base.lasting();
    return all;
}

WEIR_INLINE bool priority_lanes::pause::await_suspend(std::coroutine_handle<> h) const noexcept {
    if (!yields_) return all_.rest(h);
    all_.base_->post(h);
    return true;
}

WEIR_INLINE bool priority_lanes::run_first() {
    for (std::size_t i = lanes_.size(); i-- != 0;) {
        if (lanes_[i]->run_one()) return true;
    }
    return false;
}

WEIR_INLINE void priority_lanes::add(detail::basic_inbox<>& waiting, std::coroutine_handle<> h) noexcept {
    executor& base = *base_;
    std::coroutine_handle<> woken;
    {
        const std::lock_guard guard(lock_);
        waiting.push(h.address());
        if (idle_.empty()) return;
        woken = idle_.back();
        idle_.pop_back();
    }
    base.post(woken);
}

WEIR_INLINE bool priority_lanes::has_lane(const executor* ex) const noexcept {
    for (const auto& each : lanes_) {
        if (each.get() == ex) return true;
    }
    return false;
}

WEIR_INLINE void priority_lanes::pump_blocks() noexcept {
    {
        const std::lock_guard guard(lock_);
        if (pumps_.size() >= base_->traits().parallelism + ++blocked_) return;
    }
    std::coroutine_handle<> more;
    try {
        auto one = pump(*this);
        const std::lock_guard guard(lock_);
        idle_.reserve(pumps_.size() + 1);
        pumps_.push_back(std::move(one));
        more = pumps_.back().prepare(*base_, nullptr, *this);
    } catch (const std::bad_alloc&) {
        more = nullptr;
    }
    if (more) base_->post(more);
}

WEIR_INLINE void priority_lanes::pump_goes_on() noexcept {
    const std::lock_guard guard(lock_);
    --blocked_;
}

WEIR_INLINE bool priority_lanes::rest(std::coroutine_handle<> h) noexcept {
    bool last;
    {
        const std::lock_guard guard(lock_);
        for (const auto& each : lanes_) {
            if (!each->waiting.empty()) return false;
        }
        idle_.push_back(h);
        last = closing_ && idle_.size() == pumps_.size();
    }
    if (last) all_idle_.set();  // the last access to this object: its destructor continues
    return true;
}

}  // namespace weir

#endif
