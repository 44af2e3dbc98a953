#include "lab/analysis/fit.hpp"

#include "lab/analysis/deltas.hpp"
#include "lab/analysis/learning_curve.hpp"
#include "lab/data/input_error.hpp"
#include "lab/tables.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace {

using lab::configuration;

class noise {
  public:
    explicit noise(std::uint64_t seed) : random_(seed) {}
    double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }
    double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); }

  private:
    std::mt19937_64 random_;
};

double covered(const lab::fit_result& fit, const std::string& name, double truth) {
    const lab::fitted_term* term = fit.find(name);
    REQUIRE(term != nullptr);
    return term->low <= truth && truth <= term->high ? 1 : 0;
}

std::string refusal(const lab::run_table& table, const lab::fit_options& options) {
    try {
        lab::fit(table, options);
    } catch (const lab::input_error& wrong) {
        return wrong.what();
    }
    return "";
}

lab::run_table additive(std::size_t factors) {
    return lab_tests::factorial(factors, [](const configuration& v) {
        double cost = 100;
        for (std::size_t f = 0; f < v.size(); ++f) cost -= static_cast<double>(f + 1) * v[f];
        return cost;
    });
}

}  // namespace

TEST_CASE("fit: what made the costs is found, to the last digits") {
    const auto table = lab_tests::factorial(5, [](const configuration& v) {
        return 1182 - 577.1 * v[0] - 490.7 * v[1] + 358 * v[0] * v[1] + 3 * v[2] - 7 * v[3] * v[4];
    });
    lab::fit_options options;
    options.pairs = true;
    const auto fit = lab::fit(table, options);
    CHECK(std::abs(fit.find("(intercept)")->estimate - 1182) < 1e-9);
    CHECK(std::abs(fit.find("a")->estimate + 577.1) < 1e-9);
    CHECK(std::abs(fit.find("a*b")->estimate - 358) < 1e-9);
    CHECK(std::abs(fit.find("d*e")->estimate + 7) < 1e-9);
    CHECK(std::abs(fit.find("a*c")->estimate) < 1e-9);
    CHECK(fit.terms.size() == 1 + 5 + 10);
    CHECK(fit.aliased.empty());
    CHECK(std::abs(fit.r2 - 1) < 1e-12);
    CHECK(fit.cross_validated_error < 1e-6);
}

TEST_CASE(
    "fit: a level counts against the base, a number from its lowest to its highest, by its logarithm if "
    "told") {
    lab::run_table table;
    table.factors.resize(2);
    table.factors[0].name = "log";
    table.factors[0].kind = lab::factor_kind::levels;
    table.factors[0].levels = {"off", "ring", "file"};
    table.factors[1].name = "qcap";
    table.factors[1].kind = lab::factor_kind::number;
    table.factors[1].low = 1;
    table.factors[1].high = 64;
    table.factors[1].logarithmic = true;
    for (double level = 0; level < 3; ++level)
        for (const double capacity : {1, 2, 8, 64})
            table.runs.push_back({{level, capacity}, 10 + 5 * level * level - std::log2(capacity), 0, "", 0});
    const auto fit = lab::fit(table, {});
    CHECK(std::abs(fit.find("log=ring")->estimate - 5) < 1e-9);
    CHECK(std::abs(fit.find("log=file")->estimate - 20) < 1e-9);
    CHECK(std::abs(fit.find("qcap")->estimate + 6) < 1e-9);
}

TEST_CASE("fit: effects that multiply are found on the log scale, which is better there") {
    const auto table = lab_tests::factorial(6, [](const configuration& v) {
        return 1000 * std::pow(0.2, v[0]) * std::pow(0.5, v[1]) * std::pow(0.9, v[2]);
    });
    lab::fit_options options;
    options.log_scale = true;
    const auto fit = lab::fit(table, options);
    CHECK(std::abs(fit.find("a")->estimate - std::log2(0.2)) < 1e-9);
    CHECK(std::abs(fit.find("b")->estimate + 1) < 1e-9);
    CHECK(fit.cross_validated_error < lab::fit(table, {}).cross_validated_error / 100);
    CHECK(std::abs(fit.predicted[0] - 1000) < 1e-6);
}

