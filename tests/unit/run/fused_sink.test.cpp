#include <weir/run/fused_sink.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <optional>
#include <vector>

using weir::detail::fused_sink;

namespace {

// Of a queue that took `size` items more than it gave away, 10.
weir::pipeline_stats stats_of(std::size_t size) {
    weir::pipeline_stats s;
    s.channels.resize(1);
    s.channels[0].name = "work";
    s.channels[0].num_get = 10;
    s.channels[0].num_put = 10 + size;
    s.channels[0].size = size;
    s.channels[0].bytes = 8 * size;
    return s;
}

fused_sink sink_of(std::size_t capacity, std::size_t before) {
    weir::stage_options options;
    options.name = "sink";
    options.capacity = capacity;
    return fused_sink(options, before);
}

}  // namespace

TEST_CASE("a merged sink's queue holds what both would, and the item between them") {
    fused_sink sink = sink_of(3, 2);
    CHECK(sink.set_capacity_before(5) == 5 + 1 + 3);
    CHECK(sink.set_capacity_behind(7) == 5 + 1 + 7);
}

TEST_CASE("the statistics show a merged sink as a stage between two queues") {
    weir::pipeline_stats s = stats_of(0);
    sink_of(3, 2).split(s, 0, std::nullopt);
    REQUIRE(s.stages.size() == 1);
    CHECK(s.stages[0].name == "sink");
    CHECK(s.stages[0].inputs == std::vector<std::size_t>{0});
    CHECK(s.stages[0].outputs == std::vector<std::size_t>{1});
    REQUIRE(s.channels.size() == 2);
    CHECK(s.channels[0].name == "work");
    CHECK(s.channels[0].capacity == 2);
    CHECK(s.channels[1].name == "sink");
    CHECK(s.channels[1].capacity == 3);
}

TEST_CASE(
    "what a cancel discarded was discarded before a merged sink whose work isn't measured, else where it "
    "was") {
    for (const std::uint64_t taken : {10U, 13U, 14U}) {
        CAPTURE(taken);
        weir::pipeline_stats s = stats_of(6);
        s.channels[0].size = s.channels[0].bytes = 0;
        s.channels[0].num_discarded = 6;
        weir::detail::sink_figures kept;
        kept.num_taken = taken;
        kept.num_passed = taken - (taken == 14 ? 1 : 0);  // its queue was full
        sink_of(3, 2).split(s, 0, taken == 10 ? std::nullopt : std::optional(kept));
        CHECK(s.channels[0].num_discarded == 16 - taken);
        CHECK(s.channels[1].num_discarded == (taken == 10 ? 0 : 3));
        for (const weir::channel_stats& q : s.channels) {
            CHECK(q.num_put == q.num_get + q.num_discarded + q.size);
        }
    }
}

TEST_CASE("items are behind a merged sink first, then in it, then before it") {
    struct {
        std::size_t size, before, behind, passed;
    } const expected[] = {{0, 0, 0, 0}, {2, 0, 2, 2}, {3, 0, 3, 3}, {4, 0, 3, 4}, {6, 2, 3, 4}};
    for (const auto& each : expected) {
        CAPTURE(each.size);
        weir::pipeline_stats s = stats_of(each.size);
        sink_of(3, 2).split(s, 0, std::nullopt);
        CHECK(s.channels[0].size == each.before);
        CHECK(s.channels[1].size == each.behind);
        CHECK(s.channels[0].num_put == 10 + each.size);
        CHECK(s.channels[0].num_get == 10 + each.passed);
        CHECK(s.channels[1].num_put == 10 + each.behind);
        CHECK(s.channels[1].num_get == 10);
        CHECK(s.channels[0].bytes == 8 * each.before);
        CHECK(s.channels[0].bytes + s.channels[1].bytes == 8 * each.size);
    }
}
