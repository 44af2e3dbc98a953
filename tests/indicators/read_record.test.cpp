#include "indicators/record/read_record.hpp"

#include "indicators/documents.hpp"
#include "indicators/record/bytes.hpp"
#include "lab/data/input_error.hpp"
#include "lab/folders.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace {

using namespace indicator_tests;

const indicators::registry models = speed_models();

std::string status_and_reasons(const json& document) {
    const indicators::judged_run run = judged(document, models);
    return run.status + ": " + indicators::joined(run.reasons);
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a document of Amun's is read with what its runner saw") {
    const indicators::judged_run found = judged(amun_result(speed(2)), models);
    CHECK(found.status == "accepted");
    CHECK(found.run.machine == "64 x Intel Xeon Processor (Skylake, IBRS)");
    CHECK(found.run.host == "inspection-a-1129319366");
    CHECK(found.run.started == "2020-08-05T14:49:50.644642Z");
    CHECK(found.run.version == "dd8cdfc0");
    CHECK(found.run.usage.at("ru_utime") == 142.657523);
    CHECK(found.run.stack.at("os") == "rhel 8.2");
    CHECK(found.run.stack.at("python") == "3.6");
    CHECK(found.run.stack.at("kernel") == "4.18.0-147.8.1.el8_1.x86_64");
    CHECK(found.run.exit_code == 0);
}

TEST_CASE("the first generation's document has its log within, and its packages beside") {
    const json whole{
        {"inspection_id", "inspection-1"},
        {"specification",
         {{"script", "https://example.org/matmul.py"},
          {"python", {{"requirements_locked", {{"default", {{"tensorflow", {{"version", "==2.2.0"}}}}}}}}}}},
        {"job_log", amun_result(speed(2))}};
    const indicators::judged_run found = judged(whole, models);
    CHECK(found.status == "accepted");
    CHECK(found.run.origin == "https://example.org/matmul.py");
    CHECK(found.run.stack.at("tensorflow") == "2.2.0");
    CHECK(found.run.printed_path == "$.job_log.stdout");
    CHECK(judged({{"result", amun_result(speed(2))}}, models).status == "accepted");
}

TEST_CASE("what nobody knows of the machine is left open, and the result is kept") {
    json document = amun_result(speed(2));
    document.erase("hwinfo");
    document["os_release"] = nullptr;
    document.erase("runtime_environment");
    document["usage"] = nullptr;
    const indicators::judged_run found = judged(document, models);
    CHECK(found.status == "accepted");
    CHECK(found.run.machine.empty());
    CHECK(found.run.stack.empty());
}

TEST_CASE("how a run ended is told from what it printed") {
    json document = amun_result(speed(2));
    document["exit_code"] = 3;
    CHECK(status_and_reasons(document) == "failed: $: the run ended by exit status 3");
    document["exit_code"] = -11;  // as Python has a signal
    CHECK(status_and_reasons(document) == "failed: $: the run ended by SIGSEGV");
    CHECK(judged(document, models).run.signal == "SIGSEGV");
    CHECK_FALSE(judged(document, models).run.exit_code);
    document["exit_code"] = "0";
    CHECK(has(status_and_reasons(document), "refused: $.exit_code: has to be a whole number"));
    document.erase("exit_code");
    CHECK(has(status_and_reasons(document), "refused: $.exit_code: is missing"));
    json ours = result_of("a", speed(2));
    ours["end"] = "timed_out";
    ours["exit_code"] = nullptr;
    CHECK(status_and_reasons(ours) == "failed: $: the run ended by the time limit");
}

