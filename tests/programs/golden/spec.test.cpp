#include "../../../examples/simulate/parse.hpp"

#include "../../../examples/simulate/documents.hpp"
#include "support/catch.hpp"

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::int64_t, std::uint64_t
#include <fstream>   // for std::ifstream
#include <iterator>  // for std::istreambuf_iterator
#include <numeric>   // for std::accumulate
#include <string>    // for std::string
#include <vector>    // for std::vector

using simulate::op;
using simulate::parse_specs;
using simulate::pipeline_spec;

namespace {

// A spec with one field replaced or added, in the middle of an otherwise good one.
std::string spec_with(const std::string& field) {
    return R"({"stages": [{"op": "pipe", "service_ns": [1]}], "foreground_ns": [1], )" + field + "}";
}

std::string stage_with(const std::string& stage) {
    return R"({"stages": [{"op": "pipe", "service_ns": [1]}, )" + stage + R"(], "foreground_ns": [1]})";
}

std::string message_of(const std::string& text, const std::string& file = "f.json") {
    try {
        static_cast<void>(parse_specs(text, file));
    } catch (const simulate::spec_error& e) {
        return e.what();
    }
    return "no mistake found";
}

std::string golden(const std::string& name) {
    std::ifstream file(std::string(WEIR_TEST_DATA "/") + name);
    REQUIRE(file.is_open());
    return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

TEST_CASE("a spec gives every field, and defaults for those left out") {
    const std::vector<pipeline_spec> specs = parse_specs(R"({
        "name": "all", "sink_capacity": 7, "items": 12, "foreground_ns": [3, 0], "snapshot_ns": 99,
        "stages": [{"op": "pipe", "name": "p", "concurrency": 4, "service_ns": [1, 2]},
                   {"op": "aggregate", "size": 3, "drop_last": true},
                   {"op": "disaggregate"},
                   {"op": "pipe", "service_ns": [5]}]})",
                                                         "f.json");
    REQUIRE(specs.size() == 1);
    const pipeline_spec& s = specs[0];
    CHECK(s.name == "all");
    CHECK(s.sink_capacity == 7);
    CHECK(s.items == 12U);
    CHECK(s.foreground_ns == std::vector<std::int64_t>{3, 0});
    CHECK(s.snapshot_ns == 99);
    REQUIRE(s.stages.size() == 4);
    CHECK(s.stages[0].name == "p");
    CHECK(s.stages[0].concurrency == 4);
    CHECK(s.stages[0].service_ns == std::vector<std::int64_t>{1, 2});
    CHECK((s.stages[1].kind == op::aggregate));
    CHECK(s.stages[1].name == "aggregate");
    CHECK(s.stages[1].size == 3);
    CHECK(s.stages[1].drop_last);
    CHECK((s.stages[2].kind == op::disaggregate));
    CHECK(s.stages[2].name == "disaggregate");
    CHECK(s.stages[3].name == "pipe");
    CHECK(s.stages[3].concurrency == 1);

    const pipeline_spec plain = parse_specs(spec_with(R"("name": "")"), "f.json").at(0);
    CHECK(plain.sink_capacity == 3);
    CHECK_FALSE(plain.items.has_value());
    CHECK_FALSE(plain.snapshot_ns.has_value());
}

