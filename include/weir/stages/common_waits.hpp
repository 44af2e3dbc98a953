// weir stages, internal: those waits of a slot's worker that are the same for all kinds of stages
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_COMMON_WAITS_HPP
#define WEIR_STAGES_COMMON_WAITS_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/policy.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/worker_set.hpp>
#include <weir/stages/slot_loop.hpp>
#include <weir/task/slot_accounting.hpp>

#include <coroutine>    // for std::coroutine_handle, std::suspend_never
#include <cstddef>      // for std::byte, std::max_align_t
#include <cstdint>      // for std::uint64_t
#include <new>          // for placement new
#include <type_traits>  // for std::is_same_v, std::is_void_v
#include <utility>      // for std::exchange

namespace weir::detail {

// Storage for one awaiter of a wait that is rare, such as a wait for a turn, a pause or a timer.
class seldom_awaiter {
  public:
    seldom_awaiter() noexcept = default;
    seldom_awaiter(const seldom_awaiter&) = delete;
    seldom_awaiter& operator=(const seldom_awaiter&) = delete;
    ~seldom_awaiter() { clear(); }

    // Constructs an awaiter, whose result is bool or void, from `make()`. Returns the awaiter for which the
    // worker has to wait; null: the worker need not wait. The worker calls `resume` after the wait; if there
    // is none, at once.
    template <class Make>
    any_awaiter* begin(Make make) {
        using kept = held<decltype(make())>;
        static_assert(sizeof(kept) <= sizeof memory_ && alignof(kept) <= alignof(std::max_align_t));
        kept* const it = ::new (static_cast<void*>(memory_)) kept(make);
        held_ = it;
        return it->awaiter.await_ready() ? nullptr : it;
    }
    // Returns the result of the awaiter; true if the result is void, or if there is no awaiter. Destroys the
    // awaiter.
    bool resume() {
        if (held_ == nullptr) return true;
        const bool answer = held_->resume();
        clear();
        return answer;
    }

  private:
    // The awaiter, whose type is hidden, so that one storage serves for all rare waits.
    class any_held : public any_awaiter {
      public:
        virtual ~any_held() = default;
        virtual bool resume() = 0;
    };
    template <class Awaiter>
    class held final : public any_held {
      public:
        template <class Make>
        explicit held(Make& make) : awaiter(make()) {}
        std::coroutine_handle<> suspend(worker_handle worker) override {
            return detail::suspend_in(awaiter, worker);
        }
        bool resume() override {
            if constexpr (std::is_void_v<decltype(awaiter.await_resume())>) {
                awaiter.await_resume();
                return true;
            } else {
                return awaiter.await_resume();
            }
        }
        Awaiter awaiter;
    };
    void clear() noexcept {
        if (held_ != nullptr) std::exchange(held_, nullptr)->~any_held();
    }

    alignas(std::max_align_t) std::byte memory_[256];  // of the awaiter
    any_held* held_ = nullptr;                         // the awaiter, in memory_; null: none
};

// An awaitable of true that never waits. Returned by the functions of a stage that begin a wait, by default.
struct no_wait : std::suspend_never {
    static bool await_resume() noexcept { return true; }
};

// Awaiter that posts the coroutine to the end of the queue of its executor, so that other work can run.
template <class Slot>
class yield_awaiter {
  public:
    using updates_slot_itself = void;  // tag for `co_await`: the awaiter itself sets the state of the slot

    explicit yield_awaiter(Slot& me) noexcept : me_(me) {}
    bool await_ready() const noexcept { return false; }
    // Resumes on the coroutine's executor.
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> h) noexcept {
        if constexpr (requires { me_.meter; }) {
            me_.catch_up(detail::clock_of(me_));
            me_.enter(slot_state::runnable, me_.last_reading);
        }
        detail::env_of(h).executor->post(h);
    }
    void await_resume() const noexcept { detail::slot_resumed(me_); }

  private:
    Slot& me_;
};

// Begins the rare waits of one worker (the coroutine of a slot), at most one at a time. Only `begin_own`
// depends on the kind of the stage (its class); all else is compiled once for all kinds.
template <class Policy>
class common_waits {
    using slot = slot_of<Policy>;

  protected:
    common_waits(worker_set<Policy>& set, slot& me) noexcept : set_(set), me_(me) {}

    // Begin the waits until the run lets the slot go on, for example after a pause; until the queues of the
    // run hold fewer bytes; until the timer of a task is cancelled; until a higher concurrency takes the slot
    // into service again. Each returns as `seldom_awaiter::begin`: null if the worker need not wait.
    WEIR_NOINLINE any_awaiter* begin_admission() noexcept {
        return rare_wait_.begin([this] { return set_.wait_for_admission(me_); });
    }
    WEIR_NOINLINE any_awaiter* begin_byte_budget(std::uint64_t sources) noexcept {
        return rare_wait_.begin([&] { return set_.run().budget()->wait(sources, me_); });
    }
    WEIR_NOINLINE any_awaiter* begin_time_limit(task_timer& timer) noexcept {
        return rare_wait_.begin([&timer] { return timer.off(); });
    }
    WEIR_NOINLINE any_awaiter* begin_service() noexcept {
        return rare_wait_.begin([this] { return set_.wait_for_service(me_); });
    }
    // Begins the wait for the awaitable that `make` gets from the stage. A `no_wait` compiles to no code.
    template <class Make>
    WEIR_ALWAYS_INLINE any_awaiter* begin_own(Make make) {
        if constexpr (std::is_same_v<decltype(make()), no_wait>) {
            return nullptr;
        } else {
            return rare_wait_.begin(make);
        }
    }

  private:
    worker_set<Policy>& set_;

  protected:
    slot& me_;
    seldom_awaiter rare_wait_;  // the current wait
};

WEIR_COMPILED(class common_waits<measured>);
WEIR_COMPILED(class common_waits<summed>);
WEIR_COMPILED(class common_waits<unmeasured>);

}  // namespace weir::detail

#endif
