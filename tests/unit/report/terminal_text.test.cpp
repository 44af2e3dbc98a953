#include <weir/report/terminal_text.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <string>

using weir::detail::cell_of;
using weir::detail::for_terminal;

TEST_CASE("letters are shown as they are, and take one column or two") {
    CHECK(for_terminal("decode[2] ~").text == "decode[2] ~");
    CHECK(for_terminal("Gr\xC3\xB6\xC3\x9F"
                       "e \xE2\x86\x92 \xD0\xB4")
              .text ==
          "Gr\xC3\xB6\xC3\x9F"
          "e \xE2\x86\x92 \xD0\xB4");
    CHECK(for_terminal("Gr\xC3\xB6\xC3\x9F"
                       "e \xE2\x86\x92 \xD0\xB4")
              .width == 9);
    CHECK(for_terminal("\xE8\xA7\xA3\xE7\xA0\x81").width == 4);                  // two of China
    CHECK(for_terminal("\xED\x95\x9C\xEF\xBC\xA1\xF0\xA0\x80\x80").width == 6);  // Korea, full width, plane 2
    CHECK(for_terminal("\xE8\xA7\xA3\xE7\xA0\x81").text == "\xE8\xA7\xA3\xE7\xA0\x81");
}

TEST_CASE("marks on a letter are left out, as they take no column") {
    CHECK(for_terminal("e\xCC\x81t\xCC\x81").text == "et");
    CHECK(for_terminal("\xCC\x81").width == 0);
}

TEST_CASE("what may move the cursor, turns the text around, or has a width that nobody knows is a ?") {
    for (int c = 0; c < 256; ++c) {
        CAPTURE(c);
        const std::string one(1, static_cast<char>(c));
        CHECK(for_terminal(one).text == (c >= 0x20 && c <= 0x7E ? one : "?"));
        CHECK(for_terminal(one).width == 1);
    }
    CHECK(for_terminal("\xC2\x9B"
                       "2J")
              .text == "?2J");                                     // CSI in eight bits
    CHECK(for_terminal("\xE2\x80\xAE").text == "?");               // from right to left
    CHECK(for_terminal("\xE2\x80\x8B\xE2\x80\xA8").text == "??");  // no space, and an end of line
    CHECK(for_terminal("\xF0\x9F\x94\xA5").text == "?");           // an emoji
    CHECK(for_terminal("\xE8\xA7").text == "??");                  // half of one
    CHECK(for_terminal("\xC0\x9B").text == "??");                  // longer than it has to be
}

TEST_CASE("what is too long ends with a ~, and no character is cut in two") {
    CHECK(for_terminal("decode", 6).text == "decode");
    CHECK(for_terminal("decode", 5).text == "deco~");
    CHECK(for_terminal("decode", 1).text == "~");
    CHECK(for_terminal("decode", 0).text.empty());
    CHECK(for_terminal("\xE8\xA7\xA3\xE7\xA0\x81", 4).width == 4);
    CHECK(for_terminal("\xE8\xA7\xA3\xE7\xA0\x81", 3).text == "\xE8\xA7\xA3~");
    CHECK(for_terminal("\xE8\xA7\xA3\xE7\xA0\x81", 2).text == "~");
    CHECK(for_terminal("a\xE8\xA7\xA3z", 3).text == "a~");
    CHECK(for_terminal("abe\xCC\x81", 3).text == "abe");
}

TEST_CASE("a cell is as wide as it is to be") {
    for (std::size_t width = 0; width < 12; ++width) {
        CHECK(for_terminal(cell_of("a\xE8\xA7\xA3\xE7\xA0\x81 z", width)).width == width);
        CHECK(for_terminal(cell_of("", width)).width == width);
    }
}
