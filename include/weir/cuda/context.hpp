// weir cuda: a GPU in use, and the thread that resumes those who wait for it
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

/// A GPU in use, and the thread that resumes those who wait for it. Streams, events and pools are made from
/// it.
///
///     weir::cuda::context gpu;                     // the one of this process's rank
///     weir::cuda::stream stream(gpu);
///     co_await weir::cuda::copy(stream, device_memory, host_memory, bytes);
///
/// Errors:   `weir::cuda::error` if there is no such device, or no driver; unless
///           `context_options::or_host` says that the host shall do the work. `std::system_error` if no
///           thread can be started.
/// Ends:     the destructor waits for all work that is awaited, and everybody is resumed. In a forked
///           process, where nothing of a GPU works, it returns at once, and what would wait throws
///           `forked_error`.
/// Lifetime: outlives all awaiting. What was made from it may outlive it, but nothing can be awaited then.
/// Threads:  any.
/// Watchdog: each wait counts as an `external_wait`. Virtual time knows of nothing outside: no waits there.
/// Cost:     a thread; it sleeps while nobody waits for the device.
///
/// After an error that breaks the device (`status`), everybody who waits gets that error, once, and so
/// does everybody who begins to.
///
/// While some thread captures a stream into a graph, all this goes on and does the capture no harm. That very
/// stream is refused by everything here, with an error and before anything is put into the graph; a capture
/// isn't to begin while another thread puts something into the stream.
class context {
  public:
    /// On the device of `device::from_environment()`.
    explicit context(context_options options = {}) : context(device::from_environment(), options) {}
    context(device d, context_options options = {}) : core_(std::make_shared<detail::core>(d, options)) {
        if (core_->on_host()) return;
        thread_.set(1, [core = core_.get(), options](unsigned) {
            core->choose_device();
            const detail::beside_captures asking;
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

    /// \returns true if there is no device, and the host does the work: streams then do what they are told
    ///          at once, and what is on the device lies in ordinary memory.
    [[nodiscard]] bool on_host() const noexcept { return core_->on_host(); }

    /// \returns `cudaSuccess`, or the error that broke the device: a sticky one, or one that says that
    ///          somebody has reset it, or that the process ends.
    [[nodiscard]] cudaError_t status() const noexcept { return core_->broken.get(); }

    /// \returns `cudaSuccess`, or what the runtime said last instead of whether work is done. It is asked
    ///          again until it says; who waits goes on waiting, as nobody else can know.
    [[nodiscard]] cudaError_t refusal() const noexcept { return core_->broken.refusal(); }

    [[nodiscard]] int device_index() const noexcept { return core_->device_index(); }  ///< as it was given

    /// \returns what everything shares that is made from it: for what is built on it, and nobody else.
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
