// weir channel, internal: an operation that waits on a channel, and the line in which it stands
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_WAITER_HPP
#define WEIR_CHANNEL_WAITER_HPP

#include <weir/platform/env.hpp>
#include <weir/platform/parking.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::int64_t

namespace weir::detail {

class slot;
class byte_budget;
template <class Platform>
class basic_choice;

// What has become of an operation.
enum class outcome : std::uint8_t { pending, done, fetched, closed, stopped, timed_out };

// Lives in the frame of the coroutine, or on the stack of the thread, that waits. It
// belongs to the channel's lock while the waiter is linked; once it is unlinked and its outcome is
// set, to the owner. Whoever unlinks it wakes it, after the lock, as the last thing.
//
// One is made for each operation, but few operations wait: what has no initialiser is written by
// `is_coroutine`, `is_thread` or `is_one_of`, before the waiter is linked, or by who links it.
template <class Platform>
struct basic_waiter {
    basic_waiter(void* where, slot* who) noexcept : item(where), measured(who) {}
    basic_waiter(const basic_waiter&) = delete;
    basic_waiter& operator=(const basic_waiter&) = delete;

    void is_coroutine(std::coroutine_handle<> h, weir::executor* on, slot* works_for) noexcept {
        coroutine = h.address();
        executor = on;
        thread = nullptr;
        choice = nullptr;
        work_of = works_for;
        ready = 0;
    }
    void is_thread(basic_parker<Platform>* flag, bool for_some_time = false) noexcept {
        has_limit = for_some_time;
        executor = nullptr;
        thread = flag;
        choice = nullptr;
        work_of = nullptr;
        ready = 0;
    }
    void is_one_of(basic_choice<Platform>& all, bool for_some_time, slot* works_for) noexcept {
        has_limit = for_some_time;
        executor = nullptr;
        thread = nullptr;
        choice = &all;
        work_of = works_for;
        ready = 0;
    }

    bool linked = false;
    bool stop_seen = false;  // the stop came before the waiter was linked
    bool has_limit = false;  // it waits for some time at most
    detail::outcome outcome = outcome::pending;

    void* item;            // put: the T to take; get: where to construct a T
    slot* measured;        // the slot that waits, if it is one
    std::uint64_t number;  // get: of the item, in the order of the gets
    std::uint64_t wait;    // of all waits at the channel

    basic_waiter* next;
    basic_waiter* previous;

    // Whom to wake: a coroutine on its executor, or a thread, or who waits for this among others.
    void* coroutine;
    weir::executor* executor;
    basic_parker<Platform>* thread;
    basic_choice<Platform>* choice;

    slot* work_of;       // the slot whose work waits, itself or in its function: for reports
    std::int64_t since;  // ns, when it began to wait; if that is measured
    std::int64_t ready;  // ns, when its wait ended; 0 if that is not measured
};

// First come, first served.
template <class Platform>
class waiter_line {
    using waiter = basic_waiter<Platform>;

  public:
    bool empty() const noexcept { return first_ == nullptr; }
    waiter* front() const noexcept { return first_; }

    void push(waiter& w) noexcept {
        w.next = nullptr;
        w.previous = last_;
        (last_ == nullptr ? first_ : last_->next) = &w;
        last_ = &w;
        w.linked = true;
    }

    void remove(waiter& w) noexcept {
        (w.previous == nullptr ? first_ : w.previous->next) = w.next;
        (w.next == nullptr ? last_ : w.next->previous) = w.previous;
        w.next = w.previous = nullptr;
        w.linked = false;
    }

  private:
    waiter* first_ = nullptr;
    waiter* last_ = nullptr;
};

// Waiters that were answered under the lock, to be woken after it, in their order.
template <class Platform>
class wake_list {
    using waiter = basic_waiter<Platform>;

  public:
    // Has room again, which those who wait for it don't know yet.
    byte_budget* budget = nullptr;

    void push(waiter& w) noexcept {
        (last_ == nullptr ? first_ : last_->next) = &w;
        last_ = &w;
        w.next = nullptr;
    }
    bool empty() const noexcept { return first_ == nullptr; }
    bool wakes_nobody() const noexcept { return empty() && budget == nullptr; }
    waiter* pop() noexcept {
        waiter* const w = first_;
        first_ = w->next;
        if (first_ == nullptr) last_ = nullptr;
        return w;
    }

  private:
    waiter* first_ = nullptr;
    waiter* last_ = nullptr;
};

}  // namespace weir::detail

#endif
