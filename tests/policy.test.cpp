#include <weir/policy.hpp>

#include "support/catch.hpp"

#include <weir/channel.hpp>
#include <weir/virtual_time.hpp>

#include <type_traits>

static_assert(weir::measured::statistics);
static_assert(!weir::unmeasured::statistics);
static_assert(std::is_same_v<weir::measured::platform, weir::unmeasured::platform>);

// The members that would hold figures are not there; two histograms alone are 20 KiB.
static_assert(sizeof(weir::channel<int, weir::unmeasured>) < 512);
static_assert(sizeof(weir::channel<int, weir::measured>) > 16 * 1024);

TEST_CASE("channels that measure and channels that don't live in one program") {
    weir::virtual_time time;
    weir::channel<int> with(2, time);
    weir::channel<int, weir::unmeasured> without(2, time);
    CHECK(with.try_put(1) == weir::channel_status::success);
    CHECK(without.try_put(1) == weir::channel_status::success);
    time.run_until(weir::time_point(weir::duration(100)));
    CHECK(with.stats().elapsed == weir::duration(100));
    CHECK(without.stats().elapsed == weir::duration(0));
    CHECK(with.stats().num_put == 1);
    CHECK(without.stats().num_put == 1);
}
