// weir executor, internal: bodies of the functions of executor/timer.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_TIMER_IPP
#define WEIR_EXECUTOR_TIMER_IPP

#include <weir/executor/timer.hpp>

#include <weir/platform/config.hpp>

namespace weir {

WEIR_INLINE bool timer_queue::add(timer& t) noexcept {
    if (t.state_ == timer::state::cancelled) return false;
    t.state_ = timer::state::queued;
    t.sequence_ = ++sequence_;
    t.child_ = t.next_ = t.back_ = nullptr;
    root_ = root_ == nullptr ? &t : meld(root_, &t);
    return true;
}

WEIR_INLINE bool timer_queue::cancel(timer& t, time_point now) noexcept {
    const timer::state before = t.state_;
    if (before == timer::state::fired || before == timer::state::cancelled) return false;
    t.state_ = timer::state::cancelled;
    t.fired_ = now;
    if (before == timer::state::idle) return false;
    if (&t == root_) {
        root_ = merge_pairs(t.child_);
    } else {
        unlink(t);
        if (timer* const rest = merge_pairs(t.child_)) root_ = meld(root_, rest);
    }
    return true;
}

WEIR_INLINE timer* timer_queue::pop_due(time_point now) noexcept {
    timer* const t = root_;
    if (t == nullptr || t->deadline_ > now) return nullptr;
    root_ = merge_pairs(t->child_);
    t->state_ = timer::state::fired;
    t->fired_ = now;
    return t;
}

WEIR_INLINE bool timer_queue::before(const timer& a, const timer& b) noexcept {
    if (a.deadline_ != b.deadline_) return a.deadline_ < b.deadline_;
    if (a.order_ != b.order_) return a.order_ < b.order_;
    return a.sequence_ < b.sequence_;
}

WEIR_INLINE timer* timer_queue::meld(timer* a, timer* b) noexcept {
    if (before(*b, *a)) {
        timer* const t = a;
        a = b;
        b = t;
    }
    b->back_ = a;
    b->next_ = a->child_;
    if (a->child_ != nullptr) a->child_->back_ = b;
    a->child_ = b;
    a->next_ = nullptr;
    a->back_ = nullptr;
    return a;
}

WEIR_INLINE void timer_queue::unlink(timer& t) noexcept {
    if (t.back_->child_ == &t) {
        t.back_->child_ = t.next_;
    } else {
        t.back_->next_ = t.next_;
    }
    if (t.next_ != nullptr) t.next_->back_ = t.back_;
}

WEIR_INLINE timer* timer_queue::merge_pairs(timer* first) noexcept {
    timer* pairs = nullptr;  // singly linked through next_, last pair first
    while (first != nullptr) {
        timer* const a = first;
        timer* const b = a->next_;
        first = b == nullptr ? nullptr : b->next_;
        a->next_ = a->back_ = nullptr;
        timer* const pair = b == nullptr ? a : meld(a, b);
        pair->next_ = pairs;
        pairs = pair;
    }
    timer* root = nullptr;
    while (pairs != nullptr) {
        timer* const rest = pairs->next_;
        pairs->next_ = nullptr;
        root = root == nullptr ? pairs : meld(root, pairs);
        pairs = rest;
    }
    return root;
}

}  // namespace weir

#endif
