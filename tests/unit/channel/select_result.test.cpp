#include <weir/channel/select_result.hpp>

#include "support/catch.hpp"

#include <weir/channel/get_result.hpp>

#include <stdexcept>
#include <utility>

using weir::channel_status;
using results = weir::select_result<weir::get_result<int>, channel_status, weir::get_from<char>>;

TEST_CASE("it says which case it was, and how that ended, whatever the case gives") {
    const results item(std::in_place_index<0>, weir::get_result<int>(4));
    CHECK(item.index() == 0);
    CHECK(item.status() == channel_status::success);
    CHECK(*item.get<0>() == 4);
    CHECK_THROWS_AS(item.get<1>(), std::logic_error);
    const results late(std::in_place_index<1>, channel_status::stopped);
    CHECK(late.index() == 1);
    CHECK(late.status() == channel_status::stopped);
    const results closed(std::in_place_index<2>,
                         weir::get_from<char>(5, weir::get_result<char>(channel_status::closed)));
    CHECK(closed.status() == channel_status::closed);
    CHECK(closed.get<2>().which() == 5);
}
