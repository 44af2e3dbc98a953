#include <weir/cuda/pinned_buffers.hpp>

#include "cuda/support.hpp"

#include <weir/cuda/pinned_pool.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

using namespace cuda_tests;

TEST_CASE("parts lie in a block one behind the other, until it is given away") {
    const fresh_runtime runtime;
    weir::cuda::context gpu(either_way());
    weir::cuda::pinned_pool pool(gpu, 1024, 1);
    weir::cuda::pinned_buffers<char, float> both(*pool.try_acquire(256 + 8),
                                                 std::array<std::size_t, 2>{3, 2});
    const auto [names, values] = both.parts();
    CHECK(names.size() == 3);
    CHECK(values.size() == 2);
    CHECK(static_cast<void*>(values.data()) == names.data() + 256);
    {
        const weir::cuda::lease block = std::move(both).release();
        CHECK(static_cast<void*>(block.bytes().data()) == names.data());
        CHECK(std::get<1>(both.parts()).empty());
        CHECK(pool.stats().size == 0);
    }
    CHECK(pool.stats().size == 1);
}
