#include <weir/channel/put_order.hpp>

#include "support/catch.hpp"

#include <cstdint>
#include <vector>

using weir::detail::put_order;
using place = put_order::place;

namespace {

std::vector<std::uint64_t> early_items(const put_order& order) {
    std::vector<std::uint64_t> all;
    order.each_item([&](std::uint64_t number) { all.push_back(number); });
    return all;
}

}  // namespace

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