TEST_CASE("a spec gives order, failures, epochs, laps and workers, a merge and a route") {
    const pipeline_spec s = parse_specs(R"({
        "merge": {"name": "both", "order": "weighted", "weights": [3, 0],
                  "inputs": [{"name": "a", "items": 5, "stages": [{"op": "pipe", "service_ns": [1]}]},
                             {"items": 6}]},
        "epochs": 2, "max_failures": 0.25, "workers": 2, "lap_ns": 7, "foreground_ns": [1],
        "stages": [{"op": "pipe", "service_ns": [1], "output_order": "input", "computes": true, "fails": [0, 4],
                    "fails_every": 3, "max_failures": "unlimited"},
                   {"op": "pipe", "service_ns": [1], "output_order": "completion", "max_failures": 2},
                   {"op": "route", "name": "r", "to": [1, 0, 1],
                    "branches": [{"name": "b", "stages": [{"op": "pipe", "service_ns": [2]}]}, {}]}]})",
                                        "f.json")
                                .at(0);
    REQUIRE(s.merge.has_value());
    CHECK(s.merge->name == "both");
    CHECK((s.merge->order == simulate::fan_in_order::weighted));
    CHECK(s.merge->weights == std::vector<double>{3, 0});
    REQUIRE(s.merge->inputs.size() == 2);
    CHECK(s.merge->inputs[0].name == "a");
    CHECK(s.merge->inputs[0].items == 5U);
    CHECK(s.merge->inputs[0].stages.size() == 1);
    CHECK(s.merge->inputs[1].name == "src");
    CHECK(s.merge->inputs[1].stages.empty());
    CHECK(s.epochs == 2U);
    CHECK(s.max_failures.rate == 0.25);
    CHECK(s.workers == 2U);
    CHECK(s.lap_ns == 7);
    REQUIRE(s.stages.size() == 3);
    CHECK(s.stages[0].keeps_order);
    CHECK(s.stages[0].computes);
    CHECK(s.stages[0].fails == std::vector<std::uint64_t>{0, 4});
    CHECK(s.stages[0].fails_every == 3);
    REQUIRE(s.stages[0].max_failures.has_value());
    CHECK_FALSE(s.stages[0].max_failures->count.has_value());
    CHECK(s.stages[0].max_failures->rate == 0);
    CHECK_FALSE(s.stages[1].keeps_order);
    REQUIRE(s.stages[1].max_failures.has_value());
    CHECK(s.stages[1].max_failures->count == 2U);
    CHECK((s.stages[2].kind == op::route));
    CHECK(s.stages[2].to == std::vector<std::size_t>{1, 0, 1});
    REQUIRE(s.stages[2].branches.size() == 2);
    CHECK(s.stages[2].branches[0].name == "b");
    CHECK(s.stages[2].branches[0].stages.size() == 1);
    CHECK(s.stages[2].branches[1].name == "branch 1");

    const pipeline_spec plain = parse_specs(spec_with(R"("name": "")"), "f.json").at(0);
    CHECK_FALSE(plain.merge.has_value());
    CHECK_FALSE(plain.epochs.has_value());
    CHECK(plain.max_failures.count == 0U);
    CHECK_FALSE(plain.workers.has_value());
    CHECK_FALSE(plain.lap_ns.has_value());
    CHECK_FALSE(plain.stages[0].keeps_order);
    CHECK_FALSE(plain.stages[0].max_failures.has_value());
}

TEST_CASE("the golden files are read as they are") {
    const std::vector<pipeline_spec> eight = parse_specs(golden("documents_8.json"), "documents_8.json");
    CHECK(eight.size() == 8);
    CHECK(eight.at(5).stages.at(2).concurrency == 3);
    const std::vector<pipeline_spec> random = parse_specs(golden("random_24.jsonl"), "random_24.jsonl");
    CHECK(random.size() == 24);
    for (const pipeline_spec& s : random) CHECK(s.snapshot_ns.has_value());
}

TEST_CASE("the eight built-in pipelines are those of the golden file") {
    const std::vector<pipeline_spec> golden_ones =
        parse_specs(golden("documents_8.json"), "documents_8.json");
    const std::vector<simulate::scenario> built_in = simulate::documents();
    REQUIRE(built_in.size() == golden_ones.size());
    for (std::size_t i = 0; i < built_in.size(); ++i) {
        const pipeline_spec& a = built_in[i].spec;
        const pipeline_spec& b = golden_ones[i];
        CAPTURE(b.name);
        CHECK(a.name == b.name);
        CHECK(a.foreground_ns == b.foreground_ns);
        CHECK(a.sink_capacity == b.sink_capacity);
        CHECK(a.items == b.items);
        CHECK(a.snapshot_ns == b.snapshot_ns);
        REQUIRE(a.stages.size() == b.stages.size());
        CHECK(built_in[i].queues.size() == a.stages.size() + 2);
        for (std::size_t k = 0; k < a.stages.size(); ++k) {
            CHECK((a.stages[k].kind == b.stages[k].kind));
            CHECK(a.stages[k].name == b.stages[k].name);
            CHECK(a.stages[k].concurrency == b.stages[k].concurrency);
            CHECK(a.stages[k].service_ns == b.stages[k].service_ns);
            CHECK(a.stages[k].size == b.stages[k].size);
            CHECK(a.stages[k].drop_last == b.stages[k].drop_last);
        }
    }
}

