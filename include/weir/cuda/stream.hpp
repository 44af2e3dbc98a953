// weir cuda: CUDA's streams and events, and copies between the host and a GPU, which can be awaited
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_STREAM_HPP
#define WEIR_CUDA_STREAM_HPP

#include <weir/cuda/awaited_work.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/runtime.hpp>

#include <concepts>  // for std::same_as
#include <cstddef>   // for std::size_t
#include <cstring>   // for std::memcpy
#include <memory>    // for std::shared_ptr
#include <span>      // for std::span
#include <utility>   // for std::move

namespace weir::cuda {

namespace detail {

// An event from the context's pool. The destructor returns the event to the pool, to be recorded again.
class pooled_event {
  public:
    // Errors: those of context_state::take_event().
    pooled_event(std::shared_ptr<context_state> of, bool timed)
        : state_(std::move(of)), timed_(timed),
          event_(state_->on_host() ? nullptr : state_->take_event(events())) {}
    pooled_event(const pooled_event&) = delete;
    pooled_event& operator=(const pooled_event&) = delete;
    ~pooled_event() {
        if (event_ != nullptr && state_->is_here()) events().give(event_);
    }

    cudaEvent_t get() const noexcept { return event_; }
    const std::shared_ptr<context_state>& of() const noexcept { return state_; }
    // True if the work before the event is done, the device is broken, or there is no device. False while the
    // work is pending, and for any other error of the query.
    bool is_over() const noexcept {
        if (event_ == nullptr) return true;
        const exempt_from_captures asking;
        const cudaError_t code = without_last_error(cudaEventQuery(event_));
        if (ends_all_work(code)) state_->set_broken(code);
        return code == cudaSuccess || ends_all_work(code);
    }

  private:
    event_pool& events() const noexcept { return timed_ ? state_->timed_events : state_->events; }

    std::shared_ptr<context_state> state_;
    bool timed_;  // the event records a time, and comes from `timed_events`
    cudaEvent_t event_;
};

// The operation of `event::done`: waits for a recorded event. The event is always polled: a host function
// would need a stream. The awaitable shares the event.
struct recorded_work {
    std::shared_ptr<pooled_event> event;
    static constexpr const char* call = "cudaEventQuery";
    void on_host() const noexcept {}
    void begin(context_state& of, ticket& t, const weir::detail::slot*) {
        completion& c = t.get();
        of.events.give(c.event);  // the ticket's own event, which is not needed
        c.event = event->get();
        c.returns_event = false;
        t.submit_recorded([this]() noexcept {
            const exempt_from_captures waiting;
            without_last_error(cudaEventSynchronize(event->get()));
        });
    }
};

// Waits for the work before the event. A function, as g++ 12 destroys a braced temporary in an awaited
// expression twice. Without a device `event` may be null.
inline auto until_over(std::shared_ptr<context_state> of, std::shared_ptr<pooled_event> event) {
    return awaited_work<recorded_work>(std::move(of), {std::move(event)});
}

// A cudaStream_t: owned, or borrowed from the user.
class stream_handle {
  public:
    stream_handle(std::shared_ptr<context_state> of, cudaStream_t borrowed) noexcept
        : state_(std::move(of)), stream_(borrowed) {}
    stream_handle(std::shared_ptr<context_state> of, int priority) : state_(std::move(of)) {
        if (state_->on_host()) return;
        const auto create = [&]() noexcept {
            return cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority);
        };
        state_->check_call(state_->call_on_context_thread(create), "cudaStreamCreateWithPriority");
        owned_ = true;
    }
    stream_handle(const stream_handle&) = delete;
    stream_handle& operator=(const stream_handle&) = delete;
    ~stream_handle() {
        if (!owned_) return;
        const exempt_from_captures destroying;
        without_last_error(cudaStreamDestroy(stream_));
    }

    cudaStream_t get() const noexcept { return stream_; }
    const std::shared_ptr<context_state>& of() const noexcept { return state_; }

  private:
    std::shared_ptr<context_state> state_;
    cudaStream_t stream_ = nullptr;
    bool owned_ = false;  // the stream is destroyed with this object
};

// The operation of `stream::done`: waits for all work that is queued on a stream.
struct stream_work {
    std::shared_ptr<stream_handle> stream;
    static constexpr const char* call = "cudaEventQuery";
    void on_host() const noexcept {}
    void begin(context_state& of, ticket& t, const weir::detail::slot* measured) const {
        of.check_not_captured(stream->get(), "cudaEventRecord", measured);
        t.submit(stream->get(), measured);
    }
};

}  // namespace detail

