// weir cuda: the exception for failed calls of the CUDA runtime and failed work on a device
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_ERROR_HPP
#define WEIR_CUDA_ERROR_HPP

#include <weir/cuda/runtime.hpp>

#include <string>        // for std::string
#include <system_error>  // for std::system_error
#include <utility>       // for std::move

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
///          same error. These are the errors that the toolkit documents so, and errors of memory and links.
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

// Returns `code`, and clears it as the thread's last error, so that the user doesn't find it there. Since
// CUDA 13 cudaErrorNotReady never is the last error: so an error of the user's own call stays.
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
    /// \param hint   a sentence for the message: how to avoid the error.
    error(cudaError_t code, const char* call, std::string stage = {}, const std::string& hint = {})
        : std::system_error(static_cast<int>(code), error_category(), text(code, call, stage, hint)),
          call_(call), stage_(std::move(stage)) {}

    /// \returns the error code of the CUDA runtime.
    [[nodiscard]] cudaError_t status() const noexcept { return static_cast<cudaError_t>(code().value()); }
    [[nodiscard]] const char* call() const noexcept { return call_; }  ///< for example cudaMemcpyAsync
    [[nodiscard]] const std::string& stage() const noexcept { return stage_; }  ///< its name; may be empty
    /// \returns true if this process can't use the device any more.
    [[nodiscard]] bool sticky() const noexcept { return is_sticky(status()); }

  private:
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

}  // namespace weir::cuda

#endif
