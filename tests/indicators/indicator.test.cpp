#include "indicators/emit/indicator.hpp"

#include "indicators/contract/json_text.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <limits>
#include <string>

TEST_CASE("an indicator prints what it was given, with the types that it was given") {
    indicators::indicator document("PiSort", "std");
    document.parameter("items", 1000).parameter("stable", true).parameter("text", "a\"b\\\n\x01é");
    document.result("elapsed_ms", 2.0)
        .result("large", 1e300)
        .result("most", std::numeric_limits<std::int64_t>::min());
    document.extra("list", indicators::value::list({1, "x", indicators::value::object({{"y", 0.5}})}))
        .score(3);
    CHECK(
        document.json() ==
        R"({"name":"PiSort","component":"std","@parameters":{"items":1000,"stable":true,"text":"a\"b\\\u000a\u0001é"},)"
        R"("@result":{"elapsed_ms":2.0,"large":1e+300,"most":-9223372036854775808},)"
        R"("list":[1,"x",{"y":0.5}],"overall_score":3.0})");
    CHECK(indicators::read_json_text(document.json()).good());
    CHECK(indicators::indicator("A", "b").json() ==
          R"({"name":"A","component":"b","@parameters":{},"@result":{}})");
}

TEST_CASE("a number keeps its value through the text") {
    for (const double number : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 123456789.0, 1e22}) {
        const auto read = indicators::read_json_text("[" + indicators::value(number).json() + "]");
        REQUIRE(read.good());
        CHECK(read.document[0].is_number_float());
        CHECK(read.document[0].get<double>() == number);
    }
}

TEST_CASE("an indicator has each key once, no NaN, and nothing under the contract's own names") {
    indicators::indicator document("A", "b");
    document.parameter("x", 1);
    CHECK_THROWS_WITH(document.result("x", 2), "an indicator has 'x' twice");
    CHECK_THROWS_WITH(document.parameter("x", 2), "an indicator has 'x' twice");
    CHECK_NOTHROW(document.extra("x", 2));  // beside both parts
    CHECK_THROWS_WITH(document.extra("x", 2), "an indicator has 'x' twice");
    CHECK_THROWS_WITH(document.result("y", std::nan("")), "an indicator can't hold NaN or infinity");
    CHECK_THROWS_AS(document.score(std::numeric_limits<double>::infinity()), std::invalid_argument);
    for (const char* key : {"name", "component", "framework", "overall_score", "@result"})
        CHECK_THROWS_AS(document.extra(key, 1), std::invalid_argument);
}
