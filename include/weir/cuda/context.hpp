// weir cuda: a GPU in use, and the thread that resumes coroutines that wait for it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_CONTEXT_HPP
#define WEIR_CUDA_CONTEXT_HPP

#include <weir/cuda/core.hpp>
#include <weir/cuda/device.hpp>
#include <weir/cuda/errand.hpp>
#include <weir/cuda/reactor.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/executor/pool_threads.hpp>

#include <memory>   // for std::shared_ptr
#include <utility>  // for std::move

namespace weir::cuda {

/// A GPU in use, and the thread that resumes coroutines that wait for the GPU. Streams, events and pools are
/// made from a context.
///
///     weir::cuda::context gpu;                     // the GPU of this process's rank
///     weir::cuda::stream stream(gpu);
///     co_await weir::cuda::copy(stream, device_memory, host_memory, bytes);
///
/// Errors:   `weir::cuda::error` if there is no such device or no driver, unless `context_options::or_host`
///           is set. `std::system_error` if no thread can be started.
/// Ends:     the destructor waits for all work that is awaited, and all coroutines that wait are resumed. In
///           a forked process, where no GPU works, the destructor returns at once, and waits throw
///           `forked_error`.
/// Lifetime: outlives all waits. Objects made from the context may outlive it, but can't be awaited then.
/// Threads:  any.
/// Watchdog: each wait counts as an `external_wait`. Not on virtual time, which has no waits for events
///           outside.
/// Cost:     a thread; it sleeps while no work is awaited.
///
/// After an error that breaks the device (`status`), each pending wait, and each wait that begins later,
/// throws that error.
///
/// While a thread captures a stream into a graph, the context continues, and does the capture no harm. All
/// functions of weir refuse the captured stream with an error, before they put anything into the graph. A
/// capture must not begin while another thread queues work on the stream.
class context {
  public:
    /// On the device of `device::from_environment()`.
    explicit context(context_options options = {}) : context(device::from_environment(), options) {}
    context(device d, context_options options = {}) : core_(std::make_shared<detail::core>(d, options)) {
        if (core_->on_host()) return;
        thread_.set(1, [core = core_.get(), options](unsigned) {
            core->choose_device();
            const detail::exempt_from_captures asking;
            detail::reactor(*core->box(), core->events, core->broken, options).run();
        });
        try {
            core_->make_ready();
        } catch (...) {
            end();
            throw;
        }
    }
    context(const context&) = delete;
    context& operator=(const context&) = delete;
    ~context() { end(); }

    /// \returns true if there is no device, and the host does the work: streams then do all work at once, and
    ///          device memory is ordinary memory.
    [[nodiscard]] bool on_host() const noexcept { return core_->on_host(); }

    /// \returns `cudaSuccess`, or the error that broke the device: a sticky error, or one that says that the
    ///          device was reset or the process ends.
    [[nodiscard]] cudaError_t status() const noexcept { return core_->broken.get(); }

    /// \returns `cudaSuccess`, or the last error of a query whether work is done. The query is repeated until
    ///          it succeeds; meanwhile the waits continue.
    [[nodiscard]] cudaError_t refusal() const noexcept { return core_->broken.refusal(); }

    [[nodiscard]] int device_index() const noexcept { return core_->device_index(); }  ///< as it was given

    /// \returns the state that all objects made from the context share. For other headers of weir only.
    [[nodiscard]] const std::shared_ptr<detail::core>& shared() const noexcept { return core_; }

  private:
    void end() noexcept {
        if (thread_.are_elsewhere()) return thread_.join();
        core_->threads.end();
        core_->box()->ask_to_end();
        thread_.join();
    }

    std::shared_ptr<detail::core> core_;
    weir::detail::basic_pool_threads<> thread_{"weir cuda"};
};

}  // namespace weir::cuda

#endif
