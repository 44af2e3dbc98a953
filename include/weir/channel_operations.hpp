// weir floor 6: how a coroutine, or a thread, puts into a channel and gets from it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_OPERATIONS_HPP
#define WEIR_CHANNEL_OPERATIONS_HPP

#include <weir/channel_core.hpp>
#include <weir/clock.hpp>
#include <weir/detail/env.hpp>
#include <weir/detail/slot.hpp>
#include <weir/detail/waiter.hpp>
#include <weir/executor.hpp>
#include <weir/get_result.hpp>
#include <weir/root.hpp>
#include <weir/stop_token.hpp>

#include <algorithm>  // for std::max
#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::uint64_t
#include <mutex>      // for std::lock_guard
#include <optional>   // for std::optional
#include <stdexcept>  // for std::logic_error
#include <utility>    // for std::move

namespace weir::detail {

// The part that put and get share: one try without suspending, one more under the lock when
// suspending, and a place in the line if that fails too. `Derived::attempt(woken)` is the try.
template <class Derived, class Channel>
class channel_operation {
  protected:
    using core = typename Channel::core_type;
    using waiter = typename core::waiter;
    using side = typename core::side;
    using wakes = wake_list<typename core::platform>;

    channel_operation(Channel& channel, side line, slot* measured, stop_token stop) noexcept
        : channel_(&channel), line_(line), stop_(std::move(stop)) {
        waiter_.measured = measured;
    }
    channel_operation(const channel_operation&) = delete;
    channel_operation& operator=(const channel_operation&) = delete;

    // Still in the line only if its frame is destroyed while it is suspended.
    ~channel_operation() {
        if (waiter_.linked) channel_->forget(waiter_, line_);
    }

  public:
    bool await_ready() noexcept {
        wakes woken;
        {
            const std::lock_guard guard(channel_->mutex());
            yields_ = channel_->uses_up_turn(waiter_.measured);
            if (yields_) return false;
            waiter_.outcome = self().attempt(woken);
        }
        core::wake_all(woken);
        if (waiter_.outcome != outcome::pending) return true;
        if (!stop_.stop_requested()) return false;
        waiter_.outcome = outcome::stopped;
        return true;
    }

    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        const coroutine_env env = env_of(h);
        executor* const home = env.home;
        if (home == nullptr) return ready_without_executor();
        waiter_.coroutine = h;
        waiter_.home = home;
        waiter_.work_of = env.measured;
        // The callback may run at once, or from another thread before the waiter is linked below:
        // then it marks the waiter, which is looked at under the lock.
        if (stop_.stop_possible()) on_stop_.emplace(stop_, stop_waiting{channel_, &waiter_, line_});
        wakes woken;
        {
            const std::lock_guard guard(channel_->mutex());
            waiter_.outcome = self().attempt(woken);
            if (waiter_.outcome == outcome::pending) {
                if (waiter_.stop_seen) {
                    waiter_.outcome = outcome::stopped;
                } else {
                    suspended_ = true;
                    channel_->wait_in_line(waiter_, line_, *home);
                    return true;  // this frame may be running elsewhere once the lock is released
                }
            }
        }
        core::wake_all(woken);
        if (!yields_) return false;
        suspended_ = true;
        channel_->turn_ends(waiter_);
        home->post(h);  // this frame may be running elsewhere from here on
        return true;
    }

    // For whoever accounts the wait (task's await_transform): when the item was handed over; 0 if
    // that is not known.
    std::int64_t ready_at() const noexcept { return waiter_.ready; }

  protected:
    void resumed() noexcept {
        on_stop_.reset();  // waits for a callback that runs right now
        if constexpr (Channel::policy_type::statistics) {
            if (suspended_ && waiter_.measured != nullptr) {
                waiter_.measured->resumed(clock_of(*waiter_.measured));
            }
        }
    }

    Channel* channel_;
    waiter waiter_;

  private:
    struct stop_waiting {
        Channel* channel;
        waiter* who;
        side line;
        void operator()() const noexcept { channel->stop(*who, line); }
    };

    Derived& self() noexcept { return static_cast<Derived&>(*this); }

    // A coroutine that nobody could wake: fine as long as it need not wait. Its turn never ends.
    bool ready_without_executor() {
        wakes woken;
        if (yields_) {
            const std::lock_guard guard(channel_->mutex());
            waiter_.outcome = self().attempt(woken);
        }
        core::wake_all(woken);
        if (waiter_.outcome != outcome::pending) return false;
        throw std::logic_error(
            "weir: a channel has to suspend a coroutine that no executor runs; start it with "
            "sync_wait or when_all, or co_await schedule(executor) first");
    }

    side line_;
    bool suspended_ = false;
    bool yields_ = false;
    stop_token stop_;
    std::optional<stop_callback<stop_waiting>> on_stop_;
};

