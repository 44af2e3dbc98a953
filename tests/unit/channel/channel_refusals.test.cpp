#include <weir/channel/channel_refusals.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/measure/policy.hpp>

#include <memory>
#include <type_traits>
#include <utility>

TEST_CASE("the overloads for wrong arguments are an empty base, and take no correct call") {
    using refusals = weir::detail::channel_refusals<std::unique_ptr<int>, weir::measured>;
    CHECK(std::is_empty_v<refusals>);
    CHECK(std::is_base_of_v<refusals, weir::channel<std::unique_ptr<int>>>);
    weir::channel<std::unique_ptr<int>> c(1);
    auto item = std::make_unique<int>(7);
    CHECK(c.try_put(std::move(item)) == weir::channel_status::success);
    CHECK(**c.try_get() == 7);
}
