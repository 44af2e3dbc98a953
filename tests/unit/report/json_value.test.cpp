#include <weir/report/json_value.hpp>

#include "support/catch.hpp"

#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace std::string_view_literals;
using weir::detail::json_reader;
using weir::detail::json_value;

namespace {

json_value read(std::string_view text) { return json_reader(text).whole(); }

std::string error_of(std::string_view text) {
    try {
        read(text);
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("JSON is read with any white space") {
    const json_value v = read(" { \"a\" : [ 1 , -2.5e+3 , true , null ] ,\r\n\t\"b\":{}, \"c\":\"\" } ");
    REQUIRE(v.is == json_value::kind::object);
    REQUIRE(v.find("a") != nullptr);
    const json_value& a = *v.find("a");
    REQUIRE(a.items.size() == 4);
    CHECK(a.items[0].text == "1");
    CHECK(a.items[1].text == "-2.5e+3");
    CHECK(a.items[2].text == "true");
    CHECK(a.items[3].is == json_value::kind::null);
    CHECK(v.find("b")->items.empty());
    CHECK(v.find("c")->text.empty());
    CHECK(v.find("d") == nullptr);
    CHECK(read("{\"a\":1,\"a\":2}").find("a")->text == "2");
    CHECK(read("0").text == "0");
}

TEST_CASE("the escapes of JSON strings are read") {
    CHECK(read(R"("\"\\\/\b\f\n\r\t")").text == "\"\\/\b\f\n\r\t");
    CHECK(read(R"("\u0041\u00e9\u20AC\ud83d\ude00")").text == "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    CHECK(read(R"("\u0000")").text == std::string(1, '\0'));
}

TEST_CASE("invalid JSON is refused, with the byte of the error") {
    for (const std::string_view text : {""sv,
                                        " "sv,
                                        "{"sv,
                                        "["sv,
                                        "[1"sv,
                                        "[1,]"sv,
                                        "{\"a\"}"sv,
                                        "{\"a\":}"sv,
                                        "{a:1}"sv,
                                        "{\"a\":1,}"sv,
                                        "nul"sv,
                                        "01"sv,
                                        "-"sv,
                                        "1."sv,
                                        "1e"sv,
                                        ".5"sv,
                                        "+1"sv,
                                        "\"a"sv,
                                        "\"\\x\""sv,
                                        "\"\\u12\""sv,
                                        "\"\\u12g4\""sv,
                                        "\"\\ud800\""sv,
                                        "\"\\ud800\\u0041\""sv,
                                        "\"\\udc00\""sv,
                                        "\"\x01\""sv,
                                        "\"\xFF\""sv,
                                        "1 2"sv,
                                        "NaN"sv}) {
        CAPTURE(text);
        CHECK(error_of(text).find("weir: this is no JSON: at byte ") == 0);
    }
    CHECK(error_of("[1,]") == "weir: this is no JSON: at byte 3 a value is missing");
    CHECK(error_of(std::string(100'000, '[')).find("nested too deeply") != std::string::npos);
}

TEST_CASE("cut or randomly changed JSON is never read past its end") {
    const std::string text = R"({"a":[1,2,{"b":"c\u00e9"}],"d":{"e":null,"f":-1.5e3}})";
    for (std::size_t n = 0; n < text.size(); ++n) CHECK(error_of(text.substr(0, n)) != "none");
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
        std::string changed = text;
        for (int k = 0; k < 3; ++k) changed[random() % changed.size()] = static_cast<char>(random() % 256);
        error_of(changed);
    }
}
