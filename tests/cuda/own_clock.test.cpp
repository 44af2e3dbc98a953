#include <weir/cuda/own_clock.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>

using weir::cuda::detail::own_clock;

TEST_CASE("a queue measures by its own clock from the beginning, and nobody's executor is needed") {
    own_clock time;
    weir::channel<int> queue(1, time);
    CHECK(queue.try_get().status() == weir::channel_status::empty);
    const weir::time_point before = time.now();
    CHECK(queue.try_put(1) == weir::channel_status::success);
    CHECK(time.now() >= before);
    weir::executor::flag none;
    CHECK_FALSE(time.drive(none, weir::time_point::max()));
    CHECK(queue.stats().empty <= queue.stats().elapsed);
}
