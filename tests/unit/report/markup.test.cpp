#include <weir/report/markup.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <string>
#include <vector>

using weir::detail::labels_of;
using weir::detail::short_number;
using weir::detail::time_markup;
using namespace std::chrono_literals;

TEST_CASE("no label is empty, long, or given twice") {
    const std::vector<std::string> labels =
        labels_of({"a", "", "a", "b", "a", std::string(30, 'x'), std::string(40, 'x')});
    CHECK(labels == std::vector<std::string>{"a", "(no name)", "a (2)", "b", "a (3)",
                                             std::string(23, 'x') + "…", std::string(23, 'x') + "… (2)"});
}

TEST_CASE("numbers are short, and no locale changes them") {
    CHECK(short_number(0) == "0");
    CHECK(short_number(28.571428571) == "28.5714");
    CHECK(short_number(35) == "35");
    CHECK(time_markup(850us) == "850 µs");
    CHECK(time_markup(2700us) == "2.7 ms");
    CHECK(time_markup(0us) == "0");
}
