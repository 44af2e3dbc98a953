#include <weir/platform/later.hpp>

#include "support/catch.hpp"

#include <stdexcept>
#include <type_traits>
#include <utility>

using weir::detail::later;

namespace {

// Counts the objects that exist; can be neither copied nor moved.
struct counted {
    counted(int& all, int number) : all_(&all), value(number) {
        if (number < 0) throw std::invalid_argument("below 0");
        ++*all_;
    }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --*all_; }

    int* all_;
    int value;
};

}  // namespace

static_assert(!std::is_copy_constructible_v<later<int>> && !std::is_move_constructible_v<later<int>>);
static_assert(!std::is_copy_assignable_v<later<int>> && !std::is_move_assignable_v<later<int>>);
static_assert(std::is_nothrow_default_constructible_v<later<counted>>);

TEST_CASE("an object of later exists from emplace to reset, or to the destruction of later") {
    int alive = 0;
    {
        later<counted> object;
        CHECK_FALSE(object);
        object.reset();
        CHECK(&object.emplace(alive, 1) == &*object);
        CHECK(object);
        CHECK(alive == 1);
        CHECK(object->value == 1);
        CHECK(std::as_const(object)->value == 1);
        CHECK((*std::as_const(object)).value == 1);
        object.reset();
        CHECK_FALSE(object);
        CHECK(alive == 0);
        object.emplace(alive, 2);
    }
    CHECK(alive == 0);
}

TEST_CASE(
    "construct of later takes the result of a call, which need not be movable, in place of an object "
    "before") {
    int alive = 0;
    later<const counted> object;
    object.construct([&] { return counted(alive, 1); });
    object.construct([&] { return counted(alive, 2); });
    CHECK(object->value == 2);
    CHECK(alive == 1);
    CHECK_THROWS_AS(object.construct([&] { return counted(alive, -1); }), std::invalid_argument);
    CHECK_FALSE(object);
    CHECK(alive == 0);
}

TEST_CASE("emplace of later destroys the object before; none exists if the constructor throws") {
    int alive = 0;
    later<counted> object;
    object.emplace(alive, 1);
    CHECK(object.emplace(alive, 2).value == 2);
    CHECK(alive == 1);
    CHECK_THROWS_AS(object.emplace(alive, -1), std::invalid_argument);
    CHECK_FALSE(object);
    CHECK(alive == 0);
}
