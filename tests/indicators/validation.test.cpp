#include "indicators/contract/validation.hpp"

#include "indicators/contract/json_text.hpp"
#include "lab/data/text.hpp"

#include "support/catch.hpp"

#include <string>

namespace {

using indicators::json;

const indicators::registry& own() {
    static const indicators::registry models = [] {
        indicators::registry all;
        all.add_folder(indicators::own_models());
        return all;
    }();
    return models;
}

indicators::validation validated(const std::string& text, bool lenient = false) {
    const indicators::read_json read = indicators::read_json_text(text);
    REQUIRE(read.good());
    return indicators::validate(read.document, own(), {lenient, false});
}
std::string reasons(const std::string& text, bool lenient = false) {
    return indicators::joined(validated(text, lenient).refusals);
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// As pytorch/matmul.py prints it, 512 x 512.
json matmul() {
    return json::parse(R"({"component": "pytorch", "name": "PiMatmul",
        "@parameters": {"dtype": "float32", "device": "cpu", "reps": 50, "matrix_size": 512},
        "@result": {"rate": 7.15128832, "elapsed": 37.5}, "pytorch_buildinfo": null})");
}
json with(const std::string& part, const std::string& key, const json& value) {
    json document = matmul();
    document[part][key] = value;
    return document;
}
json without(const std::string& part, const std::string& key) {
    json document = matmul();
    if (part.empty()) {
        document.erase(key);
    } else {
        document[part].erase(key);
    }
    return document;
}

}  // namespace

TEST_CASE("what a real script prints is accepted, with its values typed") {
    const indicators::validation found = validated(matmul().dump());
    CHECK(indicators::joined(found.refusals).empty());
    CHECK(found.doubts.empty());
    CHECK(found.document.name == "PiMatmul");
    CHECK(found.document.component == "pytorch");
    CHECK(found.document.generation == "component");
    CHECK_FALSE(found.document.score);
    CHECK(found.document.values["reps"] == 50);
    CHECK(found.document.values["elapsed"].is_number_float());
}

TEST_CASE("both generations of the contract are read, and become one") {
    json older = without("", "component");
    older["framework"] = "TensorFlow";
    older["overall_score"] = 1;
    const indicators::validation found = validated(older.dump());
    CHECK(indicators::joined(found.refusals).empty());
    CHECK(found.document.component == "tensorflow");
    CHECK(found.document.generation == "framework");
    CHECK(found.document.score == 1.0);

    older["component"] = "tensorflow";
    CHECK(reasons(older.dump()).empty());
    older["component"] = "pytorch";
    CHECK(has(reasons(older.dump()), "$.component: is \"pytorch\", and 'framework' is \"tensorflow\""));
    CHECK(has(reasons(without("", "component").dump()), "has no 'component'"));
    older.erase("component");
    older["framework"] = "";
    CHECK(has(reasons(older.dump()), "$.framework: has to be the name of what is tested"));
}

TEST_CASE("the first generation's padding is a text, the second's a number") {
    json conv =
        json::parse(R"({"name": "PiConv2D", "framework": "tensorflow", "@parameters": {"dtype": "float32",
        "device": "cpu", "reps": 2000, "data_format": "NHWC", "batch": 4, "input_height": 700, "input_width": 161,
        "input_channels": 1, "filter_height": 20, "filter_width": 5, "output_channels": 32, "strides": 2,
        "padding": "SAME"}, "@result": {"elapsed": 12.65812711790204, "rate": 56.98157344145435}})");
    CHECK(reasons(conv.dump()).empty());
    conv["component"] = "tensorflow";
    conv.erase("framework");
    CHECK(has(reasons(conv.dump()),
              "$.@parameters.padding: has to be a whole number, and is a text, \"SAME\""));
    conv["@parameters"]["padding"] = 1;
    CHECK(reasons(conv.dump()).empty());
    conv["@parameters"]["mini_batch"] = 40;
    CHECK(has(reasons(conv.dump()), "$.@parameters.mini_batch: PiConv2D has no such member"));
}

