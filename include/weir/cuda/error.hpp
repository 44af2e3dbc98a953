// weir cuda: what the CUDA runtime refuses or can't do, as an exception
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_ERROR_HPP
#define WEIR_CUDA_ERROR_HPP

#include <weir/cuda/runtime.hpp>

#include <string>        // for std::string
#include <system_error>  // for std::system_error
#include <utility>       // for std::move

namespace weir::cuda {

/// Of error codes that are a `cudaError_t`. Lifetime: the program's.
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

/// \returns true for what ends all use of the device by this process: every later call gives it, too. Those
///          of which the toolkit's documentation says so, and errors of its memory and its links.
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
        // Which not every toolkit names:
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

// True if nothing that was queued will still be done: the device is broken, somebody has reset it, or the
// process ends. All others say nothing about the work.
constexpr bool ends_all_work(cudaError_t code) noexcept {
    return is_sticky(code) || code == cudaErrorContextIsDestroyed || code == cudaErrorCudartUnloading;
}

// The code of a call that is looked at here: nobody is to find it as the thread's last error. That work isn't
// done yet is no such error since CUDA 13; so another one, which is somebody's, may stand there.
inline cudaError_t quietly(cudaError_t code) noexcept {
    if (code == cudaSuccess) return code;
    if (code != cudaErrorNotReady || cudaPeekAtLastError() == code) static_cast<void>(cudaGetLastError());
    return code;
}

}  // namespace detail

/// A call of the runtime that failed, or work on the device that did.
class error : public std::system_error {
  public:
    /// \param call   the runtime's function, a literal.
    /// \param stage  the name of the stage that waited for it; empty: none did.
    /// \param hint   what can be done about it, a sentence.
    error(cudaError_t code, const char* call, std::string stage = {}, const std::string& hint = {})
        : std::system_error(static_cast<int>(code), error_category(), text(code, call, stage, hint)),
          call_(call), stage_(std::move(stage)) {}

    /// \returns the code, as the runtime has it.
    [[nodiscard]] cudaError_t status() const noexcept { return static_cast<cudaError_t>(code().value()); }
    [[nodiscard]] const char* call() const noexcept { return call_; }  ///< for example cudaMemcpyAsync
    [[nodiscard]] const std::string& stage() const noexcept { return stage_; }  ///< its name; may be empty
    /// \returns true if nothing on the device works any more, until the process ends.
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
