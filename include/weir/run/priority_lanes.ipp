// weir run, internal: bodies of the functions of run/priority_lanes.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_PRIORITY_LANES_IPP
#define WEIR_RUN_PRIORITY_LANES_IPP

#include <weir/run/priority_lanes.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>   // for std::pop_heap, std::push_heap
#include <cstdint>     // for std::uintptr_t
#include <functional>  // for std::less
#include <mutex>       // for std::lock_guard
#include <new>         // for std::bad_alloc, std::nothrow
#include <utility>     // for std::move

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
        // The lanes are never freed: during `std::exit` other threads still run. Each thread that blocks for
        // coroutines of a lane calls `drive` of the lane.
        if (detail::exits_in_a_coroutine()) static_cast<void>(new (std::nothrow) auto(std::move(blocks_)));
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
    const std::size_t capacity = first_block * ((std::size_t(1) << blocks_.size()) - 1);
    if (num_lanes_ == capacity) {
        const std::size_t more = first_block << blocks_.size();
        ready_.reserve(capacity + more);
        blocks_.push_back(detail::owned<std::optional<lane>[]>(new std::optional<lane>[more]()));
    }
    const std::size_t before_last = first_block * ((std::size_t(1) << (blocks_.size() - 1)) - 1);
    std::optional<lane>& added = blocks_.back()[num_lanes_ - before_last];
    added.emplace(*this, num_lanes_);
    ++num_lanes_;
    return *added;
}

WEIR_INLINE bool priority_lanes::has_more_urgent(const executor& than) const noexcept {
    // relaxed: a hint for other threads
    const std::size_t first = most_urgent_.load(std::memory_order_relaxed);
    const std::size_t own = first == 0 ? 0 : place_of(&than);
    return own != 0 && first > own;
}

WEIR_INLINE bool priority_lanes::lane::drive(flag& done, time_point limit) {
    const bool is_pump = all_.place_of(detail::current_executor()) != 0;
    if (is_pump) all_.pump_blocks();
    const bool driven = all_.base_->drive(done, limit);
    if (is_pump) all_.pump_goes_on();
    return driven;
}

WEIR_INLINE executor_traits priority_lanes::lane::traits_of(executor& base) {
    executor_traits all = base.traits();
    all.continues_with_forks = false;
    all.way_into = &base.lasting();  // the executor that runs what is posted here
    return all;
}

WEIR_INLINE bool priority_lanes::pause::await_suspend(std::coroutine_handle<> h) const noexcept {
    if (!yields_) return all_.rest(h);
    all_.base_->post(h);
    return true;
}

WEIR_INLINE bool priority_lanes::run_first() {
    lane* first;
    std::coroutine_handle<> next;
    {
        const std::lock_guard guard(lock_);
        if (ready_.empty()) return false;
        first = ready_.front();
        next = first->waiting.take_front();
        if (first->waiting.empty()) pop_ready();
    }
    first->run(next);
    return true;
}

WEIR_INLINE void priority_lanes::add(lane& to, std::coroutine_handle<> h) noexcept {
    executor& base = *base_;
    std::coroutine_handle<> woken;
    {
        const std::lock_guard guard(lock_);
        if (to.waiting.empty()) push_ready(to);
        to.waiting.push_back(h);
        if (idle_.empty()) return;
        woken = idle_.back();
        idle_.pop_back();
    }
    base.post(woken);
}

WEIR_INLINE std::size_t priority_lanes::place_of(const executor* ex) const noexcept {
    const std::less<const void*> before;
    std::size_t lanes = first_block;
    for (const auto& block : blocks_) {
        const std::optional<lane>* const begin = block.get();
        if (!before(ex, begin) && before(ex, begin + lanes)) {
            const auto offset =
                reinterpret_cast<std::uintptr_t>(ex) - reinterpret_cast<std::uintptr_t>(begin);
            return lanes - first_block + offset / sizeof *begin + 1;
        }
        lanes *= 2;
    }
    return 0;
}

WEIR_INLINE void priority_lanes::push_ready(lane& added) noexcept {
    ready_.push_back(&added);
    std::push_heap(ready_.begin(), ready_.end(), is_less_urgent);
    // relaxed: see has_more_urgent()
    most_urgent_.store(ready_.front()->place + 1, std::memory_order_relaxed);
}

WEIR_INLINE void priority_lanes::pop_ready() noexcept {
    std::pop_heap(ready_.begin(), ready_.end(), is_less_urgent);
    ready_.pop_back();
    // relaxed: see has_more_urgent()
    most_urgent_.store(ready_.empty() ? 0 : ready_.front()->place + 1, std::memory_order_relaxed);
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
        if (!ready_.empty()) return false;
        idle_.push_back(h);
        last = closing_ && idle_.size() == pumps_.size();
    }
    if (last) all_idle_.set();  // the last access to this object: its destructor continues
    return true;
}

}  // namespace weir

#endif
