// weir cuda: the number of a GPU, and the GPU for this process
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_HPP
#define WEIR_CUDA_DEVICE_HPP

#include <weir/cuda/error.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/sampling/shard.hpp>

namespace weir::cuda {

/// The number of a GPU, as CUDA counts the GPUs that this process sees. Threads: a value, like `int`.
class device {
  public:
    /// \param index  from 0; checked when a `context` is made for the device.
    constexpr explicit device(int index) noexcept : index_(index) {}

    [[nodiscard]] constexpr int(index)() const noexcept { return index_; }  ///< from 0

    /// \returns the GPU for this process: that of its local rank, see `shard::local_rank_from_environment()`.
    ///          If the process sees only one GPU, this one.
    ///
    /// Preferably the launcher shows each process only its GPU (`CUDA_VISIBLE_DEVICES`). Otherwise a thread
    /// that never called `cudaSetDevice`, and makes a call that needs a current device, uses GPU 0: so each
    /// process takes some of the memory of GPU 0. Headers of weir make such calls on the context's thread
    /// only, and never change the current device of another thread.
    ///
    /// Errors: `std::invalid_argument` if the rank is no number.
    [[nodiscard]] static device from_environment() {
        const auto rank = static_cast<int>(shard::local_rank_from_environment());
        return device(count() == 1 ? 0 : rank);
    }

    /// \returns the number of GPUs; 0 without a driver.
    [[nodiscard]] static int count() noexcept {
        int found = 0;
        return detail::without_last_error(cudaGetDeviceCount(&found)) == cudaSuccess ? found : 0;
    }

    [[nodiscard]] friend constexpr bool operator==(device, device) noexcept = default;

  private:
    int index_;
};

namespace detail {

// While a thread captures a stream in the default mode (global), calls of any thread that are unsafe during a
// capture fail, even cudaEventQuery, and invalidate the capture. While an object of this class exists, calls
// of its thread are exempt (relaxed mode), as they use no captured stream.
class exempt_from_captures {
  public:
    // An error is ignored: a later call reports it, or isn't affected.
    exempt_from_captures() noexcept
        : changed_(without_last_error(cudaThreadExchangeStreamCaptureMode(&mode_)) == cudaSuccess) {}
    exempt_from_captures(const exempt_from_captures&) = delete;
    exempt_from_captures& operator=(const exempt_from_captures&) = delete;
    ~exempt_from_captures() {
        if (changed_) without_last_error(cudaThreadExchangeStreamCaptureMode(&mode_));
    }

  private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // then the previous mode
    bool changed_;
};

// Returns `cudaErrorStreamCaptureUnsupported` if the stream, or one that it waits for, is captured: work
// queued now would go into a graph, and run at each launch of that graph.
inline cudaError_t captured_or_not(cudaStream_t stream) noexcept {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t code = without_last_error(cudaStreamIsCapturing(stream, &status));
    const bool is_captured = code == cudaErrorStreamCaptureImplicit ||
                             (code == cudaSuccess && status != cudaStreamCaptureStatusNone);
    return is_captured ? cudaErrorStreamCaptureUnsupported : code;
}
inline bool is_captured(cudaStream_t stream) noexcept {
    return captured_or_not(stream) == cudaErrorStreamCaptureUnsupported;
}

}  // namespace detail

}  // namespace weir::cuda

#endif
