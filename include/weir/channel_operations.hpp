// weir floor 6: how a coroutine, or a thread, puts into a channel and gets from it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_OPERATIONS_HPP
#define WEIR_CHANNEL_OPERATIONS_HPP

#include <weir/channel_core.hpp>
#include <weir/clock.hpp>
#include <weir/detail/env.hpp>
#include <weir/detail/slot.hpp>
#include <weir/detail/thread_record.hpp>
#include <weir/detail/waiter.hpp>
#include <weir/executor.hpp>
#include <weir/get_result.hpp>
#include <weir/root.hpp>
#include <weir/stop_token.hpp>

#include <algorithm>  // for std::max
#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::uint64_t
#include <memory>     // for std::addressof, std::destroy_at
#include <optional>   // for std::optional
#include <stdexcept>  // for std::logic_error
#include <utility>    // for std::move

namespace weir::detail {

// An operation that was given no stop token has nothing of this.
struct no_stop {};

// Ends the wait of an operation when a stop is asked for.
template <class Channel, class Stop>
class stop_listener {
    using waiter = typename Channel::core_type::waiter;
    using side = typename Channel::core_type::side;

  protected:
    explicit stop_listener(Stop stop) noexcept : stop_(std::move(stop)) {}
    bool stop_requested() const noexcept { return stop_.stop_requested(); }

    // The callback may run at once, or from another thread before the waiter is linked: then it marks
    // the waiter, which is looked at under the lock.
    void listen(Channel& channel, waiter& w, side line) {
        if (stop_.stop_possible()) on_stop_.emplace(stop_, stop_waiting{&channel, &w, line});
    }
    void listen_no_more() noexcept { on_stop_.reset(); }  // waits for a callback that runs right now

  private:
    struct stop_waiting {
        Channel* channel;
        waiter* who;
        side line;
        void operator()() const noexcept { channel->stop(*who, line); }
    };
    Stop stop_;
    std::optional<stop_callback<stop_waiting, typename Channel::core_type::platform>> on_stop_;
};
template <class Channel>
class stop_listener<Channel, no_stop> {
  protected:
    explicit stop_listener(no_stop) noexcept {}
    static constexpr bool stop_requested() noexcept { return false; }
    template <class... Ignored>
    void listen(Ignored&...) noexcept {}
    void listen_no_more() noexcept {}
};

// The part that put and get share: one try under the lock of its end without suspending
// (`Derived::try_one_end`); when suspending, one under both locks (`Derived::attempt`), and a place in the
// line if that fails too.
//
// It is made for every item, so the constructor writes little: most of the waiter is filled in when
// it has to wait.
template <class Derived, class Channel, class Stop>
class channel_operation : stop_listener<Channel, Stop> {
    using listener = stop_listener<Channel, Stop>;

  protected:
    using core = typename Channel::core_type;
    using waiter = typename core::waiter;
    using side = typename core::side;
    using record = basic_thread_record<typename core::platform>;
    using wakes = wake_list<typename core::platform>;

    using slot_type = typename core::slot_type;

    channel_operation(Channel& channel, side line, void* item, slot_type* measured, Stop stop) noexcept
        : listener(std::move(stop)), channel_(&channel), waiter_(item, measured), line_(line) {}
    channel_operation(const channel_operation&) = delete;
    channel_operation& operator=(const channel_operation&) = delete;

    // Still in the line only if its frame is destroyed while it is suspended.
    ~channel_operation() {
        if (waiter_.linked) channel_->forget(waiter_, line_);
    }

  public:
    // Not inlined, nor is what await_suspend calls: see WEIR_NOINLINE.
    WEIR_NOINLINE bool await_ready() noexcept {
        record* const me = record::mine();
        if (me != nullptr) me->count_operation();
        if (!self().try_one_end(me)) return false;
        waiter_.outcome = outcome::done;
        return true;
    }

    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        return suspend(h, env_of(h));
    }

    // For whoever accounts the wait (task's await_transform), after a suspension: when the item was
    // handed over; 0 if that is not known.
    std::int64_t ready_at() const noexcept { return waiter_.ready; }

  protected:
    void resumed() noexcept {
        listener::listen_no_more();
        if constexpr (Channel::policy_type::statistics) {
            if (suspended_ && waiter_.measured != nullptr) {
                waiter_.measured->resumed(clock_of(*waiter_.measured));
            }
        }
    }

    Channel* channel_;
    waiter waiter_;

  private:
    Derived& self() noexcept { return static_cast<Derived&>(*this); }

