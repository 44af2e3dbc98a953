// weir cuda: where memory of a device comes from, if not from the runtime
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_ALLOCATOR_HPP
#define WEIR_CUDA_DEVICE_ALLOCATOR_HPP

#include <weir/cuda/runtime.hpp>

#include <cstddef>  // for std::size_t

namespace weir::cuda {

/// Where memory of a device comes from, if not from the runtime: a framework's allocator, or places that are
/// there already. See `device_pool`.
///
/// Threads:  several at once call its members.
/// Lifetime: outlives all that was allocated by it.
class device_allocator {
  public:
    device_allocator(const device_allocator&) = delete;
    device_allocator& operator=(const device_allocator&) = delete;

    /// \param bytes  at least 1.
    /// \returns memory for what is queued on the stream from now on; null: there is none at the moment, and
    ///          it is asked for again when some has come back.
    /// Errors: what it throws fails the batch.
    [[nodiscard]] virtual void* allocate(std::size_t bytes, cudaStream_t s) = 0;

    /// Gives memory back that is done with when the stream has come to here, which may be another one than
    /// that for which it was allocated. It isn't captured. May be called by the context's thread.
    virtual void free(void* memory, std::size_t bytes, cudaStream_t s) noexcept = 0;

  protected:
    device_allocator() = default;
    ~device_allocator() = default;
};

}  // namespace weir::cuda

#endif
