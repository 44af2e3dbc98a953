#include <weir/stages/stage.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>

#include <optional>
#include <string>
#include <utility>

using weir::generator;
using weir::task;
using weir::detail::next_of;

namespace {

generator<std::string> two_words() {
    co_yield "one";
    std::string kept = "two";
    co_yield kept;
    co_yield kept;
}

}  // namespace

TEST_CASE("values of a generator are taken one by one, and then none") {
    auto words = two_words();
    CHECK(next_of<std::string>(words, true) == "one");
    CHECK(next_of<std::string>(words, false) == "two");
    CHECK(next_of<std::string>(words, false) == "two");
    CHECK_FALSE(next_of<std::string>(words, false).has_value());
}

TEST_CASE("an optional is replaced by another also where its value can't be assigned to") {
    class fixed {
      public:
        explicit fixed(int n) : number(n) {}
        const int number;
    };
    std::optional<fixed> place;
    weir::detail::replace(place, std::optional<fixed>(1));
    REQUIRE(place.has_value());
    CHECK(place->number == 1);
    weir::detail::replace(place, std::optional<fixed>(2));
    CHECK(place->number == 2);
    weir::detail::replace(place, std::optional<fixed>());
    CHECK_FALSE(place.has_value());
}