template <class Channel>
class [[nodiscard("co_await this, or nothing is put")]] put_operation
    : public channel_operation<put_operation<Channel>, Channel> {
    using base = channel_operation<put_operation<Channel>, Channel>;
    using T = typename Channel::value_type;

  public:
    put_operation(Channel& channel, T& item, stop_token stop, slot* measured = nullptr) noexcept
        : base(channel, base::side::put, measured, std::move(stop)) {
        this->waiter_.item = &item;
    }

    bool await_resume() noexcept {
        this->resumed();
        return this->waiter_.outcome == outcome::done;
    }

    outcome attempt(typename base::wakes& woken) noexcept {
        return this->channel_->offer(*static_cast<T*>(this->waiter_.item), this->waiter_.measured,
                                     woken);
    }
};

template <class T>
class held_copy {
  protected:
    explicit held_copy(const T& item) : copy_(item) {}
    T copy_;
};

template <class Channel>
class [[nodiscard("co_await this, or nothing is put")]] put_copy_operation
    : held_copy<typename Channel::value_type>, public put_operation<Channel> {
    using T = typename Channel::value_type;

  public:
    put_copy_operation(Channel& channel, const T& item, stop_token stop)
        : held_copy<T>(item), put_operation<Channel>(channel, this->copy_, std::move(stop)) {}
};

template <class Channel>
class [[nodiscard("co_await this, or nothing is got")]] get_operation
    : public channel_operation<get_operation<Channel>, Channel> {
    using base = channel_operation<get_operation<Channel>, Channel>;
    using T = typename Channel::value_type;

  public:
    get_operation(Channel& channel, stop_token stop, slot* measured = nullptr) noexcept
        : base(channel, base::side::get, measured, std::move(stop)) {
        this->waiter_.item = &item_;
    }

    std::optional<T> await_resume() noexcept {
        this->resumed();
        return std::move(item_);
    }

    // The item's number in the order of the gets, from 0; after an item was got.
    std::uint64_t number() const noexcept { return this->waiter_.number; }

    outcome attempt(typename base::wakes& woken) noexcept {
        return this->channel_->take(item_, this->waiter_.number, this->waiter_.measured, woken);
    }

  private:
    std::optional<T> item_;
};

// Blocks the thread until `w` is answered or the time is over. Where `ex`, the channel's executor, has
// no threads of its own, the thread runs it meanwhile: see `help_until`. The time is that of `ex`.
template <class Channel, class Waiter, class Parker>
outcome block(Channel& channel, Waiter& w, typename Channel::core_type::side line, Parker& flag,
              executor* ex, duration timeout) {
    const bool forever = timeout == duration::max();
    const auto now = [ex] {
        return ex != nullptr ? ex->now() : time_point(duration(standard_platform::now()));
    };
    const time_point limit =
        forever ? time_point::max() : saturating_add(now(), std::max(timeout, duration(0)));
    try {
        while (!flag.is_set()) {
            const bool helping = help_until(flag, ex, limit);
            if (flag.is_set()) break;
            if (forever) {
                if (!helping) flag.wait();
                continue;
            }
            const std::int64_t left = (limit - now()).count();
            if (left <= 0) break;
            if (!helping) flag.wait(left);
        }
    } catch (...) {
        if (channel.forget(w, line)) throw;  // else it was answered all the same
    }
    if (!flag.is_set()) {
        if (channel.forget(w, line)) return outcome::timed_out;
        while (!flag.wait()) {  // answered this moment; whoever did it sets the flag next
        }
    }
    return w.outcome;
}

template <class Channel>
channel_status block_on_put(Channel& channel, typename Channel::value_type& item, duration timeout) {
    using core = typename Channel::core_type;
    typename core::parker flag;
    typename core::waiter w;
    w.thread = &flag;
    w.item = &item;
    wake_list<typename core::platform> woken;
    executor* ex = nullptr;
    outcome how;
    {
        const std::lock_guard guard(channel.mutex());
        how = channel.offer(item, nullptr, woken);
        if (how == outcome::pending) ex = channel.wait_in_line(w, core::side::put);
    }
    core::wake_all(woken);
    if (how == outcome::pending) how = block(channel, w, core::side::put, flag, ex, timeout);
    return how == outcome::done        ? channel_status::success
           : how == outcome::timed_out ? channel_status::timed_out
                                       : channel_status::closed;
}

template <class Channel>
get_result<typename Channel::value_type> block_on_get(Channel& channel, duration timeout) {
    using T = typename Channel::value_type;
    using core = typename Channel::core_type;
    typename core::parker flag;
    typename core::waiter w;
    std::optional<T> item;
    w.thread = &flag;
    w.item = &item;
    wake_list<typename core::platform> woken;
    executor* ex = nullptr;
    outcome how;
    {
        const std::lock_guard guard(channel.mutex());
        how = channel.take(item, w.number, nullptr, woken);
        if (how == outcome::pending) ex = channel.wait_in_line(w, core::side::get);
    }
    core::wake_all(woken);
    if (how == outcome::pending) how = block(channel, w, core::side::get, flag, ex, timeout);
    if (item) return get_result<T>(std::move(*item));
    return get_result<T>(how == outcome::timed_out ? channel_status::timed_out
                                                   : channel_status::closed);
}

}  // namespace weir::detail

#endif
