// weir task, internal: runs an awaitable for a thread, a stage or a join, none of which is a coroutine
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_DETACHED_TASK_HPP
#define WEIR_TASK_DETACHED_TASK_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/frame_pool.hpp>
#include <weir/task/slot_accounting.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstddef>      // for std::nullptr_t
#include <cstdint>      // for std::int64_t
#include <exception>    // for std::current_exception
#include <memory>       // for std::addressof
#include <type_traits>  // for std::is_void_v
#include <utility>      // for std::exchange
#include <vector>       // for std::vector

namespace weir::detail {

// Stores the stage or run (a step of a pipeline, or a started pipeline) for which the constructing thread
// works. A thread that starts tasks and waits for them passes `ends()`, which names this stage or run, to the
// tasks. A thread that runs such a task counts as working for that stage or run, too: if the task waits for
// the end of the run, the wait throws an exception. A stop of the run doesn't end the waits of these tasks.
class work_of_starter {
  public:
    work_of_starter() noexcept {}  // defined by hand: one compiler doesn't generate it for const members

    // Null: the constructing thread works for no known stage or run.
    const end_token* ends() const noexcept { return ends_.work != nullptr ? &ends_ : nullptr; }

  private:
    const stop_token never_;  // its stop is never requested
    const end_token ends_{&never_, trampoline::work_here()};
};

// The owner of a detached task. At its end the task calls `ended`, as its last action: the call may destroy
// the coroutine, and so may a thread that the call wakes.
class detached_task_owner {
  public:
    virtual void ended() noexcept = 0;

  protected:
    ~detached_task_owner() = default;
};

// A coroutine that an owner starts, and that calls the owner at its end. This object owns the frame. The
// object may be destroyed before the coroutine's start and after its end. In a deadlock, it may also be
// destroyed while the coroutine is suspended in one of the library's own waits.
template <class T>
class [[nodiscard]] detached_task {
    using yielded = std::conditional_t<std::is_void_v<T>, std::nullptr_t, T>;  // the result

  public:
    class promise_type;
    using handle = std::coroutine_handle<promise_type>;

