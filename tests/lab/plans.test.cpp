// Plans by lot, balanced, D-optimal, around one, and what they can tell.
#include "lab/analysis/fit.hpp"
#include "lab/analysis/plan_report.hpp"
#include "lab/data/input_error.hpp"
#include "lab/design/constraints.hpp"
#include "lab/design/exchange.hpp"
#include "lab/design/sampling.hpp"
#include "lab/design/two_level.hpp"
#include "lab/design/whole_plots.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace {

using lab::configuration;

std::string name_of(std::size_t factor) {
    std::string name = "f";  // not "f" + ...: g++ 12 warns for nothing
    name += std::to_string(factor);
    return name;
}

lab::factor_file on_off(std::size_t factors) {
    lab::factor_file file;
    for (std::size_t f = 0; f < factors; ++f) file.factors.emplace_back().name = name_of(f);
    file.applications.resize(factors);
    return file;
}

// Factors of all kinds, and constraints that leave little.
lab::factor_file mixed() {
    return lab::parse_factor_file(R"({
      "factors": [{"name": "stats", "levels": ["off", "summed", "all"]},
                  {"name": "clock", "levels": ["ticks", "steady", "coarse"]},
                  {"name": "qcap", "low": 1, "high": 1024, "log2": true, "integer": true},
                  {"name": "batch", "low": 1, "high": 256, "log2": true, "integer": true},
                  {"name": "a"}, {"name": "b"}, {"name": "c"}],
      "constraints": ["clock=steady|coarse requires stats=summed|all", "qcap >= batch", "a excludes b", "c requires a"]})",
                                  "mixed.json");
}

lab::plan as_plan(const lab::factor_file& file, const std::vector<configuration>& rows) {
    lab::plan result{"plan", file.factors, {}};
    for (const configuration& row : rows) result.runs.push_back({row, 0, "", "", 0});
    return result;
}

// Ten factors of which some matter, and pairs of them: as large as the effects of published systems are.
double population(const configuration& v) {
    return 200 + 17 * v[0] - 9 * v[1] + 12 * v[2] + 2 * v[3] - v[4] + 4 * v[9] - 13 * v[0] * v[9] +
           11 * v[2] * v[9] - 8 * v[1] * v[2] - 8 * v[0] * v[2] + 6 * v[7] * v[8] + 5 * v[3] * v[4] * v[5];
}
const std::vector<double> effects{17 - 6.5 - 4, -9 - 4, 12 + 5.5 - 4 - 4, 2 + 1.25, -1 + 1.25, 1.25, 0, 3, 3,
                                  4 - 6.5 + 5.5};

double error_of(const lab::factor_file& file, const std::vector<configuration>& rows) {
    lab::run_table table;
    table.name = "runs";
    table.factors = file.factors;
    for (const configuration& row : rows) table.runs.push_back({row, population(row), 0, "", 0});
    const auto fit = lab::fit(table, {});
    double worst = 0;
    for (std::size_t f = 0; f < effects.size(); ++f) {
        const auto* term = fit.find(name_of(f));
        worst = std::max(worst, term == nullptr ? 100 : std::abs(term->estimate - effects[f]));
    }
    return worst;
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
}

}  // namespace

TEST_CASE("plans: with two values each factor is on in half of the runs, and each two in a quarter") {
    for (const std::size_t runs : {8U, 12U, 16U, 20U, 24U, 32U, 40U, 48U, 64U, 128U}) {
        std::mt19937_64 random(runs);
        const std::size_t factors = std::min<std::size_t>(runs / 2 - 1, 10);
        const auto rows = lab::two_level_plan(runs, factors, random);
        REQUIRE(rows.size() == runs);
        for (std::size_t a = 0; a < factors; ++a) {
            CHECK(std::count_if(rows.begin(), rows.end(), [&](const auto& r) { return r[a]; }) ==
                  static_cast<std::ptrdiff_t>(runs / 2));
            for (std::size_t b = a + 1; b < factors; ++b)
                CHECK(std::count_if(rows.begin(), rows.end(), [&](const auto& r) { return r[a] && r[b]; }) ==
                      static_cast<std::ptrdiff_t>(runs / 4));
        }
    }
    std::mt19937_64 random(1);
    CHECK(lab::two_level_plan(36, 10, random).empty());  // 35 and 17 aren't what Paley needs
    CHECK(lab::two_level_plan(2, 1, random).empty());
}