TEST_CASE("a file is one spec, a list of them, or lines; bare or inside an object") {
    const std::string bare = spec_with(R"("name": "n")");
    const std::string inside = R"({"spec": )" + bare + R"(, "expect": {"consumed": 3}, "seed": 4})";
    CHECK(parse_specs(bare, "f.json").size() == 1);
    CHECK(parse_specs(inside, "f.json").size() == 1);
    CHECK(parse_specs("[" + bare + ",\n" + inside + "]", "f.json").size() == 2);
    CHECK(parse_specs(bare + "\n\n" + inside + "\r\n" + bare, "f.jsonl").size() == 3);
    CHECK(parse_specs("\xEF\xBB\xBF" + bare, "f.json").size() == 1);
    CHECK(parse_specs("  " + bare + "\n", "no_extension").at(0).name == "n");
}

TEST_CASE("a wrong field is named with its file, its line and its value") {
    const std::string good = spec_with(R"("name": "n")");
    CHECK(message_of(good + "\n" + good + "\n" +
                         stage_with(R"({"op": "pipe", "concurrency": 0, "service_ns": [1]})"),
                     "specs.jsonl") ==
          "specs.jsonl: line 3: stages[1].concurrency: must be at least 1 (is 0)");
    CHECK(message_of(R"({"spec": )" + spec_with(R"("sink_capacity": 0)") + "}", "s.jsonl") ==
          "s.jsonl: line 1: spec.sink_capacity: must be at least 1 (is 0)");
    CHECK(message_of("[\n" + good + ",\n\n{\"name\":\n\"[{,\\\"\"}]") ==
          "f.json: line 4, entry 2: stages: is missing");
    CHECK(message_of("[" + good + ", 5]") == "f.json: line 1, entry 2: a spec must be an object (is 5)");
    CHECK(message_of("{}") == "f.json: stages: is missing");
    CHECK(message_of("\"text\"") == "f.json: a spec must be an object (is \"text\")");
    CHECK(message_of("[" + good + "]", "f.jsonl") == "f.jsonl: line 1: a spec must be an object (is a list)");
}