/// A point in a stream: `stream::record` records it, and `stream::wait` makes another stream wait for it.
///
/// Threads:  any. If a thread records an event while another one begins to wait for it, the wait is for the
///           old or the new point.
/// Lifetime: may be destroyed while a wait is pending.
/// Cost:     a copy of this object is the same event, and costs an atomic addition.
class event {
  public:
    /// Makes an event that is not recorded yet: a wait for it ends at once.
    /// Errors: `weir::cuda::error`.
    explicit event(context& gpu) : shared_(std::make_shared<detail::pooled_event>(gpu.shared(), false)) {}

    /// \returns  awaitable of nothing: waits for all work queued before the event was recorded the last time.
    /// Suspends: until the work is done; not in a context without a device. Resumes: on the coroutine's
    ///           executor. Events are polled, also with `completion_by::host_function`.
    /// Errors:   `weir::cuda::error` if the device breaks first, or if the event was recorded in a captured
    ///           stream; `std::logic_error` if the context is gone.
    [[nodiscard("co_await this, or nothing is done")]] auto done() const {
        return detail::until_over(shared_->of(), shared_);
    }

    /// \returns true if all work queued before the event is done, or the device is broken; false if work is
    ///          pending, or the query fails. Doesn't wait, and doesn't change the runtime's last error.
    [[nodiscard]] bool ready() const noexcept { return shared_->is_over(); }

    [[nodiscard]] cudaEvent_t get() const noexcept { return shared_->get(); }  ///< null without a device

  private:
    std::shared_ptr<detail::pooled_event> shared_;
};

/// A CUDA stream: a queue of copies and kernels that a GPU runs one after the other.
///
/// Threads:  any; a copy of a stream is the same stream.
/// Lifetime: a borrowed stream must outlive this object, its copies, and everything that waits for it. An
///           owned stream is destroyed with its last copy; queued work is still done.
/// Cost:     a copy of this object costs an atomic addition.
class stream {
  public:
    /// Makes a stream that doesn't wait for the default stream (`cudaStreamNonBlocking`).
    /// \param priority  as in CUDA: lower numbers go first.
    /// Errors: `weir::cuda::error`.
    explicit stream(context& gpu, int priority = 0)
        : shared_(std::make_shared<detail::stream_handle>(gpu.shared(), priority)) {}

    /// Borrows a stream of the context's device; not `cudaStreamPerThread`, which each thread has its own of.
    /// The default stream may be borrowed only if the device is current in all threads that use the stream.
    stream(context& gpu, cudaStream_t borrowed)
        : shared_(std::make_shared<detail::stream_handle>(gpu.shared(), borrowed)) {}

    /// Borrows the stream that `borrowed.get()` returns, such as that of CCCL's `cuda::stream_ref`.
    template <class Ref>
        requires requires(const Ref& r) {
            { r.get() } -> std::same_as<cudaStream_t>;
        }
    stream(context& gpu, const Ref& borrowed) : stream(gpu, borrowed.get()) {}

    [[nodiscard]] cudaStream_t get() const noexcept { return shared_->get(); }  ///< null without a device

    /// \returns  awaitable of nothing: waits for all work that is queued before the `co_await`.
    /// Suspends: until the work is done; not in a context without a device.
    /// Resumes:  on the coroutine's executor; posted by an idle thread of the executor or by the context's
    ///           thread, never by the driver's.
    /// Errors:   `weir::cuda::error` if the device breaks first, with the error that broke it, or if the
    ///           stream is captured into a graph; `std::logic_error` if the context is gone.
    /// Stops:    a stop doesn't end the wait: queued work can't be cancelled. Destroying a coroutine that
    ///           waits blocks until the work is done.
    /// Cost:     no allocation in the long run; about 0.3 us of CUDA calls, and the context's polling until
    ///           the work is done.
    [[nodiscard("co_await this, or nothing is done")]] auto done() const {
        return detail::awaited_work<detail::stream_work>(shared_->of(), {shared_});
    }

    /// Records the event behind all queued work. Errors: `weir::cuda::error`, also if the stream is captured.
    void record(event& e) const {
        if (shared_->of()->on_host()) return;
        shared_->of()->check_not_captured(get(), "cudaEventRecord");
        shared_->of()->check_call(cudaEventRecord(e.get(), get()), "cudaEventRecord");
    }

