// weir floor 5: what a channel does whatever its items are: lock, lines of waiters, clock, figures
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CORE_HPP
#define WEIR_CHANNEL_CORE_HPP

#include <weir/clock.hpp>
#include <weir/detail/channel_meter.hpp>
#include <weir/detail/parking_place.hpp>
#include <weir/detail/slot.hpp>
#include <weir/detail/spin_lock.hpp>
#include <weir/detail/waiter.hpp>
#include <weir/executor.hpp>
#include <weir/policy.hpp>
#include <weir/stats.hpp>

#include <algorithm>    // for std::max
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <mutex>        // for std::lock_guard
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::move

namespace weir::detail {

// The lock guards all members but the name. Items are added and taken by `channel<T>`; here is who
// waits, and since when.
template <class Policy>
class channel_core : public parking_place {
  public:
    using platform = typename Policy::platform;
    using waiter = basic_waiter<platform>;
    using parker = basic_parker<platform>;
    enum class side : bool { put, get };

    void describe_waiters(std::string& report) const override {
        const std::lock_guard guard(lock_);
        for (const waiter* w = putters_.front(); w != nullptr; w = w->next) {
            describe(report, *w, "put into");
        }
        for (const waiter* w = getters_.front(); w != nullptr; w = w->next) {
            describe(report, *w, "get from");
        }
    }

    // An operation asked to stop: wakes it if it still waits. If it was answered already, that
    // stands: nothing is lost. If it does not wait yet, it won't.
    void stop(waiter& w, side line) noexcept {
        {
            const std::lock_guard guard(lock_);
            if (!w.linked) {
                w.stop_seen = true;
                return;
            }
            take_out(w, line, outcome::stopped, reading(nullptr));
        }
        wake(w);
    }

    // A frame is destroyed, or a thread gives up, while it may still wait: true if it was still in
    // the line.
    bool forget(waiter& w, side line) noexcept {
        const std::lock_guard guard(lock_);
        if (!w.linked) return false;
        take_out(w, line, outcome::timed_out, reading(nullptr));
        return true;
    }

    // The last thing done to a waiter that was taken out of its line.
    static void wake(waiter& w) noexcept {
        if (w.thread != nullptr) {
            w.thread->set();
        } else {
            executor* const home = w.home;
            home->post(w.coroutine);
        }
    }

    static void wake_all(wake_list<platform>& list) noexcept {
        while (!list.empty()) wake(*list.pop());
    }

    auto& mutex() const noexcept { return lock_; }

    // Under the lock: a coroutine of `home` begins to wait. The first executor that wants to names
    // the channel's waiters in its reports; where the channel was given no clock, it uses the first's.
    void wait_in_line(waiter& w, side line, executor& home) noexcept {
        if (&home != asked_to_watch_ && !watched() && !home.passing()) {
            asked_to_watch_ = &home;
            home.watch(*this);
        }
        bind(home);
        put_in(w, line, reading(w.measured));
    }

    // Under the lock: whether this operation is one too many that doesn't wait. A coroutine that
    // always finds its channels ready would keep its worker from all others: once in so many
    // operations, and for a slot after so long since it last got its thread, it goes to the end of
    // its executor's queue instead.
    bool uses_up_turn(const slot* measured) noexcept {
        constexpr unsigned most_without_waiting = 128;
        constexpr std::int64_t longest_turn = 1'000'000;  // ns
        if (++without_waiting_ >= most_without_waiting) {
            without_waiting_ = 0;
            return true;
        }
        if constexpr (Policy::statistics) {
            return measured != nullptr && measured->mark - measured->last_resumed() > longest_turn;
        } else {
            return false;
        }
    }

    // An operation is done, and its coroutine is about to be posted all the same.
    void turn_ends(waiter& w) const noexcept {
        if constexpr (Policy::statistics) {
            if (w.measured != nullptr) {
                w.measured->enter(slot_state::runnable, w.measured->mark);
            } else if (w.work_of != nullptr) {
                w.ready = clock_of(*w.work_of);
            }
        }
    }

    // Measures from now on, which is the beginning of the run that it belongs to.
    void begin(std::int64_t now) noexcept {
        if constexpr (Policy::statistics) {
            const std::lock_guard guard(lock_);
            meter_.start(now);
        }
    }

    // The same for a thread, which may be that of a coroutine. Returns the executor that it may have to
    // run meanwhile, if any.
    executor* wait_in_line(waiter& w, side line) noexcept {
        if (executor* const here = current_executor()) bind(*here);
        put_in(w, line, reading(nullptr));
        return clock_;
    }

  protected:
    channel_core(std::size_t capacity, executor* clock, std::string name)
        : bound_(clock != nullptr), capacity_(capacity), clock_(clock), name_(std::move(name)) {
        if (capacity == 0) {
            throw std::invalid_argument(
                "weir: a channel of capacity 0 could never take an item; give it 1 or more");
        }
        if constexpr (Policy::statistics) {
            if (bound_) meter_.start(reading(nullptr));
        }
    }
    ~channel_core() = default;

