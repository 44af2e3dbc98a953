#include <weir/channel/get_result.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/channel/select.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/policy.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

using weir::channel_status;
using weir::get_result;
using namespace std::chrono_literals;

static_assert(!std::is_convertible_v<get_result<int>, bool>);
static_assert(!std::is_convertible_v<channel_status, get_result<int>>);
static_assert(std::is_nothrow_move_constructible_v<get_result<std::unique_ptr<int>>>);

TEST_CASE("a result with an item says success and gives the item") {
    get_result<std::string> r(std::string("item"));
    CHECK(r.status() == channel_status::success);
    CHECK(r.has_value());
    CHECK(static_cast<bool>(r));
    CHECK(*r == "item");
    CHECK(r->size() == 4);
    CHECK(std::as_const(r)->size() == 4);
    CHECK(*std::as_const(r) == "item");
    CHECK(r.value() == "item");
    CHECK(std::as_const(r).value() == "item");
    const std::string taken = *std::move(r);
    CHECK(taken == "item");
}

TEST_CASE("a result without an item says why") {
    for (const channel_status why :
         {channel_status::empty, channel_status::closed, channel_status::timed_out}) {
        get_result<int> r(why);
        CHECK(r.status() == why);
        CHECK_FALSE(r.has_value());
        CHECK_FALSE(static_cast<bool>(r));
        std::string message;
        try {
            static_cast<void>(r.value());
        } catch (const std::logic_error& e) {
            message = e.what();
        }
        CHECK(message == std::string("weir: no item was got: ") + to_string(why));
    }
}

TEST_CASE("an item that can only be moved leaves the result by value()") {
    get_result<std::unique_ptr<int>> r(std::make_unique<int>(3));
    const std::unique_ptr<int> taken = std::move(r).value();
    CHECK(*taken == 3);
}

TEST_CASE("a channel of statuses tells an item from the lack of one, in every kind of get") {
    weir::virtual_time time;
    weir::channel<channel_status> c(2, time);
    CHECK_FALSE(c.try_get().has_value());
    CHECK(c.try_get().status() == channel_status::empty);
    CHECK_FALSE(c.blocking_get(1ms).has_value());
    CHECK(c.try_put(channel_status::closed) == channel_status::success);
    CHECK(*c.try_get() == channel_status::closed);
    const auto get = [](weir::channel<channel_status>& from) -> weir::task<bool> {
        const auto got = co_await from.get_for(1ms);
        co_return got.has_value();
    };
    CHECK_FALSE(weir::sync_wait(time, get(c)));
    c.close();
    CHECK(c.try_get().status() == channel_status::closed);
    CHECK_FALSE(c.blocking_get());
    CHECK_FALSE(weir::sync_wait(time, get(c)));
    const auto select = [](weir::channel<channel_status>& from) -> weir::task<bool> {
        const auto chosen = co_await weir::select(weir::on_get(from));
        co_return chosen.get<0>().has_value();
    };
    CHECK_FALSE(weir::sync_wait(time, select(c)));
}

TEST_CASE("each status has a name and can be printed") {
    std::ostringstream out;
    for (const channel_status s : {channel_status::success, channel_status::full, channel_status::empty,
                                   channel_status::closed, channel_status::timed_out}) {
        out << s << ' ';
    }
    CHECK(out.str() == "success full empty closed timed_out ");
    CHECK(std::string(to_string(static_cast<channel_status>(99))) == "?");
}

TEST_CASE("the overloads for wrong arguments are an empty base, and take no correct call") {
    using refusals = weir::detail::channel_refusals<std::unique_ptr<int>, weir::measured>;
    CHECK(std::is_empty_v<refusals>);
    CHECK(std::is_base_of_v<refusals, weir::channel<std::unique_ptr<int>>>);
    weir::channel<std::unique_ptr<int>> c(1);
    auto item = std::make_unique<int>(7);
    CHECK(c.try_put(std::move(item)) == weir::channel_status::success);
    CHECK(**c.try_get() == 7);
}
