#include <weir/report/format.hpp>

#include "support/catch.hpp"
#include "support/formats.hpp"

#include <string>

TEST_CASE("std::format gives the same text as a stream") {
    formats::for_each_printable(
        [](const auto& value) { CHECK(std::format("{}", value) == weir::printed(value)); });
}

TEST_CASE("std::format pads and cuts the text like a string") {
    const weir::histogram none;
    CHECK(std::format("{}", none) == "0 times");
    CHECK(std::format("{:>9}", none) == "  0 times");
    CHECK(std::format("{:*<9.4}|", none) == "0 ti*****|");
}
