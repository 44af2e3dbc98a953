// weir cuda, internal: makes the completion of an operation, and submits it to the reactor
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_TICKET_HPP
#define WEIR_CUDA_TICKET_HPP

#include <weir/cuda/completion.hpp>
#include <weir/cuda/core.hpp>
#include <weir/cuda/errand.hpp>
#include <weir/cuda/error.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/measure/slot.hpp>

#include <stdexcept>  // for std::logic_error
#include <utility>    // for std::exchange

namespace weir::cuda::detail {

// Holds a reference to a completion, and the completion's event until the completion is submitted.
// Constructed before the operation is queued, so that a failure to get either leaves no work pending.
class ticket {
  public:
    // Errors: those of the runtime, and std::bad_alloc. Nothing is queued yet.
    ticket(core& of, completion::reaction then) : core_(of) {
        cudaEvent_t const event = of.take_event(of.events);
        try {
            completion_ = &completion::make(of.box(), event, then);
        } catch (...) {
            of.events.give(event);
            throw;
        }
    }
    // For an event that the caller owns and has recorded. Makes no CUDA call, so that a reaction may use it.
    ticket(core& of, cudaEvent_t recorded, completion::reaction then)
        : core_(of), completion_(&completion::make(of.box(), recorded, then)) {
        completion_->returns_event = false;
    }
    ticket(const ticket&) = delete;
    ticket& operator=(const ticket&) = delete;
    ~ticket() {
        if (completion_ == nullptr) return;
        if (!submitted_ && completion_->returns_event) core_.events.give(completion_->event);
        completion_->disown();
    }

    completion& get() const noexcept { return *completion_; }

    // Submits the completion for all work queued on the stream. If it throws, that work is done.
    void submit(cudaStream_t stream, const weir::detail::slot* measured = nullptr) {
        const cudaError_t code = cudaEventRecord(completion_->event, stream);
        if (code != cudaSuccess) {
            core_.wait_for_stream(stream);
            core_.fail(code, "cudaEventRecord", measured);
        }
        completion& c = *completion_;
        if (core_.uses_host_functions()) {
            c.own();
            c.has_function = without_last_error(cudaLaunchHostFunc(stream, &completion::on_host_function,
                                                                   &c)) == cudaSuccess;
            if (!c.has_function) c.disown();  // then the event is polled
        }
        submit_recorded(stream);
    }

    // Submits the completion for an event that is recorded already. If it throws, the work on the stream is
    // done.
    void submit_recorded(cudaStream_t stream) {
        completion_->own();
        submitted_ = core_.box()->put(*completion_);
        if (submitted_) return;
        completion_->disown();
        core_.wait_for_stream(stream);
        throw_gone();
    }

    // Calls `queue`, which queues the work and may block, on a new thread, and submits the completion. An
    // error of `queue` is the result of the completion; it is reported when no part of the work is pending
    // any more.
    template <class Queue>
    void submit_blocking(cudaStream_t stream, Queue queue) {
        completion& c = *completion_;
        c.own();
        try {
            submitted_ = core_.threads.start([&of = core_, &c, stream, queue] {
                cudaError_t code = cudaSetDevice(of.device_index());
                const exempt_from_captures copying;
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
                static_cast<void>(of.box()->put(c));  // the context waits for this thread before it ends
            });
        } catch (...) {
            c.disown();
            throw;
        }
        if (submitted_) return;
        c.disown();
        throw_gone();
    }

    // Gives the reference to the caller.
    completion* keep() noexcept { return std::exchange(completion_, nullptr); }

  private:
    [[noreturn]] static void throw_gone() {
        throw std::logic_error(
            "weir: the weir::cuda::context of this stream was destroyed: nothing awaits its work any more; "
            "keep the context until everything that uses the device has ended");
    }

    core& core_;
    completion* completion_;
    bool submitted_ = false;
};

}  // namespace weir::cuda::detail

#endif
