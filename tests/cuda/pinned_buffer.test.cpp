#include <weir/cuda/pinned_buffer.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/pinned_pool.hpp>
#include <weir/task/sync_wait.hpp>

#include <numeric>
#include <ranges>

using namespace cuda_tests;
using Catch::Matchers::ContainsSubstring;
using weir::cuda::pinned_buffer;

static_assert(std::ranges::contiguous_range<pinned_buffer<float>>);
static_assert(std::ranges::sized_range<const pinned_buffer<float>>);

TEST_CASE("elements lie in a block of a pool, which comes back when they go, or are given away") {
    const fresh_runtime runtime;
    weir::cuda::context gpu;
    weir::cuda::pinned_pool pool(gpu, 64, 1);
    {
        pinned_buffer<int> first = weir::sync_wait(pool.acquire<int>(16));
        CHECK(first.size() == 16);
        CHECK_FALSE(first.empty());
        std::iota(first.begin(), first.end(), 1);
        CHECK(first[15] == 16);
        CHECK(pool.stats().size == 0);
        const weir::cuda::lease block = std::move(first).release();
        CHECK(block.bytes().size() == 64);
    }
    CHECK(pool.stats().size == 1);
    CHECK_THROWS_WITH(pool.acquire<double>(9), ContainsSubstring("72 bytes don't fit into a block"));
    CHECK_THROWS_WITH(pool.acquire<double>(SIZE_MAX / 4), ContainsSubstring("don't fit into a block"));
    CHECK(weir::sync_wait(pool.acquire<int>(0)).empty());
}
