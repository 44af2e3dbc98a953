// weir channel, internal: a wait that several may end, of whom the first one does
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHOICE_HPP
#define WEIR_CHANNEL_CHOICE_HPP

#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/parking.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::int64_t, std::uint8_t
#include <optional>   // for std::optional

namespace weir::detail {

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
            // acq_rel; pairs with is_in_line(): the second one sees all that the first has done
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
    bool is_in_line() noexcept {
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
    std::int64_t ran_out() const noexcept {
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
