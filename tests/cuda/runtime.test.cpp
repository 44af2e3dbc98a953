#include <weir/cuda/runtime.hpp>

#include "cuda/support.hpp"

#include <array>
#include <cstring>

using cuda_tests::fresh_runtime;
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
