#include <weir/cuda/runtime.hpp>

#include "cuda/support.hpp"

#include <array>
#include <cstdlib>
#include <cstring>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using cuda_tests::fresh_runtime;
using weir::cuda::device;
using weir::cuda::error;
using weir::cuda::piece;

namespace {

// Two pieces of ordinary memory, and one of nothing.
struct pieces {
    std::array<int, 3> from{1, 2, 3};
    std::array<int, 3> to{};
    std::array<piece, 3> all{
        {{to.data(), from.data(), 2 * sizeof(int)}, {nullptr, nullptr, 0}, {&to[2], &from[2], sizeof(int)}}};
};

}  // namespace

TEST_CASE("pieces are copied in one call, on a stream of one's own") {
    const fresh_runtime runtime;
    cudaStream_t s = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess);
    pieces p;
    CHECK(weir::cuda::detail::copy_all(p.all, s) == cudaSuccess);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    CHECK(p.to == p.from);
    CHECK(stand_in::calls("cudaMemcpyBatchAsync") == 1);
    CHECK(stand_in::calls("cudaMemcpyAsync") == 0);
    CHECK(cudaStreamDestroy(s) == cudaSuccess);
}

TEST_CASE("one by one, the first that fails is the last that is tried") {
    const fresh_runtime runtime;
    pieces p;
    stand_in::fail_call_of("cudaMemcpyAsync", 2, cudaErrorInvalidValue);
    CHECK(weir::cuda::detail::copy_one_by_one(p.all, nullptr) == cudaErrorInvalidValue);
    CHECK(stand_in::calls("cudaMemcpyAsync") == 2);
    CHECK(weir::cuda::detail::copy_one_by_one(p.all, nullptr) == cudaSuccess);
    CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
    CHECK(p.to == p.from);
}

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

namespace {

// The variables of launchers, as one test needs them; none of them before and after.
class rank_variables {
    static constexpr const char* names[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                            "SLURM_LOCALID"};

  public:
    rank_variables() { clear(); }
    rank_variables(const rank_variables&) = delete;
    rank_variables& operator=(const rank_variables&) = delete;
    ~rank_variables() { clear(); }
    void set(const char* name, const char* value) const {
        clear();
        setenv(name, value, 1);
    }

  private:
    static void clear() {
        for (const char* name : names) unsetenv(name);
    }
};

}  // namespace

TEST_CASE("a process takes the device of its local rank, whichever launcher says it") {
    const fresh_runtime runtime;
    stand_in::set_device_count(4);
    const rank_variables variables;
    CHECK(device::from_environment() == device(0));
    variables.set("LOCAL_RANK", "3");
    CHECK(device::from_environment() == device(3));
    variables.set("OMPI_COMM_WORLD_LOCAL_RANK", "2");
    CHECK(device::from_environment() == device(2));
    variables.set("MPI_LOCALRANKID", "1");
    CHECK(device::from_environment() == device(1));
    variables.set("SLURM_LOCALID", "3");
    CHECK(device::from_environment() == device(3));
}

TEST_CASE("a process that was bound to one device takes that one, whatever its rank") {
    const fresh_runtime runtime;
    const rank_variables variables;
    variables.set("SLURM_LOCALID", "3");
    CHECK(device::from_environment() == device(0));
}

TEST_CASE("without a driver there are no devices, and that is no error yet") {
    stand_in::reset();
    stand_in::no_device(cudaErrorInsufficientDriver);
    CHECK(device::count() == 0);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    stand_in::reset();
    stand_in::set_device_count(2);
    CHECK(device::count() == 2);
    stand_in::reset();
}
