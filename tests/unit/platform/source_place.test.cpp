#include <weir/platform/source_place.hpp>

#include "support/catch.hpp"

#include <weir/graph/merge.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/take.hpp>

#include <source_location>
#include <string>

using weir::detail::place_behind;
using weir::detail::place_text;

namespace {

int twice(int n) { return 2 * n; }

std::string line(unsigned n) { return "source_place.test.cpp:" + std::to_string(n); }

TEST_CASE("a place is told by its file's own name and its line") {
    const auto here = std::source_location::current();
    CHECK(place_text(here) == line(here.line()));
    CHECK(place_behind(here) == " (" + line(here.line()) + ")");
}

TEST_CASE("a place that isn't known, or is weir's own, is nothing to tell") {
    CHECK(place_text({}).empty());
    CHECK(place_behind({}).empty());
    const auto without_braces = weir::stage_options();
    CHECK(place_text(without_braces.where).empty());
}

// How an aggregate's own initialisers tell a place is the compiler's matter: this is what weir relies on.
TEST_CASE("options know where their braces stand, and a call without options where it stands") {
    const unsigned before = std::source_location::current().line();
    const weir::stage_options named{.name = "x"};
    const auto given = weir::pipe(twice, {.name = "x"});
    const auto plain = weir::pipe(twice);
    const auto kept = weir::pipe(twice, named);
    const auto batches = weir::aggregate(3);
    const auto first = weir::take(3, {.name = "first"});
    const auto joined = weir::merge({.name = "m"}, weir::source({1}), weir::source({2}));
    const auto end = weir::sink();
    CHECK(place_text(given.options.where) == line(before + 2));
    CHECK(place_text(plain.options.where) == line(before + 3));
    CHECK(place_text(kept.options.where) == line(before + 1));
    CHECK(place_text(batches.options.where) == line(before + 5));
    CHECK(place_text(first.options.where) == line(before + 6));
    CHECK(place_text(joined.options.where) == line(before + 7));
    CHECK(place_text(end.options.where) == line(before + 8));
}

}  // namespace
