// weir floor 0: an operation that waits on a channel, and the line in which it stands
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_DETAIL_WAITER_HPP
#define WEIR_DETAIL_WAITER_HPP

#include <weir/detail/env.hpp>
#include <weir/detail/parker.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::int64_t

namespace weir::detail {

class slot;

// What has become of an operation.
enum class outcome : std::uint8_t { pending, done, closed, stopped, timed_out };

// Lives in the frame of the coroutine, or on the stack of the thread, that waits. It
// belongs to the channel's lock while the waiter is linked; once it is unlinked and its outcome is
// set, to the owner. Whoever unlinks it wakes it, after the lock, as the last thing.
template <class Platform>
struct basic_waiter {
    basic_waiter() noexcept = default;
    basic_waiter(const basic_waiter&) = delete;
    basic_waiter& operator=(const basic_waiter&) = delete;

    basic_waiter* next = nullptr;
    basic_waiter* previous = nullptr;
    bool linked = false;
    bool stop_seen = false;  // the stop came before the waiter was linked
    detail::outcome outcome = outcome::pending;

    // Whom to wake: a coroutine on its executor, or a thread.
    std::coroutine_handle<> coroutine;
    executor* home = nullptr;
    basic_parker<Platform>* thread = nullptr;

    void* item = nullptr;      // put: the T to take; get: the optional<T> to fill
    std::uint64_t number = 0;  // of the item, in the order of the gets
    slot* measured = nullptr;  // the slot that waits, if it is one
    slot* work_of = nullptr;   // the slot whose work waits, itself or in its function: for reports
    std::int64_t since = 0;    // ns, when it began to wait
    std::int64_t ready = 0;    // ns, when its wait ended
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
    void push(waiter& w) noexcept {
        (last_ == nullptr ? first_ : last_->next) = &w;
        last_ = &w;
        w.next = nullptr;
    }
    bool empty() const noexcept { return first_ == nullptr; }
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
