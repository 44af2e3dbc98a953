#include <weir/channel/channel_end.hpp>

#include "support/catch.hpp"

#include <cstddef>

using weir::detail::standard_platform;

TEST_CASE("two ends that lie side by side share no line of the cache, and nothing has passed them") {
    constexpr std::size_t line = 64;
    using put_end = weir::detail::channel_end<standard_platform, 0>;
    using get_end = weir::detail::channel_end<standard_platform, 1>;
    CHECK(alignof(put_end) % line == 0);
    CHECK(sizeof(put_end) % line == 0);
    CHECK(alignof(get_end) % line == 0);
    const put_end end;
    CHECK(end.count == 0);
    CHECK(end.seen == 0);
}
