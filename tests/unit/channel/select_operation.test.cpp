#include <weir/channel/select_operation.hpp>

#include "support/catch.hpp"

#include <weir/channel/select.hpp>
#include <weir/measure/clock.hpp>
#include <weir/task/stop_token.hpp>

#include <chrono>

using namespace std::chrono_literals;
using weir::detail::fit_together;
using weir::detail::select_kind;
using get = decltype(weir::on_get(std::declval<weir::channel<int>&>()));
using after = decltype(weir::after(1ms));

static_assert(weir::detail::num_of_kind<select_kind::operation, get, after, get> == 2);
static_assert(fit_together<get, after, weir::stop_token>);
static_assert(!fit_together<after, weir::stop_token>);
static_assert(!fit_together<get, after, after>);
static_assert(!fit_together<get, weir::stop_token, weir::stop_token>);

TEST_CASE("the time and the token of a select are those of its cases, else there are none") {
    using platform = weir::detail::standard_platform;
    weir::channel<int> c(1);
    const auto one = weir::on_get(c);
    const weir::stop_source source;
    const weir::detail::stop_case<platform> stop(source.get_token());
    const auto time = weir::after(3ms);
    CHECK(weir::detail::limit_of(one, time, stop).after(weir::time_point(1ms)) == weir::time_point(4ms));
    CHECK(weir::detail::limit_of(one, stop).is_for_ever());
    CHECK(weir::detail::stop_of<platform>(one, time, stop) == source.get_token());
    CHECK_FALSE(weir::detail::stop_of<platform>(one, time).stop_possible());
}
