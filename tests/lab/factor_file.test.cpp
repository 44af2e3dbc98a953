#include "lab/design/factor_file.hpp"

#include "lab/data/input_error.hpp"
#include "lab/design/constraints.hpp"
#include "lab/design/plan.hpp"
#include "support/catch.hpp"

#include <string>

namespace {

const std::string good = R"({
  "factors": [
    {"name": "stats", "levels": ["off", "on"], "apply": {"argument": "--stats={}"}},
    {"name": "log", "levels": ["file", "ring", "none"], "base": "none", "tier": 3},
    {"name": "qcap", "low": 1, "high": 4096, "log2": true, "integer": true, "base": 2},
    {"name": "batch", "low": 1, "high": 256, "integer": true},
    {"name": "opt", "levels": ["O2", "O3"], "apply": {"build": {"O2": "-O2", "O3": "-O3"}}}
  ],
  "constraints": [
    "log=file|ring requires stats=on",
    "qcap >= batch",
    "opt=O3 excludes log=file"
  ],
  "command": ["build/bench/tasks", "--time", "0.5"],
  "score": "@result.us_per_task"
})";

std::string refusal(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    try {
        lab::parse_factor_file(text, "factors.json");
    } catch (const lab::input_error& wrong) {
        return wrong.what();
    }
    return "accepted";
}

