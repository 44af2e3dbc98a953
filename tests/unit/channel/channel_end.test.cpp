#include <weir/channel/channel_end.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

using weir::detail::is_end_of_slice;
using weir::detail::operations_left_in_slice;
using weir::detail::standard_platform;

TEST_CASE("a slice is used up by one operation in 128 at each end, and the ends take turns") {
    int times = 0;
    for (std::uint64_t count = 1'000; count < 1'000 + 10 * 128; ++count) {
        const bool put = is_end_of_slice<weir::measured>(true, count, nullptr);
        const bool get = is_end_of_slice<weir::measured>(false, count, nullptr);
        CHECK_FALSE((put && get));
        times += (put ? 1 : 0) + (get ? 1 : 0);
    }
    CHECK(times == 20);
}

TEST_CASE("how much is left of a slice goes down by one with each operation, also where the count wraps") {
    for (const bool puts : {true, false}) {
        std::uint64_t count = ~std::uint64_t{0} - 300;
        for (int i = 0; i < 600; ++i, ++count) {
            const std::uint64_t left = operations_left_in_slice(puts, count);
            CHECK(left < 128);
            CHECK(is_end_of_slice<weir::unmeasured>(puts, count, nullptr) == (left == 0));
            CHECK(operations_left_in_slice(puts, count + 1) == (left == 0 ? 127 : left - 1));
        }
    }
}

TEST_CASE(
    "a slice is used up by a slot that has had its thread for more than a millisecond, if that is measured") {
    weir::virtual_time time;
    const std::string stage = "stage";
    weir::detail::slot slot(stage, 0, time);
    slot.begin(0);
    slot.resumed(5'000);
    slot.record_reading(5'000 + 1'000'000);
    CHECK_FALSE(is_end_of_slice<weir::measured>(true, 0, &slot));
    slot.record_reading(5'000 + 1'000'001);
    CHECK(is_end_of_slice<weir::measured>(true, 0, &slot));
    CHECK_FALSE(is_end_of_slice<weir::unmeasured>(true, 0, &slot));
}

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