TEST_CASE("the mistakes of real scripts are refused, and named") {
    // tensorflow/matmul.py has a parameter that no model has, and a rate that lacks brackets.
    json document = with("@parameters", "mini_batch", 40);
    document["@result"]["rate"] = 3.55;
    CHECK(has(reasons(document.dump()),
              "$.@parameters.mini_batch: PiMatmul has no such member of @parameters; it has dtype"));
    document = with("@result", "rate", 3.55);
    CHECK(has(reasons(document.dump()), "doesn't hold: 133125000 is not 268173312"));
    // pytorch/conv1d.py has its neighbour's name.
    document = json::parse(R"({"component": "pytorch", "name": "PiConv2D", "@parameters": {"dtype": "float32",
        "device": "cpu", "reps": 10, "batch": 4, "input_width": 161, "input_channels": 1, "filter_width": 5,
        "output_channels": 32, "strides": 2, "padding": 1, "data_format": "NCW"}, "@result": {"rate": 1.0, "elapsed": 1.0}})");
    CHECK(has(reasons(document.dump()), "$.@parameters.input_height: is missing"));
    CHECK(has(reasons(document.dump()), "$.@parameters.filter_height: is missing"));
    // tensorflow/hello_world.py and import.py were never registered.
    document = json::parse(R"({"component": "tensorflow", "name": "PiHelloWorld",
        "@parameters": {"HELLO_WORLD_REPS": 10}, "@result": {"elapsed": 1.5}})");
    CHECK(has(reasons(document.dump()),
              "$.name: no indicator \"PiHelloWorld\" is registered; there is PiConv1D, PiConv2D"));
    document["name"] = "PiImport";
    document["@parameters"] = json::object();
    CHECK(has(reasons(document.dump()), "no indicator \"PiImport\" is registered"));
    // pipyperformance.py prints a whole suite.
    document["@result"] = {{"benchmarks", {{{"mean", 1}}}}};
    CHECK(has(reasons(document.dump()), "no indicator \"PiImport\""));
}

TEST_CASE("pybench's fifty-three averages are accepted, and each of them is needed") {
    json document = json::parse(
        R"({"component": "python", "name": "PiPyBench", "@parameters": {"rounds": 10}, "@result": {}})");
    for (const indicators::field& f : own().find("PiPyBench")->fields)
        if (f.is_result) document["@result"][f.name] = 0.5;
    CHECK(document["@result"].size() == 53);
    CHECK(reasons(document.dump()).empty());
    document["@result"].erase("recursion_average");
    CHECK(reasons(document.dump()).starts_with("$.@result.recursion_average: is missing"));
}

TEST_CASE("the documentation's own example is accepted, and doubtful") {
    json document = with("@result", "rate", 0.009799366109955314);
    document["@result"]["elapsed"] = 27366.39380455017;
    document["@parameters"]["reps"] = 20000;
    const indicators::validation found = validated(document.dump());
    CHECK(found.refusals.empty());
    REQUIRE(found.doubts.size() == 1);
    CHECK(has(found.doubts[0].reason, "is the time that of all repetitions?"));
}

TEST_CASE("what isn't an object is no indicator") {
    CHECK(has(reasons("[1, 2]"), "an indicator is an object, {...}, and this is a list"));
    CHECK(has(reasons("3"), "an indicator is an object"));
}

TEST_CASE("a missing or unknown name lists those that there are") {
    CHECK(has(reasons(without("", "name").dump()),
              "has no 'name', which has to be that of a registered indicator; there is PiConv1D"));
    json document = matmul();
    document["name"] = 7;
    CHECK(has(reasons(document.dump()), "$.name: has to be a text, and is \"7\""));
    document["name"] = "WeirBenchmark";  // only there to be extended
    CHECK(has(reasons(document.dump()), "$.name: no indicator \"WeirBenchmark\""));
}

TEST_CASE("both parts have to be there, and be objects") {
    CHECK(has(reasons(without("", "@parameters").dump()), "$: has no '@parameters'"));
    CHECK(has(reasons(without("", "@result").dump()), "$: has no '@result'"));
    json document = matmul();
    document["@result"] = json::array({1});
    CHECK(has(reasons(document.dump()), "$.@result: has to be an object"));
}

