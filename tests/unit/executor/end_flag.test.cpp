#include <weir/executor/end_flag.hpp>

#include "support/catch.hpp"

#include <optional>
#include <utility>

using weir::detail::end_flag;

TEST_CASE("who has a copy sees the end, also when all others are gone") {
    std::optional<end_flag> of(end_flag::make());
    const end_flag early = *of;
    CHECK_FALSE(early.is_set());
    {
        const end_flag gone = *of;
        CHECK_FALSE(gone.is_set());
    }
    end_flag late;
    late = *of;
    of->set();
    of.reset();
    CHECK(early.is_set());
    CHECK(late.is_set());
    const end_flag moved = std::move(late);
    CHECK(moved.is_set());
    CHECK(end_flag(early).is_set());
}

TEST_CASE("what has no flag never ends, and another one's end is not one's own") {
    end_flag none;
    none.set();
    CHECK_FALSE(none.is_set());
    end_flag one = end_flag::make();
    const end_flag of_one = one;
    end_flag other = end_flag::make();
    one.set();
    CHECK(of_one.is_set());
    CHECK_FALSE(other.is_set());
    one = other;
    CHECK_FALSE(one.is_set());
    CHECK(of_one.is_set());
}
