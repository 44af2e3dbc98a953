// weir channel, internal: the base of the awaiters of put and get, which suspends and resumes the coroutine
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_AWAITER_HPP
#define WEIR_CHANNEL_CHANNEL_AWAITER_HPP

#include <weir/channel/any_channel.hpp>
#include <weir/channel/channel_end.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/channel/item_storage.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/trail.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/later.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/task/slot_accounting.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <memory>     // for std::construct_at
#include <utility>    // for std::move, std::exchange

namespace weir::detail {

// In place of the stop token of an operation that has none.
struct no_stop {};

// The stop token of an operation, and the callback that ends the operation's wait when a stop is requested.
template <class Stop, class Callback, class Platform>
class stop_listener {
  public:
    explicit stop_listener(Stop stop) noexcept : stop_(std::move(stop)) {}
    bool stop_requested() const noexcept { return stop_.stop_requested(); }
    bool stop_possible() const noexcept { return stop_.stop_possible(); }

    // The callback may run in this call, or in another thread from now on.
    void listen(Callback callback) {
        if (stop_.stop_possible()) on_stop_.emplace(stop_, callback);
    }
    // Unregisters the callback. Waits while another thread runs the callback.
    void listen_no_more() noexcept { on_stop_.reset(); }

  private:
    Stop stop_;
    later<stop_callback<Callback, Platform>> on_stop_;
};
template <class Callback, class Platform>
class stop_listener<no_stop, Callback, Platform> {
  public:
    explicit stop_listener(no_stop) noexcept {}
    static constexpr bool stop_requested() noexcept { return false; }
    static constexpr bool stop_possible() noexcept { return false; }
    static void listen(Callback) noexcept {}
    static void listen_no_more() noexcept {}
};

// Base of the awaiters of put and get, for all item types. `Puts`: true for a put, false for a get.
//
// 1. The derived class, a template of the item type, tries the fast path, under the lock of one end.
// 2. Where one lock is not enough, `suspend` decides under both locks: the operation ends, or gets in line.
// 3. An operation that has to wait registers its stop callbacks, under no lock. Then step 2 is repeated.
//
// One object is made or restarted for each item. So the constructor writes only few members of the waiter.
template <class Policy, class Stop, bool Puts>
class channel_awaiter : public not_awaited {
    using store = any_channel<Policy>;

  protected:
    using core = channel_core<Policy>;
    using waiter = typename core::waiter;
    using side = typename core::side;
    using record = basic_thread_record<typename core::platform>;
    using wakes = wake_list<typename core::platform>;

    using slot_type = typename core::slot_type;
    static constexpr side line_ = Puts ? side::put : side::get;  // the line that the waiter joins

    channel_awaiter(store& channel, void* item, slot_type* measured, Stop stop) noexcept
        : channel_(&channel), waiter_(item, measured), stop_(std::move(stop)) {}
    // For a slot (a worker of a stage), which calls `restart` and awaits the object for each item.
    explicit channel_awaiter(slot_type& measured) noexcept
        : channel_(nullptr), waiter_(nullptr, &measured), stop_(Stop()) {}
    channel_awaiter(const channel_awaiter&) = delete;
    channel_awaiter& operator=(const channel_awaiter&) = delete;

    // Inlined, like everything that an operation that doesn't wait needs: see bench/results.md.
    WEIR_ALWAYS_INLINE ~channel_awaiter() {
        if (is_prepared_) clean_up();
    }

  public:
    // Tags. `updates_slot_itself`: the operation, not `co_await` in a task, records its wait in the slot.
    // `moves_item`: `when_any` rejects the operation, because `when_any` could lose the item.
    using updates_slot_itself = void;
    using moves_item = void;

