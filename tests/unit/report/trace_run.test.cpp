#include <weir/report/trace_run.hpp>

#include "support/catch.hpp"

#include <string>

using namespace weir::detail;

TEST_CASE("each stage has the same share of the events, and each of its slots, also later ones") {
    run_trace run({.every = 1, .most = 100, .after = 0, .until = 1});
    const auto a = run.add_stage("a");
    const auto b = run.add_stage("b");
    auto& slot = static_cast<slot_trace&>(run.add_slot(a));
    run.add_slot(b);
    run.add_slot(b);
    run.reserve();
    auto& late = static_cast<slot_trace&>(run.add_slot(b));
    for (int i = 0; i < 100; ++i) {
        slot.depth(0, 1, 0, i);
        late.depth(0, 1, 0, i);
    }
    CHECK(slot.events.kept() == 50);
    CHECK(late.events.kept() == 25);
    CHECK(run.read([](const auto& stages) { return stages[1]->per_slot.size(); }) == 3);
}

TEST_CASE("a queue has its place, and says when what went through it is no longer followed") {
    run_trace run({});
    CHECK(run.add_queue("a", 2, true).queue() == 0);
    trail_marks& marks = run.add_queue("b", 2, true);
    CHECK(marks.queue() == 1);
    CHECK(run.queue_names().at(1) == "b");
    CHECK(marks.set(0, 1));
    CHECK_FALSE(marks.set(1 << 20, 1));
    CHECK(run.lost() == 1);
}
