#include <weir/report/printable.hpp>

#include "support/catch.hpp"

#include <sstream>
#include <string>

static_assert(weir::printable<weir::pipeline_stats>);
static_assert(weir::printable<weir::stage_stats>);
static_assert(weir::printable<weir::deadlock_report>);
static_assert(!weir::printable<std::string>, "other libraries format what is not ours");
static_assert(!weir::printable<const weir::histogram>);

TEST_CASE("printed() returns the text that a stream gets") {
    const weir::pipeline_stats stats{};
    std::ostringstream out;
    out << stats;
    CHECK(weir::printed(stats) == out.str());
    CHECK(weir::printed(weir::channel_status::full) == "full");
    CHECK(weir::printed(weir::histogram()) == "0 times");
}
