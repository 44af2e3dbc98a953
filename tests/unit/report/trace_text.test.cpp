#include <weir/report/trace_text.hpp>

#include "support/catch.hpp"
#include "support/trace_check.hpp"

#include <string>

using namespace weir::detail;

namespace {

// One item from slot to slot; `seen`: when the second one got it.
std::string text_of(std::int64_t seen) {
    run_trace run({.every = 1, .most = 100, .after = 0, .until = INT64_MAX});
    auto& from = static_cast<slot_trace&>(run.add_slot(run.add_stage("a")));
    auto& to = static_cast<slot_trace&>(run.add_slot(run.add_stage("b")));
    run.add_queue("a", 2, true);
    run.reserve();
    run.begin(1000);
    from.begin_new(from.chosen(0, 2000), 0, 0, 2000);
    from.goes_on(3500);
    from.left(0, 0);
    from.goes_on(4007);
    to.came(0, 0, 1);
    to.begin(0, 0, seen);
    to.goes_on(seen + 10);
    to.came(0, 1, 1);  // whose other end is not there any more
    to.begin(1, 0, seen + 20);
    run.end();
    return trace_text(run);
}

}  // namespace

TEST_CASE("a step has both ends or none, and times are microseconds with three digits") {
    const traces::trace t(text_of(5000));
    CHECK(t.wrong.empty());
    CHECK(t.steps.size() == 1);
    CHECK(t.steps.at(0).left == 2500);
    CHECK(t.steps.at(0).came == 4000);
    CHECK(t.visit("a", 0)->end == 3007);
    CHECK(t.visits("b") == 2);
    CHECK(text_of(5000).find("\"ts\":1.000,\"dur\":2.007,\"name\":\"a\"") != std::string::npos);
}

TEST_CASE("where clocks differ a step never goes back, and none goes to before its item began") {
    const traces::trace late(text_of(3400));
    CHECK(late.wrong.empty());
    CHECK(late.steps.at(0).left == late.steps.at(0).came);
    const traces::trace before(text_of(1900));
    CHECK(before.wrong.empty());
    CHECK(before.steps.empty());
}
