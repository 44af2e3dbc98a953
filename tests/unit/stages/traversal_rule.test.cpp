#include <weir/stages/traversal_rule.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/channel/item_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace {

using weir::detail::pending_items;

// The next one of it, with its number in `number`; -1: there is none.
struct deque {
    pending_items items{weir::detail::item_type_of<int>};
    pending_items::counter taken{0};
    std::uint64_t number = 0;

    void push(int n) { items.push(&n); }
    int newest() {
        int n = 0;
        return items.take_newest(&n, taken, number) ? n : -1;
    }
    int oldest() {
        int n = 0;
        return items.take_oldest(&n, taken, number) ? n : -1;
    }
};

}  // namespace

TEST_CASE("pending items are taken from both ends, and numbered as they are taken") {
    deque d;
    CHECK(d.items.empty());
    CHECK(d.newest() == -1);
    CHECK(d.oldest() == -1);
    for (int i = 0; i < 5; ++i) d.push(i);
    CHECK(d.newest() == 4);
    CHECK(d.number == 0);
    CHECK(d.oldest() == 0);
    CHECK(d.number == 1);
    d.push(9);
    CHECK(d.newest() == 9);
    CHECK(d.newest() == 3);
    CHECK(d.oldest() == 1);
    CHECK(!d.items.empty());
    CHECK(d.oldest() == 2);
    CHECK(d.number == 5);
    CHECK(d.items.empty());
    CHECK(d.oldest() == -1);
}

TEST_CASE(
    "an item from elsewhere waits behind all that are pending, for the oldest of which it is exchanged") {
    deque d;
    int other = 9;
    int got = 0;
    CHECK_FALSE(d.items.exchange_oldest(&other, &got, d.taken, d.number));
    CHECK(d.number == 0);
    CHECK(d.items.empty());
    for (int i = 0; i < 8; ++i) d.push(i);  // as many as it has places
    CHECK(d.items.exchange_oldest(&other, &got, d.taken, d.number));
    CHECK(got == 0);
    CHECK(d.number == 1);
    CHECK(d.newest() == 9);
    CHECK(d.oldest() == 1);
}

TEST_CASE("any number of items may be pending, and their order stays when there are more places") {
    deque d;
    // Moves the deque along its ring, so that it has two parts when it grows.
    for (int i = 0; i < 5; ++i) {
        d.push(i);
        CHECK(d.oldest() == i);
    }
    for (int i = 0; i < 1000; ++i) d.push(i);
    for (int i = 0; i < 500; ++i) REQUIRE(d.oldest() == i);
    for (int i = 999; i >= 500; --i) REQUIRE(d.newest() == i);
    CHECK(d.items.empty());
}

TEST_CASE("pending items that nobody takes are destroyed once, by clear or at the end") {
    items::ledger book(100);
    using weir::detail::item_type_of;
    pending_items::counter taken{0};
    {
        pending_items some(item_type_of<items::counted>);
        for (int i = 0; i < 20; ++i) {
            items::counted one(book);
            some.push(&one);
        }
        CHECK(book.alive() == 20);
        CHECK(some.clear() == 20);
        CHECK(book.alive() == 0);
        CHECK(some.empty());
        for (int i = 0; i < 3; ++i) {
            items::counted one(book);
            some.push(&one);
        }
        alignas(items::counted) std::byte place[sizeof(items::counted)];
        std::uint64_t number = 0;
        REQUIRE(some.take_oldest(place, taken, number));
        std::launder(reinterpret_cast<items::counted*>(place))->~counted();
        CHECK(book.alive() == 2);
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}
