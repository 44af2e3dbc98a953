// weir cuda: a point in a stream that can be awaited, by coroutines and by other streams
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_EVENT_HPP
#define WEIR_CUDA_EVENT_HPP

#include <weir/cuda/awaited_work.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/device.hpp>
#include <weir/cuda/error.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/ticket.hpp>

#include <memory>   // for std::shared_ptr
#include <utility>  // for std::move

namespace weir::cuda {

namespace detail {

// An event from the context's pool. The destructor returns the event to the pool, to be recorded again.
class pooled_event {
  public:
    // Errors: `weir::cuda::error`.
    pooled_event(std::shared_ptr<core> of, bool timed)
        : core_(std::move(of)), timed_(timed),
          event_(core_->on_host() ? nullptr : core_->take_event(events())) {}
    pooled_event(const pooled_event&) = delete;
    pooled_event& operator=(const pooled_event&) = delete;
    ~pooled_event() {
        if (event_ != nullptr) events().give(event_);
    }

    cudaEvent_t get() const noexcept { return event_; }
    const std::shared_ptr<core>& of() const noexcept { return core_; }

    // True if the work before the event is done, or the device is broken. False for any other error of the
    // query.
    bool is_over() const noexcept {
        if (event_ == nullptr) return true;
        const exempt_from_captures asking;
        const cudaError_t code = without_last_error(cudaEventQuery(event_));
        if (ends_all_work(code)) core_->set_broken(code);
        return code == cudaSuccess || ends_all_work(code);
    }

  private:
    event_pool& events() const noexcept { return timed_ ? core_->timed_events : core_->events; }

    std::shared_ptr<core> core_;
    bool timed_;
    cudaEvent_t event_;
};

// The operation of `event::done`: waits for a recorded event. The event is always polled: a host function
// would need a stream. The awaitable owns the event.
struct recorded_work {
    std::shared_ptr<pooled_event> event;
    static constexpr const char* call = "cudaEventQuery";

    void on_host() const noexcept {}
    void begin(core& of, ticket& t, const weir::detail::slot*) {
        completion& c = t.get();
        of.events.give(c.event);
        c.event = event->get();
        c.returns_event = false;
        t.submit_recorded(nullptr);
    }
};

// A function, as g++ 12 destroys a braced temporary in an awaited expression twice. Without a device `event`
// may be null.
inline awaited_work<recorded_work> until_over(std::shared_ptr<core> of, std::shared_ptr<pooled_event> event) {
    return awaited_work<recorded_work>(std::move(of), {std::move(event)});
}

}  // namespace detail

/// A point in a stream: `stream::record` records it, and `stream::wait` makes another stream wait for it.
///
/// Threads:  any. If one thread records an event while another one begins to wait for it, the wait is for the
///           old point or for the new one.
/// Lifetime: may be destroyed while a wait is pending.
/// Cost:     of a copy, an atomic addition; a copy is the same event.
class event {
  public:
    /// An event that is not recorded yet: waits end at once.
    /// Errors: `weir::cuda::error`.
    explicit event(context& gpu) : shared_(std::make_shared<detail::pooled_event>(gpu.shared(), false)) {}

    /// \returns  awaitable of nothing: waits for all work queued before the event was recorded the last time.
    /// Suspends: always, except in a context without a device, where all work is done at once. Events are
    ///           polled, also with `completion_by::host_function`.
    /// Resumes:  on the coroutine's executor.
    /// Errors:   `weir::cuda::error` if the device is broken; `std::logic_error` without an executor, or if
    ///           the context is gone.
    [[nodiscard("co_await this, or nothing is done")]] auto done() const {
        return detail::until_over(shared_->of(), shared_);
    }

    /// \returns true if all work queued before the event is done, or the device is broken; false otherwise,
    ///          or if the query fails. Doesn't wait, and doesn't change the last error of the runtime.
    [[nodiscard]] bool ready() const noexcept { return shared_->is_over(); }

    [[nodiscard]] cudaEvent_t get() const noexcept { return shared_->get(); }  ///< null without a device

  private:
    std::shared_ptr<detail::pooled_event> shared_;
};

}  // namespace weir::cuda

#endif
