// weir cuda: an array in device memory, which is freed behind the work of its consumer
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_BUFFER_HPP
#define WEIR_CUDA_DEVICE_BUFFER_HPP

#include <weir/cuda/device_memory.hpp>
#include <weir/cuda/stream.hpp>

#include <cstddef>  // for std::size_t
#include <utility>  // for std::move

namespace weir::cuda {

/// An array in device memory: the result of `to_device`, whose copy may be pending.
///
///     batch.hand_over(training);                   // later work of the stream waits for the copy
///     train<<<grid, block, 0, training.get()>>>(batch.data(), batch.size());
///     }                                            // freed when the kernel is done
///
/// Lifetime: the memory is freed in the order of the stream that it was handed over to, behind all work
///           queued there before the destruction. So no copy overwrites memory that a kernel of this stream
///           still reads. For work on another stream, keep this object until that work is done. Without
///           `hand_over` the memory is freed behind the copy. If the stream is captured into a graph at the
///           destruction, the memory is freed after the capture; or never, if the context ends before. Keep
///           this object as long as a graph uses its address. May outlive its context and pool, but not a
///           borrowed stream, nor a capture of such a stream.
/// Threads:  as a `std::vector`.
template <class T>
class device_buffer {
  public:
    /// For `to_device` and `device_pool`.
    explicit device_buffer(detail::device_memory memory) noexcept : memory_(std::move(memory)) {}

    /// \returns the address of the first element: on the device, or, in a context without a device, on the
    ///          host.
    [[nodiscard]] T* data() const noexcept { return static_cast<T*>(memory_.data()); }
    [[nodiscard]] std::size_t size() const noexcept { return memory_.bytes() / sizeof(T); }  ///< in elements
    [[nodiscard]] std::size_t size_bytes() const noexcept { return memory_.bytes(); }        ///< in bytes
    [[nodiscard]] bool on_device() const noexcept { return memory_.on_device(); }  ///< or on the host

    /// Makes work that is queued on `consumer` from now on wait for the copy, on the device; the memory is
    /// freed behind that work. The host doesn't wait. After a second call, work of the second consumer also
    /// waits for the work that the first one has queued; the first one must not queue more work that uses the
    /// batch.
    /// Errors: `weir::cuda::error`; `std::invalid_argument` for a stream of another GPU.
    void hand_over(const stream& consumer) { memory_.hand_over(consumer); }

    /// \returns  awaitable of nothing: waits until the copy is done; for memory of a `device_pool`, until all
    ///           work queued on its stream is done.
    /// Suspends: always, except on the host. Resumes: on the coroutine's executor. Errors: those of
    ///           `event::done`.
    [[nodiscard("co_await this, or nothing is done")]] auto copied() const { return memory_.filled(); }

    /// \returns the memory. For other headers of weir only.
    [[nodiscard]] detail::device_memory release() && noexcept { return std::move(memory_); }

  private:
    detail::device_memory memory_;
};

}  // namespace weir::cuda

#endif
