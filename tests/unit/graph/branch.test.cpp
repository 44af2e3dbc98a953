#include <weir/graph/branch.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <string>
#include <vector>

using items::message_of;
using weir::detail::branch_names;

TEST_CASE("a branch is found by its place and by its name") {
    const branch_names names({"left", "right"});
    CHECK(names.size() == 2);
    CHECK(names.index_of(1) == 1);
    CHECK(names.index_of(0U) == 0);
    CHECK(names.index_of(true) == 1);
    CHECK(names.index_of("left") == 0);
    CHECK(names.index_of(std::string("right")) == 1);
}

TEST_CASE("a branch that isn't there is refused with those there are") {
    const branch_names names({"left", "right"});
    CHECK(message_of([&] { static_cast<void>(names.index_of(2)); }) ==
          "weir: an item was sent to branch 2 of 2; they are counted from 0");
    CHECK(message_of([&] { static_cast<void>(names.index_of(-1)); }) ==
          "weir: an item was sent to branch -1 of 2; they are counted from 0");
    CHECK(message_of([&] { static_cast<void>(names.index_of("up")); }) ==
          "weir: an item was sent to a branch named 'up', and the branches are 'left', 'right'");
    const char* const unset = nullptr;
    CHECK(message_of([&] { static_cast<void>(names.index_of(unset)); }) ==
          "weir: an item was sent to a branch named '', and the branches are 'left', 'right'");
}

TEST_CASE("branches of one name are refused") {
    CHECK_NOTHROW(branch_names({"a", "b", "c"}));
    CHECK(message_of([] { static_cast<void>(branch_names({"a", "b", "a"})); }) ==
          "weir: two branches are named 'a'; give each a name of its own");
}

TEST_CASE("what has several queues closes all of them") {
    weir::channel<int> a(1), b(1);
    const std::vector<weir::channel<int>*> queues{&a, &b};
    weir::detail::branch_queues<weir::channel<int>> all{queues};
    all.close();
    CHECK(a.closed());
    CHECK(b.closed());
}
