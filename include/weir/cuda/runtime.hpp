// weir cuda: the CUDA runtime: its errors, the GPUs that a process sees, and calls that depend on its version
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_RUNTIME_HPP
#define WEIR_CUDA_RUNTIME_HPP

#include <weir/sampling/shard.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>       // for std::size_t
#include <span>          // for std::span
#include <string>        // for std::string
#include <system_error>  // for std::system_error
#include <utility>       // for std::move
#include <vector>        // for std::vector

namespace weir::cuda {

/// The category of error codes that are a `cudaError_t`. Lifetime: the program's.
[[nodiscard]] inline const std::error_category& error_category() noexcept {
    class category final : public std::error_category {
        const char* name() const noexcept override { return "cuda"; }
        std::string message(int code) const override {
            return cudaGetErrorString(static_cast<cudaError_t>(code));
        }
    };
    static const category one;
    return one;
}

/// \returns true for an error after which this process can't use the device: every later call fails with the
///           same error. These are the errors that CUDA's documentation describes in this way, and
///           uncorrectable errors of the device's memory and links.
[[nodiscard]] constexpr bool is_sticky(cudaError_t code) noexcept {
    switch (static_cast<int>(code)) {
        case cudaErrorECCUncorrectable:
        case cudaErrorNvlinkUncorrectable:
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchTimeout:
        case cudaErrorAssert:
        case cudaErrorHardwareStackError:
        case cudaErrorIllegalInstruction:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorLaunchFailure:
        // Codes that not every toolkit names:
        case 226:  // cudaErrorContained
        case 721:  // cudaErrorTensorMemoryLeak
        case 810:  // cudaErrorMpsClientTerminated
        case 911:  // cudaErrorExternalDevice
            return true;
        default:
            return false;
    }
}

namespace detail {

// True if work that is queued will never be done: the device is broken or was reset, or the process ends.
// Other errors say nothing about queued work.
constexpr bool ends_all_work(cudaError_t code) noexcept {
    return is_sticky(code) || code == cudaErrorContextIsDestroyed || code == cudaErrorCudartUnloading;
}

// Returns `code`. If `code` is an error, clears the thread's last error (cudaGetLastError), so that the
// user's code doesn't find `code` there. Since CUDA 13 cudaErrorNotReady is never the last error: for this
// code, another last error, that of a user's call, stays.
inline cudaError_t without_last_error(cudaError_t code) noexcept {
    if (code == cudaSuccess) return code;
    if (code != cudaErrorNotReady || cudaPeekAtLastError() == code) static_cast<void>(cudaGetLastError());
    return code;
}

}  // namespace detail

/// A call of the CUDA runtime failed, or work on the device failed.
class error : public std::system_error {
  public:
    /// \param call   the name of the runtime's function, a literal.
    /// \param stage  the name of the stage that made the call; empty: no stage.
    /// \param hint   a sentence for the message: how to avoid the error; empty: none.
    error(cudaError_t code, const char* call, std::string stage = {}, const std::string& hint = {})
        : std::system_error(static_cast<int>(code), error_category(), text(code, call, stage, hint)),
          call_(call), stage_(std::move(stage)) {}

    /// \returns the error code of the CUDA runtime.
    [[nodiscard]] cudaError_t status() const noexcept { return static_cast<cudaError_t>(code().value()); }
    [[nodiscard]] const char* call() const noexcept { return call_; }  ///< for example cudaMemcpyAsync
    /// \returns the name of the stage that made the call; empty: no stage.
    [[nodiscard]] const std::string& stage() const noexcept { return stage_; }
    /// \returns true if this process can't use the device any more.
    [[nodiscard]] bool sticky() const noexcept { return is_sticky(status()); }

  private:
    // Returns the text of `what()`.
    static std::string text(cudaError_t code, const char* call, const std::string& stage,
                            const std::string& hint) {
        std::string said = std::string("weir: ") + call + " gave " + cudaGetErrorName(code) + " (" +
                           std::to_string(static_cast<int>(code)) + ")";
        if (!stage.empty()) said += " in stage '" + stage + "'";
        if (is_sticky(code)) said += "; the device can't be used any more by this process";
        if (!hint.empty()) said += "; " + hint;
        return said;
    }

    const char* call_;
    std::string stage_;
};

/// The number of a GPU, as CUDA counts the GPUs that this process sees. Threads: a value, like `int`.
class device {
  public:
    /// \param index  from 0; checked when a `context` is made for the device.
    constexpr explicit device(int index) noexcept : index_(index) {}

    // In parentheses, because the program may have a macro with arguments that is named `index`.
    [[nodiscard]] constexpr int(index)() const noexcept { return index_; }  ///< from 0

