#include "indicators/advice/comparable.hpp"

#include "indicators/documents.hpp"
#include "lab/data/input_error.hpp"

#include "support/catch.hpp"

#include <string>

namespace {

using namespace indicator_tests;
using Catch::Matchers::ContainsSubstring;

const indicators::registry models = speed_models();

indicators::found_result found(const std::string& id, double ms, const std::string& mode = "fast",
                               int size = 10) {
    indicators::found_result one;
    one.id = id;
    one.status = "accepted";
    one.machine = "one: EPYC";
    one.stack = {{"compiler", "g++"}, {"os", "debian"}};
    one.values = {{"size", size}, {"mode", mode},       {"reps", 3},
                  {"ms", ms},     {"per_s", 1000 / ms}, {"overall_score", nullptr}};
    one.columns = {{"@component", "weir"}, {"@version", "abc"}};
    return one;
}
indicators::comparable_runs comparable(const std::vector<indicators::found_result>& all,
                                       const indicators::comparable_options& how = {}) {
    return indicators::comparable(all, *models.find("PiSpeed"), how);
}
std::string factors(const indicators::comparable_runs& runs) { return lab::names_of(runs.table.factors); }

}  // namespace

TEST_CASE("choices are factors, effort is none, and the model says what the cost is") {
    auto slow = found("b", 4, "slow");
    slow.values["reps"] = 50;
    const auto runs = comparable({found("a", 2), slow});
    CHECK(factors(runs) == "mode");
    CHECK(runs.table.cost_name == "ms");
    CHECK_FALSE(runs.table.more_is_better);
    CHECK(runs.ids == std::vector<std::string>{"a", "b"});
    CHECK(runs.table.runs[1].cost == 4);
    CHECK(runs.machines == std::vector<std::string>{"one: EPYC"});
    CHECK(runs.fixed == json{{"size", 10}});
    CHECK(factors(comparable({found("a", 2), found("b", 2.1)})).empty());
    CHECK(comparable({}).table.runs.empty());
}

TEST_CASE("workloads are never mixed in silence") {
    const std::vector<indicators::found_result> two{found("a", 2), found("b", 4, "fast", 20)};
    CHECK_THROWS_WITH(comparable(two),
                      ContainsSubstring("the runs are of several workloads: size is 10, 20; say which one, "
                                        "as --where size=10"));
    CHECK(factors(comparable(two, {.choices = {"size"}})) == "size");
    CHECK(factors(comparable(two, {.pooled = {"size"}})).empty());
    CHECK_THROWS_WITH(comparable(two, {.choices = {"speed"}}),
                      ContainsSubstring("--choice speed: PiSpeed has no such parameter"));
}

TEST_CASE("machines are never mixed in silence") {
    std::vector<indicators::found_result> two{found("a", 2), found("b", 4)};
    two[1].machine = "two: EPYC";
    CHECK_THROWS_WITH(comparable(two), ContainsSubstring("the runs are of several machines") &&
                                           ContainsSubstring("\n    one: EPYC\n    two: EPYC"));
    const auto runs = comparable(two, {.pool_machines = true});
    CHECK(runs.notes == std::vector<std::string>{"runs of 2 machines are compared with each other"});
}

TEST_CASE("what stacks differ in tells configurations apart, once") {
    std::vector<indicators::found_result> all{found("a", 2), found("b", 4), found("c", 4, "slow")};
    all[1].stack = {{"compiler", "clang"}, {"os", "debian"}, {"libc++", "19"}};
    const auto runs = comparable(all);
    CHECK(factors(runs) == "mode, compiler");
    REQUIRE(runs.notes.size() == 1);
    CHECK(runs.notes[0] == "libc++ differs as compiler does: (absent), 19");
    CHECK(factors(comparable(all, {.pooled = {"compiler"}})) == "mode, libc++");
    all[2].columns["@version"] = "0123456789abcdef";
    all[2].columns["@component"] = "other";
    const auto apart = comparable(all);
    CHECK(factors(apart) == "mode, compiler");  // the component differs as the mode does
    CHECK(apart.notes.size() == 3);
}

TEST_CASE("variables and arguments tell runs apart, but for those that set a parameter") {
    std::vector<indicators::found_result> all{found("a", 2, "fast"), found("b", 4, "slow"),
                                              found("c", 4, "slow")};
    const auto run_with = [&](std::size_t i, const std::string& arguments, const std::string& mode) {
        all[i].stack["arguments"] = arguments;
        all[i].stack["env.SPEED_MODE"] = mode;
    };
    run_with(0, "--mode=fast --reps 3 in.txt", "fast");
    run_with(1, "--mode=slow --reps 50 in.txt", "slow");
    run_with(2, "--test-mode slow --reps 9 in.txt", "SLOW");
    CHECK(factors(comparable(all)) == "mode");
    run_with(2, "--mode=slow --depmode x in.txt", "slow");  // which only ends like it
    CHECK(factors(comparable(all)) == "mode, arguments");
    run_with(2, "--mode=slow in.txt", "slow");
    all[2].stack["env.LD_PREMODE"] = "x.so";
    CHECK(factors(comparable(all)) == "mode, env.LD_PREMODE");
}

TEST_CASE("any result that is a number may be the cost, and results without it are left out, and counted") {
    auto scored = found("a", 2);
    scored.values["overall_score"] = 3.5;
    const auto runs = comparable({scored, found("b", 4)}, {.cost = "overall_score"});
    CHECK(runs.table.more_is_better);
    CHECK(runs.ids == std::vector<std::string>{"a"});
    CHECK(runs.notes == std::vector<std::string>{"1 results have no overall_score, and are left out"});
    CHECK(comparable({found("a", 2)}, {.cost = "per_s", .is_rate = true}).table.more_is_better);
    CHECK_THROWS_WITH(comparable({found("a", 2)}, {.cost = "mode"}),
                      ContainsSubstring("mode: PiSpeed has no such result"));
}
