#include <weir/cuda/device_buffers.hpp>

#include "support/catch.hpp"

#include <array>
#include <cstddef>

using weir::cuda::detail::indexes_of;

TEST_CASE("each part begins at a multiple of 256 bytes, and nothing comes behind the last one") {
    using sizes = std::array<std::size_t, 3>;
    CHECK(indexes_of<char, float, double>(sizes{1, 65, 2}) == std::array<std::size_t, 4>{0, 256, 768, 784});
    CHECK(indexes_of<char, float, double>(sizes{0, 64, 0}) == std::array<std::size_t, 4>{0, 0, 256, 256});
}
