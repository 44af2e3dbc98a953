#include <weir/report/html_markup.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <string>

using weir::detail::short_number;
using weir::detail::time_markup;
using namespace std::chrono_literals;

TEST_CASE("numbers of a page are short, in every locale") {
    CHECK(short_number(0) == "0");
    CHECK(short_number(28.571428571) == "28.5714");
    CHECK(short_number(35) == "35");
    CHECK(time_markup(850us) == "850 µs");
    CHECK(time_markup(2700us) == "2.7 ms");
    CHECK(time_markup(0us) == "0");
}