    explicit detached_task(handle h) noexcept : handle_(h) {}
    detached_task(detached_task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    detached_task& operator=(detached_task&&) = delete;
    ~detached_task() {
        if (handle_) handle_.destroy();
    }

    // Returns the coroutine, to be resumed on `ex`. `measured`: the slot (worker of a stage) for which the
    // coroutine works; null: none. `ends`: the token that ends the coroutine's waits; null: none.
    std::coroutine_handle<> prepare(executor& ex, slot* measured, detached_task_owner& owner,
                                    const end_token* ends = nullptr) noexcept {
        handle_.promise().env() = coroutine_env{&ex, measured, ends};
        handle_.promise().owner = &owner;
        return handle_;
    }
    void start(executor& ex, slot* measured, detached_task_owner& owner,
               const end_token* ends = nullptr) noexcept {
        ex.post(prepare(ex, measured, owner, ends));
    }

    // Whether the coroutine has ended, or this object has none. A coroutine with a result has ended when it
    // is suspended at its `co_yield`.
    bool done() const noexcept { return !handle_ || handle_.done() || handle_.promise().value != nullptr; }

    // Destroys a coroutine that no thread will resume.
    void abandon() noexcept { std::exchange(handle_, {}).destroy(); }
    // Gives up the coroutine without destroying it: the frame is leaked. For a coroutine that may stay in the
    // middle of its code for ever: another thread ran it when the process forked, or it has called
    // `std::exit`.
    void forget() noexcept { handle_ = {}; }

    T take() {  // the result; or throws the exception
        if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
        if constexpr (!std::is_void_v<T>) return move_or_copy<T>(*handle_.promise().value);
    }
    bool has_exception() const noexcept { return handle_.promise().error != nullptr; }
    std::exception_ptr exception() const noexcept { return handle_.promise().error; }

    class promise_type : public pooled_frame {
      public:
        detached_task get_return_object() noexcept { return detached_task(handle::from_promise(*this)); }
        coroutine_env& env() noexcept { return env_; }
        // At the first resumption, records for which stage or run (`ends->work`) the thread works, unless the
        // coroutine works for a slot (worker of a stage): the slot itself records that.
        class initial_awaiter {
          public:
            explicit initial_awaiter(const promise_type& p) noexcept : promise_(&p) {}
            bool await_ready() const noexcept { return false; }
            // Resumed on the executor that `prepare` was given.
            void await_suspend(handle) const noexcept {}
            void await_resume() const noexcept {
                const coroutine_env& env = promise_->env_;
                if (env.measured == nullptr && env.ends != nullptr) detail::function_resumed(env);
            }

          private:
            const promise_type* promise_;
        };
        initial_awaiter initial_suspend() const noexcept { return initial_awaiter(*this); }

        class final_awaiter {
          public:
            bool await_ready() const noexcept { return false; }
            // Tells the owner that the coroutine has ended. The owner may destroy the coroutine within the
            // call. The coroutine is never resumed afterwards.
            void await_suspend(handle h) const noexcept { h.promise().owner->ended(); }
            void await_resume() const noexcept {}
        };
        final_awaiter final_suspend() const noexcept { return {}; }
        // The result stays in the frame, with all objects to which it may refer, until `take` moves it.
        final_awaiter yield_value(yielded&& result) noexcept {
            value = std::addressof(result);
            return {};
        }
        void return_void() const noexcept {}
        void unhandled_exception() noexcept { error = std::current_exception(); }

        detached_task_owner* owner = nullptr;
        std::remove_reference_t<yielded>* value = nullptr;
        std::exception_ptr error;

      private:
        coroutine_env env_;
    };

  private:
    handle handle_;
};

// Makes a detached task that awaits `a`. `T`: the type of the result. Lifetime: `a` outlives the task.
template <class T, class A>
detached_task<T> make_detached_task(A& a) {
    if constexpr (has_as_awaitable<A> || has_adapter<A>) {
        auto awaiter = detail::get_awaiter(static_cast<A&&>(a));
        if constexpr (std::is_void_v<T>) {
            co_await awaiter;
        } else {
            co_yield co_await awaiter;
        }
    } else if constexpr (std::is_void_v<T>) {
        co_await static_cast<A&&>(a);
    } else {
        co_yield co_await static_cast<A&&>(a);
    }
}

// Starts a coroutine for which this thread is going to wait. If the thread runs a coroutine of `ex`, the new
// one runs at once, on the same stack: if it never suspends, it needs no other thread. On other threads, and
// on an `exclusive` executor (virtual time), which decides what runs next, the coroutine is posted.
class inline_start {
  public:
    WEIR_NOINLINE static void begin(executor& ex, std::coroutine_handle<> h) {
        if (current_executor() != &ex || ex.traits().exclusive) return ex.post(h);
        trampoline* const here = trampoline::of_this_call();
        executor::shift(ex, here != nullptr ? here->forks_of(&ex) : nullptr).resume(h);
    }
};

// The time until `limit` by the clock of `ex` (null: the system's clock); max() if there is no limit.
inline duration time_left(const executor* ex, time_point limit) noexcept {
    if (limit == (time_point::max)()) return (duration::max)();
    const std::int64_t now = ex != nullptr ? ex->now().time_since_epoch().count() : standard_platform::now();
    return duration(detail::time_between(now, limit.time_since_epoch().count()));
}

// While an object of this class exists, blocking calls of the thread that made it also run coroutines of a
// list of executors: of those in the list that run on this thread (their `drive` returns true there). The
// list is that of a run (a started pipeline) for which the thread blocks: the executors of the run's stages
// that have no threads of their own, such as event loops. A blocking call names only one executor, that of
// the awaited work.
class also_driven {
  public:
    // `all`: the list, which outlives the object; null: no executors.
    explicit also_driven(const std::vector<executor*>* all) noexcept : before_(std::exchange(here(), all)) {}
    also_driven(const also_driven&) = delete;
    also_driven& operator=(const also_driven&) = delete;
    ~also_driven() { here() = before_; }

