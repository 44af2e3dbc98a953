// weir channel, internal: a waiting operation, the line of waiters, and the choice between several waiters
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_WAITER_HPP
#define WEIR_CHANNEL_WAITER_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/parking.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::int64_t, std::uint8_t

namespace weir::detail {

class slot;
class byte_budget;
template <class Platform>
class basic_choice;

// The state of an operation. `fetched`: a get that is done, and whose item the coroutine has taken.
enum class outcome : std::uint8_t { pending, done, fetched, closed, stopped, timed_out };

// One operation that waits, or may have to. A waiter lives in the frame of the coroutine that waits, or on
// the stack of the thread that waits: its owner. While the waiter is linked, the lock of the channel guards
// the waiter. Once the waiter is unlinked and has an outcome, it belongs to the owner. Another thread that
// unlinks the waiter unlocks the channel, wakes the owner, and then does not touch the waiter again.
//
// Each operation makes a waiter, but few operations wait. So the constructor writes only `item`, `measured`
// and the members with an initialiser. The other members that the wait needs are written by
// `set_coroutine`, `set_thread` or `set_choice`, and by the function that links the waiter.
template <class Platform>
struct basic_waiter {
    basic_waiter(void* place, slot* owner) noexcept : item(place), measured(owner) {}
    basic_waiter(const basic_waiter&) = delete;
    basic_waiter& operator=(const basic_waiter&) = delete;

    void set_coroutine(std::coroutine_handle<> h, weir::executor* on, slot* works_for) noexcept {
        coroutine = h.address();
        set_owner(on, nullptr, nullptr, works_for);
    }
    void set_thread(basic_parker<Platform>* flag, bool until_a_deadline = false) noexcept {
        has_limit = until_a_deadline;
        set_owner(nullptr, flag, nullptr, nullptr);
    }
    void set_choice(basic_choice<Platform>& all, bool until_a_deadline, slot* works_for) noexcept {
        has_limit = until_a_deadline;
        set_owner(nullptr, nullptr, &all, works_for);
    }

    bool linked = false;
    bool stop_seen = false;  // the stop came before the waiter was linked
    bool has_limit = false;  // the wait has a time limit
    detail::outcome outcome = outcome::pending;

    void* item;            // put: the item to move from; get: where to construct the item
    slot* measured;        // the slot (stage worker) that waits; null: another coroutine, or a thread
    std::uint64_t number;  // get: of the item, in the order of the gets; put: of a numbered put (`put_order`)
    std::uint64_t wait;    // the number of this wait, counted from 1 at each channel; for reports

    basic_waiter* next;
    basic_waiter* previous;

    // The owner to wake, one of three: a coroutine with its executor, a thread, or a choice (`basic_choice`).
    void* coroutine;
    weir::executor* executor;
    basic_parker<Platform>* thread;
    basic_choice<Platform>* choice;

    slot* work_of;       // the slot for whose stage's function the coroutine runs; null: none
    std::int64_t since;  // when the wait began, in ns; set only if waits are measured
    std::int64_t ready;  // when the wait ended, in ns; 0 if waits are not measured

  private:
    void set_owner(weir::executor* on, basic_parker<Platform>* flag, basic_choice<Platform>* all,
                   slot* works_for) noexcept {
        executor = on;
        thread = flag;
        choice = all;
        work_of = works_for;
        ready = 0;
    }
};

// A line of waiters: a doubly linked list. `push` adds a waiter at the end, `insert` in front of another one:
// so the order is up to the caller. `Waiter` has the members `next`, `previous` and `linked`.
template <class Waiter>
class waiter_line {
  public:
    bool empty() const noexcept { return first_ == nullptr; }
    Waiter* front() const noexcept { return first_; }
    Waiter* back() const noexcept { return last_; }

    void push(Waiter& w) noexcept {
        w.next = nullptr;
        w.previous = last_;
        (last_ == nullptr ? first_ : last_->next) = &w;
        last_ = &w;
        w.linked = true;
    }
    // Inserts `w` in front of `behind`; null: at the end.
    void insert(Waiter& w, Waiter* behind) noexcept {
        if (behind == nullptr) return push(w);
        w.next = behind;
        w.previous = behind->previous;
        (w.previous == nullptr ? first_ : w.previous->next) = &w;
        behind->previous = &w;
        w.linked = true;
    }

    void remove(Waiter& w) noexcept {
        (w.previous == nullptr ? first_ : w.previous->next) = w.next;
        (w.next == nullptr ? last_ : w.next->previous) = w.previous;
        w.next = w.previous = nullptr;
        w.linked = false;
    }

  private:
    Waiter* first_ = nullptr;
    Waiter* last_ = nullptr;
};

// The waiters that were unlinked under the lock and are woken after unlocking, in the order of `push`.
template <class Platform>
class wake_list {
    using waiter = basic_waiter<Platform>;

  public:
    // The limit in bytes of a run (a started pipeline) if it has room again: then `wake_sources` is called
    // after unlocking. Else null.
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

// The limit of a wait: none, a duration, or an instant of the executor's clock.
class wait_limit {
  public:
    wait_limit() noexcept : wait_limit((duration::max)()) {}
    explicit wait_limit(duration d) noexcept : duration_(d), is_relative_(true) {}
    explicit wait_limit(time_point t) noexcept : instant_(t), is_relative_(false) {}

