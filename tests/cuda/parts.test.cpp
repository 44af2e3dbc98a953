#include <weir/cuda/parts.hpp>

#include "support/catch.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

using namespace weir::cuda;
namespace inside = weir::cuda::detail;

namespace {

struct sample {
    std::vector<float> pixels;
    std::vector<std::int64_t> labels;
    std::vector<std::vector<int>> ragged;
};
struct filled {
    pinned_buffer<float> pixels;
    const pinned_buffer<float>& seen() const { return pixels; }
};
using pixels_of = decltype(&sample::pixels);
using ragged_of = decltype(&sample::ragged);

static_assert(inside::can_be_copied<std::identity, std::vector<float>>);
static_assert(!inside::can_be_copied<std::identity, sample>);
static_assert(inside::can_be_copied<pixels_of, sample>);
static_assert(!inside::can_be_copied<ragged_of, sample>);
static_assert(inside::can_be_copied<parts_of<pixels_of, decltype(&sample::labels)>, sample>);
static_assert(!inside::can_be_copied<parts_of<pixels_of, ragged_of>, sample>);
static_assert(
    std::is_same_v<inside::copied_part<parts_of<pixels_of, decltype(&sample::labels)>, sample>::rest,
                   device_batch<sample, float, std::int64_t>>);
static_assert(std::is_same_v<decltype(device_batch<sample, float>::data), device_buffer<float>>);
static_assert(std::is_same_v<decltype(device_batch<sample, float, int>::data), device_buffers<float, int>>);

// What lies in a block is given away; but where it can only be looked at, it is packed.
static_assert(inside::has_block<std::identity, pinned_buffer<float>>);
static_assert(inside::has_block<std::identity, lease>);
static_assert(inside::has_block<decltype(&filled::pixels), filled>);
static_assert(!inside::has_block<decltype(&filled::seen), filled>);
static_assert(inside::has_range<decltype(&filled::seen), filled>);
static_assert(!inside::has_block<std::identity, std::vector<float>>);

}  // namespace

TEST_CASE("parts are packed one behind the other, also those that a function makes, and those of nothing") {
    const sample s{{1, 2, 3}, {}, {}};
    const auto twice = [](const sample& from) {
        std::vector<char> made(from.pixels.size(), 'x');
        return made;
    };
    const auto packed = inside::ranges_of(parts(&sample::pixels, &sample::labels, twice), s);
    const auto pieces = packed.pieces();
    CHECK(inside::size_of(pieces) == 256 + 3);
    std::vector<char> block(256 + 3, '-');
    inside::pack(pieces, block.data());
    CHECK(block[256] == 'x');
    CHECK(block[258] == 'x');
    CHECK(block[12] == '-');
}
