#include <weir/report/structure.hpp>

#include "support/catch.hpp"
#include "unit/report/german.hpp"

#include <chrono>
#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>
#include <utility>

using weir::described_stage;
using weir::mermaid;
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

TEST_CASE("a description is printed with a line per stage, indented by depth") {
    CHECK(weir::structure_text(nested()) == text_of_nested);
}

TEST_CASE("a description is printed alike in a German locale and with any flags of the stream") {
    const weir_test::german_locale here;
    std::ostringstream out;
    out << std::hex << std::setw(500) << std::setfill('*') << nested();
    CHECK(out.str() == text_of_nested);
}

TEST_CASE("a description mentions options that differ from the defaults") {
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

TEST_CASE("an empty description is a heading") {
    CHECK(weir::structure_text({}) == "stage  kind  slots  queue  executor  items\n");
}

TEST_CASE("a description shows characters outside ASCII as question marks") {
    pipeline_description d;
    d.stages = {stage("a\n\xc3\xa4", "pipe", "int", "int")};
    CHECK(weir::structure_text(d).find("\na???   pipe") != std::string::npos);
}

namespace {

described_stage stage(std::string name, std::size_t concurrency, std::string remark = {}) {
    described_stage s;
    s.name = std::move(name);
    s.remark = std::move(remark);
    s.concurrency = concurrency;
    s.capacity = 2;
    return s;
}

pipeline_description loader() {
    pipeline_description d;
    d.stages = {stage("src", 1), stage("batch", 1, "8"), stage("download", 12), stage("sink", 1)};
    d.stages[3].capacity = 3;
    d.edges = {{0, 1, ""}, {1, 2, ""}, {2, 3, ""}};
    return d;
}

pipeline_description two_ways() {
    pipeline_description d;
    d.stages = {stage("route", 1), stage("left", 1), stage("join", 1)};
    d.edges = {{0, 1, "odd"}, {1, 2, ""}, {0, 2, "even"}};
    return d;
}

}  // namespace

TEST_CASE("a Mermaid graph has a box for each stage, with its slots inside if there are several") {
    CHECK(mermaid(loader()) == R"m(flowchart LR
    s0["src"]
    s1["batch (8)"]
    subgraph s2["download"]
        direction TB
        s2_1[Task 1]
        s2_2[Task 2]
        s2_more[...]
        s2_n[Task 12]
    end
    s3["sink"]
    s0 --> s1
    s1 --> s2
    s2 --> s3
)m");
}

TEST_CASE("a Mermaid graph can run from top to bottom, without slots, and with queues") {
    CHECK(mermaid(loader(), {.left_to_right = false, .queues = true, .show_slots = false}) == R"m(flowchart TB
    s0["src"]
    s1["batch (8)"]
    s2["download"]
    s3["sink"]
    q0[("2")]
    s0 --> q0
    q1[("2")]
    s1 --> q1
    q2[("2")]
    s2 --> q2
    q3[("3")]
    s3 --> q3
    q0 --> s1
    q1 --> s2
    q2 --> s3
)m");
}

TEST_CASE("a Mermaid graph names the branches on their arrows, and each branch has its own queue") {
    CHECK(mermaid(two_ways()) == R"m(flowchart LR
    s0["route"]
    s1["left"]
    s2["join"]
    s0 -->|"odd"| s1
    s1 --> s2
    s0 -->|"even"| s2
)m");
    CHECK(mermaid(two_ways(), {.queues = true}) == R"m(flowchart LR
    s0["route"]
    s1["left"]
    s2["join"]
    q1[("2")]
    s1 --> q1
    q2[("2")]
    s2 --> q2
    q0_0[("2")]
    s0 --> q0_0
    q0_0 -->|"odd"| s1
    q1 --> s2
    q0_2[("2")]
    s0 --> q0_2
    q0_2 -->|"even"| s2
)m");
}

TEST_CASE(
    "a description from a file may have depths that no stage has, and edges of stages that are not there") {
    pipeline_description d = two_ways();
    d.stages[1].depth = SIZE_MAX / 8;
    d.branches = {{"odd", SIZE_MAX, 1, 2}};
    d.edges[0].from = 3;
    CHECK(weir::structure_text(d).find("\n      odd:\n    left ") != std::string::npos);
    CHECK(mermaid(d, {.queues = true}).find("q3 -->|\"odd\"| s1") != std::string::npos);
}

TEST_CASE("a Mermaid graph shows all slots of a stage with two or three") {
    pipeline_description d;
    d.stages = {stage("two", 2), stage("three", 3)};
    CHECK(mermaid(d) == R"m(flowchart LR
    subgraph s0["two"]
        direction TB
        s0_1[Task 1]
        s0_n[Task 2]
    end
    subgraph s1["three"]
        direction TB
        s1_1[Task 1]
        s1_2[Task 2]
        s1_n[Task 3]
    end
)m");
}

TEST_CASE("the labels of a Mermaid graph are text, for every name of a stage") {
    pipeline_description d;
    d.stages = {stage("end", 1), stage("a\"b]<i>#\n`c`", 1)};
    CHECK(mermaid(d) == R"m(flowchart LR
    s0["end"]
    s1["a#34;b#93;#60;i#62;#35; #96;c#96;"]
)m");
}

TEST_CASE("an empty Mermaid graph is a heading") { CHECK(mermaid({}) == "flowchart LR\n"); }

TEST_CASE("a stage without an output queue has none in a Mermaid graph") {
    pipeline_description d;
    d.stages = {stage("src", 1), stage("write", 1)};
    d.stages[1].capacity = 0;
    d.edges = {{0, 1, ""}};
    CHECK(mermaid(d, {.queues = true}) ==
          "flowchart LR\n"
          "    s0[\"src\"]\n"
          "    s1[\"write\"]\n"
          "    q0[(\"2\")]\n"
          "    s0 --> q0\n"
          "    q0 --> s1\n");
}