TEST_CASE("fit: what can't be told apart is named, and how") {
    auto table = lab_tests::factorial(8, [](const configuration& v) { return 10 + v[0] + 2 * v[1]; });
    // b is a's opposite, c is off where d is on.
    for (lab::measured_run& run : table.runs) run.values[1] = 1 - run.values[0];
    std::erase_if(table.runs,
                  [](const lab::measured_run& run) { return run.values[2] == 1 && run.values[3] == 1; });
    lab::fit_options options;
    options.pairs = true;
    const auto fit = lab::fit(table, options);
    const auto why = [&](const std::string& name) {
        for (const lab::aliased_term& term : fit.aliased)
            if (term.name == name) return term.why;
        return std::string();
    };
    CHECK(why("b") == "= 1 - a");
    CHECK(why("c*d") == "never on together");
    CHECK(why("a*b") == "never on together");
    CHECK(why("b*c") == "= c - a*c");
    CHECK(fit.find("a") != nullptr);
    CHECK(fit.find("b") == nullptr);
    CHECK(fit.terms.size() + fit.aliased.size() == 1 + 8 + 28);
}

TEST_CASE("fit: of 1000 sets in which nothing has an effect at most one in twenty says otherwise") {
    double wrong = 0;
    double outside = 0;
    constexpr int sets = 1000;
    for (int set = 0; set < sets; ++set) {
        noise random(static_cast<std::uint64_t>(set) + 1);
        auto table = lab_tests::factorial(5, [&](const configuration&) { return 100 + random.normal(); });
        const auto fit = lab::fit(table, {});
        wrong += std::any_of(fit.terms.begin(), fit.terms.end(), [](const auto& t) { return t.q <= 0.05; });
        for (const char* name : {"a", "b", "c", "d", "e"}) outside += 1 - covered(fit, name, 0);
    }
    CHECK(wrong / sets <= 0.055);
    CHECK(outside / sets / 5 <= 0.055);
}

TEST_CASE("fit: 95 % intervals hold the truth 93 to 97 times out of 100: drift, and outliers") {
    double inside = 0;
    constexpr int sets = 600;
    for (int set = 0; set < sets; ++set) {
        noise random(static_cast<std::uint64_t>(set) + 1);
        auto table = additive(5);
        table.has_times = true;
        for (lab::measured_run& run : table.runs) {
            run.time = 1.7e9 + 86400 * 3 * random.uniform();
            run.cost += 5 * (run.time - 1.7e9) / 86400 + 2 * std::sin(run.time / 86400 * 6.283185307179586);
            run.cost += random.normal() * (random.uniform() < 0.02 ? 5 : 1);
        }
        lab::fit_options options;
        options.with_time = true;
        const auto fit = lab::fit(table, options);
        for (int f = 0; f < 5; ++f)
            inside += covered(fit, std::string(1, static_cast<char>('a' + f)), -(f + 1.0));
    }
    CHECK(inside / sets / 5 >= 0.93);
    CHECK(inside / sets / 5 <= 0.97);
}

TEST_CASE("fit: 95 % intervals hold the truth 93 to 97 times out of 100: runs of one build share its luck") {
    double of_build = 0;
    double of_run = 0;
    constexpr int sets = 600;
    for (int set = 0; set < sets; ++set) {
        noise random(static_cast<std::uint64_t>(set) + 1);
        auto table = additive(5);
        std::vector<lab::measured_run> runs;
        for (int plot = 0; plot < 12; ++plot) {
            const double luck = 3 * random.normal();
            for (lab::measured_run run : table.runs) {
                // The first factor is the build's; of the others a quarter.
                if (run.values[0] != plot % 2 ||
                    (static_cast<int>(run.values[1]) + static_cast<int>(run.values[2])) % 2)
                    continue;
                run.plot = "visit " + std::to_string(plot);
                run.cost += luck + random.normal();
                runs.push_back(run);
            }
        }
        table.runs = runs;
        const auto fit = lab::fit(table, {});
        of_build += covered(fit, "a", -1);
        of_run += covered(fit, "d", -4) + covered(fit, "e", -5);
    }
    CHECK(of_build / sets >= 0.93);
    CHECK(of_build / sets <= 0.97);
    CHECK(of_run / sets / 2 >= 0.93);
    CHECK(of_run / sets / 2 <= 0.97);
}

TEST_CASE(
    "fit: 95 % intervals hold the truth 93 to 97 times out of 100: repeated configurations that differ by "
    "more") {
    double inside = 0;
    constexpr int sets = 600;
    for (int set = 0; set < sets; ++set) {
        noise random(static_cast<std::uint64_t>(set) + 1);
        auto table = additive(5);
        std::vector<lab::measured_run> runs;
        for (const lab::measured_run& run : table.runs) {
            const double own = random.normal();
            for (int i = 0; i < 3; ++i) {
                runs.push_back(run);
                runs.back().cost += own + random.normal();
            }
        }
        table.runs = runs;
        const auto fit = lab::fit(table, {});
        for (int f = 0; f < 5; ++f)
            inside += covered(fit, std::string(1, static_cast<char>('a' + f)), -(f + 1.0));
    }
    CHECK(inside / sets / 5 >= 0.93);
    CHECK(inside / sets / 5 <= 0.97);
}

