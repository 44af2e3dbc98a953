#include "indicators/contract/registry.hpp"

#include "indicators/contract/derived_checks.hpp"
#include "indicators/contract/field_value.hpp"
#include "lab/data/input_error.hpp"
#include "lab/folders.hpp"

#include "support/catch.hpp"

#include <string>

namespace {

using indicators::json;

std::string message_of(const std::string& text) {
    try {
        indicators::registry all;
        all.add(json::parse(text), "m.json");
    } catch (const lab::input_error& wrong) {
        return wrong.what();
    }
    return "";
}
std::string taken(const std::string& declaration, const std::string& value) {
    const indicators::model m =
        indicators::model_of(json::parse(R"({"name": "M", "results": {"x": )" + declaration + "}}"), nullptr,
                             "m.json");
    json out;
    return indicators::take(m.fields[0], m.fields[0].type, json::parse(value), out);
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a declaration that says something unknown is refused with its path") {
    CHECK(message_of(R"({"name": "M", "paramaters": {}})") ==
          "m.json: $.paramaters: is unknown; there may be name, about, abstract, extends, parameters, "
          "results, checks, score");
    CHECK(has(message_of(R"({"name": "M", "results": {"x": {"type": "number"}}})"),
              "$.results.x.type: is \"number\"; it has to be one of text, int, float, bool, datetime"));
    CHECK(has(message_of(R"({"name": "M", "results": {"x": {"unit": "s"}}})"), "$.results.x: has no 'type'"));
    CHECK(has(message_of(R"({"name": "M", "results": {"x": {"type": "text", "above": 0}}})"),
              "has a range, and is no number"));
    CHECK(has(message_of(R"({"name": "M", "results": {"x": {"type": "int", "role": "choice"}}})"),
              "is of parameters alone"));
    CHECK(has(message_of(R"({"name": "M'; DROP TABLE x"})"), "$.name: has to be a name of letters"));
    CHECK(has(message_of(R"({"name": "M", "results": {"x": {"type": "int", "at_least": 3, "at_most": 2}}})"),
              "has a range in which nothing is"));
    CHECK(has(message_of(R"({"name": "M", "results": {"x": {"type": "int", "before": "one"}}})"),
              "$.results.x.before: has to be a whole number, and is a text"));
    CHECK(has(message_of(R"({"name": "M", "results": {"x": {"type": "int", "one_of": [1, 2.5]}}})"),
              "$.results.x.one_of: has to be a whole number"));
    CHECK(has(message_of(
                  R"({"name": "M", "results": {"x": {"type": "int", "was": "y"}, "y": {"type": "int"}}})"),
              "two fields are, or were, called 'y'"));
}

TEST_CASE("a name means one thing within a model, whatever its case, and isn't the runner's") {
    CHECK(
        has(message_of(
                R"({"name": "M", "parameters": {"x": {"type": "int"}}, "results": {"x": {"type": "int"}}})"),
            "$.results.x: there is the parameter 'x'"));
    CHECK(has(message_of(R"({"name": "M", "results": {"rate": {"type": "int"}, "Rate": {"type": "int"}}})"),
              "there is the result 'rate'"));
    CHECK(has(message_of(R"({"name": "M", "results": {"ru_utime": {"type": "float"}}})"),
              "is a name that the runner gives a meaning"));
}

TEST_CASE("two models that disagree on a field's type are told of it, and so are those that share a table") {
    const lab_tests::temporary_folder folder;
    lab_tests::write_text(folder / "1.json",
                          R"({"name": "PiOne", "results": {"elapsed": {"type": "float"}}})");
    lab_tests::write_text(folder / "2.json", R"({"name": "PiTwo", "results": {"elapsed": {"type": "int"}}})");
    indicators::registry two;
    CHECK_THROWS_WITH(
        two.add_folder(folder / ""),
        Catch::Matchers::ContainsSubstring(
            "2.json: 'elapsed' is a whole number here, and a number in PiOne; one name means one thing"));
    lab_tests::write_text(folder / "2.json", R"({"name": "Pi_one"})");
    indicators::registry same;
    CHECK_THROWS_WITH(same.add_folder(folder / ""),
                      Catch::Matchers::ContainsSubstring("would share the table indicator_of_pi_one"));
}

TEST_CASE("a folder of models may extend each other, whatever their order") {
    const lab_tests::temporary_folder folder;
    lab_tests::write_text(
        folder / "a.json",
        R"({"name": "A", "extends": "B", "results": {"y": {"type": "int"}}, "checks": [{"holds": "y > x"}]})");
    lab_tests::write_text(
        folder / "b.json",
        R"({"name": "B", "abstract": true, "results": {"x": {"type": "int"}}, "checks": [{"holds": "x > 0"}]})");
    indicators::registry all;
    all.add_folder(folder / "");
    CHECK(all.names() == std::vector<std::string>{"A"});
    CHECK(all.find("A")->names() == std::vector<std::string>{"x", "y"});
    CHECK(all.find("A")->checks.size() == 2);
    CHECK(all.find("B") == nullptr);
    // What a store keeps of it stands alone.
    indicators::registry again;
    again.add(all.find("A")->declaration, "a store");
    CHECK(again.find("A")->names() == all.find("A")->names());
    CHECK(again.find("A")->checks.size() == 2);

    lab_tests::write_text(folder / "b.json", R"({"name": "B", "extends": "A"})");
    indicators::registry circle;
    CHECK_THROWS_WITH(circle.add_folder(folder / ""), Catch::Matchers::ContainsSubstring("extends itself"));
    lab_tests::write_text(folder / "b.json", R"({"name": "A"})");
    CHECK_THROWS_WITH(circle.add_folder(folder / ""),
                      Catch::Matchers::ContainsSubstring("'A' is declared in"));
    lab_tests::write_text(folder / "b.json", R"({"name": "C", "extends": "D"})");
    CHECK_THROWS_WITH(circle.add_folder(folder / ""),
                      Catch::Matchers::ContainsSubstring("there is no model"));
    CHECK_THROWS_WITH(circle.add_folder(folder / "none"),
                      Catch::Matchers::ContainsSubstring("is no folder of models"));
}

TEST_CASE("ranges and lists of values hold at their ends") {
    const std::string range = R"({"type": "float", "at_least": 0, "below": 10, "unit": "s"})";
    CHECK(taken(range, "0").empty());
    CHECK(taken(range, "9.99").empty());
    CHECK(taken(range, "10") == "is 10 s, and has to be below 10 s");
    CHECK(taken(range, "-0.5") == "is -0.5 s, and has to be at least 0 s");
    const std::string open = R"({"type": "int", "above": 0, "at_most": 3})";
    CHECK(taken(open, "3").empty());
    CHECK(taken(open, "0") == "is 0, and has to be above 0");
    CHECK(taken(open, "4") == "is 4, and has to be at most 3");
    const std::string list = R"({"type": "text", "one_of": ["cpu", "gpu"]})";
    CHECK(taken(list, "\"gpu\"").empty());
    CHECK(taken(list, "\"tpu\"") == "is \"tpu\"; it has to be one of cpu, gpu");
}

TEST_CASE("a time is one of the calendar, with or without a fraction and a zone") {
    for (const char* good : {"2026-11-25T02:54:16", "2026-11-25T02:54:16Z", "2026-11-25 02:54:16.125+01:00"})
        CHECK(taken(R"({"type": "datetime"})", json(good).dump()).empty());
    for (const char* bad : {"2026-11-25", "2026-13-25T02:54:16", "2026-11-25T24:54:16",
                            "2026-11-25T02:54:16.", "2026-11-25T02:54:16+1", "now", ""})
        CHECK(has(taken(R"({"type": "datetime"})", json(bad).dump()), "has to be a time"));
}

TEST_CASE("checks are worked out with real numbers, and left out where a field is absent") {
    const indicators::model m = indicators::model_of(json::parse(R"({"name": "M",
        "parameters": {"a": {"type": "int"}, "b": {"type": "int", "optional": true}}, "results": {"half": {"type": "float"}},
        "checks": [{"equal": ["half", "a / 2"], "within": 0.001, "because": "half is half"}, {"holds": "b > a"}]})"),
                                                     nullptr, "m.json");
    CHECK(indicators::broken_checks(m, json{{"a", 3}, {"half", 1.5}}, {}).empty());
    CHECK(indicators::broken_checks(m, json{{"a", 3}, {"half", 1.5014}}, {}).empty());
    const auto broken = indicators::broken_checks(m, json{{"a", 3}, {"half", 1.0}, {"b", 2}}, {});
    REQUIRE(broken.size() == 2);
    CHECK(broken[0].second == "half is half (half = a / 2) doesn't hold: 1 is not 1.5");
    CHECK(broken[1].second == "b > a doesn't hold");
    CHECK(has(message_of(R"({"name": "M", "checks": [{"holds": "speed > 0"}]})"),
              "m.json: $.checks[0]: speed > 0: "));
    CHECK(has(message_of(R"({"name": "M", "checks": [{"holds": "\"speed\" = 1"}]})"),
              "no such column"));  // no text
    // What is too large for a number is not equal to anything.
    const indicators::model large =
        indicators::model_of(json::parse(R"({"name": "M", "results": {"a": {"type": "float"}},
        "checks": [{"equal": ["a * a", "a * a"], "within": 0.01}, {"holds": "abs(-9223372036854775807 - 1) > a"}]})"),
                             nullptr, "m.json");
    CHECK(indicators::broken_checks(large, json{{"a", 1e300}}, {})[0].second ==
          "a * a = a * a doesn't hold: inf is not inf");
    CHECK(has(indicators::broken_checks(large, json{{"a", 2.0}}, {})[0].second, "can't be worked out"));
    CHECK(has(message_of(R"({"name": "M", "checks": [{"because": "why not"}]})"),
              "has to have either 'holds' or 'equal'"));
}

TEST_CASE("all models that come with the program are good, and each benchmark has one") {
    indicators::registry all;
    all.add_folder(indicators::own_models());
    for (const char* name :
         {"PiMatmul",     "PiConv1D",        "PiConv2D",     "PiPyBench",      "WeirBlocking",
          "WeirChannel",  "WeirCompileTime", "WeirConsumer", "WeirContention", "WeirCuda",
          "WeirLimits",   "WeirLoaders",     "WeirMpi",      "WeirOverhead",   "WeirPingpong",
          "WeirPipeline", "WeirResumption",  "WeirScale",    "WeirSpawn",      "WeirTasks",
          "WeirTimers",   "WeirTraverse",    "WeirTuning",   "WeirWorkloads"}) {
        INFO(name);
        CHECK(all.find(name) != nullptr);
    }
    CHECK(all.find("PiConv1D")->table() == "indicator_of_pi_conv1d");
    CHECK(all.find("PiPyBench")->table() == "indicator_of_pi_py_bench");
}
