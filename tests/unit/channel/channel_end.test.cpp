#include <weir/channel/channel_end.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using weir::detail::is_end_of_slice;
using weir::detail::needs_suspend;
using weir::detail::operations_left_in_slice;
using weir::detail::put_order;
using weir::detail::standard_platform;
using place = put_order::place;

namespace {

std::vector<std::uint64_t> early_items(const put_order& order) {
    std::vector<std::uint64_t> all;
    order.each_item([&](std::uint64_t number) { all.push_back(number); });
    return all;
}

}  // namespace

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

TEST_CASE("a slot whose items are traced suspends to put an item, but not to get the next one") {
    weir::virtual_time time;
    const std::string stage = "stage";
    weir::detail::slot slot(stage, 0, time);
    slot.begin(0);
    slot.follow(7);
    CHECK(needs_suspend<weir::measured>(true, 0, &slot));
    CHECK_FALSE(needs_suspend<weir::measured>(false, 0, &slot));
    CHECK(needs_suspend<weir::measured>(false, 127, &slot));
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

TEST_CASE("numbers pass one by one, and those that were filled early at once") {
    put_order order(4, 4);
    CHECK(order.next() == 0);
    order.fill(2, true);
    order.fill(1, false);
    CHECK(order.has_early());
    CHECK(early_items(order) == std::vector<std::uint64_t>{2});
    CHECK_FALSE(order.is_next_filled());
    order.pass();
    REQUIRE(order.is_next_filled());
    CHECK_FALSE(order.pass_early());
    REQUIRE(order.is_next_filled());
    CHECK(order.pass_early());
    CHECK(order.next() == 3);
    CHECK_FALSE(order.has_early());
    CHECK_FALSE(order.is_next_filled());
}

TEST_CASE("the window of places moves with the numbers that pass") {
    put_order order(3, 4);
    CHECK(order.is_within_window(2));
    CHECK_FALSE(order.is_within_window(3));
    order.pass();
    CHECK(order.is_within_window(3));
    order.set_window(1);
    CHECK(order.is_within_window(1));
    CHECK_FALSE(order.is_within_window(2));
}

TEST_CASE("no number above a blocked one passes") {
    put_order order(4, 4);
    order.fill(1, true);
    order.fill(2, true);
    order.block(1);
    order.block(3);
    CHECK_FALSE(order.refuses(1));
    CHECK(order.refuses(2));
    order.pass();
    REQUIRE(order.is_next_filled());
    CHECK(order.pass_early());
    CHECK_FALSE(order.is_next_filled());
    CHECK(early_items(order) == std::vector<std::uint64_t>{2});
    order.clear();
    CHECK_FALSE(order.has_early());
    CHECK(early_items(order).empty());
}

TEST_CASE("with more places, each filled one is found again") {
    put_order order(4, 4);
    for (int i = 0; i < 6; ++i) order.pass();
    order.fill(7, true);
    order.fill(8, false);
    order.fill(9, true);
    std::vector<place> more(16);
    order.resize(more);
    CHECK(more.size() == 4);
    CHECK(early_items(order) == std::vector<std::uint64_t>{7, 9});
    CHECK(order.at(7) == place::item);
    CHECK(order.at(8) == place::nothing);
    CHECK(order.at(10) == place::empty);
}
