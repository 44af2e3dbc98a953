#include <weir/platform/shortage.hpp>

#include "support/catch.hpp"

#include <new>
#include <string>
#include <type_traits>

using weir::detail::memory_shortage;

static_assert(std::is_nothrow_copy_constructible_v<memory_shortage>);

TEST_CASE("a shortage of memory is a std::bad_alloc that says what was short, and whose") {
    const auto lacks = [] { throw memory_shortage("no memory for 5 places"); };
    CHECK_THROWS_AS(lacks(), std::bad_alloc);
    CHECK_THROWS_WITH(lacks(), "weir: no memory for 5 places");
    CHECK_THROWS_WITH(memory_shortage::told_of("stage 'a': ", lacks),
                      "weir: stage 'a': no memory for 5 places");
    CHECK(memory_shortage::told_of("stage 'a': ", [] { return 7; }) == 7);
    CHECK_THROWS_WITH(memory_shortage::told_of("stage 'a': ", []() -> int { throw std::bad_alloc(); }),
                      std::string(std::bad_alloc().what()));
}