TEST_CASE(
    "fit: of few builds or configurations intervals are as wide as their luck calls for, and no wider") {
    constexpr int sets = 1000;
    double of_build = 0;
    double of_configuration = 0;
    for (int set = 0; set < sets; ++set) {
        noise random(static_cast<std::uint64_t>(set) + 1);
        auto builds = additive(3);
        std::vector<lab::measured_run> runs;
        for (int plot = 0; plot < 4; ++plot) {
            const double luck = 0.3 * random.normal();
            for (lab::measured_run run : builds.runs) {
                if (run.values[0] != plot % 2) continue;
                run.plot = "visit " + std::to_string(plot);
                run.cost += luck + random.normal();
                runs.push_back(run);
            }
        }
        builds.runs = runs;
        of_build += covered(lab::fit(builds, {}), "a", -1);

        auto configurations = additive(2);
        runs.clear();
        for (const lab::measured_run& once : configurations.runs) {
            const double luck = 1.5 * random.normal();
            for (int repetition = 0; repetition < 4; ++repetition) {
                runs.push_back(once);
                runs.back().cost += luck + random.normal();
            }
        }
        configurations.runs = runs;
        of_configuration += covered(lab::fit(configurations, {}), "a", -1);
    }
    CAPTURE(of_build / sets, of_configuration / sets);
    CHECK(of_build / sets >= 0.93);
    CHECK(of_build / sets <= 0.98);
    CHECK(of_configuration / sets >= 0.93);
}

TEST_CASE("fit: with fewer runs than pairs call for, the strong ones are found all the same") {
    noise random(7);
    auto table = lab_tests::factorial(10, [&](const configuration& v) {
        return 100 - 20 * v[0] - 15 * v[1] + 25 * v[0] * v[1] - 18 * v[4] * v[7] + random.normal();
    });
    std::vector<lab::measured_run> some;
    for (std::size_t i = 0; i < 60; ++i) some.push_back(table.runs[(i * 397 + 11) % 1024]);
    table.runs = some;
    lab::fit_options options;
    options.pairs = true;
    const auto fit = lab::fit(table, options);
    CHECK(fit.shrunk);
    CHECK(fit.terms.size() + fit.aliased.size() == 1 + 10 + 45);
    REQUIRE(fit.find("a*b") != nullptr);
    CHECK(std::abs(fit.find("a*b")->estimate - 25) < 5);
    CHECK(covered(fit, "a*b", 25) == 1);
    std::vector<lab::fitted_term> ranked = fit.terms;
    std::erase_if(ranked, [](const auto& t) { return t.treatments.size() != 2; });
    std::sort(ranked.begin(), ranked.end(),
              [](const auto& x, const auto& y) { return std::abs(x.shrunk) > std::abs(y.shrunk); });
    CHECK(ranked[0].name == "a*b");
    CHECK(ranked[1].name == "e*h");
    CHECK(ranked[1].q < 0.01);
    CHECK(std::abs(ranked[2].shrunk) < 5);
    // Of predictions (least squares has more terms than runs in each part), by models that haven't seen the runs.
    double squares = 0;
    for (std::size_t run = 0; run < table.runs.size(); ++run)
        squares += std::pow(table.runs[run].cost - fit.predicted[run], 2);
    CAPTURE(fit.cross_validated_error, std::sqrt(squares / 60));
    CHECK(fit.cross_validated_error > 1.05 * std::sqrt(squares / 60));
    CHECK(fit.cross_validated_error < 6);
}

TEST_CASE("fit: a run that is far off is named") {
    noise random(3);
    auto table = additive(6);
    for (lab::measured_run& run : table.runs) run.cost += 0.1 * random.normal();
    table.runs[17].cost += 50;
    const auto fit = lab::fit(table, {});
    REQUIRE(fit.outliers.size() == 1);
    CHECK(fit.outliers[0].run == 17);
    CHECK(fit.outliers[0].deviations > 4);
}

TEST_CASE("fit: what can't be fitted is refused with a sentence") {
    auto table = additive(3);
    table.name = "runs.csv";
    lab::fit_options log_scale;
    log_scale.log_scale = true;
    table.runs[2].cost = -4;
    CHECK(refusal(table, log_scale) == "runs.csv:4: cost is -4, which has no logarithm; leave --log out");
    lab::fit_options with_time;
    with_time.with_time = true;
    CHECK(refusal(table, with_time) ==
          "runs.csv: there is no column of times; name one with --time, or leave --with-time out");
    table.runs.resize(1);
    CHECK(refusal(table, {}) ==
          "runs.csv: all runs are of one configuration; a model needs runs of at least two");
}

