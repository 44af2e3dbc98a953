#include <weir/report/trace_ring.hpp>

#include "support/catch.hpp"

#include <cstdint>

using namespace weir::detail;

TEST_CASE("a ring has the last events, the oldest first") {
    trace_ring r;
    r.add({0, 0, 1, 0, 0, trace_kind::came, 0});
    CHECK(r.kept() == 0);  // it has no room yet
    CHECK(r.count() == 1);
    trace_ring three;
    three.reserve(3);
    for (std::uint64_t n = 0; n < 2; ++n) three.add({0, 0, n, 0, 0, trace_kind::came, 0});
    CHECK(three.kept() == 2);
    CHECK(three[0].number == 0);
    for (std::uint64_t n = 2; n < 8; ++n) three.add({0, 0, n, 0, 0, trace_kind::came, 0});
    CHECK(three.kept() == 3);
    CHECK(three.count() == 8);
    for (std::uint64_t i = 0; i < 3; ++i) CHECK(three[i].number == 5 + i);
}
