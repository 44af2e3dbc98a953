#include <weir/report/verdict_text.hpp>

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

TEST_CASE("a text in lines is broken at spaces, and a long word has a line of its own") {
    using weir::detail::in_lines;
    CHECK(in_lines("", 5).empty());
    CHECK(in_lines("ab cd", 5) == "ab cd");
    CHECK(in_lines("ab cd e", 5) == "ab cd\ne");
    CHECK(in_lines("abcdefgh ij kl", 5) == "abcdefgh\nij kl");
    CHECK(in_lines("ab abcdefgh ij", 5) == "ab\nabcdefgh\nij");
    CHECK(in_lines("abcdefgh", 5) == "abcdefgh");
}

TEST_CASE("a verdict is one line of a log, also if it has no stage, or one with a strange name") {
    weir::verdict v;
    v.sentence = "not sure";
    CHECK(weir::detail::verdict_line(v) == "[verdict]\tcause=unsure gain=0.00 sure=0.00: not sure.\n");
    v.cause = weir::limit_cause::threads;
    v.stage = "a\n\"b\"\r";
    v.gain = 0.126;
    v.sure = 0.8;
    CHECK(weir::detail::verdict_line(v) ==
          "[verdict]\tcause=workers stage=\"a 'b' \" gain=0.13 sure=0.80: not sure.\n");
}

TEST_CASE("the lines of a verdict are ASCII") {
    weir::verdict v;
    v.sentence = "d\xc3\xa9\n e";
    CHECK(weir::detail::verdict_lines(v, 12) == "verdict:\nd??? e.\n");
}

TEST_CASE("a verdict in JSON has its change in the form in which changes are read") {
    using enum weir::change_kind;
    weir::verdict v;
    v.sentence = "\"so\"";
    CHECK(
        weir::detail::verdict_json(v) ==
        R"({"cause":"unsure","stage":null,"lost":0.0000,"gain":0.0000,"change":null,"sure":0.00,"sentence":"\"so\""})");
    for (const auto& [change, text] : std::vector<std::pair<weir::setting_change, std::string>>{
             {{faster, "a\"b", 0.5}, R"({"stage":"a\"b","faster":0.5000})"},
             {{concurrency, "a", 4}, R"({"stage":"a","concurrency":4})"},
             {{capacity, "a", 16}, R"({"stage":"a","capacity":16})"},
             {{capacity, "", 16}, R"({"capacity":16})"},
             {{batch_size, "a", 8}, R"({"stage":"a","batch":8})"},
             {{completion_order, "a"}, R"({"stage":"a","output_order":"completion"})"},
             {{threads, "", 4}, R"({"workers":4})"},
             {{consumer, "", 0.002}, R"({"consumer_ms":2.000000})"},
             {{source}, R"({"source":"unlimited"})"}}) {
        v.change = change;
        CHECK_THAT(weir::detail::verdict_json(v),
                   Catch::Matchers::ContainsSubstring(",\"change\":" + text + ","));
    }
}
