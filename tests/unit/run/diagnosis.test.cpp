#include <weir/run/diagnosis.hpp>

#include "support/catch.hpp"

// What the environment says, and what comes of it, is looked at in tests/programs/diagnose.

TEST_CASE("a run whose environment says nothing is not diagnosed") {
    CHECK(weir::detail::diagnosis(true) == nullptr);
    CHECK(weir::detail::diagnosis(false) == nullptr);
}