TEST_CASE("every kind of wrong value is refused") {
    using Catch::Matchers::ContainsSubstring;
    const auto stage = [](const std::string& text) { return message_of(stage_with(text)); };
    const auto spec = [](const std::string& text) { return message_of(spec_with(text)); };

    SECTION("operations and stages") {
        CHECK(stage(R"({"op": "pip", "service_ns": [1]})") ==
              "f.json: stages[1].op: must be \"pipe\", \"aggregate\", \"disaggregate\" or \"route\" (is "
              "\"pip\")");
        CHECK_THAT(stage(R"({"op": 3})"), ContainsSubstring("stages[1].op: must be"));
        CHECK_THAT(stage(R"({"service_ns": [1]})"), ContainsSubstring("stages[1].op: is missing"));
        CHECK(stage("4") == "f.json: stages[1]: must be an object (is 4)");
        CHECK(message_of(R"({"stages": [], "foreground_ns": [1]})") == "f.json: stages: must not be empty");
        CHECK(message_of(R"({"stages": {}, "foreground_ns": [1]})") ==
              "f.json: stages: must be a list (is an object)");
        CHECK(message_of(R"({"stages": null, "foreground_ns": [1]})") ==
              "f.json: stages: must be a list (is null)");
        CHECK(stage(R"({"op": "pipe", "name": "", "service_ns": [1]})") ==
              "f.json: stages[1].name: must not be empty");
        CHECK_THAT(stage(R"({"op": "pipe", "name": 7, "service_ns": [1]})"),
                   ContainsSubstring("must be a text"));
        CHECK_THAT(stage(R"({"op": "disaggregate"})"),
                   ContainsSubstring("stages[1].op: disaggregate needs lists"));
        CHECK_THAT(stage(R"({"op": "aggregate", "size": 2}, {"op": "disaggregate"}, {"op": "disaggregate"})"),
                   ContainsSubstring("stages[3].op: disaggregate needs lists"));
    }
    SECTION("numbers") {
        CHECK(stage(R"({"op": "pipe", "service_ns": [3, -1]})") ==
              "f.json: stages[1].service_ns[1]: must not be negative (is -1)");
        CHECK(stage(R"({"op": "pipe", "service_ns": []})") ==
              "f.json: stages[1].service_ns: must not be empty");
        CHECK(stage(R"({"op": "pipe"})") == "f.json: stages[1].service_ns: is missing");
        CHECK(stage(R"({"op": "pipe", "service_ns": 4})") ==
              "f.json: stages[1].service_ns: must be a list (is 4)");
        CHECK_THAT(stage(R"({"op": "pipe", "service_ns": [1.5]})"), ContainsSubstring("whole number"));
        CHECK_THAT(stage(R"({"op": "pipe", "service_ns": ["1"]})"), ContainsSubstring("whole number"));
        CHECK_THAT(stage(R"({"op": "pipe", "service_ns": [null]})"), ContainsSubstring("whole number"));
        CHECK_THAT(stage(R"({"op": "pipe", "service_ns": [true]})"), ContainsSubstring("whole number"));
        CHECK_THAT(stage(R"({"op": "pipe", "service_ns": [18446744073709551615]})"),
                   ContainsSubstring("at most"));
        CHECK_THAT(stage(R"({"op": "pipe", "service_ns": [99999999999999999999]})"),
                   ContainsSubstring("whole number"));
        CHECK_THAT(stage(R"({"op": "pipe", "concurrency": -3, "service_ns": [1]})"),
                   ContainsSubstring("at least 1 (is -3)"));
        CHECK_THAT(stage(R"({"op": "pipe", "concurrency": 1e1, "service_ns": [1]})"),
                   ContainsSubstring("whole number"));
        CHECK_THAT(stage(R"({"op": "pipe", "concurrency": 10001, "service_ns": [1]})"),
                   ContainsSubstring("at most 10000"));
        CHECK_THAT(stage(R"({"op": "aggregate", "size": 0})"),
                   ContainsSubstring("stages[1].size: must be at least 1"));
        CHECK_THAT(stage(R"({"op": "aggregate"})"), ContainsSubstring("stages[1].size: is missing"));
        CHECK_THAT(stage(R"({"op": "aggregate", "size": 2, "drop_last": 1})"),
                   ContainsSubstring("true or false"));
        CHECK_THAT(stage(R"({"op": "aggregate", "size": 1000000}, {"op": "aggregate", "size": 2})"),
                   ContainsSubstring("stages[2].size: makes lists of 2000000"));
        CHECK_THAT(spec(R"("sink_capacity": 0)"), ContainsSubstring("sink_capacity: must be at least 1"));
        CHECK_THAT(spec(R"("items": -1)"), ContainsSubstring("items: must not be negative"));
        CHECK_THAT(spec(R"("snapshot_ns": 0)"), ContainsSubstring("snapshot_ns: must be at least 1"));
        CHECK_THAT(message_of(R"({"stages": [{"op": "pipe", "service_ns": [1]}], "foreground_ns": [-2]})"),
                   ContainsSubstring("foreground_ns[0]: must not be negative (is -2)"));
        CHECK_THAT(message_of(R"({"stages": [{"op": "pipe", "service_ns": [1]}]})"),
                   ContainsSubstring("foreground_ns: is missing"));
        CHECK_THAT(message_of(R"({"stages": [{"op": "pipe", "service_ns": [0]}], "foreground_ns": [0, 0]})"),
                   ContainsSubstring("takes any time"));
        CHECK(message_of(
                  R"({"items": 3, "stages": [{"op": "pipe", "service_ns": [0]}], "foreground_ns": [0]})") ==
              "no mistake found");
    }
    SECTION("fields that nobody knows, or that are there twice") {
        CHECK_THAT(spec(R"("sink_capcity": 4)"),
                   ContainsSubstring("sink_capcity: unknown field; known here: name,"));
        CHECK_THAT(stage(R"({"op": "aggregate", "size": 2, "concurrency": 2})"),
                   ContainsSubstring("stages[1].concurrency: unknown field"));
        CHECK_THAT(spec(R"("items": 4, "items": 5)"), ContainsSubstring("items: the field is given twice"));
    }
}

