#include <weir/report/structure.hpp>

#include "support/catch.hpp"
#include "unit/report/german.hpp"

#include <chrono>
#include <iomanip>
#include <sstream>
#include <string>
#include <utility>

using weir::described_stage;
using weir::pipeline_description;
using namespace std::chrono_literals;

namespace {

described_stage stage(std::string name, std::string kind, std::string takes, std::string gives) {
    described_stage s;
    s.name = std::move(name);
    s.kind = std::move(kind);
    s.takes = std::move(takes);
    s.gives = std::move(gives);
    s.capacity = 2;
    return s;
}

// A route with one way of two stages, one of which has a part inside, and one way without any.
pipeline_description nested() {
    pipeline_description d;
    d.stages = {stage("src", "source", "", "int"),     stage("route", "route", "int", "int"),
                stage("twice", "pipe", "int", "long"), stage("inside", "pipe", "long", "long"),
                stage("join", "join", "long", "long"), stage("sink", "sink", "long", "long")};
    d.stages[2].depth = 1;
    d.stages[3].depth = 2;
    d.branches = {{"odd", 0, 2, 4}, {"deep", 1, 3, 4}, {"even", 0, 4, 4}};
    d.edges = {{0, 1, ""}, {1, 2, "odd"}, {2, 3, "deep"}, {3, 4, ""}, {1, 4, "even"}, {4, 5, ""}};
    return d;
}

const std::string text_of_nested =
    R"(stage           kind    slots  queue  executor  items
src             source      1      2  -         -> int
route           route       1      2  -         int -> int
  odd:
    twice       pipe        1      2  -         int -> long
      deep:
        inside  pipe        1      2  -         long -> long
  even: (no stages)
join            join        1      2  -         long -> long
sink            sink        1      2  -         long -> long

queue: its capacity, behind the stage; executor -: where the run is started
)";

}  // namespace

TEST_CASE("a description is printed as a tree, a stage a line") {
    CHECK(weir::structure_text(nested()) == text_of_nested);
}

TEST_CASE("a description reads the same in a German locale and whatever the stream's flags are") {
    const weir_test::german_locale here;
    std::ostringstream out;
    out << std::hex << std::setw(500) << std::setfill('*') << nested();
    CHECK(out.str() == text_of_nested);
}

TEST_CASE("a description tells what a stage does differently from most") {
    pipeline_description d;
    d.stages = {stage("files", "source", "", "path"), stage("read", "pipe", "path", "image"),
                stage("batch", "aggregate", "image", "images")};
    d.stages[0].epochs = true;
    d.stages[1].concurrency = 12;
    d.stages[1].capacity = 100;
    d.stages[1].executor = "weir::blocking_pool";
    d.stages[1].output_order = weir::output_order::input;
    d.stages[1].time_limit = 2s;
    d.stages[2].remark = "8";
    d.stages[2].max_bytes = 64'000'000;
    CHECK(weir::structure_text(d) == R"(stage  kind           slots       queue  executor             items
files  source             1           2  -                    -> path, in epochs
read   pipe              12         100  weir::blocking_pool  path -> image, in order, at most 2.0 s
batch  aggregate (8)      1  2, 64.0 MB  -                    image -> images

queue: its capacity, behind the stage; executor -: where the run is started
)");
}

TEST_CASE("a description of nothing is a heading") {
    CHECK(weir::structure_text({}) == "stage  kind  slots  queue  executor  items\n");
}

TEST_CASE("a description shows what is not ASCII in a name as question marks") {
    pipeline_description d;
    d.stages = {stage("a\n\xc3\xa4", "pipe", "int", "int")};
    CHECK(weir::structure_text(d).find("\na???   pipe") != std::string::npos);
}
