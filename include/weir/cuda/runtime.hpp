// weir cuda: the CUDA runtime, and where its versions differ
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_RUNTIME_HPP
#define WEIR_CUDA_RUNTIME_HPP

#include <weir/platform/requirements.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>  // for std::size_t
#include <span>     // for std::span
#include <vector>   // for std::vector

namespace weir::cuda {

/// One copy of several that are queued together. Lifetime: both pieces of memory until the copy is done.
struct piece {
    void* to;           ///< on the host or the device
    const void* from;   ///< on the host or the device
    std::size_t bytes;  ///< how many; if 0, nothing is copied, and the addresses are not used
};

namespace detail {

inline cudaError_t copy_one_by_one(std::span<const piece> pieces, cudaStream_t stream) noexcept {
    for (const piece& p : pieces) {
        const cudaError_t code = cudaMemcpyAsync(p.to, p.from, p.bytes, cudaMemcpyDefault, stream);
        if (code != cudaSuccess) return code;
    }
    return cudaSuccess;
}

#if CUDART_VERSION >= 12080
// Queues all copies by one call. cudaMemcpyBatchAsync refuses the legacy default stream and copies of 0
// bytes, and drivers before 12.8 lack it. Host memory is allocated before anything is queued.
inline cudaError_t copy_all(std::span<const piece> pieces, cudaStream_t stream) {
    if (stream == nullptr || stream == cudaStreamLegacy) return copy_one_by_one(pieces, stream);
    std::vector<void*> to;
    std::vector<const void*> from;
    std::vector<std::size_t> sizes;
    to.reserve(pieces.size());
    from.reserve(pieces.size());
    sizes.reserve(pieces.size());
    for (const piece& p : pieces) {
        if (p.bytes == 0) continue;
        to.push_back(p.to);
        from.push_back(p.from);
        sizes.push_back(p.bytes);
    }
    if (to.empty()) return cudaSuccess;
    cudaMemcpyAttributes how{};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
#if CUDART_VERSION >= 13000
    const cudaError_t code =
        cudaMemcpyBatchAsync(to.data(), from.data(), sizes.data(), to.size(), &how, &first, 1, stream);
#else
    // Before 13.0 the parameter `srcs` is not const.
    std::size_t failed = 0;
    const cudaError_t code = cudaMemcpyBatchAsync(to.data(), const_cast<void**>(from.data()), sizes.data(),
                                                  to.size(), &how, &first, 1, &failed, stream);
#endif
    if (code != cudaErrorCallRequiresNewerDriver) return code;
    static_cast<void>(cudaGetLastError());
    return copy_one_by_one(pieces, stream);
}
#else
inline cudaError_t copy_all(std::span<const piece> pieces, cudaStream_t stream) {
    return copy_one_by_one(pieces, stream);
}
#endif

}  // namespace detail

}  // namespace weir::cuda

#endif