TEST_CASE("what was printed is judged wherever it is in the document") {
    json document = amun_result(speed(2));
    document["stdout"] = "DTYPE set\n{}";
    CHECK(has(status_and_reasons(document), "refused: $.stdout: there is text before the document"));
    document["stdout"] = json::object();  // what Amun makes of nothing
    CHECK(has(status_and_reasons(document), "refused: $.stdout: nothing was printed"));
    document["stdout"] = nullptr;
    CHECK(has(status_and_reasons(document), "refused: $.stdout: nothing was printed"));
    document["stdout"] = json::array({1, 2});
    CHECK(has(status_and_reasons(document), "refused: $.stdout: an indicator is an object"));
    document["stdout"] = speed(2).dump();  // a text that is a document
    CHECK(status_and_reasons(document) == "accepted: ");
    json printed = speed(2);
    printed["@result"].erase("ms");
    CHECK(has(status_and_reasons(amun_result(printed)), "refused: $.stdout.@result.ms: is missing"));
    json ours = result_of("a", nullptr);
    ours["stdout_base64"] = indicators::base64_of("\xff\xfe");
    CHECK(has(status_and_reasons(ours), "refused: $.stdout: byte 0 is no UTF-8"));
    // Twice in the document's own text, not in that of another one.
    const std::string twice = R"({"exit_code": 0, "stdout": {"name": "PiSpeed", "name": "PiSpeed"}})";
    CHECK(has(indicators::joined(indicators::judge(indicators::read_record(twice), models, {}).reasons),
              "$.stdout.name: the key is there twice"));
}

TEST_CASE("what a program says of its build is stack, and its version wins over its hash") {
    json printed = speed(2);
    printed["weir_buildinfo"] = {{"compiler", "g++ 12.2.0"}, {"optimised", true}, {"flags", {1, 2}}};
    printed["tensorflow_buildinfo"] = nullptr;
    printed["version"] = "1.5";
    const indicators::judged_run found = judged(result_of("a", printed), models);
    CHECK(found.run.stack.at("weir_compiler") == "g++ 12.2.0");
    CHECK(found.run.stack.at("weir_optimised") == "true");
    CHECK(found.run.stack.at("compiler") == "GCC 12.2.0");
    CHECK_FALSE(found.run.stack.contains("weir_flags"));
    CHECK(found.run.version == "1.5");
}

TEST_CASE("a document of another runner is known by its content, whatever the order of its members") {
    const std::string a = indicators::read_record(R"({"name": "X", "@result": {"a": 1, "b": 2}})").id;
    CHECK(a.size() == 64);
    CHECK(a == indicators::read_record("{ \"@result\" : {\"b\":2,\"a\":1},\n\"name\":\"X\"}").id);
    CHECK(a != indicators::read_record(R"({"name": "X", "@result": {"a": 1, "b": 3}})").id);
    CHECK(indicators::read_record(result_of("batch", speed(1)).dump()).id == "batch.0");
    // As it is stored with what belongs to it.
    const json bare = speed(1);
    CHECK(indicators::read_record(json{{"indicator_result", 1}, {"document", bare}}.dump()).id ==
          indicators::read_record(bare.dump()).id);
}

