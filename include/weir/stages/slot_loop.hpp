// weir stages, internal: the coroutine of every worker
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SLOT_LOOP_HPP
#define WEIR_STAGES_SLOT_LOOP_HPP

#include <weir/platform/env.hpp>
#include <weir/stages/any_awaiter.hpp>
#include <weir/task/detached_task.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <memory>     // for std::unique_ptr

namespace weir::detail {

// The work of one slot: a state machine that returns whenever it has to wait.
class slot_machine {
  public:
    virtual ~slot_machine() = default;
    // Called once, before all else, on the stage's executor.
    virtual void begin(coroutine_env& env) noexcept = 0;
    // Goes on until the worker has to wait; then what for. It is called again when that has come. Null: the
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

// The coroutine of a worker. It owns the machine, which goes before the end of the coroutine is told.
inline detached_task<void> run_machine(std::unique_ptr<slot_machine> machine) {
    struct wait_for {
        any_awaiter* what;
        explicit wait_for(any_awaiter& a) noexcept : what(&a) {}
        bool await_ready() const noexcept { return false; }
        // Resumed as the erased awaiter resumes.
        bool await_suspend(worker_handle h) const { return what->suspend(h) != nullptr; }
        void await_resume() const noexcept {}
    };
    struct transfer_to {
        any_awaiter* what;
        explicit transfer_to(any_awaiter& a) noexcept : what(&a) {}
        bool await_ready() const noexcept { return false; }
        // Resumed as the erased awaiter resumes.
        std::coroutine_handle<> await_suspend(worker_handle h) const { return what->suspend(h); }
        void await_resume() const noexcept {}
    };
    machine->begin(*co_await my_env());
    while (any_awaiter* const next = machine->advance()) {
        if (next->transfers()) {
            transfer_to transfer(*next);
            co_await transfer;
        } else {
            wait_for wait(*next);
            co_await wait;
        }
    }
    machine.reset();
}

}  // namespace weir::detail

#endif
