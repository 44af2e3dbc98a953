#include <weir/report/units.hpp>

#include "support/catch.hpp"

#include <chrono>

TEST_CASE("units are found by their old name, too") {
    CHECK(weir::units::time(std::chrono::milliseconds(2)) == "2.0 ms");
}