    /// Work that is queued from now on waits for the event, on the device. Errors: those of `record`. In a
    /// context without a device, `record` and `wait` do nothing.
    void wait(const event& e) const {
        if (shared_->of()->on_host()) return;
        shared_->of()->check_not_captured(get(), "cudaStreamWaitEvent");
        shared_->of()->check_call(cudaStreamWaitEvent(get(), e.get(), 0), "cudaStreamWaitEvent");
    }

    /// \returns the state that all copies share. For other headers of weir only.
    [[nodiscard]] const std::shared_ptr<detail::stream_handle>& shared() const noexcept { return shared_; }

  private:
    std::shared_ptr<detail::stream_handle> shared_;
};

namespace detail {

struct copy_work {  // the operation of `copy`, for one copy
    std::shared_ptr<stream_handle> stream;
    piece what;
    static constexpr const char* call = "cudaMemcpyAsync";

    void on_host() const noexcept {
        if (what.bytes != 0) std::memcpy(what.to, what.from, what.bytes);
    }
    void begin(context_state& of, ticket& t, const weir::detail::slot* measured) const {
        of.check_not_captured(stream->get(), call, measured);
        const auto queue = [what = what, s = stream->get()]() noexcept {
            return cudaMemcpyAsync(what.to, what.from, what.bytes, cudaMemcpyDefault, s);
        };
        t.get().bytes = what.bytes;
        if (may_block(what)) return t.submit_blocking(stream->get(), queue);
        of.check_call(queue(), call, measured);
        t.submit(stream->get(), measured);
    }
};

struct copies_work {  // the operation of `copy`, for several copies
    std::shared_ptr<stream_handle> stream;
    std::span<const piece> pieces;
    static constexpr const char* call = "cudaMemcpyBatchAsync";

    void on_host() const noexcept {
        for (const piece& p : pieces) copy_work{{}, p}.on_host();
    }
    void begin(context_state& of, ticket& t, const weir::detail::slot* measured) const {
        of.check_not_captured(stream->get(), call, measured);
        const auto queue = [all = pieces, s = stream->get()]() noexcept {
            try {
                return copy_all(all, s);
            } catch (...) {
                return cudaErrorMemoryAllocation;  // no host memory for the list of copies
            }
        };
        for (const piece& p : pieces) {
            if (may_block(p)) return t.submit_blocking(stream->get(), queue);
            t.get().bytes += p.bytes;
        }
        const cudaError_t code = queue();
        if (code != cudaSuccess) {
            of.wait_for_stream(stream->get());  // some of the copies may be pending
            of.fail(code, call, measured);
        }
        t.submit(stream->get(), measured);
    }
};

}  // namespace detail

/// Queues a copy of `bytes` bytes on the stream. `from` and `to` are memory of the host or of the device.
///
/// \returns  awaitable of nothing.
/// Suspends: until the copy is done; not in a context without a device, which copies at once. The device
///           copies page-locked host memory, as that of a `pinned_pool`, by itself and at its full rate. For
///           ordinary host memory, and from host to host, the runtime may block until the copy is done: a
///           new thread makes such a call, so that no worker blocks.
/// Resumes:  on the coroutine's executor. `channel` says which this is for a coroutine of another library.
/// Errors:   `weir::cuda::error`: then no copy is pending. `std::logic_error` if the context is gone.
///           `std::system_error` if a thread is needed, and can't be started.
/// Stops:    see `stream::done`.
/// Lifetime: both pieces of memory until the copy is done.
/// Cost:     that of `stream::done`, and two queries of the kind of memory; a call that may block also costs
///           a thread, some 30 us.
[[nodiscard("co_await this, or nothing is done")]] inline auto copy(const stream& s, void* to,
                                                                    const void* from, std::size_t bytes) {
    return detail::awaited_work<detail::copy_work>(s.shared()->of(), {s.shared(), {to, from, bytes}});
}

/// The same as `copy` above, for many small copies. The pieces of memory must not overlap. From toolkit and
/// driver 12.8 on, one call of the runtime queues all copies. With older ones, and on the default stream,
/// each copy is a call.
/// Lifetime: the list of pieces, and the memory of each, until the copies are done.
[[nodiscard("co_await this, or nothing is done")]] inline auto copy(const stream& s,
                                                                    std::span<const piece> pieces) {
    return detail::awaited_work<detail::copies_work>(s.shared()->of(), {s.shared(), pieces});
}

}  // namespace weir::cuda

#endif
