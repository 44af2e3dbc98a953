// weir stages, internal: how the worker of a slot takes items, and waits for the function, room, or its turn
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_WORKER_WAITS_HPP
#define WEIR_STAGES_WORKER_WAITS_HPP

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/later.hpp>
#include <weir/stages/common_waits.hpp>
#include <weir/stages/iteration.hpp>
#include <weir/stages/slot_loop.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <coroutine>    // for std::coroutine_handle, std::suspend_never
#include <cstdint>      // for std::uint64_t
#include <exception>    // for std::exception_ptr
#include <type_traits>  // for std::decay_t, std::is_same_v
#include <utility>      // for std::declval, std::forward, std::move

namespace weir::detail {

// The awaitable by which a worker (of one slot) takes items from a queue. Stores an item until `drop`.
template <class Queue>
class intake : public get_operation<Queue> {
    using base = get_operation<Queue>;

  public:
    template <class Slot>
    explicit intake(Slot& me) noexcept : base(me) {}

    // Prepares the next take; the worker then awaits this object. Takes nothing if `skips` is true, or if the
    // slot is `recalled`: the slot has to leave service (a lower concurrency), or its `hold_timer` has
    // expired. relaxed: a hint; a get that waits reads the flag again under the lock.
    WEIR_ALWAYS_INLINE void prepare(Queue& queue, bool skips = false) noexcept {
        this->restart(detail::base_of(queue), this->place_.address());
        if (skips || this->waiter_.measured->recalled.load(std::memory_order_relaxed)) {
            this->waiter_.outcome = outcome::stopped;
        }
    }

    // A slot yields its thread at the end of each time slice: after a number of queue operations, or some
    // time. From now on slices end only at puts, not at takes; in simulations still at every operation.
    void end_slices_only_at_puts() noexcept { ends_slices_ = ends_every_turn<typename Queue::policy_type>; }

    WEIR_ALWAYS_INLINE bool await_ready() noexcept {
        return this->waiter_.outcome == outcome::stopped || this->moves_at_once(ends_slices_);
    }
    // Whether an item was taken. If not, the queue has ended, unless `was_recalled` returns true.
    WEIR_ALWAYS_INLINE bool await_resume() {
        this->resumed();
        return this->waiter_.outcome == outcome::done;
    }
    // Whether the function of the stage has added the item: see `traversal_intake`.
    static constexpr bool is_added() noexcept { return false; }
    auto& queue() const noexcept { return *this->channel_; }
    std::uint64_t queue_number() const noexcept { return this->number(); }

    // Called by another slot of a `traverse`: ends the wait for an item. If the slot does not wait, the next
    // wait ends at once, unless `clear_cancel` is called before.
    void cancel_wait() noexcept { this->channel_->stop(this->waiter_, Queue::core_type::side::get); }
    void clear_cancel() noexcept { this->waiter_.stop_seen = false; }  // withdraws cancel_wait()
    typename Queue::value_type* item() noexcept { return this->place_.address(); }
    WEIR_ALWAYS_INLINE void drop() noexcept {  // destroys the item, if there is one
        if (this->waiter_.outcome != outcome::done) return;
        this->waiter_.outcome = outcome::fetched;
        this->place_.destroy();
    }

  private:
    bool ends_slices_ = true;  // a take may end a slice
};

// Replaces the `intake` in a stage without input.
class no_intake : public std::suspend_never {
  public:
    template <class Slot>
    explicit no_intake(Slot&) noexcept {}
    void drop() const noexcept {}
    bool await_resume() const noexcept { return true; }
    bool was_recalled() const noexcept { return false; }
};

// Takes an item by a task, for example a task that takes an item from each of several queues.
class task_intake {
    using awaiter = decltype(detail::get_awaiter(std::declval<task<bool>>()));

  public:
    template <class Slot>
    explicit task_intake(Slot&) noexcept {}

    // Prepares the next take. `start` returns the task. `error` gets an exception of `start` or of the task.
    template <class Start>
    void prepare(Start start, std::exception_ptr& error) noexcept {
        error_ = &error;
        try {
            task_.emplace(start());
        } catch (...) {
            error = std::current_exception();
        }
    }
    bool await_ready() const noexcept { return !task_; }
    // Resumes as the awaiter of a task does, on the coroutine's executor.
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> h) {
        awaiter_.emplace(detail::get_awaiter(std::move(*task_)));
        return awaiter_->await_suspend(h);
    }
    bool await_resume() noexcept {
        try {
            return awaiter_ && awaiter_->await_resume();
        } catch (...) {
            *error_ = std::current_exception();
            return false;
        }
    }
    void drop() noexcept {
        awaiter_.reset();
        task_.reset();
    }
    bool was_recalled() const noexcept { return false; }

  private:
    std::exception_ptr* error_ = nullptr;
    later<task<bool>> task_;
    later<awaiter> awaiter_;
};

// The timer of a slot that may hold items for a limited time. When the time is over, the timer recalls the
// slot: the slot's wait for an item of the `Queue`, or else its next take, ends without an item.
template <class Queue, class Slot>
class hold_timer {
  public:
    // Records the time when an item arrived: `start` counts from the time of the last call.
    void item_came(const executor& ex) noexcept { came_ = ex.now(); }
    bool runs() const noexcept { return static_cast<bool>(timer_); }  // whether it was started
    // Errors: `std::bad_alloc`.
    void start(executor& ex, duration max_delay, Queue& from, Slot& me) {
        timer_.emplace(ex, max_delay - (ex.now() - came_), expire{&from, &me});
    }
    // Awaitable of void. Resumes on the coroutine's executor. Then `finish_cancel` has to be called.
    auto cancel() noexcept { return timer_->cancel(); }
    void finish_cancel(Slot& me) noexcept {
        timer_.reset();
        me.recalled.store(false, std::memory_order_relaxed);  // the timer, its only other writer, is gone
    }

