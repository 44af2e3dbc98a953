#include <weir/stages/item_tracer.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/report/trace_run.hpp>

#include <string>

using namespace weir::detail;

TEST_CASE("a held item that is followed is visited for an instant, another one is not") {
    weir::virtual_time time;
    const std::string name = "join";
    run_trace run({.every = 1, .most = 100, .after = 0, .until = INT64_MAX});
    slot me(name, 0, time);
    follow(me, &run, run.add_stage(name));
    run.reserve();
    weir::channel<int> queue(2, time);
    auto& inside = weir::detail::inside(queue);
    item_tracer tracer(me, result_origin::all_held);
    tracer.hold(inside, 0, 0);  // the queue has no marks
    inside.mark_in(run, true);
    CHECK(inside.marks()->set(4, 7));
    tracer.hold(inside, 3, 0);
    CHECK_FALSE(me.trail->has_kept());
    tracer.hold(inside, 4, 0);
    CHECK(me.trail->has_kept());
    CHECK(me.trail->gives(false, 0, 0, 0) == 7);
}
