// weir cuda, internal: submits work on a device to the reactor of a context, and awaits the end of the work
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_AWAITED_WORK_HPP
#define WEIR_CUDA_AWAITED_WORK_HPP

#include <weir/cuda/completion.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/env.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstdint>    // for std::int64_t
#include <memory>     // for std::shared_ptr
#include <stdexcept>  // for std::logic_error
#include <string>     // for std::string
#include <utility>    // for std::exchange, std::move

namespace weir::cuda::detail {

// Holds a reference to a completion (the record of a pending operation, completion.hpp). A ticket with an
// event of the context also holds this event, until the completion is submitted to the context's mailbox: to
// the reactor, which polls the device for the end of operations. An `awaited_work` constructs such a ticket
// before it queues the operation: if the constructor throws, no work is pending.
class ticket {
  public:
    // Errors: those of context_state::take_event(), and std::bad_alloc.
    ticket(context_state& of, completion::reaction then) : state_(of) {
        cudaEvent_t const event = of.take_event(of.events);
        try {
            completion_ = &completion::make(of.box(), event, then);
        } catch (...) {
            of.events.give(event);
            throw;
        }
    }
    // For an event that the caller owns and has recorded: the operation is queued already. The other
    // constructor may wait until the context's thread has created an event; this one never waits. So a
    // `completion::reaction` (called at the end of an operation) can make a ticket, even on that thread.
    ticket(context_state& of, cudaEvent_t recorded, completion::reaction then)
        : state_(of), completion_(&completion::make(of.box(), recorded, then)) {
        completion_->returns_event = false;
    }
    ticket(const ticket&) = delete;
    ticket& operator=(const ticket&) = delete;
    ~ticket() {
        if (completion_ == nullptr) return;
        if (!submitted_ && completion_->returns_event) state_.events.give(completion_->event);
        completion_->disown();
    }

    completion& get() const noexcept { return *completion_; }

    // Submits the completion, which ends when all work queued on the stream before the call is done. If
    // submit() throws, this work is done already: the call has waited for the stream.
    void submit(cudaStream_t stream, const weir::detail::slot* measured = nullptr) {
        const cudaError_t code = cudaEventRecord(completion_->event, stream);
        if (code != cudaSuccess) {
            state_.wait_for_stream(stream);
            state_.fail(code, "cudaEventRecord", measured);
        }
        completion& c = *completion_;
        c.on = stream;
        if (state_.uses_host_functions()) {
            c.own();
            c.has_host_function = without_last_error(cudaLaunchHostFunc(stream, &completion::on_host_function,
                                                                        &c)) == cudaSuccess;
            if (!c.has_host_function) c.disown();  // then the event is polled
        }
        submit_recorded([this, stream]() noexcept { state_.wait_for_stream(stream); });
    }

    // Submits the completion for an event that is recorded already. If the context is gone, calls `wait`,
    // which waits for the work before the event. Then submit_recorded() throws std::logic_error.
    template <class Wait>
    void submit_recorded(Wait wait) {
        completion_->own();
        submitted_ = state_.box()->put(*completion_);
        if (submitted_) return;
        completion_->disown();
        wait();
        throw_gone();
    }

    // Calls `queue`, which queues the work and may block, on a new thread, and submits the completion there.
    // An error of a CUDA call on the new thread becomes the completion's result. The completion ends when no
    // part of the work is pending any more. Errors: std::system_error if the thread can't be started;
    // std::bad_alloc; std::logic_error if the context is gone. After such an error `queue` is not called.
    template <class Queue>
    void submit_blocking(cudaStream_t stream, Queue queue) {
        completion& c = *completion_;
        c.own();  // one more owner: the reactor
        try {
            submitted_ = state_.threads.start([&of = state_, &c, stream, queue] {
                cudaError_t code = cudaSetDevice(of.device_index());
                const exempt_from_captures copying;  // these calls disturb no capture of a stream
                if (code == cudaSuccess) {
                    code = queue();
                    if (code == cudaSuccess) code = cudaEventRecord(c.event, stream);
                    if (code != cudaSuccess) of.wait_for_stream(stream);
                }
                if (code != cudaSuccess) {
                    if (ends_all_work(code)) of.set_broken(code);
                    of.events.give(std::exchange(c.event, nullptr));
                    c.returns_event = false;
                    c.result = code;
                }
                // The mailbox is open: the context waits for this thread before it closes the mailbox.
                static_cast<void>(of.box()->put(c));
            });
        } catch (...) {
            c.disown();
            throw;
        }
        if (submitted_) return;
        c.disown();
        throw_gone();
    }

    // Moves the reference to the caller, who calls disown() later.
    completion* keep() noexcept { return std::exchange(completion_, nullptr); }

  private:
    [[noreturn]] static void throw_gone() {
        throw std::logic_error(
            "weir: the weir::cuda::context of this stream was destroyed: nothing awaits its work any more; "
            "keep the context until everything that uses the device has ended");
    }

    context_state& state_;
    completion* completion_;
    bool submitted_ = false;  // the reactor has the completion, too
};

// Awaits an operation on a device. `Work` describes the operation, and has the members
//   begin(context_state&, ticket&, measured)  queues the operation, if there is anything to queue; submits
//                                             the ticket. `measured`: the awaiting slot (worker) of a stage,
//                                             or null;
//   on_host()                                 does the operation without a device;
//   call                                      the name of the CUDA function in an error message.
template <class Work>
class [[nodiscard("co_await this, or nothing is done")]] awaited_work {
  public:
    explicit awaited_work(std::shared_ptr<context_state> of, Work work) noexcept
        : state_(std::move(of)), work_(std::move(work)) {}
    awaited_work(const awaited_work&) = delete;
    awaited_work& operator=(const awaited_work&) = delete;

    // Blocks until the work is done if the coroutine is destroyed while it waits: the work may use objects in
    // the coroutine's frame.
    ~awaited_work() {
        if (completion_ == nullptr) return;
        completion_->waiting->leave_and_wait();
        completion_->disown();
    }

    bool await_ready() {
        if (!state_->on_host()) return false;
        work_.on_host();
        return true;
    }

    // Resumes on the coroutine's executor: the thread that finds the work done posts the coroutine. Returns
    // false if the work is done before this call returns: the coroutine continues at once.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        const weir::detail::coroutine_env env = weir::detail::env_of(h);
        if (env.measured != nullptr) stage_ = &env.measured->stage();
        executor& ex = weir::detail::executor_of(env);
        state_->check_device(env.measured);
        ticket t(*state_, [](completion& c) noexcept { c.waiting->answer(); });
        t.get().waiting.emplace(ex, env.measured, h);
        work_.begin(*state_, t, env.measured);
        if (completion_ != nullptr) completion_->disown();  // of an earlier co_await of the same object
        completion_ = t.keep();
        return completion_->waiting->wait();
    }

    void await_resume() const {
        if (completion_ == nullptr || completion_->result == cudaSuccess) return;
        throw error(completion_->result, work_.call, stage_ == nullptr ? std::string() : *stage_);
    }

    // Returns when the coroutine was posted, by its slot's clock; 0: not posted, or no slot. Called after a
    // suspension.
    std::int64_t ready_at() const noexcept { return completion_->waiting->ready_at(); }

  private:
    std::shared_ptr<context_state> state_;
    Work work_;
    const std::string* stage_ = nullptr;  // the name of the awaiting stage, for errors; null: none
    completion* completion_ = nullptr;    // of the last co_await; null: none yet
};

}  // namespace weir::cuda::detail

#endif
