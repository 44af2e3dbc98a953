#include <weir/report/utf8.hpp>

#include "support/catch.hpp"

#include <string_view>

using weir::detail::utf8_length;
using namespace std::string_view_literals;

TEST_CASE("a character of UTF-8 is as long as its first byte says") {
    CHECK(utf8_length("a") == 1);
    CHECK(utf8_length("\0"sv) == 1);
    CHECK(utf8_length("\x7f") == 1);
    CHECK(utf8_length("\xC3\xB6ln") == 2);
    CHECK(utf8_length("\xE2\x82\xAC") == 3);
    CHECK(utf8_length("\xF0\x9F\x98\x80!") == 4);
}

TEST_CASE("what is longer than it has to be, half of UTF-16, too great or cut off is no character") {
    for (const std::string_view text :
         {""sv, "\x80"sv, "\xC0\xAF"sv, "\xC3"sv, "\xC3z"sv, "\xE0\x80\x80"sv, "\xED\xA0\x80"sv, "\xE2\x82"sv,
          "\xF0\x80\x80\x80"sv, "\xF4\x90\x80\x80"sv, "\xF0\x9F\x98"sv, "\xFF"sv}) {
        CAPTURE(text);
        CHECK(utf8_length(text) == 0);
    }
    CHECK(utf8_length(weir::detail::no_character) == 3);
}