    WEIR_NOINLINE bool suspend(std::coroutine_handle<> h, const coroutine_env env) {
        executor* const home = env.home;
        if (home == nullptr) return ready_without_executor();
        waiter_.is_coroutine(h, home, env.measured);
        listener::listen(*channel_, waiter_, line_);
        if constexpr (Channel::policy_type::statistics) {
            auto* const measured = static_cast<slot_type*>(waiter_.measured);
            if (measured != nullptr && measured->watch.is_behind()) {
                measured->catch_up(clock_of(*measured));
            }
        }
        wakes woken;
        bool yields;
        {
            const typename core::both_ends held(*channel_, record::mine());
            yields = core::uses_up_turn(line_, channel_->count_at(line_), waiter_.measured);
            waiter_.outcome = self().attempt(woken);
            if (waiter_.outcome == outcome::pending) {
                if (waiter_.stop_seen || is_recalled()) {
                    waiter_.outcome = outcome::stopped;
                } else {
                    suspended_ = true;
                    channel_->wait_in_line(waiter_, line_, *home);
                    return true;  // this frame may be running elsewhere once the locks are released
                }
            }
        }
        core::wake_all(woken);
        if (!yields) return false;
        suspended_ = true;
        channel_->turn_ends(waiter_);
        home->post(h);  // this frame may be running elsewhere from here on
        return true;
    }

    // relaxed; under the locks that `recall` takes after it was set
    bool is_recalled() const noexcept {
        return line_ == side::get && waiter_.measured != nullptr &&
               waiter_.measured->recalled.load(std::memory_order_relaxed);
    }

    // A coroutine that nobody could wake: fine as long as it need not wait. Its turn never ends.
    bool ready_without_executor() {
        wakes woken;
        {
            const typename core::both_ends held(*channel_);
            waiter_.outcome = self().attempt(woken);
        }
        core::wake_all(woken);
        if (waiter_.outcome != outcome::pending) return false;
        if (listener::stop_requested()) {
            waiter_.outcome = outcome::stopped;
            return false;
        }
        throw std::logic_error(
            "weir: a channel has to suspend a coroutine that no executor runs; start it with "
            "sync_wait or when_all, or co_await schedule(executor) first");
    }

    side line_;
    bool suspended_ = false;
};

template <class Channel, class Stop = no_stop>
class [[nodiscard("co_await this, or nothing is put")]] put_operation
    : public channel_operation<put_operation<Channel, Stop>, Channel, Stop> {
    using base = channel_operation<put_operation, Channel, Stop>;
    using T = typename Channel::value_type;

  public:
    explicit put_operation(Channel& channel, T& item, typename base::slot_type* measured = nullptr,
                           Stop stop = {}) noexcept
        : base(channel, base::side::put, &item, measured, std::move(stop)) {}

    bool await_resume() noexcept {
        this->resumed();
        return this->waiter_.outcome == outcome::done;
    }

    bool try_one_end(typename base::record* me) noexcept {
        if (this->channel_->put_takes_both()) return false;
        const typename base::core::put_guard held(this->channel_->put_end_.lock, me);
        return !base::core::uses_up_turn(base::side::put, this->channel_->count_at(base::side::put),
                                         this->waiter_.measured) &&
               this->channel_->put_here(*static_cast<T*>(this->waiter_.item));
    }

    outcome attempt(typename base::wakes& woken) noexcept {
        return this->channel_->offer(*static_cast<T*>(this->waiter_.item), this->waiter_.measured, woken);
    }
};

template <class T>
class held_copy {
  protected:
    explicit held_copy(const T& item) : copy_(item) {}
    T copy_;
};

template <class Channel, class Stop = no_stop>
class [[nodiscard("co_await this, or nothing is put")]] put_copy_operation
    : held_copy<typename Channel::value_type>,
      public put_operation<Channel, Stop> {
    using T = typename Channel::value_type;

  public:
    put_copy_operation(Channel& channel, const T& item, Stop stop = {})
        : held_copy<T>(item), put_operation<Channel, Stop>(channel, this->copy_, nullptr, std::move(stop)) {}
};

// Where an item arrives: whoever takes it out of the channel, or hands it over, constructs it here,
// and that is what `outcome::done` says. An optional would be written in two parts and read in one,
// which makes the processor wait until both are in the cache (5 ns).
template <class T>
class landing_place {
  public:
    landing_place() noexcept {}
    landing_place(const landing_place&) = delete;
    landing_place& operator=(const landing_place&) = delete;
    ~landing_place() {}

