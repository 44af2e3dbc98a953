#include <weir/format.hpp>

#include "support/catch.hpp"

#include <string>

TEST_CASE("std::format gives what a stream gets, filled up as a string is") {
    const weir::histogram none;
    CHECK(std::format("{}", none) == "0 times");
    CHECK(std::format("{:>9}", none) == "  0 times");
    CHECK(std::format("{:*<9.4}|", none) == "0 ti*****|");
    CHECK(std::format("{}", weir::channel_status::closed) == "closed");
    const weir::pipeline_stats stats;
    CHECK(std::format("{}", stats) == weir::printed(stats));
    CHECK(std::format("{}", weir::stage_stats()) == weir::printed(weir::stage_stats()));
    CHECK(std::format("{}", weir::channel_stats()) == weir::printed(weir::channel_stats()));
    CHECK(std::format("{}", weir::slot_times()) == weir::printed(weir::slot_times()));
    CHECK(std::format("{}", weir::pipeline_description()) == weir::printed(weir::pipeline_description()));
    CHECK(std::format("{}", weir::deadlock_report()) == weir::printed(weir::deadlock_report()));
    CHECK(std::format("{}", weir::stall_report()) == weir::printed(weir::stall_report()));
    CHECK(std::format("{}", weir::profile_result()) == weir::printed(weir::profile_result()));
}
