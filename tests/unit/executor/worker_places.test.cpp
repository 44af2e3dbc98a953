#include <weir/executor/worker_places.hpp>

#include "support/catch.hpp"

#include <memory>

using weir::detail::check_workers;
using weir::detail::most_workers;

TEST_CASE("workers are added one by one, and stay where they are") {
    weir::detail::basic_worker_places<int> places(3);
    CHECK(places.most() == 3);
    CHECK(places.size() == 0);
    places.add(std::make_unique<int>(7));
    int* const first = &places[0];
    places.add(std::make_unique<int>(8));
    CHECK(places.size() == 2);
    CHECK(&places[0] == first);
    CHECK(places[0] == 7);
    CHECK(places[1] == 8);
}

TEST_CASE("a pool can have as many workers as it was told, else one a core, and never fewer than at first") {
    CHECK(most_workers(2, 0, 8) == 8);
    CHECK(most_workers(9, 0, 8) == 9);
    CHECK(most_workers(2, 3, 8) == 3);
    CHECK(most_workers(2, 2, 1) == 2);
    CHECK_THROWS_WITH(
        most_workers(4, 3, 8),
        "weir::thread_pool: a pool that begins with 4 workers was given a .most_workers that is "
        "less, or negative; give it as many or more, or nothing");
    CHECK_THROWS_AS(most_workers(4, static_cast<unsigned>(-1), 8), std::invalid_argument);
}

TEST_CASE("no workers, a negative number, and more than a pool was made for are refused") {
    CHECK_NOTHROW(check_workers(1, 1));
    CHECK_THROWS_WITH(check_workers(3, 2),
                      "weir::thread_pool: set_workers(3) of a pool that was made for 2 at most; make it with "
                      "{.most_workers = 3}");
    for (const unsigned none : {0U, static_cast<unsigned>(-1)}) {
        CHECK_THROWS_WITH(check_workers(none, 2),
                          "weir::thread_pool: set_workers() was given 0, or a negative number; ask for at "
                          "least 1, as somebody has to run what is posted");
    }
}