    T* address() noexcept { return std::addressof(item_); }
    WEIR_ALWAYS_INLINE std::optional<T> take() noexcept {
        std::optional<T> item(std::move(item_));
        destroy();
        return item;
    }
    void destroy() noexcept { std::destroy_at(address()); }

  private:
    union {
        T item_;
    };
};

template <class Channel, class Stop = no_stop>
class [[nodiscard("co_await this, or nothing is got")]] get_operation
    : public channel_operation<get_operation<Channel, Stop>, Channel, Stop> {
    using base = channel_operation<get_operation, Channel, Stop>;
    using T = typename Channel::value_type;

  public:
    explicit get_operation(Channel& channel, typename base::slot_type* measured = nullptr,
                           Stop stop = {}) noexcept
        : base(channel, base::side::get, nullptr, measured, std::move(stop)) {
        this->waiter_.item = place_.address();
    }
    // An item that nobody fetched: its coroutine was destroyed while it was on its way.
    ~get_operation() {
        if (this->waiter_.outcome == outcome::done) place_.destroy();
    }

    WEIR_ALWAYS_INLINE std::optional<T> await_resume() noexcept {
        this->resumed();
        if (this->waiter_.outcome != outcome::done) return std::nullopt;
        this->waiter_.outcome = outcome::fetched;
        return place_.take();
    }

    // Nothing was got because the slot was recalled, not because the channel has ended.
    bool was_recalled() const noexcept { return this->waiter_.outcome == outcome::stopped; }

    // The item's number in the order of the gets, from 0; after an item was got.
    std::uint64_t number() const noexcept { return this->waiter_.number; }

    bool try_one_end(typename base::record* me) noexcept {
        if (this->channel_->get_takes_both()) return false;
        const typename base::core::get_guard held(this->channel_->get_end_.lock, me);
        return !base::core::uses_up_turn(base::side::get, this->channel_->count_at(base::side::get),
                                         this->waiter_.measured) &&
               this->channel_->get_here(place_.address(), this->waiter_.number);
    }

    outcome attempt(typename base::wakes& woken) noexcept {
        return this->channel_->take(place_.address(), this->waiter_.number, this->waiter_.measured, woken);
    }

  private:
    landing_place<T> place_;
};

// Blocks the thread until `w` is answered or the time is over. Where `ex`, the channel's executor, has
// no threads of its own, the thread runs it meanwhile: see `help_until`. The time is that of `ex`.
template <class Channel, class Waiter, class Parker>
outcome block(Channel& channel, Waiter& w, typename Channel::core_type::side line, Parker& flag, executor* ex,
              duration timeout) {
    const bool forever = timeout == duration::max();
    const basic_blocked_thread<typename Channel::core_type::platform> here(forever ? &flag : nullptr);
    const auto now = [ex] {
        return ex != nullptr ? ex->now() : time_point(duration(Channel::core_type::platform::now()));
    };
    const time_point limit =
        forever ? time_point::max() : saturating_add(now(), std::max(timeout, duration(0)));
    try {
        while (!flag.is_set()) {
            const bool helping = help_until(flag, ex, limit);
            if (flag.is_set()) break;
            if (forever) {
                if (!helping) here.wait(flag);
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
    check_threads_of(channel.clock_.load(std::memory_order_relaxed));
    typename core::parker flag;
    typename core::waiter w(&item, nullptr);
    w.is_thread(&flag, timeout != duration::max());
    wake_list<typename core::platform> woken;
    executor* ex = nullptr;
    outcome how;
    {
        const typename core::both_ends held(channel);
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
    check_threads_of(channel.clock_.load(std::memory_order_relaxed));
    typename core::parker flag;
    landing_place<T> place;
    typename core::waiter w(place.address(), nullptr);
    w.is_thread(&flag, timeout != duration::max());
    wake_list<typename core::platform> woken;
    executor* ex = nullptr;
    outcome how;
    {
        const typename core::both_ends held(channel);
        how = channel.take(place.address(), w.number, nullptr, woken);
        if (how == outcome::pending) ex = channel.wait_in_line(w, core::side::get);
    }
    core::wake_all(woken);
    if (how == outcome::pending) how = block(channel, w, core::side::get, flag, ex, timeout);
    if (how == outcome::done) return get_result<T>(*place.take());
    return get_result<T>(how == outcome::timed_out ? channel_status::timed_out : channel_status::closed);
}

}  // namespace weir::detail

#endif
