#include <weir/report/json_text.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using namespace std::string_view_literals;

namespace {

template <class T>
std::string json(const T& value) {
    std::string text;
    weir::detail::append_json(text, value);
    return text;
}

}  // namespace

TEST_CASE("text is escaped as JSON wants it, and so that it may stand in HTML") {
    CHECK(json("plain"sv) == "\"plain\"");
    CHECK(json("a\"b\\c\nd\te"sv) == R"("a\"b\\c\nd\te")");
    CHECK(json("\x01\x1f\x7f\0"sv) == R"("\u0001\u001f\u007f\u0000")");
    CHECK(json("</script>"sv) == R"("\u003c/script>")");
    CHECK(json("K\xC3\xB6ln \xE2\x82\xAC \xF0\x9F\x98\x80"sv) ==
          "\"K\xC3\xB6ln \xE2\x82\xAC \xF0\x9F\x98\x80\"");
}

TEST_CASE("each byte that is no UTF-8 becomes U+FFFD") {
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

TEST_CASE("numbers keep all of their digits, times are whole nanoseconds") {
    CHECK(json(true) == "true");
    CHECK(json(UINT64_MAX) == "18446744073709551615");
    CHECK(json(INT64_MIN) == "-9223372036854775808");
    CHECK(json(weir::duration(1500ms)) == "1500000000");
    CHECK(json(weir::output_order::input) == "\"input\"");
}

TEST_CASE("objects have their members in order, without those that aren't there") {
    CHECK(json(weir::run_setting{"a", "b"}) == R"({"name":"a","value":"b"})");
    CHECK(json(std::vector<weir::run_setting>{}) == "[]");
    CHECK(json(std::vector<unsigned>{1, 2}) == "[1,2]");
    weir::process_stats p;
    p.processors = 4;
    CHECK(json(p) == R"({"elapsed":0,"processors":4})");
    weir::pipeline_stats run;
    CHECK(json(run) == R"({"elapsed":0,"stages":[],"channels":[],"idle":0,"num_items":0})");
    run.num_items = 3;
    run.first_item = {.after = 7ns, .since = 4ns, .num_items = 2};
    CHECK(json(run) == R"({"elapsed":0,"stages":[],"channels":[],"idle":0,"num_items":3,)"
                       R"("first_item":{"after":7,"since":4,"num_items":2}})");
}

TEST_CASE("a histogram has the buckets that hold something") {
    weir::histogram h;
    h.record(5ns, 2);
    h.record(1us);
    CHECK(json(h) == R"({"count":3,"sum":1010,"max":1000,"buckets":[[5,2],[992,1]]})");
    CHECK(json(weir::histogram()) == R"({"count":0,"sum":0,"max":0,"buckets":[]})");
}
