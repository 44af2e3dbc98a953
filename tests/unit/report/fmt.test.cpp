#include <weir/report/fmt.hpp>

#include "support/catch.hpp"
#include "support/formats.hpp"

#include <string>

TEST_CASE("{fmt} gives what a stream gets") {
    formats::for_each_printable(
        [](const auto& value) { CHECK(fmt::format("{}", value) == weir::printed(value)); });
}

TEST_CASE("{fmt} fills up and cuts off what it's given as it does with a string") {
    const weir::histogram none;
    CHECK(fmt::format("{}", none) == "0 times");
    CHECK(fmt::format("{:>9}", none) == "  0 times");
    CHECK(fmt::format("{:*<9.4}|", none) == "0 ti*****|");
}
