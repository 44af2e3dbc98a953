#include <weir/stages/open_batch.hpp>

#include "support/catch.hpp"

#include <cstddef>

using weir::detail::open_batch;

TEST_CASE(
    "a batch gives out its places once, those that were taken back first, and is full when all are filled") {
    open_batch batch(3);
    CHECK(batch.size() == 3);
    CHECK(batch.num_places() == 3);
    CHECK(batch.give() == 0);
    CHECK(batch.give() == 1);
    CHECK(batch.num_places() == 1);
    batch.take_back(0);
    CHECK(batch.num_places() == 2);
    CHECK(batch.give() == 0);
    CHECK(batch.give() == 2);
    CHECK(batch.num_places() == 0);
    CHECK(batch.number_at(1) == open_batch::no_item);
    for (std::size_t place = 0; place < 3; ++place) {
        CHECK_FALSE(batch.is_full());
        batch.fill(place, 10 + place);
        CHECK(batch.num_filled() == place + 1);
        CHECK(batch.number_at(place) == 10 + place);
    }
    CHECK(batch.is_full());
}