TEST_CASE("a result of this runner has a batch, a place within its size, and their id") {
    CHECK(status_and_reasons(in_batch(result_of("a", speed(2)), "b", 4, 5)) == "accepted: ");
    CHECK(has(status_and_reasons(in_batch(result_of("a", speed(2)), "b", 5, 5)),
              "refused: $.batch: has to have an id"));
    CHECK(has(status_and_reasons(in_batch(result_of("a", speed(2)), "", 0, 5)), "refused: $.batch"));
    CHECK(has(status_and_reasons(in_batch(result_of("a", speed(2)), "b", 0, 2'000'000'000)),
              "a size up to 1000000"));
    json document = result_of("a", speed(2));
    document["id"] = "another";
    CHECK(has(status_and_reasons(document), "refused: $: is no result of this runner"));
    document = result_of("a", speed(2));
    document["indicator_result"] = 2;
    CHECK(has(status_and_reasons(document), "is no result of this runner"));
    CHECK(has(status_and_reasons({{"indicator_result", 1}, {"id", "x"}, {"hello", "world"}}),
              "is no result of this runner"));
}

TEST_CASE("what a document says of a run has to be possible") {
    json document = result_of("a", speed(2));
    document["end"] = "partied";
    CHECK(has(status_and_reasons(document), "$.end: is \"partied\", which is no way to end"));
    document = amun_result(speed(2));
    document["exit_code"] = std::numeric_limits<std::int64_t>::min();
    CHECK(has(status_and_reasons(document),
              "$.exit_code: is -9223372036854775808, which no program ends with"));
    document = amun_result(speed(2));
    document["usage"]["ru_maxrss"] = 1e300;
    document["datetime"] = "yesterday";
    const indicators::judged_run found = judged(document, models);
    CHECK_FALSE(found.run.usage.contains("ru_maxrss"));
    CHECK(found.run.started.empty());
    document = result_of("a", nullptr);
    document["stdout_base64"] = "?";
    CHECK(has(status_and_reasons(document), "$.stdout_base64: is no base64"));
    document = result_of("a", json::object());  // which this runner saw
    CHECK(has(status_and_reasons(document), "$.stdout: has no 'name'"));
}

TEST_CASE("files hold one document, or one a line if this runner wrote them; folders of Amun's are batches") {
    const lab_tests::temporary_folder folder;
    const std::string two = result_of("a", speed(1)).dump() + "\n\n" + result_of("b", speed(2)).dump() + "\n";
    lab_tests::write_text(folder / "two.jsonl", two);
    const auto found = indicators::read_records(folder / "two.jsonl");
    REQUIRE(found.size() == 2);
    CHECK(found[1].file == (folder / "two.jsonl") + ":3");
    CHECK(found[1].run.id == "b.0");
    lab_tests::write_text(folder / "torn.jsonl", two + "{\"indicator_res");
    CHECK(indicators::read_records(folder / "torn.jsonl").size() == 3);
    // A program prints one document.
    lab_tests::write_text(folder / "bare.json", speed(1).dump() + "\n" + speed(2).dump());
    const auto bare = indicators::read_records(folder / "bare.json");
    REQUIRE(bare.size() == 1);
    CHECK(has(indicators::joined(bare[0].run.printed.refusals), "there is a second document, at line 2"));
    lab_tests::write_text(folder / "one.json", speed(1).dump(2));
    CHECK(indicators::read_records(folder / "one.json")[0].run.printed.good());
    CHECK_THROWS_AS(indicators::read_records(folder / "none.json"), lab::input_error);
    CHECK_THROWS_AS(indicators::read_records(folder / ""), lab::input_error);

    for (const char* place : {"0", "2"}) {
        std::filesystem::create_directories(folder / ("inspection-1/results/" + std::string(place)));
        lab_tests::write_text(folder / ("inspection-1/results/" + std::string(place) + "/result"),
                              amun_result(speed(1 + std::stod(place))).dump());
    }
    std::filesystem::create_directories(folder / "inspection-1/build");
    lab_tests::write_text(folder / "inspection-1/build/specification",
                          R"({"batch_size": 4, "script": "here"})");
    const auto batch = indicators::read_records(folder / "inspection-1");
    REQUIRE(batch.size() == 2);
    CHECK(batch[1].run.batch->id == "inspection-1");
    CHECK(batch[1].run.batch->place == 2);
    CHECK(batch[1].run.batch->size == 4);
    CHECK(batch[1].run.origin == "here");
    CHECK(batch[1].run.printed.good());
    CHECK(batch[1].run.id == indicators::read_records(folder / "inspection-1/results/2/result")[0].run.id);
}

TEST_CASE("bytes come back from base64, and a hash is that of everybody") {
    for (const std::string& bytes :
         {std::string(), std::string("a"), std::string("ab"), std::string("abc\0\xff", 5)})
        CHECK(indicators::bytes_of_base64(indicators::base64_of(bytes)) == bytes);
    CHECK(indicators::bytes_of_base64("?").empty());
    CHECK(indicators::sha256_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(indicators::random_digits(8).size() == 16);
    CHECK(indicators::random_digits(8) != indicators::random_digits(8));
}
