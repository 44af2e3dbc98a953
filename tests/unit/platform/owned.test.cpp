#include <weir/platform/owned.hpp>

#include "support/catch.hpp"

#include <type_traits>
#include <utility>

using weir::detail::owned;

namespace {

// Counts the objects that exist.
struct counted {
    explicit counted(int& all) : all_(&all) { ++*all_; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    virtual ~counted() { --*all_; }
    int* all_;
};
struct derived : counted {
    using counted::counted;
};

struct element {
    static inline int num_alive = 0;
    element() { ++num_alive; }
    element(const element&) = delete;
    element& operator=(const element&) = delete;
    ~element() { --num_alive; }
    int value = 7;
};

}  // namespace

static_assert(!std::is_copy_constructible_v<owned<int>> && !std::is_copy_assignable_v<owned<int>>);
static_assert(std::is_nothrow_move_constructible_v<owned<int>> &&
              std::is_nothrow_move_assignable_v<owned<int>>);
static_assert(!std::is_convertible_v<int*, owned<int>>);

TEST_CASE("an owned pointer is null unless it is given an object") {
    const owned<int> none;
    const owned<int> null(nullptr);
    CHECK(none == nullptr);
    CHECK_FALSE(null);
    CHECK(none.get() == nullptr);
}

TEST_CASE("an owned object is destroyed once, with its own type, whoever has it at the end") {
    int alive = 0;
    {
        owned<counted> first(new derived(alive));
        CHECK(first != nullptr);
        CHECK(&*first == first.get());
        CHECK(first->all_ == &alive);
        owned<counted> second(std::move(first));
        CHECK(first == nullptr);  // NOLINT(bugprone-use-after-move): a moved-from pointer is null
        CHECK(alive == 1);
        first = std::move(second);
        CHECK(second == nullptr);  // NOLINT(bugprone-use-after-move)
        CHECK(alive == 1);
    }
    CHECK(alive == 0);
}

TEST_CASE("an assignment destroys what the owned pointer had before, and to itself nothing") {
    int old = 0;
    int other = 0;
    owned<counted> kept(new counted(old));
    kept = owned<counted>(new counted(other));
    CHECK(old == 0);
    CHECK(other == 1);
    owned<counted>& same = kept;
    kept = std::move(same);
    CHECK(other == 1);
    REQUIRE(kept != nullptr);
    kept = nullptr;
    CHECK(other == 0);
}

TEST_CASE("a released object belongs to the caller") {
    int alive = 0;
    owned<counted> given(new counted(alive));
    counted* const mine = given.release();
    CHECK(given == nullptr);
    given = nullptr;
    CHECK(alive == 1);
    delete mine;
    CHECK(alive == 0);
}

TEST_CASE("an owned array destroys all its elements") {
    {
        owned<element[]> array(new element[3]);
        array[1].value = 8;
        CHECK(array[0].value == 7);
        CHECK(array.get()[1].value == 8);
        const owned<element[]> moved(std::move(array));
        CHECK(element::num_alive == 3);
    }
    CHECK(element::num_alive == 0);
}
