// weir channel, internal: what a put and a get share, whatever the item is
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_OPERATION_HPP
#define WEIR_CHANNEL_CHANNEL_OPERATION_HPP

#include <weir/channel/any_channel.hpp>
#include <weir/channel/not_awaited.hpp>
#include <weir/channel/slice.hpp>
#include <weir/channel/stop_listener.hpp>
#include <weir/channel/uninitialised_slot.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/slot_accounting.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/task/foreign_executor.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstdint>      // for std::uint64_t
#include <memory>       // for std::construct_at
#include <type_traits>  // for std::is_same_v
#include <utility>      // for std::exchange, std::move

namespace weir::detail {

// Where the lock of its end seems to be enough, it is tried under that alone, by who knows the item's type:
// see `channel_items`. Else all is decided at once, under the whole channel's lock: it is done, or gets its
// place in the line. What has to be made ready before it may wait is made so, under no lock, only when it
// turns out that it has to: then it is tried once more.
//
// It is made for every item, or begins `again` for it, so that writes little: most of the waiter is filled in
// when it has to wait.
template <class Policy, class Stop, bool Puts>
class channel_operation : stop_listener<any_channel<Policy>, Stop>, public not_awaited {
    using store = any_channel<Policy>;
    using listener = stop_listener<store, Stop>;

  protected:
    using core = channel_core<Policy>;
    using waiter = typename core::waiter;
    using side = typename core::side;
    using record = basic_thread_record<typename core::platform>;
    using wakes = wake_list<typename core::platform>;

    using slot_type = typename core::slot_type;
    static constexpr side line_ = Puts ? side::put : side::get;
    static constexpr bool has_stop = !std::is_same_v<Stop, no_stop>;

    channel_operation(store& channel, void* item, slot_type* measured, Stop stop) noexcept
        : listener(std::move(stop)), channel_(&channel), waiter_(item, measured) {}
    // For a slot: `again` before each await.
    explicit channel_operation(slot_type& measured) noexcept
        : listener(Stop()), channel_(nullptr), waiter_(nullptr, &measured) {}
    channel_operation(const channel_operation&) = delete;
    channel_operation& operator=(const channel_operation&) = delete;

    // Inlined, as all that an operation needs that doesn't wait: see bench/results.md.
    WEIR_ALWAYS_INLINE ~channel_operation() {
        if (is_prepared_) clean_up();
    }

  public:
    // It tells the slot whose work waits by itself, and only where it waits.
    using part_of_its_awaiter = void;
    using moves_item = void;

