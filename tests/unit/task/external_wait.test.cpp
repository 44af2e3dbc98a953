#include <weir/task/external_wait.hpp>

#include "support/catch.hpp"

#include <optional>
#include <utility>

using weir::external_wait;

TEST_CASE("it counts who has promised something, and who has kept it") {
    const auto begun = external_wait::num_begun();
    const auto ended = external_wait::num_ended();
    {
        const external_wait one;
        std::optional<external_wait> other(std::in_place);
        CHECK(external_wait::num_begun() == begun + 2);
        CHECK(external_wait::num_ended() == ended);
        other.reset();
        CHECK(external_wait::num_ended() == ended + 1);
    }
    CHECK(external_wait::num_begun() == begun + 2);
    CHECK(external_wait::num_ended() == ended + 2);
}
