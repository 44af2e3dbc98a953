#include <weir/stages/pending_items.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/channel/item_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace {

using weir::detail::item_counts;
using weir::detail::pending_items;

// The next one of it, with its number in `number`; -1: there is none.
struct deque {
    pending_items items{weir::detail::item_type_of<int>};
    item_counts all{1000};
    std::uint64_t number = 0;

    std::size_t push(int n) { return items.push(&n, all); }
    int newest() {
        int n = 0;
        return items.take_newest(&n, all, number) ? n : -1;
    }
    int oldest() {
        int n = 0;
        return items.take_oldest(&n, all, number) ? n : -1;
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
    CHECK_FALSE(d.items.exchange_oldest(&other, &got, d.all, d.number));
    CHECK(d.number == 0);
    CHECK(d.items.empty());
    for (int i = 0; i < 8; ++i) d.push(i);  // as many as it has places
    CHECK(d.items.exchange_oldest(&other, &got, d.all, d.number));
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

TEST_CASE("all deques count their items together, and take no more than are allowed") {
    item_counts all(3);
    deque a, b;
    const auto push = [&all](deque& to, int n) { return to.items.push(&n, all); };
    CHECK(push(a, 1) == 1);
    CHECK(push(b, 2) == 2);
    CHECK(push(b, 3) == 3);
    CHECK(push(a, 4) == 0);
    CHECK(all.pending == 3);
    int n = 0;
    std::uint64_t number = 9;
    REQUIRE(b.items.take_newest(&n, all, number));
    CHECK(n == 3);
    CHECK(number == 0);
    CHECK(all.pending == 2);
    int other = 5;
    REQUIRE(a.items.exchange_oldest(&other, &n, all, number));  // one comes, one goes
    CHECK(n == 1);
    CHECK(all.pending == 2);
    CHECK(push(a, 4) == 3);
    CHECK(a.items.clear(all) == 2);
    CHECK(all.pending == 1);
    CHECK(all.taken == 2);
}

TEST_CASE("pending items that nobody takes are destroyed once, by clear or at the end") {
    items::ledger book(100);
    using weir::detail::item_type_of;
    item_counts all(100);
    {
        pending_items some(item_type_of<items::counted>);
        for (int i = 0; i < 20; ++i) {
            items::counted one(book);
            some.push(&one, all);
        }
        CHECK(book.alive() == 20);
        CHECK(some.clear(all) == 20);
        CHECK(all.pending == 0);
        CHECK(book.alive() == 0);
        CHECK(some.empty());
        for (int i = 0; i < 3; ++i) {
            items::counted one(book);
            some.push(&one, all);
        }
        alignas(items::counted) std::byte place[sizeof(items::counted)];
        std::uint64_t number = 0;
        REQUIRE(some.take_oldest(place, all, number));
        std::launder(reinterpret_cast<items::counted*>(place))->~counted();
        CHECK(book.alive() == 2);
    }
    CHECK(book.alive() == 0);
    CHECK(book.died_twice() == 0);
}
