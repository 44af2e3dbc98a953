#include <weir/run/run_interfaces.hpp>

#include "support/catch.hpp"

#include <weir/measure/clock.hpp>

using weir::detail::registry;
using weir::detail::run_seen;
using weir::detail::wait_site;
using weir::detail::watched_run;

namespace {

class fake final : public watched_run {
  public:
    ~fake() { leave_registry(); }
    void inspect(run_seen& seen, bool states) const override { seen.has_failed = states; }
};

}  // namespace

TEST_CASE("a run is found among runs, and not among places") {
    registry r;
    fake run;
    r.add(run);
    int runs = 0;
    r.each<watched_run>([&runs](const watched_run& each) {
        run_seen seen;
        each.inspect(seen, true);
        if (seen.has_failed) ++runs;
    });
    CHECK(runs == 1);
    r.each<wait_site>([&runs](const wait_site&) { ++runs; });
    CHECK(runs == 1);
}

TEST_CASE("the figures of a stage begin at 0") {
    const weir::detail::stage_figures f;
    CHECK(f.given + f.taken + f.results + f.num_tasks + f.num_failures == 0);
    CHECK(f.times.total() == weir::duration(0));
}
