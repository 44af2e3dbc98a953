// weir cuda: memory on a GPU with what was copied there, which is freed when its consumer is done
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_BUFFER_HPP
#define WEIR_CUDA_DEVICE_BUFFER_HPP

#include <weir/cuda/device_memory.hpp>
#include <weir/cuda/stream.hpp>

#include <cstddef>  // for std::size_t
#include <utility>  // for std::move

namespace weir::cuda {

/// Memory on a GPU with a batch in it, or on its way there: what `to_device` gives.
///
///     batch.hand_over(training);                   // on the device: what follows waits for the copy
///     train<<<grid, block, 0, training.get()>>>(batch.data(), batch.size());
///     }                                            // freed when that is done
///
/// Lifetime: it is freed in the order of the stream that it was handed over to, behind all that was queued
///           there before this object went. So no copy ever lands in memory that a kernel of that stream
///           still reads. Of a stream that it was not handed over to, nothing is known here: whoever uses it
///           on one keeps this object until that work is done. Without `hand_over` it is freed behind the
///           copy. If that stream is captured into a graph when this object goes, it is freed when that has
///           ended, behind what was queued before; or not at all, if the context ends first. A graph that
///           uses its address needs this object. May outlive everything that it came from, but not a stream
///           that was borrowed, nor a capture of that one.
/// Threads:  as a `std::vector`.
template <class T>
class device_buffer {
  public:
    /// For who fills it: `to_device`, `device_pool`.
    explicit device_buffer(detail::device_memory memory) noexcept : memory_(std::move(memory)) {}

    /// \returns where it lies: on the device, or, in a context without one, on the host.
    [[nodiscard]] T* data() const noexcept { return static_cast<T*>(memory_.data()); }
    [[nodiscard]] std::size_t size() const noexcept { return memory_.bytes() / sizeof(T); }  ///< in elements
    [[nodiscard]] std::size_t size_bytes() const noexcept { return memory_.bytes(); }        ///< in bytes
    [[nodiscard]] bool on_device() const noexcept { return memory_.on_device(); }  ///< or on the host

    /// What is queued on `consumer` from now on waits for the copy, on the device, and the memory is freed
    /// behind it. The host waits for nothing. A second consumer's work waits for what the first one has
    /// queued, too: the first one is to queue nothing more that uses the batch.
    /// Errors: `weir::cuda::error`; `std::invalid_argument` for a stream of another GPU.
    void hand_over(const stream& consumer) { memory_.hand_over(consumer); }

    /// \returns  awaitable of nothing: the copy is done; of memory of a `device_pool`, all that is queued on
    ///           its stream.
    /// Suspends: always, but on the host. Resumes: on the coroutine's executor. Errors: as of `event::done`.
    [[nodiscard("co_await this, or nothing is done")]] auto copied() const { return memory_.filled(); }

    /// \returns what is behind it: for what is built on it, and nobody else.
    [[nodiscard]] detail::device_memory release() && noexcept { return std::move(memory_); }

  private:
    detail::device_memory memory_;
};

}  // namespace weir::cuda

#endif