std::string plan_refusal(const std::string& text) {
    try {
        lab::plan_of(lab::parse_csv(text, "plan.csv"), lab::parse_factor_file(good, "factors.json"));
    } catch (const lab::input_error& wrong) {
        return wrong.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("factor file: kinds, bases, and how each is set") {
    const lab::factor_file file = lab::parse_factor_file(good, "factors.json");
    REQUIRE(file.factors.size() == 5);
    CHECK(file.factors[0].kind == lab::factor_kind::on_off);
    CHECK(file.factors[1].levels == std::vector<std::string>{"none", "file", "ring"});
    CHECK(file.factors[1].tier == 3);
    CHECK(file.factors[2].logarithmic);
    CHECK(file.factors[3].base == 1);
    CHECK(file.factors[4].hard_to_change);
    CHECK(file.applications[3].argument == "--batch={}");
    CHECK(file.applications[4].argument.empty());
    CHECK(file.base() == lab::configuration{0, 0, 2, 1, 0});
    CHECK(file.allows(file.base()));
}

TEST_CASE("factor file: constraints say what can't go together") {
    const lab::factor_file file = lab::parse_factor_file(good, "factors.json");
    CHECK_FALSE(file.allows({0, 1, 2, 1, 0}));
    CHECK(file.broken_by({0, 1, 2, 1, 0})->text == "log=file|ring requires stats=on");
    CHECK(file.allows({1, 1, 2, 1, 0}));
    CHECK_FALSE(file.allows({1, 1, 2, 1, 1}));
    CHECK(file.allows({1, 2, 2, 1, 1}));
    CHECK_FALSE(file.allows({1, 0, 2, 3, 1}));
    CHECK(lab::allowed_configuration(file, {{0, 1}, {1}, {2}, {1}, {0, 1}}, {1, 0, 4, 2, 3}) ==
          lab::configuration{1, 1, 2, 1, 0});
    CHECK_FALSE(lab::allowed_configuration(file, {{0, 1}, {1}, {2}, {1}, {1}}, {1, 0, 4, 2, 3}));
    CHECK(lab::allows_anything(file));
}

TEST_CASE("factor file: what is wrong is named with its line") {
    CHECK(refusal(good, "qcap >= batch", "qcap >= bach") ==
          "factors.json:11: in the constraint 'qcap >= bach': there is no factor 'bach'; there are stats, "
          "log, qcap, "
          "batch, opt");
    CHECK(refusal(good, "log=file|ring requires", "log=disk requires") ==
          "factors.json:10: in the constraint 'log=disk requires stats=on': log can't be 'disk'; it is none, "
          "file, ring");
    CHECK(refusal(good, "opt=O3 excludes log=file", "opt=O3 excludes opt=O3") ==
          "factors.json:12: in the constraint 'opt=O3 excludes opt=O3': opt conflicts with itself; a "
          "constraint is of two "
          "factors");
    CHECK(refusal(good, "qcap >= batch", "log >= batch").find("log is no number") != std::string::npos);
    CHECK(refusal(good, "qcap >= batch", "qcap batch").find("write 'a=x requires b=y'") != std::string::npos);
    CHECK(refusal(good, "opt=O3 excludes log=file", "log=none requires stats=on") ==
          "factors.json:12: the base breaks the constraint 'log=none requires stats=on'; give a factor "
          "another base");
    CHECK(refusal(good, "opt=O3 excludes log=file\"",
                  "stats=on|off requires log=ring\", \"stats=on excludes log=ring\", \"stats=off excludes "
                  "log=ring\"")
              .find("factors.json:12: no configuration satisfies all constraints") == 0);
    CHECK(refusal(good, "\"batch\", \"low\"", "\"qcap\", \"low\"").find("the factor qcap is there twice") !=
          std::string::npos);
    CHECK(refusal(good, "\"tier\": 3", "\"teir\": 3").find("factors.json:4: a factor has no 'teir'") == 0);
    CHECK(refusal(good, "\"tier\": 3", "\"name\": \"log\"") ==
          "factors.json:3: 'name' is there twice in one object; leave one");
    CHECK(refusal(good, "\"ring\", \"none\"", "\"file\", \"none\"") ==
          "factors.json:4: log has the level 'file' twice");
    CHECK(refusal(good, "\"high\": 4096", "\"high\": 1").find("'low' has to be less than 'high'") !=
          std::string::npos);
    CHECK(refusal(good, "\"base\": 2", "\"base\": 2.5") ==
          "factors.json:5: qcap: the base 2.5 is not a whole number from 1 to 4096");
    CHECK(refusal(good, "{\"O2\": \"-O2\"", "{\"O1\": \"-O1\"").find("names the level 'O1'") !=
          std::string::npos);
    CHECK(refusal(good, "\"score\"", "score").find("factors.json:15: no JSON") == 0);
    CHECK_THROWS_AS(lab::read_factor_file("/nowhere/factors.json"), lab::input_error);
}

TEST_CASE("plan: is read as it was written, and what it lacks is at its base") {
    const lab::factor_file file = lab::parse_factor_file(good, "factors.json");
    const lab::plan short_plan =
        lab::plan_of(lab::parse_csv("stats;log\non;ring\noff;none\n", "plan.csv"), file);
    REQUIRE(short_plan.runs.size() == 2);
    CHECK(short_plan.runs[0].values == lab::configuration{1, 2, 2, 1, 0});
    CHECK(short_plan.runs[1].values == file.base());
    lab::plan full = short_plan;
    full.runs[1].block = 3;
    full.runs[1].plot = "visit 1";
    full.runs[1].control = "A";
    const lab::plan again = lab::plan_of(lab::parse_csv(lab::plan_text(full), "plan.csv"), file);
    CHECK(lab::plan_text(again) == lab::plan_text(full));
    CHECK(again.runs[1].block == 3);
    CHECK(again.runs[1].control == "A");
    CHECK(lab::configuration_in("log=ring,stats=on", file) == short_plan.runs[0].values);
}

TEST_CASE("plan: a row that no run satisfies is named") {
    CHECK(plan_refusal("stats;log\non;ring\noff;ring\n") ==
          "plan.csv:3: breaks the constraint 'log=file|ring requires stats=on' of factors.json");
    CHECK(plan_refusal("stats;logs\non;ring\n") ==
          "plan.csv:1: factors.json has no factor 'logs'; it has stats, log, qcap, batch, opt");
    CHECK(plan_refusal("qcap\n0\n") == "plan.csv:2: qcap can't be '0'; it is a whole number from 1 to 4096");
    const lab::factor_file file = lab::parse_factor_file(good, "factors.json");
    CHECK_THROWS_AS(lab::configuration_in("log=ring", file), lab::input_error);
    CHECK_THROWS_AS(lab::configuration_in("log", file), lab::input_error);
}
