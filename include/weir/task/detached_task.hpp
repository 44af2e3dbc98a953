// weir task, internal: the coroutine at the bottom: starts an awaitable on an executor, tells when it ended
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_DETACHED_TASK_HPP
#define WEIR_TASK_DETACHED_TASK_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/slot_accounting.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/result.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/platform/transfer.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/foreign_awaitable_adapter.hpp>
#include <weir/task/frame_pool.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstddef>      // for std::nullptr_t
#include <exception>    // for std::current_exception
#include <memory>       // for std::addressof
#include <type_traits>  // for std::is_void_v
#include <utility>      // for std::exchange

namespace weir::detail {

// The work of this thread, of which what it starts and waits for is a part: a thread that runs such a part
// knows so. A stop of the run doesn't end what that awaits.
class work_of_starter {
  public:
    work_of_starter() noexcept {}  // said, as one compiler misses it where the members are constants

    // Null: the thread works for nobody that is known.
    const end_token* ends() const noexcept { return ends_.work != nullptr ? &ends_ : nullptr; }

  private:
    const stop_token never_;
    const end_token ends_{&never_, trampoline::work_here()};
};

// Told when a root has ended. `ended` is the last thing that happens to the coroutine: it may destroy
// it, and so may any thread that it wakes.
class detached_task_owner {
  public:
    virtual void ended() noexcept = 0;

  protected:
    ~detached_task_owner() = default;
};

// Owns the frame. Destroyed only before it was started, after it ended, or while it is suspended in
// one of the library's own waits on an executor that runs nothing any more (a deadlock).
template <class T>
class [[nodiscard]] detached_task {
    using given = std::conditional_t<std::is_void_v<T>, std::nullptr_t, T>;

  public:
    class promise_type;
    using handle = std::coroutine_handle<promise_type>;

    explicit detached_task(handle h) noexcept : handle_(h) {}
    detached_task(detached_task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    detached_task& operator=(detached_task&&) = delete;
    ~detached_task() {
        if (handle_) handle_.destroy();
    }

    // It is then to be resumed on `ex`.
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

    // It needs to be resumed no more. One that gives something stays where it gave it until it is destroyed.
    bool done() const noexcept { return !handle_ || handle_.done() || handle_.promise().value != nullptr; }

    // Destroys a coroutine that is suspended for ever.
    void abandon() noexcept { std::exchange(handle_, {}).destroy(); }
    // Leaves one as it is that is at work in another process.
    void forget() noexcept { handle_ = {}; }

    T take() {
        if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
        if constexpr (!std::is_void_v<T>) return give<T>(*handle_.promise().value);
    }
    bool has_exception() const noexcept { return handle_.promise().error != nullptr; }
    std::exception_ptr exception() const noexcept { return handle_.promise().error; }

    class promise_type : public pooled_frame {
      public:
        detached_task get_return_object() noexcept { return detached_task(handle::from_promise(*this)); }
        coroutine_env& env() noexcept { return env_; }
        // What it is work of is known from the first step on.
        class begin {
          public:
            explicit begin(const promise_type& p) noexcept : promise_(&p) {}
            bool await_ready() const noexcept { return false; }
            // Resumed by the executor that it is posted to.
            void await_suspend(handle) const noexcept {}
            void await_resume() const noexcept {
                const coroutine_env& env = promise_->env_;
                if (env.measured == nullptr && env.ends != nullptr) detail::function_resumed(env);
            }

          private:
            const promise_type* promise_;
        };
        begin initial_suspend() const noexcept { return begin(*this); }

        class tell {
          public:
            bool await_ready() const noexcept { return false; }
            // Never resumed; the owner may destroy it within the call.
            void await_suspend(handle h) const noexcept { h.promise().owner->ended(); }
            void await_resume() const noexcept {}
        };
        tell final_suspend() const noexcept { return {}; }
        // What it gives stays where the await gave it, with all that it may refer to, until `take` moves it.
        tell yield_value(given&& it) noexcept {
            value = std::addressof(it);
            return {};
        }
        void return_void() const noexcept {}
        void unhandled_exception() noexcept { error = std::current_exception(); }

        detached_task_owner* owner = nullptr;
        std::remove_reference_t<given>* value = nullptr;
        std::exception_ptr error;

      private:
        coroutine_env env_;
    };

  private:
    handle handle_;
};

// The awaitable is kept by reference: it outlives the root. `T`: what awaiting it gives.
template <class T, class A>
detached_task<T> make_detached_task(A& a) {
    if constexpr (has_as_awaitable<A> || has_adapter<A>) {
        auto it = detail::get_awaiter(static_cast<A&&>(a));
        if constexpr (std::is_void_v<T>) {
            co_await it;
        } else {
            co_yield co_await it;
        }
    } else if constexpr (std::is_void_v<T>) {
        co_await static_cast<A&&>(a);
    } else {
        co_yield co_await static_cast<A&&>(a);
    }
}

// Starts what this thread waits for next. Where it runs a coroutine of `ex`, at once, on top of that: what
// ends without a suspension then needs no other thread. Not where an executor decides by itself who runs
// next, as virtual time does.
class inline_start {
  public:
    WEIR_NOINLINE static void begin(executor& ex, std::coroutine_handle<> h) {
        if (current_executor() != &ex || ex.traits().exclusive) return ex.post(h);
        trampoline* const here = trampoline::of_this_call();
        executor::shift(ex, here != nullptr ? here->forks_of(&ex) : nullptr).resume(h);
    }
};

// One round of waiting until `done` is set by work on `ex` (null: by anything), or until `limit`. The
// thread runs `ex` where that has no threads of its own. Else a coroutine's thread helps the executor
// that runs that coroutine, the one it keeps from running; but not one that runs everything by itself,
// which would take the wait for something outside of it for a deadlock. False: it is for the caller to
// sleep.
inline bool help_until(parker& done, executor* ex, time_point limit) {
    if (ex != nullptr && ex->drive(done, limit)) return true;
    executor* const here = current_executor();
    return here != nullptr && here != ex && !here->traits().exclusive && here->drive(done, limit);
}

// A flag of a platform whose threads are not the system's can't be handed to an executor.
template <class Platform>
bool help_until(basic_parker<Platform>&, executor*, time_point) noexcept {
    return false;
}

// Sleeps until `done` is set, with the help above.
inline void block_until(parker& done, executor& ex) {
    const basic_blocked_thread<standard_platform> here(&done);
    while (!done.is_set()) {
        if (help_until(done, &ex, (time_point::max)())) continue;
        thread_place::leave_here();
        here.wait(done);
    }
}

}  // namespace weir::detail

#endif