TEST_CASE("a key of both parts is refused, and so is one that the runner knows by itself") {
    CHECK(
        has(reasons(with("@result", "dtype", "float32").dump()), "$.@result.dtype: is in @parameters, too"));
    for (const char* key :
         {"exit_code", "ru_utime", "RU_MAXRSS", "overall_score", "origin", "version", "component", "@id"}) {
        INFO(key);
        CHECK(has(reasons(with("@result", key, 0).dump()), "is a name that the runner gives a meaning"));
        CHECK(has(reasons(with("@parameters", key, 0).dump(), true),
                  "is a name that the runner gives a meaning"));
    }
}

TEST_CASE("a field that is declared has to be there") {
    CHECK(reasons(without("@result", "elapsed").dump()) ==
          "$.@result.elapsed: is missing; PiMatmul has it as a number, in ms");
    CHECK(has(reasons(with("@result", "elapsed", nullptr).dump()),
              "$.@result.elapsed: has to be a number, and is null"));
    // Where it belongs.
    json document = without("@result", "elapsed");
    document["@parameters"]["elapsed"] = 37.5;
    CHECK(has(reasons(document.dump()), "$.@parameters.elapsed: belongs to @result"));
}

TEST_CASE(
    "an undeclared field is refused, or kept beside where that is asked for; a nested one is refused "
    "always") {
    const json document = with("@result", "watts", 12.5);
    CHECK(has(reasons(document.dump()),
              "$.@result.watts: PiMatmul has no such member of @result; it has elapsed, rate"));
    const indicators::validation found = validated(document.dump(), true);
    CHECK(found.refusals.empty());
    CHECK(found.document.extra == json{{"watts", 12.5}});
    CHECK_FALSE(found.document.values.contains("watts"));
    CHECK(has(reasons(with("@result", "all", json::array({1, 2})).dump(), true), "$.@result.all: is nested"));
    CHECK(has(reasons(with("@result", "rate", json{{"mean", 7}}).dump()),
              "$.@result.rate: has to be a number, and is an object; nested"));
}

TEST_CASE("types are kept: a whole number becomes a number, and nothing else becomes anything") {
    CHECK(has(reasons(with("@parameters", "reps", "many").dump()),
              "$.@parameters.reps: has to be a whole number, and is a text, \"many\""));
    CHECK(has(reasons(with("@parameters", "reps", 50.0).dump()),
              "is a number with a fraction or an exponent, 50.0"));
    CHECK(has(reasons(with("@parameters", "reps", true).dump()),
              "has to be a whole number, and is true or false, true"));
    CHECK(
        has(reasons(with("@parameters", "dtype", 32).dump()), "has to be a text, and is a whole number, 32"));
    CHECK(has(reasons(with("@result", "rate", true).dump()), "has to be a number, and is true or false"));
    CHECK(has(reasons(with("@result", "rate", "7.15").dump()), "has to be a number, and is a text"));
    CHECK(has(reasons(with("@parameters", "reps", 0).dump()),
              "$.@parameters.reps: is 0, and has to be at least 1"));
    CHECK(has(reasons(with("@parameters", "matrix_size", -1).dump()),
              "is -1 rows, and has to be at least 1 rows"));
    // An elapsed time of 1 is one of 1.0.
    json document = with("@result", "elapsed", 1);
    document["@result"]["rate"] = 268.173312;
    CHECK(reasons(document.dump()).empty());
    CHECK(validated(document.dump()).document.values["elapsed"].is_number_float());
}

TEST_CASE("a score may lack, or be null, and else is a number") {
    json document = matmul();
    document["overall_score"] = nullptr;
    CHECK(reasons(document.dump()).empty());
    for (const json& wrong : {json(true), json("0.3"), json::array({1})}) {
        document["overall_score"] = wrong;
        CHECK(has(reasons(document.dump()), "$.overall_score: has to be a number"));
    }
    document["overall_score"] = 3;
    CHECK(validated(document.dump()).document.score == 3.0);
}

TEST_CASE("all that is wrong is told at once") {
    json document = with("@parameters", "reps", "many");
    document["@result"].erase("rate");
    document["overall_score"] = "good";
    CHECK(validated(document.dump()).refusals.size() == 3);
}
