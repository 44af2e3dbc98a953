// weir stages, internal: the coroutine of every worker
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SLOT_LOOP_HPP
#define WEIR_STAGES_SLOT_LOOP_HPP

#include <weir/platform/env.hpp>
#include <weir/stages/any_awaiter.hpp>
#include <weir/task/detached_task.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <memory>     // for std::unique_ptr
#include <utility>    // for std::move

namespace weir::detail {

// The worker of one slot: a state machine that returns to its coroutine whenever the worker has to wait.
class slot_machine {
  public:
    virtual ~slot_machine() = default;
    // Called once, before all else, on the stage's executor.
    virtual void begin(coroutine_env& env) noexcept = 0;
    // Runs the worker until it has to wait. Returns the awaiter to await before the next call, or null: the
    // worker has ended.
    virtual any_awaiter* advance() noexcept = 0;
};

// The environment of the coroutine that awaits it. A pointer: nvcc takes a reference that co_await gives for
// a value.
class my_env {
  public:
    bool await_ready() const noexcept { return false; }
    // Never suspends: resumes at once.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
        env_ = &h.promise().env();
        return false;
    }
    coroutine_env* await_resume() const noexcept { return env_; }

  private:
    coroutine_env* env_ = nullptr;
};

// The coroutine of a worker. The coroutine owns the state machine, and destroys it before it signals its end.
inline detached_task<void> run_machine(std::unique_ptr<slot_machine> given) {
    struct wait_for {
        any_awaiter* what;
        explicit wait_for(any_awaiter& a) noexcept : what(&a) {}
        bool await_ready() const noexcept { return false; }
        // The erased awaiter resumes the coroutine.
        bool await_suspend(worker_handle h) const { return what->suspend(h) != nullptr; }
        void await_resume() const noexcept {}
    };
    struct transfer_to {
        any_awaiter* what;
        explicit transfer_to(any_awaiter& a) noexcept : what(&a) {}
        bool await_ready() const noexcept { return false; }
        // The erased awaiter resumes the coroutine.
        std::coroutine_handle<> await_suspend(worker_handle h) const { return what->suspend(h); }
        void await_resume() const noexcept {}
    };
    // A local variable: a parameter would be destroyed behind the promise, whose environment the machine
    // uses.
    const std::unique_ptr<slot_machine> machine = std::move(given);
    machine->begin(*co_await my_env());
    while (any_awaiter* const next = machine->advance()) {
        if (next->uses_symmetric_transfer()) {
            transfer_to transfer(*next);
            co_await transfer;
        } else {
            wait_for wait(*next);
            co_await wait;
        }
    }
}

}  // namespace weir::detail

#endif
