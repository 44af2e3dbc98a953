#include "indicators/store/condition.hpp"

#include "lab/data/input_error.hpp"

#include "support/catch.hpp"

#include <string>

namespace {

bool holds(const std::string& condition, const std::string& value) {
    return indicators::condition_in(condition).holds_for(value);
}

}  // namespace

TEST_CASE("numbers are compared as numbers, texts by what they are") {
    CHECK(holds("n=8", "8.0"));
    CHECK_FALSE(holds("n!=8", "8.0"));
    CHECK(holds("mode=a|b", "b"));
    CHECK(holds("mode!=a|b", "c"));
    CHECK(holds("n<10", "9.5"));
    CHECK_FALSE(holds("n<10", "10"));
    CHECK(holds("n<=10", "10"));
    CHECK(holds("n>9", "10"));
    CHECK_FALSE(holds("n>10", "10"));
    CHECK(holds("n>=10", "10"));
    CHECK_FALSE(holds("n>=10", "many"));
    CHECK(holds("mode=", ""));
    CHECK_THROWS_AS(holds("n>many", "1"), lab::input_error);
    CHECK_THROWS_AS(holds("n", "1"), lab::input_error);
    CHECK_THROWS_AS(holds("n!1", "1"), lab::input_error);
    CHECK_THROWS_AS(holds("n>1|2", "1"), lab::input_error);
}
