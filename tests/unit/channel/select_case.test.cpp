#include <weir/channel/select_case.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/channel/select.hpp>
#include <weir/task/stop_token.hpp>

#include <array>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

using weir::channel;
using weir::channel_status;
using weir::detail::select_case;
using results = weir::select_result<weir::get_result<int>, channel_status, weir::get_from<char>>;
using box = std::unique_ptr<int>;

TEST_CASE("a select result gives the index, status and result of its case") {
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

static_assert(select_case<decltype(weir::on_get(std::declval<channel<box>&>()))>);
static_assert(select_case<decltype(weir::on_put(std::declval<channel<int>&>(), 1))>);
static_assert(select_case<weir::detail::time_case>);
static_assert(select_case<weir::stop_token>);
static_assert(select_case<decltype(weir::on_get(std::declval<std::vector<channel<int>*>&>()))>);
static_assert(!select_case<weir::stop_source>);
static_assert(!select_case<channel<int>>);
static_assert(!select_case<int>);

template <class Place>
auto* operation_of(Place& place) {
    weir::detail::any_choice_case<weir::detail::standard_platform>* found = nullptr;
    CHECK(place.size() == 1);
    place.fill_in(&found);
    return found;
}

TEST_CASE("a put case refers to an rvalue, and holds a copy of an lvalue") {
    channel<int> c(1);
    int mine = 1;
    auto given = weir::on_put(c, std::move(mine));
    auto copied = weir::on_put(c, std::as_const(mine));
    CHECK(&given.item == &mine);
    CHECK(&copied.item != &mine);
    decltype(copied)::place put(std::move(copied));
    mine = 2;
    CHECK(operation_of(put)->try_now());
    CHECK(put.take(0) == channel_status::success);
    CHECK(*c.try_get() == 1);
}

TEST_CASE("a get case gives a get_result, and a time case the status timed_out") {
    channel<box> c(1);
    CHECK(c.try_put(std::make_unique<int>(3)) == channel_status::success);
    auto get = weir::on_get(c);
    decltype(get)::place it(std::move(get));
    CHECK(operation_of(it)->try_now());
    CHECK(**it.take(0) == 3);
    weir::detail::time_case::place time(weir::after(weir::duration(1)));
    CHECK(time.size() == 0);
    CHECK(time.take(0) == channel_status::timed_out);
    weir::detail::stop_case<weir::detail::standard_platform>::place stop{weir::stop_token()};
    CHECK(stop.take(0) == channel_status::stopped);
}

TEST_CASE("a range case has an operation for each element, or null") {
    channel<int> c(1);
    std::vector<channel<int>*> some{nullptr, &c, nullptr};
    auto get = weir::on_get(some);
    CHECK(get.size() == 3);
    CHECK(get.channels == some);
    CHECK(get.channels.capacity() == 3);
    decltype(get)::place it(std::move(get));
    std::array<weir::detail::any_choice_case<weir::detail::standard_platform>*, 3> all{};
    it.fill_in(all.data());
    CHECK(all[0] == nullptr);
    CHECK(all[2] == nullptr);
    CHECK(c.try_put(4) == channel_status::success);
    CHECK(all[1]->try_now());
    auto got = it.take(1);
    CHECK(got.which() == 1);
    CHECK(*got == 4);
}
