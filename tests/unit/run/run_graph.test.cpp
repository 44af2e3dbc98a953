#include <weir/run/run_graph.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>

#include <string>
#include <vector>

using items::message_of;
using weir::virtual_time;

TEST_CASE("what a run is asked for by name has to be there, once") {
    virtual_time time;
    const auto same = [](int x) { return x; };
    auto run = (weir::source({1}) | weir::pipe(same, {.name = "a"}) | weir::pipe(same, {.name = "a"}) |
                weir::pipe(same, {.name = "b"}) | weir::sink())
                   .start(time);
    CHECK(run.stages() == std::vector<std::string>{"src", "a", "a", "b", "sink"});
    CHECK_NOTHROW(run.set_capacity("b", 5));
    CHECK(message_of([&] { run.set_capacity("c", 5); }) ==
          "weir: no stage of this run is named 'c'; run.stages() lists them");
    CHECK(message_of([&] { run.set_concurrency("a", 5); }) ==
          "weir: more than one stage of this run is named 'a'; run.stages() lists them");
}
