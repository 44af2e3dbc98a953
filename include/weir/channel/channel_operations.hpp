// weir channel, internal: how a coroutine puts into a channel and gets from it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_OPERATIONS_HPP
#define WEIR_CHANNEL_CHANNEL_OPERATIONS_HPP

#include <weir/channel/channel_core.hpp>
#include <weir/channel/stop_listener.hpp>
#include <weir/channel/uninitialised_slot.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/task/foreign_home.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstdint>      // for std::uint64_t
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_void_v
#include <utility>      // for std::move

namespace weir::detail {

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
        if (channel_->clock_.is_orphaned()) return false;  // suspend() says so, before it takes a lock
        if (!self().try_one_end(me)) return false;
        waiter_.outcome = outcome::done;
        return true;
    }

    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        return suspend(h, detail::env_of(h));
    }

    // For whoever accounts the wait (task's await_transform), after a suspension: when the item was
    // handed over; 0 if that is not known.
    std::int64_t ready_at() const noexcept { return waiter_.ready; }

    // A condition without a co_await gets a sentence.
    template <class Operation = Derived>
    explicit operator bool() const noexcept {
        static_assert(std::is_void_v<Operation>,
                      "weir: this has not been awaited, so it is neither true nor false: "
                      "while (auto x = co_await channel.get()), const bool taken = co_await channel.put(x)");
        return false;
    }

  protected:
    void resumed() {
        listener::listen_no_more();
        if (on_end_) heed_end();
        if (suspended_ && waiter_.measured != nullptr) {
            detail::goes_on(*static_cast<slot_type*>(waiter_.measured));
        }
    }

    Channel* channel_;
    waiter waiter_;

  private:
    // Called at once, or from another thread before the waiter is linked, it marks that, as a stop does.
    struct end_waiting {
        Channel* channel;
        waiter* who;
        side line;
        void operator()() const noexcept { channel->stop(*who, line); }
    };
    WEIR_NOINLINE void heed_end() {
        on_end_.reset();  // waits for a callback that runs right now
        if (waiter_.outcome == outcome::stopped && !listener::stop_requested()) throw stopped();
    }

    Derived& self() noexcept { return static_cast<Derived&>(*this); }

    WEIR_NOINLINE bool suspend(std::coroutine_handle<> h, const coroutine_env env) {
        detail::check_threads_of(channel_->clock_.owner());
        if (env.home == nullptr && is_ready_at_once()) return false;
        executor* const home = &detail::home_of(env);
        waiter_.is_coroutine(h, home, env.measured);
        listener::listen(*channel_, waiter_, line_);
        // What a stage itself waits for ends with its channels.
        if (env.ends != nullptr && waiter_.measured == nullptr) {
            on_end_.emplace(*env.ends, end_waiting{channel_, &waiter_, line_});
        }
        if constexpr (Channel::policy_type::statistics) {
            auto* const measured = static_cast<slot_type*>(waiter_.measured);
            if (measured != nullptr && measured->watch.is_behind()) {
                measured->catch_up(detail::clock_of(*measured));
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

    // One that no executor runs: it needs none as long as it need not wait. Its turn never ends.
    bool is_ready_at_once() noexcept {
        wakes woken;
        {
            const typename core::both_ends held(*channel_);
            waiter_.outcome = self().attempt(woken);
        }
        core::wake_all(woken);
        return waiter_.outcome != outcome::pending;
    }

    side line_;
    bool suspended_ = false;
    std::optional<stop_callback<end_waiting>> on_end_;  // of the run in whose stage it waits
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

    bool await_resume() {
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

    WEIR_ALWAYS_INLINE std::optional<T> await_resume() {
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

  protected:
    uninitialised_slot<T> place_;
};

}  // namespace weir::detail

#endif
