// weir cuda: a row of work on a GPU whose end can be awaited
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_STREAM_HPP
#define WEIR_CUDA_STREAM_HPP

#include <weir/cuda/awaited_work.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/event.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/ticket.hpp>

#include <concepts>  // for std::same_as
#include <memory>    // for std::shared_ptr
#include <utility>   // for std::move

namespace weir::cuda {

namespace detail {

// The runtime's stream; its own, or somebody else's.
class stream_handle {
  public:
    stream_handle(std::shared_ptr<core> of, cudaStream_t borrowed) noexcept
        : core_(std::move(of)), stream_(borrowed) {}
    stream_handle(std::shared_ptr<core> of, int priority) : core_(std::move(of)) {
        if (core_->on_host()) return;
        const auto create = [&]() noexcept {
            return cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority);
        };
        core_->check_call(core_->call_there(create), "cudaStreamCreateWithPriority");
        owned_ = true;
    }
    stream_handle(const stream_handle&) = delete;
    stream_handle& operator=(const stream_handle&) = delete;
    ~stream_handle() {
        if (!owned_) return;
        const beside_captures destroying;
        quietly(cudaStreamDestroy(stream_));
    }

    cudaStream_t get() const noexcept { return stream_; }
    const std::shared_ptr<core>& of() const noexcept { return core_; }

  private:
    std::shared_ptr<core> core_;
    cudaStream_t stream_ = nullptr;
    bool owned_ = false;
};

// All that is queued on a stream.
struct stream_work {
    std::shared_ptr<stream_handle> stream;
    static constexpr const char* call = "cudaEventQuery";

    void on_host() const noexcept {}
    void begin(core& of, ticket& t, const weir::detail::slot* measured) const {
        of.check_not_captured(stream->get(), "cudaEventRecord", measured);
        t.submit(stream->get(), measured);
    }
};

}  // namespace detail

/// A row of work on a GPU: copies and kernels that are done one after the other.
///
/// Threads:  any; a copy of a stream is the same stream.
/// Lifetime: one that was borrowed is there as long as this, and as anything that waits for it. One that is
///           owned goes with its last copy; what is queued is done even so.
/// Cost:     copying it, an atomic addition.
class stream {
  public:
    /// One of its own, which waits for no other (`cudaStreamNonBlocking`).
    /// \param priority  as CUDA has it: lower numbers go first.
    /// Errors: `weir::cuda::error`.
    explicit stream(context& gpu, int priority = 0)
        : shared_(std::make_shared<detail::stream_handle>(gpu.shared(), priority)) {}

    /// Somebody else's stream, of the context's device. Not `cudaStreamPerThread`, which is another stream in
    /// each thread; and the default one only where the device is the current one of all threads that use it.
    stream(context& gpu, cudaStream_t borrowed)
        : shared_(std::make_shared<detail::stream_handle>(gpu.shared(), borrowed)) {}

    /// The same of what has a stream: CCCL's `cuda::stream_ref`, and what is like it.
    template <class Ref>
        requires requires(const Ref& r) {
            { r.get() } -> std::same_as<cudaStream_t>;
        }
    stream(context& gpu, const Ref& borrowed) : stream(gpu, borrowed.get()) {}

    [[nodiscard]] cudaStream_t get() const noexcept { return shared_->get(); }  ///< to queue work with

    /// \returns  awaitable of nothing: all that is queued when it is awaited is done.
    /// Suspends: always, but in a context without a device.
    /// Resumes:  on the coroutine's executor; a post by the context's thread, never by the driver's.
    /// Errors:   `weir::cuda::error` if the device breaks before that, with the error that broke it, or if
    ///           the stream is captured into a graph; `std::logic_error` if the context is gone.
    /// Stops:    work that is queued can't be called back. A coroutine that is destroyed while it waits
    ///           blocks the thread that destroys it until the work is done.
    /// Cost:     no allocation in the long run; about 0.3 us of calls of the runtime, and the context's
    ///           looks until it is done.
    [[nodiscard("co_await this, or nothing is done")]] auto done() const {
        return detail::awaited_work<detail::stream_work>(shared_->of(), {shared_});
    }

    /// Sets an event behind all that is queued. Errors: `weir::cuda::error`.
    void record(event& e) const {
        if (shared_->of()->on_host()) return;
        shared_->of()->check_not_captured(get(), "cudaEventRecord");
        shared_->of()->check_call(cudaEventRecord(e.get(), get()), "cudaEventRecord");
    }

    /// What is queued from now on waits for the event, on the device. Errors: `weir::cuda::error`.
    void wait(const event& e) const {
        if (shared_->of()->on_host()) return;
        shared_->of()->check_not_captured(get(), "cudaStreamWaitEvent");
        shared_->of()->check_call(cudaStreamWaitEvent(get(), e.get(), 0), "cudaStreamWaitEvent");
    }

    /// \returns what its copies share: for what is built on it, and nobody else.
    [[nodiscard]] const std::shared_ptr<detail::stream_handle>& shared() const noexcept { return shared_; }

  private:
    std::shared_ptr<detail::stream_handle> shared_;
};

}  // namespace weir::cuda

#endif