TEST_CASE("plans: 128 runs tell all pairs of ten factors apart, 32 no factor from a pair") {
    const auto file = on_off(10);
    const auto values = lab::planned_values(file, 3);
    std::mt19937_64 random(1);
    const auto large = lab::report_of(as_plan(file, lab::balanced_plan(file, values, 128, random)), true);
    CHECK(large.aliased.empty());
    CHECK(large.d_efficiency == Catch::Approx(1));
    CHECK(large.worst_pair < 1e-9);
    for (const lab::term_quality& term : large.terms) CHECK(term.inflation == Catch::Approx(1));
    const auto small = lab::report_of(as_plan(file, lab::balanced_plan(file, values, 32, random)), true);
    CHECK_FALSE(small.aliased.empty());
    // A pair is equal to others, never to a factor alone.
    for (const lab::aliased_term& term : small.aliased) CHECK(term.why.find('*') != std::string::npos);
}

TEST_CASE("plans: with enough runs no product of four factors is the same in all of them") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        std::mt19937_64 random(seed);
        const auto rows = lab::two_level_plan(256, 16, random);
        REQUIRE(rows.size() == 256);
        std::size_t same = 0;
        for (std::size_t a = 0; a < 16; ++a)
            for (std::size_t b = a + 1; b < 16; ++b)
                for (std::size_t c = b + 1; c < 16; ++c)
                    for (std::size_t d = c + 1; d < 16; ++d)
                        same += std::all_of(rows.begin(), rows.end(), [&](const auto& r) {
                            return (r[a] != r[b]) == ((r[c] != r[d]) != ((rows[0][a] != rows[0][b]) !=
                                                                         (rows[0][c] != rows[0][d])));
                        });
        CHECK(same == 0);
    }
}

