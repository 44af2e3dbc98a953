#include "indicators/advice/advice.hpp"

#include "lab/analysis/search.hpp"
#include "lab/data/configuration_index.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <random>
#include <string>

namespace {

lab::run_table table_of(const std::string& csv, bool rate = false) {
    lab::read_options how;
    how.rate = rate;
    return lab::runs_of(lab::parse_csv(csv, "runs.csv"), how);
}
std::string best_of(const lab::run_table& table) {
    return lab::configuration_text(table.factors, indicators::advise(table, {}).ranked.front().values);
}

}  // namespace

TEST_CASE("configurations are ranked with how often they were run, their means and intervals") {
    const lab::run_table table =
        table_of("a;b;cost\n0;0;10\n0;0;10.2\n1;0;5\n1;0;5.1\n0;1;5.02\n0;1;5.06\n1;1;20\n1;1;20.4\n");
    const indicators::advice found = indicators::advise(table, {});
    REQUIRE(found.ranked.size() == 4);
    CHECK(found.enough);
    CHECK(found.not_enough.empty());
    CHECK(lab::configuration_text(table.factors, found.ranked[0].values) == "b");
    CHECK(found.ranked[0].mean == Catch::Approx(5.04));
    CHECK(found.ranked[0].runs == std::vector<std::size_t>{4, 5});
    CHECK(found.ranked[0].verdict == "best");
    CHECK(found.ranked[1].verdict == "unsure");
    CHECK(found.ranked[2].verdict == "worse");
    CHECK(found.ranked[3].to_best == Catch::Approx(20.2 / 5.04));
    for (const indicators::ranked_configuration& c : found.ranked) {
        CHECK(c.low < c.mean);
        CHECK(c.high > c.mean);
    }
    // Where more is better the same runs are ranked the other way.
    CHECK(lab::configuration_text(
              table.factors,
              indicators::advise(table_of("a;b;cost\n0;0;10\n0;0;10.2\n1;0;5\n1;0;5.1\n", true), {})
                  .ranked.front()
                  .values) == "(base)");
}

TEST_CASE("one run is not enough data, and neither are runs that were never repeated") {
    indicators::advice found = indicators::advise(table_of("a;cost\n0;10\n1;5\n"), {});
    CHECK_FALSE(found.enough);
    CHECK(found.ranked.front().mean == 5);
    CHECK(std::isnan(found.ranked.front().low));
    CHECK(found.ranked[1].verdict == "too few runs");
    CHECK_THAT(found.not_enough, Catch::Matchers::ContainsSubstring("was run once"));
    // What others vary by gives it an interval; it was run once all the same.
    found = indicators::advise(table_of("a;cost\n0;10\n0;10.1\n0;9.9\n1;5\n"), {});
    CHECK_FALSE(found.enough);
    CHECK(found.ranked.front().high > 5);
    CHECK(found.ranked[1].verdict == "worse");
    found = indicators::advise(table_of("a;cost\n0;10\n0;10.1\n0;9.9\n1;5\n"), {.least_runs = 1});
    CHECK(found.enough);
    found = indicators::advise(table_of("a;cost\n0;10\n0;10.1\n"), {});
    CHECK(found.enough);  // such as it is: there is no other
    lab::run_table nothing;
    found = indicators::advise(nothing, {});
    CHECK_FALSE(found.enough);
    CHECK(found.not_enough == "there are no runs");
}

TEST_CASE("a lucky run is not ranked before what was measured well") {
    // Of both the pooled deviation is about 20 %.
    const lab::run_table table = table_of("a;cost\n1;9.5\n0;8\n0;12\n0;10\n0;9\n0;11\n0;8.5\n0;11.5\n");
    CHECK(best_of(table) == "(base)");
}