TEST_CASE("what is wrong about order, failures, merges, routes, epochs, laps and workers is refused") {
    const auto stage = [](const std::string& text) { return message_of(stage_with(text)); };
    const auto pipe = [&stage](const std::string& field) {
        return stage(R"({"op": "pipe", "service_ns": [1], )" + field + "}");
    };
    const auto spec = [](const std::string& text) { return message_of(spec_with(text)); };
    const auto merge = [](const std::string& of_merge, const std::string& more = "") {
        return message_of(R"({"merge": {)" + of_merge + R"(}, "foreground_ns": [1])" + more + "}");
    };
    const std::string inputs = R"("inputs": [{"items": 1}, {"items": 2}])";
    const std::string good = "no mistake found";

    SECTION("order and failures") {
        CHECK(pipe(R"("output_order": "inputs")") ==
              "f.json: stages[1].output_order: must be one of \"completion\", \"input\" (is \"inputs\")");
        CHECK(pipe(R"("output_order": 1)") ==
              "f.json: stages[1].output_order: must be one of \"completion\", \"input\" (is 1)");
        CHECK(pipe(R"("fails": [3, 3])") ==
              "f.json: stages[1].fails[1]: must be greater than the item before it, which is 3 (is 3)");
        CHECK(pipe(R"("fails": [])") == "f.json: stages[1].fails: must not be empty");
        CHECK(pipe(R"("fails_every": 0)") == "f.json: stages[1].fails_every: must be at least 1 (is 0)");
        for (const std::string wrong : {"0.0", "1.5", "\"all\"", "null", "true"}) {
            CHECK(pipe("\"max_failures\": " + wrong) ==
                  "f.json: stages[1].max_failures: must be a count, a rate above 0.0 and up to 1.0, or "
                  "\"unlimited\" (is " +
                      wrong + ")");
        }
        CHECK(spec(R"("max_failures": -1)") == "f.json: max_failures: must not be negative (is -1)");
        CHECK(spec(R"("max_failures": 1.0)") == good);
    }
    SECTION("merges") {
        CHECK(merge(inputs) == good);
        CHECK(merge(inputs, R"(, "stages": [])") == good);
        CHECK(merge("") == "f.json: merge.inputs: is missing");
        CHECK(merge(R"("inputs": [{"items": 1}, {"item": 2}])") ==
              "f.json: merge.inputs[1].item: unknown field; known here: name, items, stages");
        CHECK(merge(R"("inputs": [{}, {}, {}, {}, {}])") ==
              "f.json: merge.inputs: must have at most 4 entries (has 5)");
        CHECK(merge(inputs + R"(, "order": "random")") ==
              "f.json: merge.order: must be one of \"arrival\", \"round_robin\", \"weighted\", \"priority\" "
              "(is "
              "\"random\")");
        CHECK(merge(inputs + R"(, "weights": [1, 2])") ==
              "f.json: merge.weights: have no effect without \"order\": \"weighted\"");
        CHECK(merge(inputs + R"(, "order": "weighted", "weights": [1])") ==
              "f.json: merge.weights: must be one for each input, 2 (are 1)");
        CHECK(merge(inputs + R"(, "order": "weighted", "weights": [1, -1])") ==
              "f.json: merge.weights[1]: must not be negative (is -1)");
        CHECK(merge(inputs, R"(, "items": 3)") ==
              "f.json: items: belongs to each of the merge's inputs: merge.inputs[0].items");
        CHECK(
            merge(R"("inputs": [{"items": 1}, {"items": 2, "stages": [{"op": "aggregate", "size": 2}]}])") ==
            "f.json: merge.inputs[1].stages: gives lists of other sizes than the one before it, with which "
            "it "
            "is joined");
        CHECK(merge(R"("inputs": [{"items": 1}, {}])", R"(, "snapshot_ns": 5)") ==
              "f.json: merge.inputs[1].stages: a source that never ends, with a merge, a route or failures "
              "behind "
              "it, needs a pipe first, whose times are all above 0: else time might stand still");
        CHECK(merge(R"("inputs": [{"items": 1}, {"stages": [{"op": "pipe", "service_ns": [4]}]}])",
                    R"(, "snapshot_ns": 5)") == good);
    }
    SECTION("routes") {
        const auto route = [&](const std::string& fields) {
            return message_of(R"({"items": 3, "foreground_ns": [1], "stages": [{"op": "route", )" + fields +
                              "}]}");
        };
        CHECK(route(R"("to": [0, 1], "branches": [{}, {}])") == good);
        CHECK(route(R"("to": [0, 2], "branches": [{}, {}])") ==
              "f.json: stages[0].to[1]: must be at most 1 (is 2)");
        CHECK(route(R"("to": [0])") == "f.json: stages[0].branches: is missing");
        CHECK(route(R"("branches": [{}])") == "f.json: stages[0].to: is missing");
        CHECK(route(R"("to": [0], "branches": [{"name": "a"}, {"name": "a"}])") ==
              "f.json: stages[0].branches[1].name: another branch is called \"a\"");
        CHECK(route(R"("to": [0], "branches": [{"stages": [{"op": "pipe"}]}])") ==
              "f.json: stages[0].branches[0].stages[0].service_ns: is missing");
        CHECK(route(R"("to": [0], "branches": [{}, {"stages": [{"op": "aggregate", "size": 2}]}])") ==
              "f.json: stages[0].branches[1].stages: gives lists of other sizes than the one before it, with "
              "which "
              "it is joined");
        CHECK(message_of(R"({"snapshot_ns": 9, "foreground_ns": [1], "stages": [{"op": "route", "to": [0],
              "branches": [{}]}]})")
                  .starts_with("f.json: stages: a source that never ends"));
    }
    SECTION("epochs, laps and workers") {
        CHECK(spec(R"("epochs": 2)") == "f.json: epochs: needs 'items', which says how many an epoch has");
        CHECK(spec(R"("items": 2, "epochs": 0)") == "f.json: epochs: must be at least 1 (is 0)");
        CHECK(spec(R"("items": 2, "lap_ns": 0)") == "f.json: lap_ns: must be at least 1 (is 0)");
        CHECK(spec(R"("items": 2, "workers": 1)") ==
              "f.json: workers: nobody works for them: give a pipe \"computes\": true");
        CHECK(pipe(R"("computes": true)") ==
              "f.json: stages[1].computes: needs 'workers' beside the stages, which says how many there are");
        CHECK(spec(R"("lap_ns": 4)") ==
              "f.json: snapshot_ns: is missing: with a merge, a route, failures, workers or laps no steady "
              "state is "
              "looked for; give it, or 'items'");
        CHECK(pipe(R"("fails_every": 2)").starts_with("f.json: snapshot_ns: is missing"));
    }
}