    bool is_for_ever() const noexcept {
        return is_relative_ ? duration_ == (duration::max)() : instant_ == (time_point::max)();
    }
    // Whether the limit is a duration of zero or less.
    bool is_nothing() const noexcept { return is_relative_ && duration_ <= duration(0); }
    time_point after(time_point now) const noexcept {
        return is_relative_ ? saturating_add(now, duration_) : instant_;
    }

  private:
    duration duration_{};
    time_point instant_{};
    bool is_relative_;
};

// Why a choice was stopped. `run`: by the `end_token` of the coroutine, as its run was stopped, a time limit
// is over, or a `when_any` has its result. `request`: by the operation's stop token.
enum class stopped_by : std::uint8_t { nobody, run, request };

// The state of one wait for the first of several operations, or for one operation with a time limit. It lives
// in the frame of the coroutine.
//
// The first thread that serves one of the waiters claims the choice, under the lock of that waiter's channel.
// After unlocking, the thread wakes the choice. A thread that finds the choice claimed only removes the
// waiter from its line.
//
// The coroutine resumes when two parties have arrived: the one that claimed the choice, and the coroutine
// itself, when all its waiters are in line. If the coroutine arrives first, the other party posts it; else it
// continues at once. With a time limit, the two parties do not meet: only the timer posts the coroutine, when
// the timer fires or is cancelled, even if it is cancelled before it was added.
template <class Platform>
class basic_choice {
  public:
    using waiter = basic_waiter<Platform>;

    basic_choice() noexcept = default;
    basic_choice(const basic_choice&) = delete;
    basic_choice& operator=(const basic_choice&) = delete;

    // Begins a wait of the coroutine `h` of `ex`, before any waiter of the choice is in line. `limit`: the
    // time limit; null: none.
    void begin(std::coroutine_handle<> h, weir::executor& ex, const time_point* limit) noexcept {
        coroutine_ = h;
        executor_ = &ex;
        if (limit != nullptr) timer_.emplace(*limit, h);
    }
    bool has_limit() const noexcept { return static_cast<bool>(timer_); }
    weir::executor& executor() const noexcept { return *executor_; }

    // True for the first caller only. `by`: the waiter that is served; null: a time limit, a stop, or the end
    // of the coroutine's frame.
    bool claim(const waiter* by) noexcept {
        // relaxed: `wake` publishes `winner_` to the coroutine. Other threads that find the choice
        // claimed read none of its data
        if (claimed_.exchange(true, std::memory_order_relaxed)) return false;
        winner_ = by;
        return true;
    }
    bool is_claimed() const noexcept { return claimed_.load(std::memory_order_relaxed); }  // relaxed: a hint

    // Lets the coroutine resume. Called by the thread that claimed the choice, as its last use of the choice.
    void wake() noexcept {
        if (timer_) {
            executor_->cancel(*timer_);
            woken_.set();
        } else {
            // acq_rel; pairs with try_suspend(): the second to arrive sees all that the first has done
            if (met_.exchange(true, std::memory_order_acq_rel)) executor_->post(coroutine_);
        }
    }

    // Ends the wait, unless the choice is claimed already.
    void stop(stopped_by by) noexcept {
        if (!claim(nullptr)) return;
        stopped_by_ = by;
        wake();
    }

    // Called by the coroutine when its waiters are in line. False: the choice has been woken before, and the
    // coroutine continues at once. True: it is suspended, and may already be running elsewhere.
    bool try_suspend() noexcept {
        if (timer_) {
            executor_->add(*timer_);
            return true;
        }
        return !met_.exchange(true, std::memory_order_acq_rel);  // pairs with wake()
    }

    // The waiter that was served; null: the time limit passed, or the choice was stopped. Called after
    // resuming.
    const waiter* winner() noexcept {
        if (timer_ && (timer_->cancelled() || !claim(nullptr))) {
            while (!woken_.wait()) {  // the thread that claimed the choice sets this flag next
            }
        }
        return winner_;
    }
    bool was_stopped(stopped_by by) const noexcept { return stopped_by_ == by; }
    // When the time limit passed, in ns of the executor's clock; 0: the timer was cancelled, or none exists.
    std::int64_t timed_out_at() const noexcept {
        return timer_ && !timer_->cancelled() ? timer_->fired().time_since_epoch().count() : 0;
    }

    // Ends the wait without a resumption: the frame of the suspended coroutine is being destroyed. The
    // executor must run no coroutine then.
    void abandon() noexcept {
        static_cast<void>(claim(nullptr));
        if (!timer_) return;
        timer_->forget_waiter();
        executor_->cancel(*timer_);
    }

  private:
    template <class T>
    using atomic = typename Platform::template atomic<T>;

    atomic<bool> claimed_{false};  // see claim()
    atomic<bool> met_{false};      // one of the two parties has arrived
    stopped_by stopped_by_ = stopped_by::nobody;
    const waiter* winner_ = nullptr;  // the waiter that is served; null: none
    std::coroutine_handle<> coroutine_;
    weir::executor* executor_ = nullptr;
    later<timer> timer_;            // only with a time limit
    basic_parker<Platform> woken_;  // set by wake() after its last use of the timer
};

}  // namespace weir::detail

#endif