  private:
    struct expire {
        Queue* queue;
        Slot* me;
        void operator()() const noexcept {
            me->recalled.store(true, std::memory_order_relaxed);  // the lock of `recall` publishes the flag
            detail::base_of(*queue).recall(*me);
        }
    };

    later<delayed_action<expire>> timer_;
    time_point came_{};  // when an item came last
};

// `awaited_work`: the awaiter for the awaitable that `Kind::work` returns; `nothing` if `work` returns void.
// `awaited_fetch`: likewise, for the awaitable that `Kind::fetch_result` returns.
template <class Kind,
          class Returned = decltype(std::declval<Kind&>().work(std::declval<typename Kind::iteration&>()))>
struct awaited_work {
    using kept = std::decay_t<Returned>;
    using type =
        erased_call<kept, decltype(std::declval<Kind&>().make_awaitable(std::declval<kept&>(),
                                                                        std::declval<coroutine_env&>()))>;
};
template <class Kind>
struct awaited_work<Kind, void> {
    using type = nothing;
};
template <class Kind, class Returned = decltype(std::declval<Kind&>().fetch_result(
                          std::declval<typename Kind::iteration&>()))>
struct awaited_fetch {
    using type = erased_call<Returned, Returned&&>;
};
template <class Kind>
struct awaited_fetch<Kind, void> {
    using type = nothing;
};
template <class Kind>
inline constexpr bool awaits_work = !std::is_same_v<typename awaited_work<Kind>::type, nothing>;
template <class Kind>
inline constexpr bool awaits_fetch = !std::is_same_v<typename awaited_fetch<Kind>::type, nothing>;

template <class Kind>  // begins and ends the waits of one worker; `Kind`: the class of its stage
class worker_waits : common_waits<typename Kind::policy_type> {
    using base = common_waits<typename Kind::policy_type>;
    using iteration = typename Kind::iteration;
    using context = typename iteration::context_type;

  public:
    worker_waits(Kind& stage, slot_of<typename Kind::policy_type>& me) noexcept
        : base(stage, me), stage_(stage) {}

    // Begins the wait for the step `next` of the iteration. Returns null if the worker need not wait. The
    // worker then calls `end`; at once after null, otherwise when the worker is resumed.
    WEIR_NOINLINE any_awaiter* begin(iteration& it, context& all) noexcept {
        switch (it.next) {
            case worker_step::admission:
                return this->begin_admission();
            case worker_step::byte_budget:
                return this->begin_byte_budget(stage_.byte_sources(it));
            case worker_step::turn:
                return this->begin_own([&] { return stage_.wait_for_turn(it, me_); });
            case worker_step::work:
                if constexpr (awaits_work<Kind>) {
                    return work_wait_.begin([&] { return stage_.work(it); },
                                            [&](auto& awaitable) -> decltype(auto) {
                                                return stage_.make_awaitable(awaitable, all.env);
                                            },
                                            it.error);
                }
                break;
            case worker_step::time_limit:
                return this->begin_time_limit(*all.guard->timer());
            case worker_step::fetch_result:
                if constexpr (awaits_fetch<Kind>) {
                    return fetch_wait_.begin([&] { return stage_.fetch_result(it); },
                                             [](auto& awaitable) -> auto&& { return std::move(awaitable); },
                                             it.error);
                }
                break;
            case worker_step::service:
                stage_.release_resources(all);
                return this->begin_service();
            case worker_step::hold_timer:
                return this->begin_own([&] { return stage_.cancel_timer(it); });
            case worker_step::take:
            case worker_step::end:
            case worker_step::skip:
                break;
        }
        return nullptr;
    }
    // Ends the wait. False: a turn or an admission was refused, or the slot does not return into service.
    WEIR_NOINLINE bool end(iteration& it, context& all) noexcept {
        switch (it.next) {
            case worker_step::admission:
            case worker_step::byte_budget:
            case worker_step::turn:
                return rare_wait_.resume();
            case worker_step::work:
                if constexpr (awaits_work<Kind>) {
                    const auto store = [&](auto&&... result) {
                        stage_.store_result(it, std::forward<decltype(result)>(result)...);
                    };
                    work_wait_.end(store, it.error);
                }
                break;
            case worker_step::time_limit:
                rare_wait_.resume();
                if (all.guard->timer()->fail_if_late(it.error)) stage_.discard_result(it);
                break;
            case worker_step::fetch_result:
                if constexpr (awaits_fetch<Kind>) {
                    fetch_wait_.end(
                        [&](auto&& next) { stage_.store_fetched(it, std::forward<decltype(next)>(next)); },
                        it.error);
                }
                break;
            case worker_step::service:
                return rare_wait_.resume() && stage_.acquire_resources(all);
            case worker_step::hold_timer:
                rare_wait_.resume();
                stage_.timer_cancelled(it);
                break;
            case worker_step::take:
            case worker_step::end:
            case worker_step::skip:
                break;
        }
        return true;
    }

    // Begin and end the worker's last wait, for `stage_kind::wait_before_end`: until nothing uses the stage.
    any_awaiter* begin_last_wait() noexcept {
        return this->begin_own([&] { return stage_.wait_before_end(me_); });
    }
    void end_last_wait() noexcept { rare_wait_.resume(); }

  private:
    using base::me_;
    using base::rare_wait_;
    Kind& stage_;
    typename awaited_work<Kind>::type work_wait_;    // for what `work` has returned
    typename awaited_fetch<Kind>::type fetch_wait_;  // for what `fetch_result` has returned
};

}  // namespace weir::detail

#endif