TEST_CASE(
    "a spec gives capacities, times from distributions, a source that takes time, and parts that compute") {
    const pipeline_spec s = parse_specs(R"({
        "source_ns": [5, 6], "source_capacity": 9, "foreground_times": {"kind": "constant", "mean_ms": 0.5},
        "workers": 2, "items": 4,
        "stages": [{"op": "pipe", "capacity": 4, "times": {"kind": "exp", "mean_ms": 2, "seed": 7}, "run_ms": 1},
                   {"op": "pipe", "times": {"kind": "lognormal", "mean_ms": 2, "sigma": 0.5}},
                   {"op": "pipe", "times": {"kind": "exp", "mean_ms": 2, "seed": 7}},
                   {"op": "pipe", "times": {"kind": "exp", "mean_ms": 2, "seed": 8}},
                   {"op": "pipe", "run_ms": 3},
                   {"op": "aggregate", "size": 2, "capacity": 5}, {"op": "disaggregate", "capacity": 6}]})",
                                        "f.json")
                                .at(0);
    CHECK(s.source_ns == std::vector<std::int64_t>{5, 6});
    CHECK(s.source_capacity == 9);
    CHECK(s.foreground_ns == std::vector<std::int64_t>{500'000});
    REQUIRE(s.stages.size() == 7);
    CHECK(s.stages[0].capacity == 4);
    CHECK(s.stages[0].computes);
    CHECK(s.stages[0].run_ns == 1'000'000);
    CHECK_FALSE(s.stages[1].computes);
    CHECK(s.stages[1].capacity == 2);
    for (const std::size_t i : {0U, 1U}) {
        const std::vector<std::int64_t>& times = s.stages[i].service_ns;
        CHECK(times.size() == 4096);
        const double sum = std::accumulate(times.begin(), times.end(), 0.0);
        CHECK(sum / 4096 == Catch::Approx(2e6).epsilon(1e-6));
    }
    CHECK(s.stages[2].service_ns == s.stages[0].service_ns);
    CHECK(s.stages[3].service_ns != s.stages[0].service_ns);
    CHECK(s.stages[4].service_ns == std::vector<std::int64_t>{3'000'000});
    CHECK(s.stages[5].capacity == 5);
    CHECK(s.stages[6].capacity == 6);
}

TEST_CASE("what is wrong about capacities, distributions, a timed source and parts that compute is refused") {
    const auto stage = [](const std::string& text) { return message_of(stage_with(text)); };
    const auto spec = [](const std::string& text) { return message_of(spec_with(text)); };
    const auto times = [&stage](const std::string& fields) {
        return stage(R"({"op": "pipe", "times": {)" + fields + "}}");
    };
    const std::string good = "no mistake found";

    SECTION("capacities") {
        CHECK(stage(R"({"op": "pipe", "service_ns": [1], "capacity": 0})") ==
              "f.json: stages[1].capacity: must be at least 1 (is 0)");
        CHECK(stage(R"({"op": "aggregate", "size": 2, "capacity": 1000001})") ==
              "f.json: stages[1].capacity: must be at most 1000000 (is 1000001)");
        CHECK(spec(R"("source_capacity": -2)") == "f.json: source_capacity: must be at least 1 (is -2)");
    }
    SECTION("distributions") {
        CHECK(times(R"("kind": "exp", "mean_ms": 1)") == good);
        CHECK(times(R"("kind": "normal", "mean_ms": 1)") ==
              "f.json: stages[1].times.kind: must be one of \"constant\", \"exp\", \"lognormal\" (is "
              "\"normal\")");
        CHECK(times(R"("kind": "exp")") == "f.json: stages[1].times.mean_ms: is missing");
        CHECK(times(R"("kind": "exp", "mean_ms": -1)") ==
              "f.json: stages[1].times.mean_ms: must be a number from 0.0 to 1000000.0 (is -1)");
        CHECK(times(R"("kind": "lognormal", "mean_ms": 1)") == "f.json: stages[1].times.sigma: is missing");
        CHECK(times(R"("kind": "lognormal", "mean_ms": 1, "sigma": 6)") ==
              "f.json: stages[1].times.sigma: must be a number from 0.0 to 5.0 (is 6)");
        CHECK(times(R"("kind": "exp", "mean_ms": 1, "sigma": 1)") ==
              "f.json: stages[1].times.sigma: belongs to the kind \"lognormal\"");
        CHECK(times(R"("kind": "exp", "mean_ms": 1, "seed": -1)") ==
              "f.json: stages[1].times.seed: must not be negative (is -1)");
        CHECK(times(R"("kind": "exp", "mean": 1)") ==
              "f.json: stages[1].times.mean: unknown field; known here: kind, mean_ms, sigma, seed");
        CHECK(stage(R"({"op": "pipe", "times": [1]})") ==
              "f.json: stages[1].times: must be an object (is a list)");
        CHECK(stage(R"({"op": "pipe", "service_ns": [1], "times": {"kind": "exp", "mean_ms": 1}})") ==
              "f.json: stages[1].times: replaces 'service_ns': give one of them");
        CHECK(spec(R"("foreground_times": {"kind": "exp", "mean_ms": 1})") ==
              "f.json: foreground_times: replaces 'foreground_ns': give one of them");
    }
    SECTION("a source that takes time") {
        CHECK(spec(R"("source_ns": [3])") == good);
        CHECK(spec(R"("source_ns": [])") == "f.json: source_ns: must not be empty");
        CHECK(spec(R"("source_ns": [-3])") == "f.json: source_ns[0]: must not be negative (is -3)");
        CHECK(spec(R"("source_ns": [3], "source_times": {"kind": "exp", "mean_ms": 1})") ==
              "f.json: source_times: replaces 'source_ns': give one of them");
        CHECK(spec(R"("source_ns": [3], "items": 2, "epochs": 2)") ==
              "f.json: source_ns: is for one source without epochs");
        CHECK(message_of(R"({"merge": {"inputs": [{"items": 1}]}, "foreground_ns": [1],
                            "source_times": {"kind": "exp", "mean_ms": 1}})") ==
              "f.json: source_times: is for one source without epochs");
        // It lets time advance.
        CHECK(message_of(R"({"stages": [{"op": "pipe", "service_ns": [0]}], "foreground_ns": [0],
                            "source_ns": [1]})") == good);
        CHECK(message_of(
                  R"({"stages": [{"op": "pipe", "service_ns": [0], "fails_every": 2}], "foreground_ns": [0],
                            "source_ns": [1], "snapshot_ns": 9})") == good);
    }
    SECTION("parts that compute") {
        CHECK(stage(R"({"op": "pipe", "run_ms": -1})") ==
              "f.json: stages[1].run_ms: must be a number from 0.0 to 1000000000.0 (is -1)");
        CHECK(stage(R"({"op": "pipe", "run_ms": 1})") ==
              "f.json: stages[1].run_ms: needs 'workers' beside the stages, which says how many there are");
    }
}