    // Resumes on the coroutine's executor: posted by whoever lets the operation end, puts and gets of any
    // thread, a stop or a close; or by itself, where it only lets others go first.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        if constexpr (has_env<Promise>) {
            return suspend(h, h.promise().env());
        } else {
            return suspend(h, detail::env_of(h));
        }
    }
    // What is done, and goes to the end of its executor's queue all the same.
    template <class Promise>
    bool goes_last(std::coroutine_handle<Promise> h) {
        const coroutine_env& env = detail::env_of(h);
        executor* const ex = env.executor;
        if (ex != nullptr) posts(h, *ex, env);  // the frame, and `env` with it, may be gone from here on
        return ex != nullptr;
    }

  protected:
    // The one before has ended.
    WEIR_ALWAYS_INLINE void again(store& channel, void* item) noexcept {
        channel_ = &channel;
        waiter_.item = item;
        waiter_.outcome = outcome::pending;
    }

    WEIR_ALWAYS_INLINE bool lets_others_go_first() noexcept {
        if (!is_special<Policy>(Puts, channel_->count_at(line_), waiter_.measured)) return false;
        yields_ = true;
        return true;
    }

    WEIR_ALWAYS_INLINE void resumed() {
        if (is_prepared_) has_waited();
    }

    store* channel_;
    waiter waiter_;

  private:
    // Called at once, or from another thread before the waiter is linked, it marks that, as a stop does.
    struct end_waiting {
        store* channel;
        waiter* who;
        void operator()() const noexcept { channel->stop(*who, line_); }
    };
    // Before anything of what follows `is_prepared_` is used.
    void prepare() noexcept {
        if (is_prepared_) return;
        is_prepared_ = true;
        suspended_ = hears_end_ = tells_ = false;
    }
    WEIR_NOINLINE void has_waited() {
        if constexpr (has_stop) listener::listen_no_more();
        is_prepared_ = false;  // nothing is left to clean up
        if (suspended_) goes_on();
        if constexpr (Policy::statistics) {
            if (tells_)
                waiter_.measured->trail->end_step(waiter_.measured->clock().now().time_since_epoch().count());
        }
        if (!hears_end_) return;
        hear_end_no_more();
        if (waiter_.outcome == outcome::stopped && !listener::stop_requested()) throw stopped();
    }
    void hear_end_no_more() noexcept {
        hears_end_ = false;
        on_end_.destroy();  // waits for a callback that runs right now
    }
    // Still in the line only if its frame is destroyed while it is suspended.
    WEIR_NOINLINE void clean_up() noexcept {
        if (waiter_.linked) channel_->forget(waiter_, line_);
        if (hears_end_) hear_end_no_more();
    }

    WEIR_NOINLINE bool suspend(std::coroutine_handle<> h, const coroutine_env& env) {
        record* const me = record::mine();
        if (me != nullptr) me->count_operation();
        if (was_forked()) detail::check_threads_of(channel_->clock_.owner());
        // One that no executor runs needs none as long as it need not wait: its slice never ends.
        const bool yields = std::exchange(yields_, false) && is_to_yield(env);
        executor* ex = env.executor;
        wakes woken;
        for (bool may_wait = waits_unprepared(env);; may_wait = true) {
            {
                const typename core::whole held(*channel_, me);
                waiter_.outcome = channel_->attempt(line_, waiter_, woken);
                if (waiter_.outcome == outcome::pending) {
                    if (waiter_.stop_seen || is_recalled()) {
                        waiter_.outcome = outcome::stopped;
                    } else if (may_wait) {
                        waits(h, *ex, env);
                        return true;  // this frame may be running elsewhere once the lock is released
                    }
                }
            }
            if (waiter_.outcome != outcome::pending) break;
            ex = &prepare_to_wait(env);
        }
        wake(woken);
        if (yields) posts(h, *ex, env);
        return yields;
    }
    WEIR_ALWAYS_INLINE void wake(wakes& woken) noexcept {
        if constexpr (Policy::statistics) {
            if (waiter_.measured != nullptr && !woken.wakes_nobody()) {
                auto& me = *static_cast<slot_type*>(waiter_.measured);
                return detail::wake_others(me, [&woken] { core::wake_all(woken); });
            }
        }
        core::wake_all(woken);
    }
    // It didn't move at once: its slice ends, or it puts an item that is followed, and tells when that is in.
    WEIR_NOINLINE bool is_to_yield(const coroutine_env& env) noexcept {
        const slot* const who = waiter_.measured;
        if (Policy::statistics && Puts && who != nullptr && who->is_following()) {
            prepare();
            tells_ = true;
            if (!uses_up_slice<Policy>(Puts, channel_->count_at(line_), who)) return false;
        }
        return env.executor != nullptr;
    }
    // What a stage itself waits for ends with its channels.
    bool ends_with_run(const coroutine_env& env) const noexcept {
        return env.ends != nullptr && waiter_.measured == nullptr;
    }
    bool waits_unprepared(const coroutine_env& env) const noexcept {
        if constexpr (has_stop) {
            if (listener::stop_possible()) return false;
        }
        return env.executor != nullptr && !ends_with_run(env);
    }

    WEIR_ALWAYS_INLINE void waits(std::coroutine_handle<> h, executor& ex, const coroutine_env& env) {
        is_suspended(h, ex, env, slot_state::await);
        channel_->wait_in_line(waiter_, line_, ex);
    }
    // This frame may be running elsewhere when it returns.
    WEIR_NOINLINE void posts(std::coroutine_handle<> h, executor& ex, const coroutine_env& env) {
        is_suspended(h, ex, env, slot_state::runnable);
        core::turn_ends(waiter_);
        ex.post(h);
    }

    // Under no lock, as a stop that was asked for already calls back at once.
    WEIR_NOINLINE executor& prepare_to_wait(const coroutine_env& env) {
        executor& ex = detail::executor_of(env);
        prepare();
        if constexpr (has_stop) listener::listen(*channel_, waiter_, line_);
        if (ends_with_run(env)) {
            std::construct_at(on_end_.address(), *env.ends->stop, end_waiting{channel_, &waiter_});
            hears_end_ = true;
        }
        return ex;
    }

    // relaxed; under the lock that `recall` takes after it was set
    bool is_recalled() const noexcept {
        return line_ == side::get && waiter_.measured != nullptr &&
               waiter_.measured->recalled.load(std::memory_order_relaxed);
    }

    // It is suspended, and under the lock if it waits; `as`: until it is woken.
    void is_suspended(std::coroutine_handle<> h, executor& ex, const coroutine_env& env, slot_state as) {
        prepare();
        waiter_.is_coroutine(h, &ex, env.measured);
        ends_ = env.ends;
        suspended_ = true;
        if (waiter_.measured == nullptr) detail::function_suspended(env, as);
    }
    void goes_on() noexcept {
        if (waiter_.measured != nullptr)
            return detail::slot_resumed(*static_cast<slot_type*>(waiter_.measured));
        if (waiter_.work_of == nullptr && ends_ == nullptr) return;
        detail::function_resumed(coroutine_env{nullptr, waiter_.work_of, ends_}, waiter_.ready);
    }

    bool yields_ = false;       // it goes to the end of its executor's queue, also where it needn't wait
    bool is_prepared_ = false;  // to wait; what follows is written then
    bool suspended_;
    bool tells_;                                             // its slot's trail that it is in
    bool hears_end_;                                         // `on_end_` is there
    const end_token* ends_;                                  // of the coroutine; once it was suspended
    uninitialised_slot<stop_callback<end_waiting>> on_end_;  // of the run in whose stage it waits
};

WEIR_COMPILED(class channel_operation<measured, no_stop, true>);
WEIR_COMPILED(class channel_operation<measured, no_stop, false>);
WEIR_COMPILED(class channel_operation<summed, no_stop, true>);
WEIR_COMPILED(class channel_operation<summed, no_stop, false>);
WEIR_COMPILED(class channel_operation<unmeasured, no_stop, true>);
WEIR_COMPILED(class channel_operation<unmeasured, no_stop, false>);

}  // namespace weir::detail

#endif
