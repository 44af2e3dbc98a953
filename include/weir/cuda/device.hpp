// weir cuda: which of the machine's GPUs
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_HPP
#define WEIR_CUDA_DEVICE_HPP

#include <weir/cuda/error.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/sampling/shard.hpp>

namespace weir::cuda {

/// A GPU by its number, as CUDA counts those that this process sees. Threads: a value, like `int`.
class device {
  public:
    /// \param index  from 0; whether it is there is asked when a `context` is made for it.
    constexpr explicit device(int index) noexcept : index_(index) {}

    [[nodiscard]] constexpr int(index)() const noexcept { return index_; }  ///< from 0

    /// The one for this process among those on its machine: that of its local rank, as
    /// `shard::local_rank_from_environment()` finds it. Where the process sees one only, as launchers
    /// arrange it that bind each process to a GPU, that one. Better so (`CUDA_VISIBLE_DEVICES`): else a
    /// thread that never called `cudaSetDevice`, and calls of the runtime what needs a current device, begins
    /// to use GPU 0, too, and each process takes some of its memory. What is here has the context's thread
    /// make such calls, and never changes another thread's device.
    ///
    /// Errors: `std::invalid_argument` if the rank is no number.
    [[nodiscard]] static device from_environment() {
        const auto rank = static_cast<int>(shard::local_rank_from_environment());
        return device(count() == 1 ? 0 : rank);
    }

    /// \returns how many there are; 0 without a driver, too.
    [[nodiscard]] static int count() noexcept {
        int found = 0;
        return detail::quietly(cudaGetDeviceCount(&found)) == cudaSuccess ? found : 0;
    }

    [[nodiscard]] friend constexpr bool operator==(device, device) noexcept = default;

  private:
    int index_;
};

namespace detail {

// As long as some thread captures a stream into a graph, in the usual mode, the runtime refuses to all
// threads what could be unsafe in a capture, even to ask an event, and then the capture is lost. A thread for
// which this exists is left out of it: what it does has nothing to do with anybody's capture.
class beside_captures {
  public:
    // If it fails, what comes next fails by itself, or doesn't.
    beside_captures() noexcept
        : changed_(quietly(cudaThreadExchangeStreamCaptureMode(&mode_)) == cudaSuccess) {}
    beside_captures(const beside_captures&) = delete;
    beside_captures& operator=(const beside_captures&) = delete;
    ~beside_captures() {
        if (changed_) quietly(cudaThreadExchangeStreamCaptureMode(&mode_));
    }

  private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // and then the one before
    bool changed_;
};

// Gives `cudaErrorStreamCaptureUnsupported` if what is put into the stream isn't done, as that, or one that
// it waits for, is captured: it goes into a graph, has no end, and happens at each launch of that.
inline cudaError_t captured_or_not(cudaStream_t stream) noexcept {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t code = quietly(cudaStreamIsCapturing(stream, &status));
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
