#include "lab/analysis/comparison.hpp"

#include "lab/data/input_error.hpp"
#include "lab/driver/duel.hpp"
#include "lab/folders.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <random>

namespace {

double draw(std::mt19937_64& random) {
    double sum = -6;  // of twelve uniform ones: nearly normal
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
    return sum;
}

// `things`, each `runs` times on both sides, with noise of 2 %.
std::vector<lab::compared_costs> costs_of(std::uint64_t seed, std::size_t things, std::size_t runs,
                                          double ratio) {
    std::mt19937_64 random(seed);
    std::vector<lab::compared_costs> result;
    for (std::size_t i = 0; i < things; ++i) {
        lab::compared_costs& c = result.emplace_back();
        const double cost = 10 + static_cast<double>(i);
        for (std::size_t run = 0; run < runs; ++run) {
            c.a.push_back(cost * std::exp(0.02 * draw(random)));
            c.b.push_back(cost * ratio * std::exp(0.02 * draw(random)));
        }
    }
    return result;
}

double share(const char* verdict, std::size_t things, std::size_t runs, double ratio, int sets) {
    int count = 0;
    for (int set = 1; set <= sets; ++set)
        count += lab::compare(costs_of(static_cast<std::uint64_t>(set), things, runs, ratio), {}).verdict ==
                 verdict;
    return static_cast<double>(count) / sets;
}

}  // namespace

TEST_CASE("comparison: of 1000 times nothing one in a hundred is called faster or slower") {
    for (const auto& [things, runs] : {std::pair<std::size_t, std::size_t>{20, 1}, {1, 10}, {4, 5}}) {
        CHECK(share("faster", things, runs, 1, 1000) + share("slower", things, runs, 1, 1000) <= 0.02);
    }
}

TEST_CASE("comparison: a difference of 5 % is seen, and the interval holds it") {
    CHECK(share("slower", 20, 1, 1.05, 100) > 0.99);
    CHECK(share("faster", 20, 1, 0.95, 100) > 0.99);
    int holds = 0;
    for (std::uint64_t set = 1; set <= 1000; ++set) {
        const auto found = lab::compare(costs_of(set, 20, 1, 1.05), {});
        holds += found.low <= 1.05 && 1.05 <= found.high;
    }
    CHECK(holds >= 930);
    CHECK(holds <= 970);
}

TEST_CASE("comparison: enough of the same is the same, and what is between is undecided") {
    CHECK(share("same", 400, 1, 1, 20) == 1);
    CHECK(share("undecided", 6, 1, 1.01, 100) > 0.6);
    lab::comparison_options wide;
    wide.threshold = 0.2;
    CHECK(lab::compare(costs_of(1, 20, 1, 1.05), wide).verdict == "same");
}

TEST_CASE("comparison: of a rate more is faster") {
    lab::comparison_options rate;
    rate.more_is_better = true;
    CHECK(lab::compare(costs_of(1, 20, 1, 1.1), rate).verdict == "faster");
    CHECK(lab::compare(costs_of(1, 20, 1, 0.9), rate).verdict == "slower");
}

TEST_CASE("comparison: too little to say is undecided, and says why") {
    CHECK(lab::compare({}, {}).verdict == "undecided");
    CHECK(lab::compare({{"x", {1, 2}, {}}, {"y", {}, {1}}}, {}).why ==
          "A and B have no configuration in common");
    const auto one = lab::compare({{"x", {1}, {2}}, {"y", {1}, {2}}}, {});
    CHECK(one.verdict == "undecided");
    CHECK(one.why.find("too few runs") != std::string::npos);
    CHECK(std::isnan(one.ratio));
    CHECK_THROWS_AS(lab::compare({{"x", {1, 0}, {2, 2}}}, {}), lab::input_error);
    // Without any noise an interval has no width.
    CHECK(lab::compare({{"x", {1, 1}, {2, 2}}}, {}).verdict == "slower");
    CHECK(lab::compare({{"x", {1, 1}, {1, 1}}}, {}).verdict == "same");
}

TEST_CASE("duel: both commands are run in pairs, failures are rows, and more pairs are added") {
    const lab_tests::temporary_folder folder;
    ::setenv("WEIR_LAB_LOCK", (folder / "lock").c_str(), 1);
    lab::duel_options options;
    options.commands = {"echo 5", "echo 6"};
    options.pairs = 4;
    options.folder = folder / "out";
    const auto first = lab::run_duel(options);
    REQUIRE(first.pairs.size() == 4);
    CHECK(first.pairs[0] == std::pair(5.0, 6.0));
    options.commands[1] = "exit 3";
    const auto second = lab::run_duel(options);
    CHECK(second.pairs.empty());
    CHECK(second.failed.at("exit 3") == 4);
    const std::string rows = lab_tests::text_of(folder / "out/runs.csv");
    CHECK(std::count(rows.begin(), rows.end(), '\n') == 1 + 16);
}

TEST_CASE("duel: two commits are built and run in folders of their own") {
    const lab_tests::temporary_folder folder;
    ::setenv("WEIR_LAB_LOCK", (folder / "lock").c_str(), 1);
    const std::string repository = folder / "repository";
    const std::string git = "git -C " + repository + " -c user.name=a -c user.email=a@b ";
    REQUIRE(std::system(("mkdir " + repository + " && git init -q " + repository + " && echo 7 > " +
                         repository + "/cost && " + git + "add cost && " + git + "commit -qm one && " + git +
                         "tag one && echo 8 > " + repository + "/cost && " + git + "commit -qam two && " +
                         git + "tag two && " + git + "branch a/one one && " + git + "branch a/two two")
                            .c_str()) == 0);
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(repository);
    lab::duel_options options;
    options.commits = {"a/one", "a/two"};  // whose names are of one length, and can't name folders
    options.build = "cp cost built";
    options.command = "cat built";
    options.pairs = 2;
    options.folder = folder / "out";
    lab::duel_result done;
    CHECK_NOTHROW(done = lab::run_duel(options));
    // A tree of which a kill left a part is made anew.
    for (const auto& each : std::filesystem::directory_iterator(folder / "out/trees")) {
        if (each.is_directory()) std::filesystem::remove(each.path() / "cost");
        if (!each.is_directory()) std::filesystem::remove(each.path());
    }
    CHECK_NOTHROW(lab::run_duel(options));
    options.commits[1] = "three";
    CHECK_THROWS_AS(lab::run_duel(options), lab::input_error);
    std::filesystem::current_path(before);
    REQUIRE(done.pairs.size() == 2);
    CHECK(done.pairs[1] == std::pair(7.0, 8.0));
}