TEST_CASE("the best is that of the lab's search over the same runs, which the model explains") {
    std::mt19937_64 random(7);
    std::lognormal_distribution<double> noise(0, 0.01);
    std::string csv = "a;b;c;n;cost\n";
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b)
            for (int c = 0; c < 2; ++c)
                for (const int n : {1, 2, 4, 8}) {
                    const double cost =
                        100 * (a ? 0.5 : 1) * (b ? 1.2 : 1) * (a && c ? 0.8 : 1) * (1 + 1.0 / n);
                    for (int repeat = 0; repeat < 2; ++repeat)
                        csv += std::to_string(a) + ";" + std::to_string(b) + ";" + std::to_string(c) + ";" +
                               std::to_string(n) + ";" + std::to_string(cost * noise(random)) + "\n";
                }
    const lab::run_table table = table_of(csv);
    const lab::configuration_index measured(table);
    std::vector<lab::configuration> candidates;
    for (const lab::repeated_configuration& c : measured.all()) candidates.push_back(c.values);
    lab::search_options how;
    how.budget = candidates.size();
    const lab::search_result search =
        lab::search(table.factors, candidates, [&](std::size_t c) { return measured.all()[c].mean; }, how);
    const indicators::advice found = indicators::advise(table, {});
    CHECK(found.ranked.front().values == candidates[search.best]);
    CHECK(best_of(table) == "a + c + n=8");

    REQUIRE_FALSE(found.why.empty());
    CHECK(found.why[0].setting == "a=1");
    CHECK(found.why[0].neighbour == "a=0");
    CHECK(found.why[0].neighbour_to_best == Catch::Approx(2 / 0.8).epsilon(0.05));
    CHECK(found.why[0].neighbour_runs == 2);
    CHECK(found.why[0].low < found.why[0].average);
    CHECK(found.why[0].average == Catch::Approx(0.5 * std::sqrt(0.8)).epsilon(0.05));
    CHECK(found.why[0].high < 1);
}

namespace {

struct coverage {
    double of_all = 0;
    double of_noisy = 0;       // the first configuration
    double of_best = 0;        // by low_as_best and high_as_best
    double falsely_worse = 0;  // tables in which one is called worse, where all are equal
};

// Configurations that are all the same, the first of which may be noisier.
coverage coverage_of(int configurations, int repeats, double noisy, int tables) {
    std::mt19937_64 random(static_cast<std::uint64_t>(configurations * 100 + repeats));
    std::normal_distribution<double> normal;
    coverage result;
    for (int t = 0; t < tables; ++t) {
        std::string csv = "a;cost\n";
        for (int c = 0; c < configurations; ++c)
            for (int r = 0; r < repeats; ++r)
                csv.append("c")
                    .append(std::to_string(c))
                    .append(";")
                    .append(std::to_string(10 * std::exp((c == 0 ? noisy : 0.02) * normal(random))))
                    .append("\n");
        const lab::run_table table = table_of(csv);
        const indicators::advice found = indicators::advise(table, {});
        bool any_worse = false;
        for (const indicators::ranked_configuration& c : found.ranked) {
            const bool held = c.low <= 10 && 10 <= c.high;
            result.of_all += held / static_cast<double>(configurations * tables);
            if (table.factors[0].text_of(c.values[0]) == "c0")
                result.of_noisy += held / static_cast<double>(tables);
            any_worse = any_worse || c.verdict == "worse";
        }
        result.of_best += (found.low_as_best <= 10 && 10 <= found.high_as_best) / static_cast<double>(tables);
        result.falsely_worse += any_worse / static_cast<double>(tables);
    }
    return result;
}

}  // namespace

TEST_CASE("intervals hold the mean as often as they say, also that of what was picked") {
    for (const auto& [configurations, repeats] :
         {std::pair(4, 2), std::pair(8, 4), std::pair(32, 3), std::pair(32, 10)}) {
        INFO(configurations << " x " << repeats);
        const coverage found = coverage_of(configurations, repeats, 0.02, 200);
        CHECK(found.of_all > 0.92);
        CHECK(found.of_all < 0.97);
        CHECK(found.of_best > 0.92);
        CHECK(found.falsely_worse < 0.08);
    }
}

TEST_CASE("a noisy configuration has an interval of its own, the sooner the more it is run") {
    CHECK(coverage_of(8, 3, 0.15, 200).of_noisy > 0.85);
    CHECK(coverage_of(8, 6, 0.15, 200).of_noisy > 0.92);
    CHECK(coverage_of(8, 6, 0.15, 200).falsely_worse < 0.1);
}

TEST_CASE("costs that aren't positive are compared by their differences") {
    const lab::run_table table = table_of("a;cost\n0;1\n0;1.1\n1;-1\n1;-1.1\n");
    const indicators::advice found = indicators::advise(table, {});
    CHECK(found.enough);
    CHECK(found.ranked.front().mean == Catch::Approx(-1.05));
    CHECK(found.ranked.front().low < -1.05);
    CHECK(found.ranked[1].verdict == "worse");
}
