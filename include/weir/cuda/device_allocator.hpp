// weir cuda: the interface of an allocator of device memory that is not the runtime's
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_ALLOCATOR_HPP
#define WEIR_CUDA_DEVICE_ALLOCATOR_HPP

#include <weir/cuda/runtime.hpp>

#include <cstddef>  // for std::size_t

namespace weir::cuda {

/// An allocator of device memory that a `device_pool` uses instead of the runtime: a framework's allocator,
/// or memory that exists already.
///
/// Threads:  several threads call the members at once.
/// Lifetime: outlives all memory allocated by it.
class device_allocator {
  public:
    device_allocator(const device_allocator&) = delete;
    device_allocator& operator=(const device_allocator&) = delete;

    /// \param bytes  at least 1.
    /// \returns memory for work that is queued on the stream from now on. Null: too little is free now; the
    ///          function is called again when memory was freed.
    /// Errors: an exception fails the batch.
    [[nodiscard]] virtual void* allocate(std::size_t bytes, cudaStream_t s) = 0;

    /// Frees memory behind the work that is queued on the stream. This may be another stream than that of the
    /// allocation. It is not captured. May be called by the context's thread.
    virtual void free(void* memory, std::size_t bytes, cudaStream_t s) noexcept = 0;

  protected:
    device_allocator() = default;
    ~device_allocator() = default;
};

}  // namespace weir::cuda

#endif
