#include <weir/detail/bounds.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

using weir::detail::larger;
using weir::detail::smaller;

static_assert(smaller(1, 2) == 1 && smaller(2, 1) == 1 && smaller(-1, -1) == -1);
static_assert(larger(1, 2) == 2 && larger(2, 1) == 2 && larger(-1, -1) == -1);

TEST_CASE("the smaller and the larger of two numbers are those of the standard") {
    using limits = std::numeric_limits<std::int64_t>;
    for (const std::int64_t a : {limits::min(), std::int64_t{-1}, std::int64_t{0}, limits::max()}) {
        for (const std::int64_t b : {limits::min(), std::int64_t{-1}, std::int64_t{0}, limits::max()}) {
            CAPTURE(a, b);
            CHECK(smaller(a, b) == std::min(a, b));
            CHECK(larger(a, b) == std::max(a, b));
        }
    }
    CHECK(smaller(0.5, 1e9) == std::min(0.5, 1e9));
    CHECK(larger(0.5, 1e9) == std::max(0.5, 1e9));
}
