// weir executor: a timer, which posts a coroutine at an instant, and the queue of an executor's timers
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_TIMER_HPP
#define WEIR_EXECUTOR_TIMER_HPP

#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>

#include <coroutine>  // for std::coroutine_handle, std::noop_coroutine
#include <cstdint>    // for std::uint64_t
#include <utility>    // for std::swap

namespace weir {

/// The order of timers with the same deadline. `before_all` is for an observer, such as the coroutine that
/// reports the statistics of a run at intervals: it runs before all else of that instant. If only such timers
/// are left, `virtual_time::run` does not advance the clock. All other timers are `normal`.
enum class timer_order : std::uint8_t { before_all, normal };

class timer_queue;

/// A coroutine to post, and when. The timer lives in the frame of that coroutine and is linked into the
/// executor's queue, so adding it allocates nothing.
///
/// Lifetime: exists until its waiter is resumed, and as long as another thread may cancel it.
class timer {
  public:
    /// \param waiter  is posted once: at `deadline` or later, or when the timer is cancelled.
    timer(time_point deadline, std::coroutine_handle<> waiter,
          timer_order order = timer_order::normal) noexcept
        : deadline_(deadline), waiter_(waiter), order_(order) {}
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;

    [[nodiscard]] time_point deadline() const noexcept { return deadline_; }  ///< as constructed
    [[nodiscard]] timer_order order() const noexcept { return order_; }       ///< as constructed

    /// The coroutine to post when the timer fires.
    [[nodiscard]] std::coroutine_handle<> waiter() const noexcept { return waiter_; }

    /// Called when the waiter is destroyed while it waits: `waiter()` then returns a coroutine that does
    /// nothing, which may still be posted.
    void forget_waiter() noexcept { waiter_ = std::noop_coroutine(); }

    /// When the timer fired or was cancelled, by the executor's clock. For the waiter, after it resumed.
    [[nodiscard]] time_point fired() const noexcept { return fired_; }

    /// True if the timer was cancelled before it fired. For the waiter, after it resumed.
    [[nodiscard]] bool cancelled() const noexcept { return state_ == state::cancelled; }

  private:
    friend timer_queue;
    enum class state : std::uint8_t { idle, queued, fired, cancelled };

    time_point deadline_;
    time_point fired_{};  // when the timer fired or was cancelled
    std::coroutine_handle<> waiter_;
    // Pairing heap: first child, next sibling, and the node that points here (parent or left sibling).
    timer* child_ = nullptr;
    timer* next_ = nullptr;
    timer* back_ = nullptr;
    std::uint64_t sequence_ = 0;  // counts the calls of `add`: orders timers of one instant
    timer_order order_;
    state state_ = state::idle;
};

/// The timers of one executor, earliest first; timers of one instant by `timer_order`, then in the order in
/// which they were added. For authors of executors.
///
/// Threads: not synchronised; an executor with several threads locks around it.
/// Lifetime: a timer must not be moved or destroyed while it is queued.
/// Cost: add O(1), the rest O(log n) amortised; never allocates.
/// Source: Fredman, Sedgewick, Sleator, Tarjan, "The pairing heap", Algorithmica 1 (1986).
class timer_queue {
  public:
    timer_queue() noexcept = default;
    timer_queue(const timer_queue&) = delete;
    timer_queue& operator=(const timer_queue&) = delete;

    /// \returns true if the timer is queued now; false if it was cancelled already: the caller posts its
    ///          waiter.
    [[nodiscard("false: post the timer's waiter")]] bool add(timer& t) noexcept {
        if (t.state_ == timer::state::cancelled) return false;
        t.state_ = timer::state::queued;
        t.sequence_ = ++sequence_;
        t.child_ = t.next_ = t.back_ = nullptr;
        root_ = root_ == nullptr ? &t : meld(root_, &t);
        return true;
    }

    /// Removes a timer that has not fired; `fired()` then returns `now`. Before `add`: marks the timer, so
    /// that `add` refuses it. After it has fired or was cancelled: no effect.
    /// \returns true if the timer was queued: the caller posts its waiter.
    [[nodiscard("true: post the timer's waiter")]] bool cancel(timer& t, time_point now) noexcept {
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

    [[nodiscard]] bool empty() const noexcept { return root_ == nullptr; }  ///< whether none is queued

    /// The earliest timer, or null.
    [[nodiscard]] const timer* next() const noexcept { return root_; }

    /// Removes the earliest timer, if its deadline is not after `now`.
    /// \returns that timer, or null. The caller posts its waiter; after that the timer may be destroyed.
    [[nodiscard]] timer* pop_due(time_point now) noexcept {
        timer* const t = root_;
        if (t == nullptr || t->deadline_ > now) return nullptr;
        root_ = merge_pairs(t->child_);
        t->state_ = timer::state::fired;
        t->fired_ = now;
        return t;
    }

  private:
    static bool before(const timer& a, const timer& b) noexcept {  // the order of the queue
        if (a.deadline_ != b.deadline_) return a.deadline_ < b.deadline_;
        if (a.order_ != b.order_) return a.order_ < b.order_;
        return a.sequence_ < b.sequence_;
    }

    static timer* meld(timer* a, timer* b) noexcept {  // makes one heap of two; returns its root
        if (before(*b, *a)) std::swap(a, b);
        b->back_ = a;
        b->next_ = a->child_;
        if (a->child_ != nullptr) a->child_->back_ = b;
        a->child_ = b;
        a->next_ = nullptr;
        a->back_ = nullptr;
        return a;
    }

    static void unlink(timer& t) noexcept {  // takes `t`, with its children, out of the heap
        if (t.back_->child_ == &t) {
            t.back_->child_ = t.next_;
        } else {
            t.back_->next_ = t.next_;
        }
        if (t.next_ != nullptr) t.next_->back_ = t.back_;
    }

    // Makes one heap of the siblings from `first` on, whose parent is gone; returns its root. Two passes:
    // siblings in pairs from the left, then the pairs from the right. Iterative, since a million timers added
    // in order are a million siblings.
    static timer* merge_pairs(timer* first) noexcept {
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

    timer* root_ = nullptr;       // the earliest timer
    std::uint64_t sequence_ = 0;  // of the timer added last
};

}  // namespace weir

#endif
