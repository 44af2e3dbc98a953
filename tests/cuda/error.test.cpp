#include <weir/cuda/error.hpp>

#include "cuda/support.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using weir::cuda::error;

TEST_CASE(
    "an error tells the call, the code by name and number, the stage, and what the runtime says of it") {
    const error e(cudaErrorInvalidValue, "cudaMemcpyAsync", "to_device");
    CHECK(e.status() == cudaErrorInvalidValue);
    CHECK(e.code() == std::error_code(1, weir::cuda::error_category()));
    CHECK_THAT(e.call(), Equals("cudaMemcpyAsync"));
    CHECK(e.stage() == "to_device");
    CHECK_FALSE(e.sticky());
    CHECK_THAT(e.what(), ContainsSubstring(
                             "weir: cudaMemcpyAsync gave cudaErrorInvalidValue (1) in stage 'to_device'"));
    CHECK_THAT(e.what(), ContainsSubstring(cudaGetErrorString(cudaErrorInvalidValue)));
}

TEST_CASE("an error that ends all use of the device says so") {
    const error e(cudaErrorIllegalAddress, "cudaEventQuery");
    CHECK(e.sticky());
    CHECK(e.stage().empty());
    CHECK_THAT(e.what(), ContainsSubstring("can't be used any more by this process"));
}

TEST_CASE("an error is sticky if the runtime's documentation says that all later work gives it, too") {
    for (const cudaError_t code :
         {cudaErrorECCUncorrectable, cudaErrorNvlinkUncorrectable, cudaErrorContained,
          cudaErrorIllegalAddress, cudaErrorLaunchTimeout, cudaErrorAssert, cudaErrorHardwareStackError,
          cudaErrorIllegalInstruction, cudaErrorMisalignedAddress, cudaErrorInvalidAddressSpace,
          cudaErrorInvalidPc, cudaErrorLaunchFailure, cudaErrorTensorMemoryLeak, cudaErrorMpsClientTerminated,
          cudaErrorExternalDevice}) {
        INFO(cudaGetErrorName(code));
        CHECK(weir::cuda::is_sticky(code));
        CHECK(weir::cuda::detail::ends_all_work(code));
    }
    for (const cudaError_t code :
         {cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorInitializationError,
          cudaErrorDeviceUninitialized, cudaErrorOperatingSystem, cudaErrorInvalidResourceHandle,
          cudaErrorNotReady, cudaErrorLaunchOutOfResources, cudaErrorNotPermitted, cudaErrorSystemNotReady,
          cudaErrorMpsRpcFailure, cudaErrorStreamCaptureUnsupported, cudaErrorCapturedEvent,
          cudaErrorUnknown}) {
        INFO(cudaGetErrorName(code));
        CHECK_FALSE(weir::cuda::is_sticky(code));
        CHECK_FALSE(weir::cuda::detail::ends_all_work(code));
    }
    // No process's end, but there is nothing left to wait for.
    for (const cudaError_t code : {cudaErrorContextIsDestroyed, cudaErrorCudartUnloading}) {
        CHECK_FALSE(weir::cuda::is_sticky(code));
        CHECK(weir::cuda::detail::ends_all_work(code));
    }
}

TEST_CASE("a call whose code is looked at leaves nothing behind, and what was there before stays") {
    using weir::cuda::detail::without_last_error;
    stand_in::reset();
    CHECK(without_last_error(cudaSetDevice(7)) == cudaErrorInvalidDevice);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(cudaSetDevice(7) == cudaErrorInvalidDevice);
    CHECK(without_last_error(cudaSetDevice(0)) == cudaSuccess);
    CHECK(without_last_error(cudaErrorNotReady) == cudaErrorNotReady);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    stand_in::reset();
}

TEST_CASE("the category of the errors is called cuda") {
    CHECK_THAT(weir::cuda::error_category().name(), Equals("cuda"));
}