    // The instant of what happens now: a slot's last reading of the clock, which is as old as the
    // few instructions since the end of its invocation; else a reading of its own.
    std::int64_t reading(const slot* measured) const noexcept {
        if constexpr (Policy::statistics) {
            if (measured != nullptr) return measured->mark;
            if (clock_ != nullptr) return clock_->now().time_since_epoch().count();
            return bound_ ? platform::now() : 0;
        } else {
            return 0;
        }
    }

    // A channel that was built without a clock measures by that of the first coroutine that needs
    // it, from then on; not by the object where that may be gone before the channel.
    void bind(executor& ex) noexcept {
        if (bound_) return;
        bound_ = true;
        if (!ex.passing()) clock_ = &ex;
        if constexpr (Policy::statistics) {
            meter_.start(reading(nullptr));
            meter_.set_empty(size_now_empty_);
        }
    }

    // An operation begins to wait.
    void put_in(waiter& w, side line, std::int64_t now) noexcept {
        line_of(line).push(w);
        if constexpr (Policy::statistics) {
            w.since = meter_.settle(now);
            ++side_of(line).waiting;
            if (w.measured != nullptr) {
                w.measured->enter(line == side::put ? slot_state::wait_put : slot_state::wait_get,
                                  w.since);
            }
        }
    }

    // A wait ends. Slot and channel get the same instants, so their sums agree.
    void take_out(waiter& w, side line, detail::outcome how, std::int64_t now) noexcept {
        line_of(line).remove(w);
        w.outcome = how;
        if constexpr (Policy::statistics) {
            w.ready = meter_.settle(now);
            --side_of(line).waiting;
            if (how == outcome::done && meter_.started()) {
                // A thread may have begun to wait before there was a clock.
                side_of(line).waits.record(w.ready - std::max(w.since, meter_.begin()));
            }
            if (w.measured != nullptr) w.measured->enter(slot_state::runnable, w.ready);
        }
    }

    // The first item comes, or the last one goes, without anybody waiting for it.
    void now_empty(bool empty, const slot* measured) noexcept {
        size_now_empty_ = empty;
        if constexpr (Policy::statistics) {
            if (!bound_) {
                if (executor* const here = current_executor()) bind(*here);
            } else {
                meter_.settle(reading(measured));
            }
            meter_.set_empty(empty);
        }
    }

    // Under the lock.
    void fill(channel_stats& s) noexcept {
        s.name = name_;
        s.capacity = capacity_;
        s.num_put = num_put_;
        s.num_get = num_get_;
        if constexpr (Policy::statistics) {
            // With the lock held, so that they agree with the counts.
            s.put_waits = with_the_rest(histogram(meter_.puts.waits), s.num_put);
            s.get_waits = with_the_rest(histogram(meter_.gets.waits), s.num_get);
            if (!meter_.started()) return;
            meter_.settle(reading(nullptr));
            s.elapsed = duration(meter_.elapsed());
            s.empty = duration(meter_.empty());
            s.put_wait = duration(meter_.puts.wait);
            s.get_wait = duration(meter_.gets.wait);
            s.put_blocked = duration(meter_.puts.blocked);
            s.get_blocked = duration(meter_.gets.blocked);
        }
    }

    mutable basic_spin_lock<platform> lock_;
    bool closed_ = false;
    bool bound_;  // to a clock; the one of `executor::now` if `clock_` is null
    bool size_now_empty_ = true;
    std::size_t capacity_;
    std::uint64_t num_put_ = 0;
    std::uint64_t num_get_ = 0;
    waiter_line<platform> putters_;
    waiter_line<platform> getters_;
    executor* clock_;
    executor* asked_to_watch_ = nullptr;  // the last one that was asked
    unsigned without_waiting_ = 0;        // operations, since the last that used up a turn
    std::conditional_t<Policy::statistics, channel_meter<platform>, no_meter> meter_;
    const std::string name_;

  private:
    waiter_line<platform>& line_of(side line) noexcept {
        return line == side::put ? putters_ : getters_;
    }
    auto& side_of(side line) noexcept { return line == side::put ? meter_.puts : meter_.gets; }

    // Operations that didn't wait are not recorded one by one: they waited 0.
    static histogram with_the_rest(histogram h, std::uint64_t operations) noexcept {
        if (operations > h.count()) h.record(duration(0), operations - h.count());
        return h;
    }

    void describe(std::string& report, const waiter& w, const char* what) const {
        report += "\n  ";
        if (w.work_of != nullptr) {
            report += "stage '" + w.work_of->stage() + "', slot " +
                      std::to_string(w.work_of->index());
        } else {
            report += w.thread != nullptr ? "a thread" : "a coroutine";
        }
        report += std::string(" waits to ") + what + " channel ";
        report += name_.empty() ? "(unnamed)" : "'" + name_ + "'";
        report += " (" + std::to_string(num_put_ - num_get_) + " of " + std::to_string(capacity_) +
                  " places taken" + (closed_ ? ", closed)" : ")");
    }
};

}  // namespace weir::detail

#endif