    // Resumes by a post to the coroutine's executor: from the call (a put, get, stop, close, ...) that ends
    // the wait, or from this call if the coroutine only yields. False: the coroutine goes on at once.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        if constexpr (has_env<Promise>) {
            return suspend(h, h.promise().env());
        } else {
            return suspend(h, detail::env_of(h));
        }
    }
    // The operation is done: posts its coroutine. False: no executor is known, and the coroutine continues.
    template <class Promise>
    bool yield_when_done(std::coroutine_handle<Promise> h) {
        const coroutine_env& env = detail::env_of(h);
        executor* const ex = env.executor;
        if (ex != nullptr) yield(h, *ex, env);  // from here on the frame, and `env` with it, may be gone
        return ex != nullptr;
    }

  protected:
    // Begins the next operation; the previous operation has ended.
    WEIR_ALWAYS_INLINE void restart(store& channel, void* item) noexcept {
        channel_ = &channel;
        waiter_.item = item;
        waiter_.outcome = outcome::pending;
    }

    // True: the operation must go through `suspend`, for one of two reasons. The slice has ended: after a
    // number of operations at this end of the channel, or after some time, a coroutine yields its thread to
    // others (channel_end.hpp). Or the operation puts an item that a trace follows from stage to stage.
    // `before`: the number of earlier operations at this end.
    WEIR_ALWAYS_INLINE bool must_suspend() noexcept { return must_suspend(channel_->count_at(line_)); }
    WEIR_ALWAYS_INLINE bool must_suspend(std::uint64_t before) noexcept {
        if (!needs_suspend<Policy>(Puts, before, waiter_.measured)) return false;
        must_suspend_ = true;
        return true;
    }

    WEIR_ALWAYS_INLINE void resumed() {  // the first step of `await_resume`
        if (is_prepared_) has_waited();
    }

    store* channel_;
    waiter waiter_;

  private:
    // The callback of a stop: ends the wait. If the waiter is not yet in line, the operation will not wait.
    struct stop_waiting {
        store* channel;
        waiter* waiting;
        void operator()() const noexcept { channel->stop(*waiting, line_); }
    };
    // Clears the three flags that are declared below `is_prepared_`; called before their first use.
    void prepare() noexcept {
        if (is_prepared_) return;
        is_prepared_ = true;
        suspended_ = listens_to_run_ = reports_put_ = false;
    }
    WEIR_NOINLINE void has_waited() {  // the end of a wait; throws `stopped` if `env.ends` ended it
        stop_.listen_no_more();
        is_prepared_ = false;  // nothing is left to clean up
        if (suspended_) tell_resumed();
        if constexpr (Policy::statistics) {
            if (reports_put_)
                waiter_.measured->trail->end_step(waiter_.measured->clock().now().time_since_epoch().count());
        }
        if (!listens_to_run_) return;
        listen_to_run_no_more();
        if (waiter_.outcome == outcome::stopped && !stop_.stop_requested()) throw stopped();
    }
    void listen_to_run_no_more() noexcept {
        listens_to_run_ = false;
        on_run_stop_.destroy();  // waits for a callback that is running
    }
    // Called by the destructor. The waiter is in line only if a suspended coroutine is being destroyed.
    WEIR_NOINLINE void clean_up() noexcept {
        if (waiter_.linked) channel_->forget(waiter_, line_);
        if (listens_to_run_) listen_to_run_no_more();
    }

    WEIR_NOINLINE bool suspend(std::coroutine_handle<> h, const coroutine_env& env) {  // steps 2 and 3
        record* const me = record::mine();
        if (me != nullptr) me->count_operation();
        if (was_forked()) detail::check_threads_of(channel_->clock_.owner());
        // A coroutine without an executor never yields, and needs an executor only to wait.
        const bool yields = std::exchange(must_suspend_, false) && has_to_yield(env);
        executor* ex = env.executor;
        wakes woken;
        for (bool may_wait = can_wait_unprepared(env);; may_wait = true) {
            {
                const typename core::whole_lock held(*channel_, me);
                waiter_.outcome = channel_->attempt(line_, waiter_, woken);
                if (waiter_.outcome == outcome::pending) {
                    if (waiter_.stop_seen || is_recalled()) {
                        waiter_.outcome = outcome::stopped;
                    } else if (may_wait) {
                        mark_suspended(h, *ex, env, slot_state::await);
                        channel_->wait_in_line(waiter_, line_, *ex);
                        return true;  // this frame may be running elsewhere once the lock is released
                    }
                }
            }
            if (waiter_.outcome != outcome::pending) break;
            ex = &prepare_to_wait(env);
        }
        wake(woken);
        if (yields) yield(h, *ex, env);
        return yields;
    }
    WEIR_ALWAYS_INLINE void wake(wakes& woken) noexcept {  // may count as `overhead` of the slot
        if constexpr (Policy::statistics) {
            if (waiter_.measured != nullptr && !woken.wakes_nobody()) {
                auto& me = *static_cast<slot_type*>(waiter_.measured);
                return detail::wake_others(me, [&woken] { core::wake_all(woken); });
            }
        }
        core::wake_all(woken);
    }
    // Called if `must_suspend` was true. Whether the coroutine has to yield: its slice has ended, and it has
    // an executor. If the item that is put is traced, `has_waited` will report the put's end to the trace.
    WEIR_NOINLINE bool has_to_yield(const coroutine_env& env) noexcept {
        const slot* const owner = waiter_.measured;
        if (Policy::statistics && Puts && owner != nullptr && owner->is_following()) {
            prepare();
            reports_put_ = true;
            if (!is_end_of_slice<Policy>(Puts, channel_->count_at(line_), owner)) return false;
        }
        return env.executor != nullptr;
    }
    // Whether `env.ends` ends this wait: at a stop of the run, at a time limit, or when a `when_any` has its
    // result. False for a put or get of the stage's worker (slot) itself: only the channel ends such a wait.
    bool ends_with_run(const coroutine_env& env) const noexcept {
        return env.ends != nullptr && waiter_.measured == nullptr;
    }
    // Whether the operation can wait without `prepare_to_wait`.
    bool can_wait_unprepared(const coroutine_env& env) const noexcept {
        return !stop_.stop_possible() && env.executor != nullptr && !ends_with_run(env);
    }

    // Posts the coroutine, whose frame may be running elsewhere when this returns.
    WEIR_NOINLINE void yield(std::coroutine_handle<> h, executor& ex, const coroutine_env& env) {
        mark_suspended(h, ex, env, slot_state::runnable);
        core::record_yield(waiter_);
        ex.post(h);
    }

    // Registers the stop callbacks. Returns the executor on which the coroutine will resume. Called under no
    // lock: if a stop was requested before, a callback runs in this call, and takes the lock.
    WEIR_NOINLINE executor& prepare_to_wait(const coroutine_env& env) {
        executor& ex = detail::executor_of(env);
        prepare();
        stop_.listen(stop_waiting{channel_, &waiter_});
        if (ends_with_run(env)) {
            std::construct_at(on_run_stop_.address(), *env.ends->stop, stop_waiting{channel_, &waiter_});
            listens_to_run_ = true;
        }
        return ex;
    }

    // Whether the slot's get must not wait: the slot has to end, or to put its batch. Another thread sets
    // `recalled`, then calls `recall`, which ends a waiting get. relaxed: `recall` takes the lock held here
    bool is_recalled() const noexcept {
        return line_ == side::get && waiter_.measured != nullptr &&
               waiter_.measured->recalled.load(std::memory_order_relaxed);
    }

    // `h` suspends, to wait (under the lock) or to yield. A slot whose function runs `h` enters `state`.
    void mark_suspended(std::coroutine_handle<> h, executor& ex, const coroutine_env& env, slot_state state) {
        prepare();
        waiter_.set_coroutine(h, &ex, env.measured);
        ends_ = env.ends;
        suspended_ = true;
        if (waiter_.measured == nullptr) detail::function_suspended(env, state);
    }
    void tell_resumed() noexcept {  // for the slot's times, and notes for which stage the thread works
        if (waiter_.measured != nullptr)
            return detail::slot_resumed(*static_cast<slot_type*>(waiter_.measured));
        if (waiter_.work_of == nullptr && ends_ == nullptr) return;
        detail::function_resumed(coroutine_env{nullptr, waiter_.work_of, ends_}, waiter_.ready);
    }

    bool must_suspend_ = false;  // set by must_suspend(), read in suspend()
    [[no_unique_address]] stop_listener<Stop, stop_waiting, typename core::platform> stop_;
    bool is_prepared_ = false;  // `prepare` has cleared the three flags below
    bool suspended_;            // to wait or to yield
    bool reports_put_;          // `has_waited` records the end of the put in the trace (`trail`)
    bool listens_to_run_;       // `on_run_stop_` has been constructed
    const end_token* ends_;     // `env.ends` of the suspended coroutine, which may end its waits
    uninitialised_slot<stop_callback<stop_waiting>> on_run_stop_;  // ends the wait by `env.ends`
};

WEIR_COMPILED(class channel_awaiter<measured, no_stop, true>);
WEIR_COMPILED(class channel_awaiter<measured, no_stop, false>);
WEIR_COMPILED(class channel_awaiter<summed, no_stop, true>);
WEIR_COMPILED(class channel_awaiter<summed, no_stop, false>);
WEIR_COMPILED(class channel_awaiter<unmeasured, no_stop, true>);
WEIR_COMPILED(class channel_awaiter<unmeasured, no_stop, false>);

}  // namespace weir::detail

#endif
