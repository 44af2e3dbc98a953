// The runtime's functions about errors.
// SPDX-License-Identifier: BSL-1.0
#include "machine.hpp"

#include <utility>

using namespace stand_in::detail;

namespace {

struct known_error {
    cudaError_t code;
    const char* name;
    const char* text;
};

#define WEIR_ERROR(name, text) {name, #name, text}
constexpr known_error known[] = {
    WEIR_ERROR(cudaSuccess, "no error"),
    WEIR_ERROR(cudaErrorInvalidValue, "an argument has a value that it must not have"),
    WEIR_ERROR(cudaErrorMemoryAllocation, "there is not enough memory"),
    WEIR_ERROR(cudaErrorInitializationError, "the runtime could not be initialized"),
    WEIR_ERROR(cudaErrorCudartUnloading, "the runtime is being unloaded"),
    WEIR_ERROR(cudaErrorInvalidMemcpyDirection, "this is no direction of a copy"),
    WEIR_ERROR(cudaErrorInsufficientDriver, "there is no driver, or it is older than the runtime"),
    WEIR_ERROR(cudaErrorCallRequiresNewerDriver, "the driver is too old for this call"),
    WEIR_ERROR(cudaErrorDevicesUnavailable, "all devices are busy or unavailable"),
    WEIR_ERROR(cudaErrorNoDevice, "no device was found"),
    WEIR_ERROR(cudaErrorInvalidDevice, "there is no device of this number"),
    WEIR_ERROR(cudaErrorStartupFailure, "the runtime failed inside when it was started"),
    WEIR_ERROR(cudaErrorDeviceUninitialized, "the device has no context"),
    WEIR_ERROR(cudaErrorECCUncorrectable, "an error of the memory could not be corrected"),
    WEIR_ERROR(cudaErrorNvlinkUncorrectable, "an error of the link between devices could not be corrected"),
    WEIR_ERROR(cudaErrorContained, "an error of the memory was contained"),
    WEIR_ERROR(cudaErrorOperatingSystem, "a call of the operating system failed"),
    WEIR_ERROR(cudaErrorInvalidResourceHandle, "this is no stream or event, or not one for here"),
    WEIR_ERROR(cudaErrorIllegalState, "the resource is not in a state for this"),
    WEIR_ERROR(cudaErrorNotReady, "the work is not done yet"),
    WEIR_ERROR(cudaErrorIllegalAddress, "a kernel used an address that it must not use"),
    WEIR_ERROR(cudaErrorLaunchOutOfResources, "the device has too little for this kernel"),
    WEIR_ERROR(cudaErrorLaunchTimeout, "a kernel ran for too long"),
    WEIR_ERROR(cudaErrorContextIsDestroyed, "the context was destroyed"),
    WEIR_ERROR(cudaErrorAssert, "an assertion of a kernel failed"),
    WEIR_ERROR(cudaErrorHardwareStackError, "a kernel's stack is corrupt"),
    WEIR_ERROR(cudaErrorIllegalInstruction, "a kernel met an illegal instruction"),
    WEIR_ERROR(cudaErrorMisalignedAddress, "a kernel used a misaligned address"),
    WEIR_ERROR(cudaErrorInvalidAddressSpace, "a kernel used an address of another space"),
    WEIR_ERROR(cudaErrorInvalidPc, "a kernel's program counter is out of its range"),
    WEIR_ERROR(cudaErrorLaunchFailure, "a kernel failed"),
    WEIR_ERROR(cudaErrorTensorMemoryLeak, "a kernel left tensor memory behind"),
    WEIR_ERROR(cudaErrorNotPermitted, "this is not permitted here"),
    WEIR_ERROR(cudaErrorNotSupported, "the device does not support this"),
    WEIR_ERROR(cudaErrorSystemNotReady, "the machine is not ready yet"),
    WEIR_ERROR(cudaErrorSystemDriverMismatch, "the driver's parts have different versions"),
    WEIR_ERROR(cudaErrorMpsConnectionFailed, "the multi-process server was not reached"),
    WEIR_ERROR(cudaErrorMpsRpcFailure, "the multi-process server failed"),
    WEIR_ERROR(cudaErrorMpsServerNotReady, "the multi-process server is not ready"),
    WEIR_ERROR(cudaErrorMpsClientTerminated, "the multi-process server ended this process's work"),
    WEIR_ERROR(cudaErrorStreamCaptureUnsupported, "a stream that is captured does not permit this"),
    WEIR_ERROR(cudaErrorStreamCaptureInvalidated, "the capture was spoilt"),
    WEIR_ERROR(cudaErrorStreamCaptureIsolation, "what is captured can't wait for what is not"),
    WEIR_ERROR(cudaErrorStreamCaptureImplicit, "the default stream waits for a stream that is captured"),
    WEIR_ERROR(cudaErrorStreamCaptureWrongThread, "another thread began the capture"),
    WEIR_ERROR(cudaErrorCapturedEvent, "the event stands for work that was captured, and not done"),
    WEIR_ERROR(cudaErrorExternalDevice, "a device of somebody else failed"),
    WEIR_ERROR(cudaErrorUnknown, "an unknown error"),
};
#undef WEIR_ERROR

const char* describe(cudaError_t code, const char* known_error::* what) {
    for (const known_error& e : known)
        if (e.code == code) return e.*what;
    return "unrecognized error code";
}

// Not counted; but in a host function even this is a misuse.
cudaError_t last_error(const char* function, bool forget) {
    machine& m = machine::instance();
    const machine::lock l(m.mutex);
    caller& c = m.here();
    if (c.inside != nullptr)
        m.misuses.push_back(std::string(function) + ": was called inside of a " + c.inside);
    const cudaError_t error = forget ? std::exchange(c.last_error, cudaSuccess) : c.last_error;
    return m.health(c.device) != cudaSuccess ? m.health(c.device) : error;
}

}  // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t code) { return describe(code, &known_error::name); }

const char* cudaGetErrorString(cudaError_t code) { return describe(code, &known_error::text); }

cudaError_t cudaGetLastError() { return last_error("cudaGetLastError", true); }

cudaError_t cudaPeekAtLastError() { return last_error("cudaPeekAtLastError", false); }

}  // extern "C"