TEST_CASE("fit: where no run is left to tell what chance does there are estimates without intervals") {
    const auto table = additive(1);
    const auto fit = lab::fit(table, {});
    CHECK(fit.find("a")->estimate == Catch::Approx(-1));
    CHECK(std::isnan(fit.find("a")->low));
    CHECK(std::isnan(fit.find("a")->p));
    REQUIRE(fit.notes.size() == 1);
    lab::fit_options pairs;
    pairs.pairs = true;  // of which a single factor has none
    CHECK(lab::fit(table, pairs).terms.size() == 2);
}

TEST_CASE(
    "fit: how many runs would have been enough is told by when the estimates stayed within their intervals") {
    noise random(5);
    auto table = additive(4);
    const std::vector<lab::measured_run> once = table.runs;
    for (int i = 0; i < 15; ++i) table.runs.insert(table.runs.end(), once.begin(), once.end());
    double time = 0;
    for (lab::measured_run& run : table.runs) {
        run.time = ++time;
        run.cost += random.normal() + (time <= 32 ? 6 * run.values[2] : 0);  // it is warming up
    }
    table.has_times = true;
    const auto curve = lab::learning_curve_of(table, {});
    CHECK_FALSE(curve.by_lot);
    CHECK(curve.terms == std::vector<std::string>{"a", "b", "c", "d"});
    CHECK(curve.points.back().runs == 256);
    CHECK(curve.points.back().estimates[3] == lab::fit(table, {}).find("d")->estimate);
    CHECK((curve.enough == 0 || curve.enough > 32));
    CHECK(curve.points.front().estimates[2] > -1);
    table.runs.resize(1);
    CHECK_THROWS_AS(lab::learning_curve_of(table, {}), lab::input_error);
}

TEST_CASE("fit: runs that the data don't put in an order are taken by lot") {
    const auto table = additive(6);  // of whose first runs f is always off
    const auto curve = lab::learning_curve_of(table, {});
    CHECK(curve.by_lot);
    CHECK(curve.points.front().runs == 8);
    CHECK(curve.enough > 0);
    CHECK(curve.enough < 64);
    for (const double estimate : curve.points[1].estimates) CHECK(std::isfinite(estimate));
}

TEST_CASE("fit: what the middle of a number adds to the line between its ends is told where it was tried") {
    lab::run_table table = additive(2);
    lab::factor& number = table.factors[0];
    number.kind = lab::factor_kind::number;
    number.levels.clear();
    number.low = 1;
    number.high = 16;
    number.logarithmic = true;
    const std::vector<lab::measured_run> ends = table.runs;
    table.runs.clear();
    noise random(9);
    for (const double value : {1.0, 2.0, 4.0, 8.0, 16.0})
        for (lab::measured_run run : ends) {
            const double x = std::log2(value) / 4;
            run.values[0] = value;
            run.cost = 100 - 10 * x + 20 * x * (1 - x) - 2 * run.values[1] + 0.001 * random.normal();
            table.runs.push_back(run);
        }
    lab::fit_options options;
    CHECK(lab::fit(table, options).find("a (middle)") == nullptr);
    options.bends = true;
    auto fit = lab::fit(table, options);
    REQUIRE(fit.find("a (middle)") != nullptr);
    CHECK(fit.find("a (middle)")->estimate == Catch::Approx(5).margin(0.01));
    CHECK(fit.find("a")->estimate == Catch::Approx(-10).margin(0.01));
    std::erase_if(table.runs,
                  [](const lab::measured_run& run) { return run.values[0] != 1 && run.values[0] != 16; });
    fit = lab::fit(table, options);  // of which only the ends were tried
    CHECK(fit.find("a (middle)") == nullptr);
    CHECK(fit.aliased.empty());
}

TEST_CASE("fit: how many runs of a build tell most is told by what they vary by, and what a build costs") {
    lab::fit_result fitted;
    fitted.sigma = 3;
    CHECK(std::isnan(lab::runs_of_each_group(fitted, 1)));
    fitted.group_sigma = 2;
    CHECK(lab::runs_of_each_group(fitted, 1) == 2);   // 1.5
    CHECK(lab::runs_of_each_group(fitted, 16) == 6);  // 4 times as many
    fitted.group_sigma = 30;
    CHECK(lab::runs_of_each_group(fitted, 1) == 1);
}