    /// \returns the GPU with the number of the process's local rank (among the processes on this machine):
    ///          see `shard::local_rank_from_environment()`. If the process sees only one GPU, that GPU.
    ///
    /// Preferably the launcher shows each process only its GPU (`CUDA_VISIBLE_DEVICES`). In a process that
    /// sees several GPUs, a thread that never called `cudaSetDevice` uses GPU 0 for calls that need a current
    /// device: so each process takes some of the memory of GPU 0. Headers of weir make such calls on threads
    /// of the context only, and never change the current device of another thread.
    ///
    /// Errors: `std::invalid_argument` if the rank is no number.
    [[nodiscard]] static device from_environment() {
        const auto rank = static_cast<int>(shard::local_rank_from_environment());
        return device(count() == 1 ? 0 : rank);
    }

    /// \returns the number of GPUs that this process sees; 0 without a driver, or if the query fails.
    [[nodiscard]] static int count() noexcept {
        int found = 0;
        return detail::without_last_error(cudaGetDeviceCount(&found)) == cudaSuccess ? found : 0;
    }

    [[nodiscard]] friend constexpr bool operator==(device, device) noexcept = default;

  private:
    int index_;
};

namespace detail {

// While a thread captures a stream in the default mode (global), potentially unsafe calls of any
// thread, even cudaEventQuery, fail and invalidate the capture. While an object of this class exists, calls
// of its thread are exempt (relaxed mode). That is safe because the library uses no captured stream.
class exempt_from_captures {
  public:
    // If the exchange of the mode fails, the mode stays as it is, and the error is ignored: a later call that
    // needs the relaxed mode fails, and reports its own error.
    exempt_from_captures() noexcept
        : changed_(without_last_error(cudaThreadExchangeStreamCaptureMode(&mode_)) == cudaSuccess) {}
    exempt_from_captures(const exempt_from_captures&) = delete;
    exempt_from_captures& operator=(const exempt_from_captures&) = delete;
    ~exempt_from_captures() {
        if (changed_) without_last_error(cudaThreadExchangeStreamCaptureMode(&mode_));
    }

  private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // after the exchange: the previous mode
    bool changed_;
};

// Returns `cudaErrorStreamCaptureUnsupported` if the stream is captured, or if the stream is the default
// stream and one that it waits for is captured. Work queued now would go into a graph, and run at each launch
// of that graph. If no stream is captured, returns the result of cudaStreamIsCapturing.
inline cudaError_t captured_or_not(cudaStream_t stream) noexcept {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t code = without_last_error(cudaStreamIsCapturing(stream, &status));
    const bool is_captured = code == cudaErrorStreamCaptureImplicit ||
                             (code == cudaSuccess && status != cudaStreamCaptureStatusNone);
    return is_captured ? cudaErrorStreamCaptureUnsupported : code;
}
// Whether the stream is captured, so that nothing may be queued on it.
inline bool is_captured(cudaStream_t stream) noexcept {
    return captured_or_not(stream) == cudaErrorStreamCaptureUnsupported;
}

}  // namespace detail

/// One copy of several that are queued together. Lifetime: both pieces of memory must exist until the copy is
/// done.
struct piece {
    void* to;           ///< on the host or the device
    const void* from;   ///< on the host or the device
    std::size_t bytes;  ///< how many; if 0, nothing is copied, and the addresses are not used
};

namespace detail {

// Whether the call that queues the copy may block until the copy, or work queued before it, is done: the
// runtime copies ordinary memory, and from host to host, on the calling thread.
inline bool may_block(const piece& p) noexcept {
    if (p.bytes == 0) return false;
    const auto kind_of = [](const void* memory) noexcept {
        cudaPointerAttributes of{};
        return without_last_error(cudaPointerGetAttributes(&of, memory)) == cudaSuccess
                   ? of.type
                   : cudaMemoryTypeUnregistered;
    };
    const cudaMemoryType to = kind_of(p.to);
    const cudaMemoryType from = kind_of(p.from);
    return to == cudaMemoryTypeUnregistered || from == cudaMemoryTypeUnregistered ||
           (to == cudaMemoryTypeHost && from == cudaMemoryTypeHost);
}

// Queues the copies, a call for each. After an error, some may be queued.
inline cudaError_t copy_one_by_one(std::span<const piece> pieces, cudaStream_t stream) noexcept {
    for (const piece& p : pieces) {
        const cudaError_t code = cudaMemcpyAsync(p.to, p.from, p.bytes, cudaMemcpyDefault, stream);
        if (code != cudaSuccess) return code;
    }
    return cudaSuccess;
}

#if CUDART_VERSION >= 12080
// Queues all copies by one call, without those of 0 bytes, which cudaMemcpyBatchAsync refuses. Queues them
// one by one on the legacy default stream, which that function refuses, too, and with drivers before 12.8,
// which lack it. Host memory is allocated first: if that throws, no copy is queued. After an error code, some
// copies may be queued.
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
    // Before 13.0 the parameter `srcs` is not const, and the function tells which copy has failed.
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
