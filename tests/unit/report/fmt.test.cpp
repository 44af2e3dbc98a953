#include <weir/report/fmt.hpp>

#include "support/catch.hpp"
#include "support/formats.hpp"

#include <string>

TEST_CASE("{fmt} gives the same text as a stream") {
    formats::for_each_printable(
        [](const auto& value) { CHECK(fmt::format("{}", value) == weir::printed(value)); });
}

TEST_CASE("{fmt} pads and cuts the text like a string") {
    const weir::histogram none;
    CHECK(fmt::format("{}", none) == "0 times");
    CHECK(fmt::format("{:>9}", none) == "  0 times");
    CHECK(fmt::format("{:*<9.4}|", none) == "0 ti*****|");
}
