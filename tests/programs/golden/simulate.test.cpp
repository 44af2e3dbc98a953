#include "../../../examples/simulate/measure.hpp"

#include "../../../examples/simulate/figures.hpp"
#include "../../../examples/simulate/parse.hpp"
#include "../../../examples/simulate/results.hpp"
#include "support/catch.hpp"

#include <cmath>     // for std::abs
#include <cstdint>   // for std::int64_t, std::uint64_t
#include <fstream>   // for std::ifstream
#include <iterator>  // for std::istreambuf_iterator
#include <string>    // for std::string
#include <vector>    // for std::vector

using nlohmann::json;
using simulate::pipeline_spec;

namespace {

constexpr std::uint64_t seeds = 20;  // beside 0, which shuffles nothing

std::string golden(const std::string& name) {
    std::ifstream file(std::string(WEIR_TEST_DATA "/") + name);
    REQUIRE(file.is_open());
    return std::string(std::istreambuf_iterator<char>(file), {});
}

json result_of(const pipeline_spec& spec, std::uint64_t seed) {
    return simulate::to_json(spec, simulate::measure_virtual(spec, seed));
}

// Everything in which a result is not as expected, as text.
std::string differences(const json& expected, const json& got, double tolerance,
                        const std::string& path = "") {
    if (expected.is_object()) {
        std::string all;
        for (const auto& [name, value] : expected.items()) {
            if (!got.contains(name)) {
                all += path + "." + name + " is missing\n";
            } else {
                const bool time = name.ends_with("_ns") || name.ends_with("_ms") || name.ends_with("_qps") ||
                                  name.ends_with("_percent");
                all += differences(value, got.at(name), time || value.is_structured() ? tolerance : 0.0,
                                   path + "." + name);
            }
        }
        return all;
    }
    if (expected.is_array()) {
        if (expected.size() != got.size()) return path + " has another length\n";
        std::string all;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            all += differences(expected[i], got[i], tolerance, path + "[" + std::to_string(i) + "]");
        }
        return all;
    }
    if (expected.is_number() && got.is_number()) {
        if (std::abs(expected.get<double>() - got.get<double>()) <= tolerance) return {};
    } else if (expected == got) {
        return {};
    }
    return path + " is " + got.dump() + ", not " + expected.dump() + "\n";
}

}  // namespace

TEST_CASE("the documents' eight pipelines have exactly the documents' statistics") {
    const std::string file = golden("documents_8.json");
    const std::vector<pipeline_spec> specs = simulate::parse_specs(file, "documents_8.json");
    const json expected = json::parse(file);
    for (std::size_t i = 0; i < specs.size(); ++i) {
        for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
            const simulate::measurement m = simulate::measure_virtual(specs[i], seed);
            const std::string wrong =
                differences(expected[i].at("expect"), simulate::to_json(specs[i], m), 1e-6);
            CAPTURE(specs[i].name, seed);
            CHECK(m.steady);
            CHECK(wrong == "");
        }
    }
}

TEST_CASE("random pipelines have the expected statistics, in whatever order their coroutines run") {
    const std::string file = golden("random_24.jsonl");
    const std::vector<pipeline_spec> specs = simulate::parse_specs(file, "random_24.jsonl");
    std::size_t begin = 0;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const std::size_t end = file.find('\n', begin);
        const json expected = json::parse(file.substr(begin, end - begin)).at("expect");
        begin = end + 1;
        for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
            const std::string wrong = differences(expected, result_of(specs[i], seed), 2000);
            CAPTURE(i, seed);
            CHECK(wrong == "");
        }
    }
}

TEST_CASE(
    "what pipelines of all kinds measure is what an independent model says, in whatever order they run") {
    const std::string file = golden("more_60.jsonl");
    const std::vector<pipeline_spec> specs = simulate::parse_specs(file, "more_60.jsonl");
    CHECK(specs.size() == 60);
    std::size_t begin = 0;
    for (const pipeline_spec& spec : specs) {
        const std::size_t end = file.find('\n', begin);
        const json expected = json::parse(file.substr(begin, end - begin)).at("expect");
        begin = end + 1;
        for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
            const json got = result_of(spec, seed);
            const std::string wrong = differences(expected, got, 0);
            CAPTURE(spec.name, seed);
            CHECK(wrong == "");
            CHECK(got.contains("failed") == expected.contains("failed"));
        }
    }
}

TEST_CASE("a source that ends is measured to its end") {
    const pipeline_spec spec = simulate::parse_specs(
                                   R"({"items": 7, "foreground_ns": [10],
            "stages": [{"op": "pipe", "service_ns": [100]}, {"op": "aggregate", "size": 2}]})",
                                   "spec.json")
                                   .at(0);
    const json whole = result_of(spec, 0);
    CHECK(whole.at("consumed") == 4);
    CHECK(whole.at("window_ns") == 710);
    CHECK(whole.at("stages").at(0).at("num_tasks") == 7);
    CHECK(whole.at("stages").at(0).at("busy_ns") == 700);

    pipeline_spec dropped = spec;
    dropped.stages[1].drop_last = true;
    CHECK(result_of(dropped, 0).at("consumed") == 3);
}

TEST_CASE("a steady state is found behind a slow drift, and with times that take turns") {
    const auto steady = [](const std::string& stages) {
        return simulate::measure_virtual(
            simulate::parse_specs(R"({"foreground_ns": [30000000], "stages": [)" + stages + "]}", "spec.json")
                .at(0));
    };
    SECTION("queues that take hundreds of items to fill") {
        const simulate::measurement m = steady(R"({"op": "pipe", "service_ns": [29900000]})");
        CHECK(m.steady);
        const simulate::queue_figures behind(m.stats.channels.at(1));
        CHECK(std::abs(behind.put_ms - 0.1) <= 1e-6);
        CHECK(behind.occupancy_percent == 100.0);
    }
    SECTION("times that take turns") {
        const simulate::measurement m =
            steady(R"({"op": "pipe", "service_ns": [10000000, 20000000, 30000000]})");
        CHECK(m.steady);
        CHECK(std::abs(simulate::queue_figures(m.stats.channels.at(1)).put_ms - 10) <= 1e-6);
    }
    SECTION("a disaggregate's bursts") {
        const simulate::measurement m = steady(
            R"({"op": "aggregate", "size": 3}, {"op": "pipe", "service_ns": [100000000]}, {"op": "disaggregate"})");
        CHECK(m.steady);
        CHECK(std::abs(m.stats.channels.back().rate() - 30) <= 1e-6);
    }
}

TEST_CASE("two aggregates of one name keep their figures apart in JSON") {
    const pipeline_spec spec =
        simulate::parse_specs(
            R"({"foreground_ns": [10], "stages": [{"op": "aggregate", "size": 2}, {"op": "aggregate", "size": 2}]})",
            "spec.json")
            .at(0);
    const json result = result_of(spec, 0);
    CHECK(result.at("queues").size() == 4);
    CHECK(result.at("queues").contains("aggregate#2"));
}
