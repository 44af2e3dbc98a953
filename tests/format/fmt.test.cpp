#include <weir/fmt.hpp>

#include "support/catch.hpp"

#include <string>

TEST_CASE("{fmt} gives what a stream gets, filled up as a string is") {
    const weir::histogram none;
    CHECK(fmt::format("{}", none) == "0 times");
    CHECK(fmt::format("{:>9}", none) == "  0 times");
    CHECK(fmt::format("{:*<9.4}|", none) == "0 ti*****|");
    CHECK(fmt::format("{}", weir::channel_status::closed) == "closed");
    const weir::pipeline_stats stats;
    CHECK(fmt::format("{}", stats) == weir::printed(stats));
    CHECK(fmt::format("{}", weir::stage_stats()) == weir::printed(weir::stage_stats()));
    CHECK(fmt::format("{}", weir::channel_stats()) == weir::printed(weir::channel_stats()));
    CHECK(fmt::format("{}", weir::slot_times()) == weir::printed(weir::slot_times()));
    CHECK(fmt::format("{}", weir::pipeline_description()) == weir::printed(weir::pipeline_description()));
    CHECK(fmt::format("{}", weir::deadlock_report()) == weir::printed(weir::deadlock_report()));
    CHECK(fmt::format("{}", weir::stall_report()) == weir::printed(weir::stall_report()));
    CHECK(fmt::format("{}", weir::profile_result()) == weir::printed(weir::profile_result()));
}
