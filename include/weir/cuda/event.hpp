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

// An event from the context's pool. It goes back when nobody uses it any more, and is recorded anew then.
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

    // True if all that it stands for is done, or the device is broken. What else the runtime may say instead
    // of an answer is no end.
    bool is_over() const noexcept {
        if (event_ == nullptr) return true;
        const beside_captures asking;
        const cudaError_t code = quietly(cudaEventQuery(event_));
        if (ends_all_work(code)) core_->breaks(code);
        return code == cudaSuccess || ends_all_work(code);
    }

  private:
    event_pool& events() const noexcept { return timed_ ? core_->timed_events : core_->events; }

    std::shared_ptr<core> core_;
    bool timed_;
    cudaEvent_t event_;
};

// An event that was recorded, awaited. Nobody but the poller tells of it: a host function would need a
// stream of its own. Who awaits it keeps the event.
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

// A function: g++ 12 destroys twice what is made by braces inside of an awaited expression.
// In a context without a device the event may be null.
inline awaited_work<recorded_work> until_over(std::shared_ptr<core> of, std::shared_ptr<pooled_event> event) {
    return awaited_work<recorded_work>(std::move(of), {std::move(event)});
}

}  // namespace detail

/// A point in a stream: `stream::record` sets it, `stream::wait` lets another stream wait for it.
///
/// Threads:  any; recording one while somebody begins to wait for it is a race for which of the two points
///           is meant.
/// Lifetime: may be destroyed while it is waited for.
/// Cost:     copying it, an atomic addition; a copy is the same event.
class event {
  public:
    /// Not recorded yet: nobody waits for it.
    /// Errors: `weir::cuda::error`.
    explicit event(context& gpu) : shared_(std::make_shared<detail::pooled_event>(gpu.shared(), false)) {}

    /// \returns  awaitable of nothing: all that was queued before the event was last recorded is done.
    /// Suspends: always, but in a context without a device, where everything is done at once. It is polled,
    ///           also where the driver tells of streams.
    /// Resumes:  on the coroutine's executor.
    /// Errors:   `weir::cuda::error` if the device is broken; `std::logic_error` without an executor, or if
    ///           the context is gone.
    [[nodiscard("co_await this, or nothing is done")]] auto done() const {
        return detail::until_over(shared_->of(), shared_);
    }

    /// \returns true if all that was queued before it is done, or the device is broken; false if not, or if
    ///          the runtime doesn't say. Doesn't wait, and leaves no error of the runtime behind.
    [[nodiscard]] bool ready() const noexcept { return shared_->is_over(); }

    [[nodiscard]] cudaEvent_t get() const noexcept { return shared_->get(); }  ///< null without a device

  private:
    std::shared_ptr<detail::pooled_event> shared_;
};

}  // namespace weir::cuda

#endif