TEST_CASE("plans: no kind ever has what constraints exclude, and all use what there is") {
    const auto file = mixed();
    const auto values = lab::planned_values(file, 4);
    CHECK(values[2] == std::vector<double>{1, 10, 102, 1024});
    std::mt19937_64 random(3);
    const auto all = lab::all_configurations(file, values, 100'000);
    std::vector<std::vector<configuration>> plans{lab::random_configurations(file, values, 60, random),
                                                  lab::balanced_plan(file, values, 60, random),
                                                  lab::d_optimal_plan(file, values, 60, true, random), all};
    for (const auto& plan : plans) {
        for (const configuration& row : plan) CHECK(file.allows(row));
        const auto report = lab::report_of(as_plan(file, plan), false);
        CHECK(report.never.empty());
        CHECK(report.aliased.empty());
    }
    const auto near = lab::around(file, values, file.base());
    CHECK(near.front() == file.base());
    CHECK(near.size() == 1 + 2 + 0 + 3 + 0 + 1 + 1 + 0);  // what the base forbids is left out
    for (const configuration& row : near) CHECK(file.allows(row));
    CHECK(std::set<configuration>(plans[0].begin(), plans[0].end()).size() == 60);
    CHECK(std::set<configuration>(all.begin(), all.end()).size() == all.size());
    CHECK_THROWS_AS(lab::all_configurations(file, values, all.size() - 1), lab::input_error);
    CHECK(lab::random_configurations(file, values, 2 * all.size(), random).size() == 2 * all.size());
}

TEST_CASE("plans: of what is hard to change there are few kinds, in each as much as in the others") {
    auto file = on_off(6);
    for (const std::size_t f : {0U, 1U, 2U}) {
        file.factors[f].levels = {"a", "b", "c"};
        file.factors[f].kind = lab::factor_kind::levels;
        file.factors[f].hard_to_change = true;
    }
    file.constraints.push_back(lab::parse_constraint("f0=c excludes f5", file.factors, "f", 1));
    const auto values = lab::planned_values(file, 3);
    CHECK(lab::usual_builds(file, 100) == 14);
    CHECK(lab::usual_builds(file, 20) == 10);
    std::mt19937_64 random(5);
    CHECK(lab::whole_plots(file, values, 27, random).empty());  // all there are: each run has its own
    const auto builds = lab::whole_plots(file, values, 9, random);
    for (const auto& plan : {lab::random_configurations(file, values, 72, random, builds),
                             lab::balanced_plan(file, values, 72, random, builds),
                             lab::d_optimal_plan(file, values, 72, false, random, builds)}) {
        std::map<configuration, std::size_t> of_build;
        for (const configuration& run : plan) {
            CHECK(file.allows(run));
            ++of_build[{run[0], run[1], run[2]}];
        }
        CHECK(of_build.size() == builds.size());
        CHECK(of_build.size() > 6);
        for (const auto& [build, runs] : of_build) CHECK(runs >= 72 / 9);
        const auto report = lab::report_of(as_plan(file, plan), false);
        CHECK(report.never.empty());
        CHECK(report.aliased.empty());
    }
}

TEST_CASE(
    "plans: constraints that fit together leave configurations, be they ever so many; else it is said at "
    "once") {
    lab::factor_file file;
    for (std::size_t f = 0; f < 40; ++f) {
        lab::factor& added = file.factors.emplace_back();
        added.name = name_of(f);
        added.levels = {"0", "1", "2", "3"};
        added.kind = lab::factor_kind::levels;
    }
    file.applications.resize(40);
    const auto add = [&](const std::string& text) {
        file.constraints.push_back(lab::parse_constraint(text, file.factors, "f", 1));
    };
    // Each is one more than the one before, so that the first decides all others.
    for (std::size_t f = 0; f < 39; ++f)
        for (int level = 0; level < 4; ++level)
            add(name_of(f) + "=" + std::to_string(level) + " requires " + name_of(f + 1) + "=" +
                std::to_string((level + 1) % 4));
    std::mt19937_64 random(6);
    const auto drawn = lab::random_configurations(file, lab::planned_values(file, 3), 4, random);
    for (const configuration& run : drawn) CHECK(file.allows(run));
    CHECK(std::set<configuration>(drawn.begin(), drawn.end()).size() == 4);
    CHECK(lab::all_configurations(file, lab::planned_values(file, 3), 10).size() == 4);
    add("f20 requires f39=0");    // f0 is 0 or 1
    add("f20=0 excludes f39=3");  // it is 1
    CHECK(lab::allows_anything(file));
    add("f0=1 excludes f5=2");
    CHECK_FALSE(lab::allows_anything(file));
}

TEST_CASE("plans: a number is tried at what constraints name, too") {
    auto file = on_off(1);
    lab::factor& number = file.factors.emplace_back();
    number.name = "n";
    number.kind = lab::factor_kind::number;
    number.low = 1;
    number.high = 100;
    number.base = 7;
    file.applications.resize(2);
    file.constraints.push_back(lab::parse_constraint("f0 requires n=7", file.factors, "f", 1));
    CHECK(lab::planned_values(file, 2)[1] == std::vector<double>{1, 7, 100});
}

TEST_CASE("plans: no factor is on more often by lot because it comes first") {
    auto file = on_off(2);
    file.constraints.push_back(lab::parse_constraint("f0 excludes f1", file.factors, "f", 1));
    std::mt19937_64 random(4);
    double first = 0;
    double second = 0;
    for (int i = 0; i < 1000; ++i) {
        const configuration drawn = lab::random_configuration(file, lab::planned_values(file, 3), random);
        first += drawn[0];
        second += drawn[1];
    }
    CHECK(std::abs(first - 375) < 50);
    CHECK(std::abs(second - 375) < 50);
}

TEST_CASE("plans: the same seed makes the same plan") {
    const auto file = mixed();
    const auto values = lab::planned_values(file, 3);
    const auto made = [&](std::uint64_t seed) {
        std::mt19937_64 random(seed);
        return lab::balanced_plan(file, values, 24, random);
    };
    CHECK(made(1) == made(1));
    CHECK(made(1) != made(2));
}

TEST_CASE(
    "plans: a value that is never run, and factors that can't be told apart, are named before anything is "
    "run") {
    const auto file = mixed();
    std::vector<configuration> rows;
    for (const double b : {0.0, 1.0, 0.0, 1.0}) rows.push_back({b, 0, 8, 1, 1 - b, b, 0});
    const auto report = lab::report_of(as_plan(file, rows), false);
    CHECK(std::find(report.never.begin(), report.never.end(), "clock=coarse") != report.never.end());
    const auto why = [&](const std::string& name) {
        for (const lab::aliased_term& term : report.aliased)
            if (term.name == name) return term.why;
        return std::string();
    };
    CHECK(why("a") == "= 1 - stats=summed");
    CHECK(why("b") == "= stats=summed");
    CHECK(report.worst_pair == Catch::Approx(0.25));
}

TEST_CASE("plans: a D-optimal plan has a larger determinant than one by lot") {
    const auto file = mixed();
    const auto values = lab::planned_values(file, 3);
    std::mt19937_64 random(5);
    for (const std::size_t runs : {16U, 40U}) {
        const auto best =
            lab::report_of(as_plan(file, lab::d_optimal_plan(file, values, runs, false, random)), false);
        const auto drawn =
            lab::report_of(as_plan(file, lab::random_configurations(file, values, runs, random)), false);
        CHECK(best.d_efficiency > 1.1 * drawn.d_efficiency);
    }
}

TEST_CASE("plans: a balanced plan is worth more than as many runs by lot, as in a published population") {
    const auto file = on_off(10);
    const auto values = lab::planned_values(file, 3);
    for (const auto& [runs, ratio] : {std::pair<std::size_t, double>{24, 1.2}, {32, 1.2}, {128, 1.5}}) {
        std::vector<double> planned;
        std::vector<double> drawn;
        for (std::uint64_t seed = 1; seed <= 60; ++seed) {
            std::mt19937_64 random(seed);
            planned.push_back(error_of(file, lab::balanced_plan(file, values, runs, random)));
            drawn.push_back(error_of(file, lab::random_configurations(file, values, runs, random)));
        }
        CHECK(median(drawn) > ratio * median(planned));
    }
}
