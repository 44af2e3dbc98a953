#include <weir/platform/process.hpp>

#include "support/catch.hpp"

using weir::detail::process_of_origin;

// What happens in a child: tests/programs/fork/fork.test.cpp.
TEST_CASE("an object is in its process of origin until a fork") {
    const process_of_origin here;
    CHECK(weir::detail::forks_are_counted);
    CHECK(here.is_here());
    // As if this were a process that was forked by now.
    weir::detail::forks.fetch_add(1);
    CHECK_FALSE(here.is_here());
    CHECK(process_of_origin().is_here());
    weir::detail::forks.fetch_sub(1);
    CHECK(here.is_here());
}
