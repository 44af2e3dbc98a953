// weir channel, internal: an operation that waits, and the line in which it waits
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_WAITER_HPP
#define WEIR_CHANNEL_WAITER_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/parking.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::int64_t, std::uint8_t
#include <optional>   // for std::optional

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
// `set_coroutine`, `is_thread` or `set_choice`, before the waiter is linked, or by who links it.
template <class Platform>
struct basic_waiter {
    basic_waiter(void* where, slot* who) noexcept : item(where), measured(who) {}
    basic_waiter(const basic_waiter&) = delete;
    basic_waiter& operator=(const basic_waiter&) = delete;

    void set_coroutine(std::coroutine_handle<> h, weir::executor* on, slot* works_for) noexcept {
        coroutine = h.address();
        executor = on;
        thread = nullptr;
        choice = nullptr;
        work_of = works_for;
        ready = 0;
    }
    void set_thread(basic_parker<Platform>* flag, bool for_some_time = false) noexcept {
        has_limit = for_some_time;
        executor = nullptr;
        thread = flag;
        choice = nullptr;
        work_of = nullptr;
        ready = 0;
    }
    void set_choice(basic_choice<Platform>& all, bool for_some_time, slot* works_for) noexcept {
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

// Who ended a wait that no channel had answered, and no time: the run of the stage, or who asked for a stop.
enum class stopped_by : std::uint8_t { nobody, run, request };

// Of a coroutine that stands in several lines at once, or in one for some time at most; in its frame.
//
// Who answers one of its waiters claims the choice before, under the lock of that waiter's channel, and wakes
// the coroutine after that lock. Who finds it claimed takes the waiter out of the line, and does no more.
//
// The coroutine goes on when two have come: who has claimed, and its own thread, which has put all waiters in
// line by then; the second of them posts it, or just goes on. Where the wait has a limit, a timer is
// where they meet, which alone posts the coroutine: when it fires, or when it is cancelled, also if that is
// before it was added.
template <class Platform>
class basic_choice {
  public:
    using waiter = basic_waiter<Platform>;

    basic_choice() noexcept = default;
    basic_choice(const basic_choice&) = delete;
    basic_choice& operator=(const basic_choice&) = delete;

    // Before anybody else knows of it. `limit`: null for none.
    void begin(std::coroutine_handle<> h, weir::executor& ex, const time_point* limit) noexcept {
        coroutine_ = h;
        executor_ = &ex;
        if (limit != nullptr) timer_.emplace(*limit, h);
    }
    bool has_limit() const noexcept { return timer_.has_value(); }
    weir::executor& executor() const noexcept { return *executor_; }

    // True for the first one alone. `by`: null for what is no waiter.
    bool claim(const waiter* by) noexcept {
        // relaxed: what follows is seen by the coroutine through `wake`, by others through a channel's lock
        if (claimed_.exchange(true, std::memory_order_relaxed)) return false;
        winner_ = by;
        return true;
    }
    bool is_claimed() const noexcept { return claimed_.load(std::memory_order_relaxed); }  // a hint, as above

    // Who has claimed it, as the last thing.
    void wake() noexcept {
        if (timer_) {
            executor_->cancel(*timer_);
            woken_.set();
        } else {
            // acq_rel; pairs with try_suspend(): the second one sees all that the first has done
            if (met_.exchange(true, std::memory_order_acq_rel)) executor_->post(coroutine_);
        }
    }

    // What the coroutine waits for has to end.
    void stop(stopped_by who) noexcept {
        if (!claim(nullptr)) return;
        stopped_by_ = who;
        wake();
    }

    // The coroutine's own thread, when its waiters are in line. False: it goes on at once; else its frame may
    // be running elsewhere.
    bool try_suspend() noexcept {
        if (timer_) {
            executor_->add(*timer_);
            return true;
        }
        return !met_.exchange(true, std::memory_order_acq_rel);  // pairs with wake()
    }

    // The coroutine goes on. Returns who was answered; null: nobody, time is over or it was stopped.
    const waiter* winner() noexcept {
        if (timer_ && (timer_->cancelled() || !claim(nullptr))) {
            while (!woken_.wait()) {  // claimed this moment; whoever did it sets the flag next
            }
        }
        return winner_;
    }
    bool was_stopped(stopped_by who) const noexcept { return stopped_by_ == who; }
    // When the time was over, in ns of the executor's clock; 0: it wasn't.
    std::int64_t timed_out_at() const noexcept {
        return timer_ && !timer_->cancelled() ? timer_->fired().time_since_epoch().count() : 0;
    }

    // Its frame is destroyed while it is suspended, on an executor that runs nothing any more.
    void abandon() noexcept {
        static_cast<void>(claim(nullptr));
        if (!timer_) return;
        timer_->forget_waiter();
        executor_->cancel(*timer_);
    }

  private:
    template <class T>
    using atomic = typename Platform::template atomic<T>;

    atomic<bool> claimed_{false};
    atomic<bool> met_{false};  // of the two that have to come, one has
    stopped_by stopped_by_ = stopped_by::nobody;
    const waiter* winner_ = nullptr;
    std::coroutine_handle<> coroutine_;
    weir::executor* executor_ = nullptr;
    std::optional<timer> timer_;
    basic_parker<Platform> woken_;  // who has cancelled the timer uses it no more
};

}  // namespace weir::detail

#endif