TEST_CASE("a file that is no list may have one spec a line") {
    const std::string good = spec_with(R"("name": "n")");
    CHECK(parse_specs(good + "\n\n" + good + "\n", "f.json").size() == 2);
    CHECK(message_of(good + "\n" + spec_with(R"("items": -1)")) ==
          "f.json: line 2: items: must not be negative (is -1)");
}

TEST_CASE("broken JSON is reported with line and column") {
    using Catch::Matchers::ContainsSubstring;
    const std::string good = spec_with(R"("name": "n")");
    CHECK_THAT(message_of("{\n \"stages\" [}"),
               ContainsSubstring("f.json: line 2, column 11: broken JSON: "));
    CHECK_THAT(message_of(good + "\n{\"a\": tru}", "f.jsonl"),
               ContainsSubstring("f.jsonl: line 2, column 10: broken JSON"));
    CHECK_THAT(message_of(good + "\n\n" + good.substr(0, 20), "f.jsonl"),
               ContainsSubstring("f.jsonl: line 3, column 2"));
    CHECK_THAT(message_of(good + good), ContainsSubstring("broken JSON"));
    CHECK_THAT(message_of(R"({"items": NaN})"), ContainsSubstring("broken JSON"));
    CHECK_THAT(message_of(R"({"items": 1e999})"), ContainsSubstring("broken JSON"));
    CHECK_THAT(message_of("{\"name\": \"\xff\"}"), ContainsSubstring("broken JSON"));
    CHECK(message_of("") == "f.json: is empty; it must hold at least one spec");
    CHECK(message_of(" \n\t", "f.jsonl") == "f.jsonl: is empty; it must hold at least one spec");
    CHECK(message_of("[]") == "f.json: is an empty list; it must hold at least one spec");
    CHECK_THAT(message_of(std::string(100000, '[')), ContainsSubstring("broken JSON"));
}
