#include <weir/platform/message_text.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/graph/branch.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/split.hpp>
#include <weir/graph/tee.hpp>
#include <weir/graph/zip.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>

#include <exception>
#include <new>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

using items::contains;
using weir::detail::error_text;
using weir::detail::memory_shortage;
using weir::detail::place_behind;
using weir::detail::place_text;
using weir::detail::without_controls;

namespace {

template <class E>
std::string text_of(E thrown) {
    return error_text(std::make_exception_ptr(thrown));
}

struct gives_null : std::exception {
    const char* what() const noexcept override { return nullptr; }
};
struct own_kind {};

}  // namespace

TEST_CASE("a standard exception says its text, or its type where it has none, also as a null pointer") {
    CHECK(text_of(std::runtime_error("no JPEG")) == "no JPEG");
    CHECK(text_of(std::runtime_error("")) == "an exception of type std::runtime_error, without a text");
    CHECK(contains(text_of(gives_null()), "gives_null, without a text"));
}

TEST_CASE("a thrown string or number says its text and its type, and anything else its type") {
    char own[] = "own";
    CHECK(text_of(std::string("x")) == "x (thrown as std::string)");
    CHECK(contains(text_of(std::string_view("y")), "y (thrown as std::"));
    CHECK(text_of(static_cast<const char*>("z")) == "z (thrown as char const*)");
    CHECK(text_of(static_cast<char*>(own)) == "own (thrown as char*)");
    CHECK(text_of(42) == "42 (thrown as int)");
    CHECK(text_of(42U) == "42 (thrown as unsigned int)");
    CHECK(text_of(-1L) == "-1 (thrown as long)");
    CHECK(text_of(1ULL) == "1 (thrown as unsigned long long)");
    CHECK(contains(text_of(2.5), "2.5"));
    CHECK(text_of(static_cast<const char*>(nullptr)) == "an exception of type char const*, without a text");
    CHECK(contains(text_of(own_kind()), "own_kind, without a text"));
    CHECK(error_text(nullptr) == "no exception");
}

TEST_CASE("the type of an exception is the one that was thrown") {
    CHECK(weir::detail::error_type(std::make_exception_ptr(std::out_of_range(""))) == "std::out_of_range");
    CHECK(weir::detail::error_type(std::make_exception_ptr(1)) == "int");
}

namespace {

int twice(int n) { return 2 * n; }

std::string line(unsigned n) { return "message_text.test.cpp:" + std::to_string(n); }

TEST_CASE("without_controls replaces what a terminal obeys, and leaves lines, tabs and letters") {
    CHECK(without_controls("f\x1B[31m\r\x07\x7F") == "f?[31m???");
    CHECK(without_controls("a\xC2\x9B"
                           "31m") == "a?31m");
    CHECK(without_controls(std::string_view("a\0b", 3)) == "a?b");
    CHECK(without_controls("one\n\ttwo \xC2\xA0 \xC3\x9F \xE2\x82\xAC") ==
          "one\n\ttwo \xC2\xA0 \xC3\x9F \xE2\x82\xAC");
    CHECK(without_controls({}).empty());
}

TEST_CASE("place_text gives the name of the file without its folder, and the line") {
    const auto here = std::source_location::current();
    CHECK(place_text(here) == line(here.line()));
    CHECK(place_behind(here) == " (" + line(here.line()) + ")");
}

TEST_CASE("place_text is empty for an unknown place, and for one in weir's headers") {
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

TEST_CASE("a call of any number of arguments, and without options, knows where it stands") {
    const auto odd = [](int n) { return n % 2; };
    const auto some = weir::source({1});
    const unsigned before = std::source_location::current().line();
    const auto merged = weir::merge(some, weir::source({2}) | weir::pipe(twice));
    const auto zipped = weir::zip(some, some, some);
    const auto routed = weir::route(odd, weir::branch("even"), weir::branch("odd"));
    const auto divided = weir::split([](int n) { return n % 2; }, weir::branch("even"), weir::branch("odd"));
    const auto copied = weir::tee(weir::pipe(twice));
    const auto listed = weir::source({1, 2});
    const auto whole = weir::aggregate(3, true);
    CHECK(place_text(merged.options.where) == line(before + 1));
    CHECK(place_text(zipped.options.where) == line(before + 2));
    CHECK(place_text(routed.options.where) == line(before + 3));
    CHECK(place_text(divided.options.where) == line(before + 4));
    CHECK(place_text(copied.options.where) == line(before + 5));
    CHECK(place_text(listed.options.where) == line(before + 6));
    CHECK(place_text(whole.options.where) == line(before + 7));
}

TEST_CASE("such a call keeps its place in a pipeline, and among the stages of another") {
    const auto odd = [](int n) { return n % 2; };
    const unsigned before = std::source_location::current().line();
    const auto routed = weir::route(odd, weir::branch("even"), weir::branch("odd"));
    auto all = weir::merge(weir::source({1}), weir::source({2})) | routed | weir::sink();
    CHECK(place_text(all.options("merge#2").where) == line(before + 2));
    CHECK(place_text(all.options("route#3").where) == line(before + 1));
}

TEST_CASE("a zip of one zip is one more, and no copy of it") {
    const auto one = weir::zip(weir::source({1}), weir::source({2}));
    auto named = weir::zip(one);
    using row = std::tuple<std::tuple<int, int>>;
    CHECK(std::is_same_v<decltype(named)::output, row>);
    CHECK(std::is_same_v<decltype(weir::zip(named))::output, std::tuple<row>>);
    CHECK(std::is_same_v<decltype(weir::zip(weir::zip(named)))::output, std::tuple<std::tuple<row>>>);
}

}  // namespace

static_assert(std::is_nothrow_copy_constructible_v<memory_shortage>);

TEST_CASE("a shortage of memory is a std::bad_alloc that says what was short, and whose") {
    const auto lacks = [] { throw memory_shortage("no memory for 5 places"); };
    CHECK_THROWS_AS(lacks(), std::bad_alloc);
    CHECK_THROWS_WITH(lacks(), "weir: no memory for 5 places");
    CHECK_THROWS_WITH(memory_shortage::with_prefix("stage 'a': ", lacks),
                      "weir: stage 'a': no memory for 5 places");
    CHECK(memory_shortage::with_prefix("stage 'a': ", [] { return 7; }) == 7);
    CHECK_THROWS_WITH(memory_shortage::with_prefix("stage 'a': ", []() -> int { throw std::bad_alloc(); }),
                      std::string(std::bad_alloc().what()));
}
