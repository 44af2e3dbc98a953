#include "indicators/contract/json_text.hpp"

#include "support/catch.hpp"

#include <string>
#include <string_view>

namespace {

using namespace std::string_literals;

std::string reason(std::string_view text) {
    const indicators::read_json read = indicators::read_json_text(text);
    CHECK_FALSE(read.good());
    return indicators::joined(read.refusals);
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a document is read as it is, whatever is blank around it") {
    const indicators::read_json read =
        indicators::read_json_text(" \n{\"b\": [1, -2.5e3, \"\\u00e9\", true, null], \"a\": {}}\r\n\t");
    REQUIRE(read.good());
    CHECK(read.document.dump() == R"({"b":[1,-2500.0,"é",true,null],"a":{}})");
}

TEST_CASE("text around a document is shown") {
    CHECK(has(reason("DTYPE set to float32\n{}"),
              "$: there is text before the document: \"DTYPE set to float32\""));
    CHECK(has(reason("{} done"), "$: there is text behind the document, at line 1: \"done\""));
    CHECK(has(reason("{\"a\": [1]}\n{}"), "$: there is a second document, at line 2: \"{}\""));
    CHECK(has(reason("{}}"), "there is text behind the document, at line 1: \"}\""));
    CHECK(has(reason("hello\n"), "is no JSON document: \"hello\""));
}

TEST_CASE("nothing, and a document that ends in the middle, are no documents") {
    CHECK(has(reason(""), "$: nothing was printed"));
    CHECK(has(reason(" \n"), "$: nothing was printed"));
    CHECK(has(reason("{\"a\": "), "ends in the middle, at line 1"));
    CHECK(has(reason("{\n\"a\""), "ends in the middle, at line 2"));
    CHECK(has(reason("{\"a\": 1,}"), "is no JSON, at line 1 near"));
    CHECK(has(reason("{'a': 1}"), "is no JSON, at line 1 near"));
}

TEST_CASE("a key that is there twice in one object is named with its path") {
    CHECK(reason(R"({"a": {"b": 1, "c": [{"d": 1, "d": 2}]}, "e": 1})") ==
          "$.a.c[0].d: the key is there twice in one object; leave one");
    CHECK(has(reason(R"({"@result": {"x y": 1, "x y": 1}})"), R"($.@result["x y"]: the key)"));
    // In two objects it may be.
    CHECK(indicators::read_json_text(R"([{"a": 1}, {"a": 2}])").good());
}

TEST_CASE("numbers that JSON or 64 bits don't have are refused") {
    CHECK(has(reason(R"({"a": NaN})"), "NaN is no JSON number"));
    CHECK(has(reason(R"({"a":Infinity})"), "Infinity is no JSON number"));
    CHECK(has(reason(R"({"a": [1, -Infinity]})"), "-Infinity is no JSON number"));
    CHECK(has(reason(R"({"a": 1e999})"), "a number is larger than 64 bits hold"));
    CHECK(reason(R"({"a": {"b": 9223372036854775808}})") ==
          "$.a.b: 9223372036854775808 is more than 64 bits hold; write it as a text, or with a fraction");
    CHECK(has(reason(R"([0, -9223372036854775809])"), "$[1]: -9223372036854775809 is more"));
    CHECK(has(reason(R"([123456789012345678901234567890])"), "$[0]: 123456789012345678901234567890 is more"));
    CHECK(indicators::read_json_text("[9223372036854775807, -9223372036854775808, 1e300]").good());
    CHECK(has(reason("[01]"), "is no JSON"));
}

TEST_CASE("bytes that are no UTF-8, and zeros, are refused with their place") {
    CHECK(has(reason("{\"a\": \"\xff\"}"), "$: byte 7 is no UTF-8"));
    CHECK(has(reason("\"\xed\xa0\x80\""), "byte 1 is no UTF-8"));  // half of a pair of UTF-16
    CHECK(has(reason("\"\xc0\x80\""), "byte 1 is no UTF-8"));      // two bytes for what has one
    CHECK(has(reason("\"\xf4\x90\x80\x80\""), "byte 1 is no UTF-8"));
    CHECK(has(reason("\"\xe2\x82"), "byte 1 is no UTF-8"));
    CHECK(has(reason("{}\0{}"s), "byte 2 is a zero"));
    CHECK(has(reason("\xef\xbb\xbf{}"), "there is a byte-order mark before the document"));
    CHECK_FALSE(indicators::first_byte_that_is_no_text("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f"));
}

TEST_CASE("many levels are refused, not followed") {
    CHECK(indicators::read_json_text(std::string(100, '[') + std::string(100, ']')).good());
    CHECK(has(reason(std::string(101, '[') + std::string(101, ']')), "has more than 100 levels"));
    CHECK(has(reason(std::string(1'000'000, '[')), "has more than 100 levels"));
}

TEST_CASE("a text is shown in one line, and not longer than one") {
    CHECK(indicators::shown("a\n\"b\"\x01") == "\"a\\n\"b\"\\x01\"");
    CHECK(indicators::shown(std::string(100, 'x')).size() < 70);
}
