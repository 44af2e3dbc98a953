#include <weir/measure/policy.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/virtual_time.hpp>

#include <type_traits>

static_assert(weir::measured::statistics);
static_assert(weir::summed::statistics);
static_assert(!weir::unmeasured::statistics);
static_assert(std::is_same_v<weir::measured::platform, weir::summed::platform>);
static_assert(std::is_same_v<weir::measured::platform, weir::unmeasured::platform>);

// The members that would hold figures are not there; two histograms alone are 2.8 KiB.
static_assert(sizeof(weir::channel<int, weir::unmeasured>) <= 512);  // eight lines of the cache
static_assert(sizeof(weir::channel<int, weir::summed>) < sizeof(weir::channel<int, weir::unmeasured>) + 256);
static_assert(sizeof(weir::channel<int, weir::measured>) < 4 * 1024);

namespace {

// Policies of a user, who need not know of histograms.
struct quiet : weir::unmeasured {};
struct plain_on {
    using platform = weir::measured::platform;
    static constexpr bool statistics = true;
};
struct plain_off {
    using platform = weir::measured::platform;
    static constexpr bool statistics = false;
};
struct contradictory {
    using platform = weir::measured::platform;
    static constexpr bool statistics = false;
    static constexpr bool histograms = true;
};

using weir::detail::keeps_histograms;
static_assert(keeps_histograms<weir::measured> && !keeps_histograms<weir::summed>);
static_assert(!keeps_histograms<weir::unmeasured> && !keeps_histograms<quiet>);
static_assert(keeps_histograms<plain_on> && !keeps_histograms<plain_off>);
static_assert(!keeps_histograms<contradictory>);

}  // namespace

TEST_CASE("a user's policy that says nothing of histograms keeps them") {
    weir::virtual_time time;
    weir::channel<int, plain_on> c(2, time);
    CHECK(c.try_put(1) == weir::channel_status::success);
    CHECK(c.stats().put_waits.count() == 1);
    CHECK(c.stats().put_waits.has_quantiles());
}

TEST_CASE("channels that measure and channels that don't live in one program") {
    weir::virtual_time time;
    weir::channel<int> with(2, time);
    weir::channel<int, weir::summed> sums(2, time);
    weir::channel<int, weir::unmeasured> without(2, time);
    CHECK(with.try_put(1) == weir::channel_status::success);
    CHECK(sums.try_put(1) == weir::channel_status::success);
    CHECK(without.try_put(1) == weir::channel_status::success);
    time.run_until(weir::time_point(weir::duration(100)));
    CHECK(with.stats().elapsed == weir::duration(100));
    CHECK(sums.stats().elapsed == weir::duration(100));
    CHECK(without.stats().elapsed == weir::duration(0));
    CHECK(with.stats().num_put == 1);
    CHECK(sums.stats().num_put == 1);
    CHECK(without.stats().num_put == 1);
}
