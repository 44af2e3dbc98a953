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
    CHECK(weir::cuda::is_sticky(cudaErrorLaunchFailure));
    CHECK(weir::cuda::is_sticky(cudaErrorContained));
    CHECK(weir::cuda::is_sticky(cudaErrorTensorMemoryLeak));
    CHECK(weir::cuda::is_sticky(cudaErrorMpsClientTerminated));
    CHECK(weir::cuda::is_sticky(cudaErrorExternalDevice));
    CHECK_FALSE(weir::cuda::is_sticky(cudaErrorMemoryAllocation));
    CHECK_FALSE(weir::cuda::is_sticky(cudaSuccess));
}

TEST_CASE("the category of the errors is called cuda") {
    CHECK_THAT(weir::cuda::error_category().name(), Equals("cuda"));
}
