#include <weir/report/escape.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <string>
#include <string_view>

using weir::detail::cell_of;
using weir::detail::csv_field;
using weir::detail::escaped;
using weir::detail::for_terminal;
using weir::detail::label_text;
using weir::detail::shortened;
using weir::detail::utf8_length;
using namespace std::string_view_literals;

namespace {

std::string json(std::string_view text) {
    std::string out;
    weir::detail::append_json(out, text);
    return out;
}

}  // namespace

TEST_CASE("the length of a UTF-8 character follows from its first byte") {
    CHECK(utf8_length("a") == 1);
    CHECK(utf8_length("\0"sv) == 1);
    CHECK(utf8_length("\x7f") == 1);
    CHECK(utf8_length("\xC3\xB6ln") == 2);
    CHECK(utf8_length("\xE2\x82\xAC") == 3);
    CHECK(utf8_length("\xF0\x9F\x98\x80!") == 4);
}

TEST_CASE("overlong forms, surrogates, too great code points and cut sequences are not valid UTF-8") {
    for (const std::string_view text :
         {""sv, "\x80"sv, "\xC0\xAF"sv, "\xC3"sv, "\xC3z"sv, "\xE0\x80\x80"sv, "\xED\xA0\x80"sv, "\xE2\x82"sv,
          "\xF0\x80\x80\x80"sv, "\xF4\x90\x80\x80"sv, "\xF0\x9F\x98"sv, "\xFF"sv}) {
        CAPTURE(text);
        CHECK(utf8_length(text) == 0);
    }
    CHECK(utf8_length(weir::detail::replacement_character) == 3);
}

TEST_CASE("characters of markup are escaped in text and in attributes") {
    CHECK(escaped("</script>") == "&lt;/script&gt;");
    CHECK(escaped("\"x\" & 'y'") == "&quot;x&quot; &amp; 'y'");
    CHECK(escaped("день 数据") == "день 数据");
    CHECK(escaped("two\nlines\tand a tab") == "two\nlines\tand a tab");
    CHECK(escaped("") == "");
}

TEST_CASE("invalid UTF-8, and characters that XML does not allow, become U+FFFD") {
    const std::string instead = "\xEF\xBF\xBD";
    CHECK(escaped("\xFF") == instead);
    CHECK(escaped("a\xC3") == "a" + instead);
    CHECK(escaped(std::string(1, '\0')) == instead);
    CHECK(escaped("\x1B[1m") == instead + "[1m");
    CHECK(escaped("\x7F") == instead);
    CHECK(escaped("\xEF\xBF\xBE\xEF\xBF\xBF") == instead + instead);
}

TEST_CASE("a text is shortened to a number of columns, between characters") {
    CHECK(shortened("abc", 3) == "abc");
    CHECK(shortened("abcd", 3) == "ab…");
    CHECK(shortened("数据集", 6) == "数据集");
    CHECK(shortened("数据集合", 6) == "数据…");
    CHECK(shortened("\xFF\xFF\xFF", 2) == "\xFF…");
    CHECK(shortened("abc", 0) == "…");
}

TEST_CASE("letters are unchanged on a terminal, and one or two columns wide") {
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

TEST_CASE("combining marks are left out on a terminal") {
    CHECK(for_terminal("e\xCC\x81t\xCC\x81").text == "et");
    CHECK(for_terminal("\xCC\x81").width == 0);
}

TEST_CASE("characters that move the cursor, change the direction, or have an unknown width become a ?") {
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

TEST_CASE("a name that is too long for a terminal ends with ~, and no character is split") {
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

TEST_CASE("a cell is padded to its width") {
    for (std::size_t width = 0; width < 12; ++width) {
        CHECK(for_terminal(cell_of("a\xE8\xA7\xA3\xE7\xA0\x81 z", width)).width == width);
        CHECK(for_terminal(cell_of("", width)).width == width);
    }
}

TEST_CASE("JSON strings are escaped, also for use in HTML") {
    CHECK(json("plain"sv) == "\"plain\"");
    CHECK(json("a\"b\\c\nd\te"sv) == R"("a\"b\\c\nd\te")");
    CHECK(json("\x01\x1f\x7f\0"sv) == R"("\u0001\u001f\u007f\u0000")");
    CHECK(json("</script>"sv) == R"("\u003c/script>")");
    CHECK(json("K\xC3\xB6ln \xE2\x82\xAC \xF0\x9F\x98\x80"sv) ==
          "\"K\xC3\xB6ln \xE2\x82\xAC \xF0\x9F\x98\x80\"");
}

TEST_CASE("each invalid byte of UTF-8 becomes U+FFFD in JSON") {
    const std::string_view bad = "\xEF\xBF\xBD";
    for (const std::string_view text :
         {"\x80"sv, "\xFF"sv, "\xC3"sv, "\xC0\xAF"sv, "\xE0\x80\x80"sv, "\xED\xA0\x80"sv,
          "\xF4\x90\x80\x80"sv, "\xF0\x80\x80\x80"sv, "\xE2\x82"sv}) {
        CAPTURE(text);
        std::string expected = "\"";
        for (std::size_t i = 0; i < text.size(); ++i) expected += bad;
        CHECK(json(text) == expected + "\"");
    }
    CHECK(json("a\xC3z"sv) == "\"a" + std::string(bad) + "z\"");
}

TEST_CASE("a CSV field is quoted if necessary, and a row stays one line of valid UTF-8") {
    CHECK(csv_field("plain") == "plain");
    CHECK(csv_field("a,b") == "\"a,b\"");
    CHECK(csv_field("a \"b\"") == "\"a \"\"b\"\"\"");
    CHECK(csv_field("a\r\nb\x1b") == "a  b ");
    CHECK(csv_field("K\xC3\xB6ln\xFF") == "K\xC3\xB6ln\xEF\xBF\xBD");
}

TEST_CASE("labels of metrics escape the backslash, the quote and the line break, and nothing else") {
    CHECK(label_text("a", "") == R"(a="")");
    CHECK(label_text("a", "b\\c\"d\ne") == R"(a="b\\c\"d\ne")");
    CHECK(label_text("a", "\\n") == R"(a="\\n")");
    CHECK(label_text("a", "{},=#\t\r'") == "a=\"{},=#\t\r'\"");
    CHECK(label_text("a", "K\xC3\xB6ln \xE2\x82\xAC") == "a=\"K\xC3\xB6ln \xE2\x82\xAC\"");
}

TEST_CASE("invalid bytes and null characters become U+FFFD in labels of metrics") {
    CHECK(label_text("a", "x\xFFy") == "a=\"x\xEF\xBF\xBDy\"");
    CHECK(label_text("a", "\xC3\"") == "a=\"\xEF\xBF\xBD\\\"\"");
    CHECK(label_text("a", "x\0y"sv) == "a=\"x\xEF\xBF\xBDy\"");
}
