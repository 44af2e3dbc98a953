#include <weir/channel/select_case.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/channel/select.hpp>

#include <memory>
#include <type_traits>
#include <utility>

using weir::channel;
using weir::channel_status;
using weir::detail::select_case;
using box = std::unique_ptr<int>;

static_assert(select_case<decltype(weir::on_get(std::declval<channel<box>&>()))>);
static_assert(select_case<decltype(weir::on_put(std::declval<channel<int>&>(), 1))>);
static_assert(select_case<weir::detail::time_case>);
static_assert(!select_case<channel<int>>);
static_assert(!select_case<int>);

TEST_CASE("a put holds what is given away by reference, and what has a name as a copy") {
    channel<int> c(1);
    int mine = 1;
    auto given = weir::on_put(c, std::move(mine));
    auto copied = weir::on_put(c, std::as_const(mine));
    CHECK(&given.item == &mine);
    CHECK(&copied.item != &mine);
    decltype(copied)::place put(std::move(copied));
    mine = 2;
    CHECK(put.operation()->tries());
    CHECK(put.take() == channel_status::success);
    CHECK(*c.try_get() == 1);
}

TEST_CASE("a get gives what it got, and a time nothing but that it is over") {
    channel<box> c(1);
    CHECK(c.try_put(std::make_unique<int>(3)) == channel_status::success);
    auto get = weir::on_get(c);
    decltype(get)::place it(std::move(get));
    CHECK(it.operation()->tries());
    CHECK(**it.take() == 3);
    weir::detail::time_case::place time(weir::after(weir::duration(1)));
    CHECK(time.operation() == nullptr);
    CHECK(time.take() == channel_status::timed_out);
}