    // Calls `drive` of each executor of the list, and of `ex` if `ex` has no threads of its own: each runs
    // ready coroutines (a turn). A turn without work sleeps until `done` is set, or until `limit` by the
    // clock of `ex` (null: the system's clock); if several executors have a turn, for 50 us at most.
    // Coroutines that block in such a turn do not drive the list. False: there is no list, none of its
    // executors runs on this thread, or the limit has passed.
    static bool turn(parker& done, executor* ex, time_point limit) {
        const std::vector<executor*>* const all = here();
        if (all == nullptr) return false;
        const duration left = detail::time_left(ex, limit);
        if (left == duration(0)) return false;
        const also_driven none(nullptr);
        thread_place::leave_here();  // if this is a thread of a pool, another one replaces it
        executor* const loop = ex != nullptr && !ex->traits().has_threads ? ex : nullptr;
        const bool is_only_one = all->size() == 1 && loop == nullptr;
        const duration longest = is_only_one ? left : smaller(left, duration(50'000));  // ns
        const auto run = [&](executor& e) { return e.drive(done, weir::saturating_add(e.now(), longest)); };
        bool any = loop != nullptr && run(*loop);
        for (executor* const each : *all) any = run(*each) || any;
        return any;
    }

  private:
    // Not inlined: a coroutine would keep the thread-local address when it continues on another thread.
    WEIR_NOINLINE static const std::vector<executor*>*& here() noexcept {
        struct per_thread {
            const std::vector<executor*>* all = nullptr;
        };
        return standard_platform::of_thread<per_thread>().all;
    }

    const std::vector<executor*>* const before_;  // the list of the enclosing object; null: none
};

// Called repeatedly by a thread that waits until work on `ex` (null: the executor is unknown) sets `done`, or
// until `limit` by the clock of `ex` (null: the system's clock). Lets one of these run coroutines, the first
// that runs on this thread: the executors of `also_driven`; `ex`; the executor whose coroutine called this
// function, for the same time by its own clock. The last must not be exclusive, as virtual time is: virtual
// time would report the wait for other work as a deadlock. False: nothing was run, and the caller should
// sleep.
inline bool help_until(parker& done, executor* ex, time_point limit) {
    if (also_driven::turn(done, ex, limit)) return true;
    if (ex != nullptr && ex->drive(done, limit)) return true;
    executor* const here = current_executor();
    return here != nullptr && here != ex && !here->traits().exclusive &&
           here->drive(done, weir::saturating_add(here->now(), detail::time_left(ex, limit)));
}

// The calling thread, which has to wait for `done`, replaces a thread of the pool `ex`, which pauses
// meanwhile. Runs the pool's coroutines until `done` is set, or poked (woken without being set). False: `ex`
// lets no thread be replaced now, or nothing is ready to run; the caller should sleep.
inline bool work_in_lent_place(executor& ex, parker& done) noexcept { return ex.lend_place(done); }

// For the platforms of tests, whose parkers executors do not accept: runs nothing.
template <class Platform>
bool help_until(basic_parker<Platform>&, executor*, time_point) noexcept {
    return false;
}
template <class Platform>
bool work_in_lent_place(executor&, basic_parker<Platform>&) noexcept {
    return false;
}

// Blocks the thread until work on `ex` sets `done`. Meanwhile runs coroutines, as `help_until` says.
inline void block_until(parker& done, executor& ex) {
    const basic_blocked_thread<standard_platform> here(&done);  // for watchdogs, which report deadlocks
    while (!done.is_set()) {
        if (help_until(done, &ex, (time_point::max)())) continue;
        thread_place::leave_here();  // if this is a thread of a pool, another one replaces it
        here.wait(done);
    }
}

}  // namespace weir::detail

#endif
