#include "indicators/store/result_store.hpp"

#include "indicators/documents.hpp"
#include "indicators/store/schema.hpp"
#include "indicators/store/selection.hpp"
#include "lab/data/input_error.hpp"
#include "lab/folders.hpp"

#include "support/catch.hpp"

#include <string>
#include <thread>

namespace {

using namespace indicator_tests;
using added = indicators::result_store::added;
using Catch::Matchers::ContainsSubstring;

std::vector<indicators::found_result> all_of(indicators::result_store& store,
                                             const indicators::registry& models,
                                             indicators::selection what = {}) {
    what.name = "PiSpeed";
    return indicators::select_results(store, models, what);
}

}  // namespace

TEST_CASE("a result is stored once, with its values and all of its document") {
    const lab_tests::temporary_folder folder;
    const indicators::registry models = speed_models();
    indicators::result_store store(folder / "s.sqlite");
    const indicators::judged_run one = judged(in_batch(result_of("x", speed(2)), "b", 0, 2), models);
    CHECK(store.add(one, {}) == added::stored);
    CHECK(store.add(one, {}) == added::was_there);
    const auto found = all_of(store, models);
    REQUIRE(found.size() == 1);
    CHECK(found[0].values ==
          json::parse(R"({"size":10,"mode":"fast","reps":3,"ms":2.0,"per_s":500.0,"overall_score":null})"));
    CHECK(found[0].machine == "one: 2 x AMD EPYC, 24 GiB");
    CHECK(found[0].columns["@peak_kb"] == 4096);
    CHECK(found[0].columns["@user_s"] == 0.25);
    CHECK(found[0].columns["@exit_code"] == 0);
    CHECK(found[0].columns["@duration_s"] == 1.0);
    CHECK(found[0].columns["@time"].get<double>() == Catch::Approx(1795600800.5).margin(0.001));
    lab::statement document(store.file(), "SELECT document FROM indicator_results");
    REQUIRE(document.next());
    CHECK(json::parse(document.text(0)) == one.run.whole);
}

TEST_CASE("another result with the same id, or in the same place of a batch, is refused") {
    const lab_tests::temporary_folder folder;
    const indicators::registry models = speed_models();
    indicators::result_store store(folder / "s.sqlite");
    store.add(judged(in_batch(result_of("x", speed(2)), "b", 0, 2), models), {});
    CHECK_THROWS_WITH(store.add(judged(in_batch(result_of("x", speed(3)), "b", 0, 2), models), {}),
                      ContainsSubstring("another result has the id 'b.0'"));
    const json other{{"indicator_result", 1},
                     {"batch", {{"id", "b"}, {"place", 0}, {"size", 2}}},
                     {"document", amun_result(speed(3))}};
    CHECK_THROWS_WITH(store.add(judged(other, models), {}),
                      ContainsSubstring("place 0 of batch 'b' has another result, 'b.0'"));
    CHECK(all_of(store, models).size() == 1);
}

TEST_CASE(
    "a result that failed or was refused has no row of its model, and is found where all are asked for") {
    const lab_tests::temporary_folder folder;
    const indicators::registry models = speed_models();
    indicators::result_store store(folder / "s.sqlite");
    json crashed = result_of("a", speed(2));
    crashed["exit_code"] = 1;
    json wrong = speed(2);
    wrong["@result"].erase("ms");
    store.add(judged(crashed, models), {});
    store.add(judged(result_of("b", wrong), models), {});
    CHECK(all_of(store, models).empty());
    store.add(judged(result_of("c", speed(2)), models), {});
    indicators::selection what;
    what.all = true;
    const auto found = all_of(store, models, what);
    REQUIRE(found.size() == 3);
    CHECK(found[0].status == "failed");
    CHECK(found[0].values["ms"].is_null());
    CHECK(found[1].status == "refused");
    CHECK(found[1].columns["@reasons"] ==
          "$.stdout.@result.ms: is missing; PiSpeed has it as a number, in ms");
    CHECK(found[2].status == "accepted");
}

TEST_CASE("a batch shows the places that are missing, also one of which nothing came") {
    const lab_tests::temporary_folder folder;
    const indicators::registry models = speed_models();
    indicators::result_store store(folder / "s.sqlite");
    for (const int place : {0, 2})
        store.add(judged(in_batch(result_of("x", speed(2)), "b", place, place == 0 ? 1 : 4), models), {});
    store.add(judged(result_of("c", speed(2)), models), {});
    store.add_batch("d", 2);
    store.add_batch("d", 2);
    store.add_batch("e", 1'000'000);
    const auto gaps = indicators::incomplete_batches(store);
    REQUIRE(gaps.size() == 3);
    CHECK(gaps[0].id == "b");
    CHECK(gaps[0].missing == std::vector<std::int64_t>{1, 3});
    CHECK(gaps[1].missing == std::vector<std::int64_t>{0, 1});
    CHECK(gaps[2].num_missing == 1'000'000);
    CHECK(gaps[2].missing.size() == 1000);
}

TEST_CASE("writers at once lose nothing, and store nothing twice, from the file's first moment on") {
    const lab_tests::temporary_folder folder;
    const indicators::registry models = speed_models();
    const std::string path = folder / "s.sqlite";
    constexpr int writers = 4;
    constexpr int each = 25;
    std::vector<std::string> errors(writers);
    std::vector<std::thread> threads;
    for (int w = 0; w < writers; ++w) {
        threads.emplace_back([&, w] {
            try {
                const indicators::registry own = speed_models();
                indicators::result_store store(path);
                for (int i = 0; i < each; ++i) {
                    // Half of them everybody has.
                    const std::string id =
                        i % 2 == 0 ? "all-" + std::to_string(i) : std::to_string(w) + "-" + std::to_string(i);
                    store.add(judged(result_of(id, speed(1 + i)), own), {});
                }
            } catch (const std::exception& e) {
                errors[static_cast<std::size_t>(w)] = e.what();
            }
        });
    }
    for (std::thread& t : threads) t.join();
    for (const std::string& error : errors) CHECK(error.empty());
    indicators::result_store store(path);
    CHECK(all_of(store, models).size() == 13 + writers * 12);
}

TEST_CASE("results are found by parameters, results, machine, time, stack and version") {
    const lab_tests::temporary_folder folder;
    const indicators::registry models = speed_models();
    indicators::result_store store(folder / "s.sqlite");
    json late = result_of("late", speed(4, "slow", 20), "two");
    late["start_datetime"] = "2026-11-26T01:30:00+01:00";
    late["stack"]["compiler"] = "clang 19";
    late["script_sha256"] = "def";
    store.add(judged(result_of("a", speed(2)), models), {});
    store.add(judged(result_of("o'hara", speed(3, "it's; DROP TABLE x")), models), {});
    store.add(judged(late, models), {});
    const auto ids = [&](const indicators::selection& what) {
        std::string text;
        for (const indicators::found_result& one : all_of(store, models, what)) text += one.id + " ";
        return text;
    };
    CHECK(ids({}) == "a.0 o'hara.0 late.0 ");
    const auto where = [&](const std::string& text) { return ids({"", {text}, "", {}, "", "", "", false}); };
    CHECK(where("mode=fast|slow") == "a.0 late.0 ");
    CHECK(where("mode!=fast") == "o'hara.0 late.0 ");
    CHECK(where("mode=it's; DROP TABLE x") == "o'hara.0 ");
    CHECK(where("ms>=3") == "o'hara.0 late.0 ");
    CHECK(where("ms<3") == "a.0 ");
    CHECK(where("size=20") == "late.0 ");
    CHECK(where("overall_score>0").empty());
    CHECK_THROWS_WITH(where("speed>3"),
                      ContainsSubstring("PiSpeed has no 'speed'; it has size, mode, reps, ms, per_s"));
    CHECK_THROWS_WITH(where("size=big"), ContainsSubstring("size is a whole number"));
    CHECK_THROWS_WITH(where("size"), ContainsSubstring("write a condition as NAME=VALUE"));
    CHECK_THROWS_WITH(where("size>1|2"), ContainsSubstring("several values go with = and != alone"));
    CHECK(ids({"", {}, "two", {}, "", "", "", false}) == "late.0 ");
    CHECK(ids({"", {}, "EPYC", {}, "", "", "", false}) == "a.0 o'hara.0 late.0 ");
    CHECK(ids({"", {}, "", {"compiler=clang"}, "", "", "", false}) == "late.0 ");
    CHECK(ids({"", {}, "", {"compiler=12.2", "os=debian"}, "", "", "", false}) == "a.0 o'hara.0 ");
    CHECK(ids({"", {}, "", {}, "2026-11-26T00:30:00Z", "", "", false}) == "late.0 ");
    CHECK(ids({"", {}, "", {}, "2026-11-26T00:30:01Z", "", "", false}).empty());
    CHECK(ids({"", {}, "", {}, "2026-11-25", "2026-11-26", "", false}) == "a.0 o'hara.0 ");
    CHECK(
        ids({"", {}, "", {}, "", "2026-11-25T10:00:00.500Z", "", false}).empty());  // not that moment itself
    CHECK_THROWS_WITH(ids({"", {}, "", {}, "yesterday", "", "", false}),
                      ContainsSubstring("'yesterday' is no time"));
    CHECK(ids({"", {}, "", {}, "", "", "de", false}) == "late.0 ");
    indicators::selection nobody;
    nobody.name = "PiNone";
    CHECK_THROWS_WITH(indicators::select_results(store, models, nobody),
                      ContainsSubstring("no indicator 'PiNone' is registered"));
}

TEST_CASE("a file that is no store is named") {
    const lab_tests::temporary_folder folder;
    CHECK_THROWS_AS(indicators::result_store(folder / "none.sqlite", lab::database::mode::existing),
                    lab::input_error);
    CHECK_THROWS_AS(indicators::result_store(folder / "none.sqlite", lab::database::mode::reading),
                    lab::input_error);
    lab_tests::write_text(folder / "text.sqlite", std::string(5000, 'x'));
    CHECK_THROWS_AS(indicators::result_store(folder / "text.sqlite"), lab::input_error);
    CHECK_THROWS_AS(indicators::result_store(folder / "text.sqlite", lab::database::mode::reading),
                    lab::input_error);
    CHECK_THROWS_WITH(indicators::result_store(folder / "no/folder.sqlite"),
                      ContainsSubstring("folder.sqlite"));
}

TEST_CASE("other people's tables in the file stay what they are") {
    const lab_tests::temporary_folder folder;
    const indicators::registry models = speed_models();
    {
        lab::database other(folder / "s.sqlite");
        other.run("CREATE TABLE pi_speed (x); INSERT INTO pi_speed VALUES (7); CREATE TABLE runs (y)");
    }
    {
        indicators::result_store store(folder / "s.sqlite", lab::database::mode::reading);
        CHECK_FALSE(store.has_results());
        CHECK_THROWS_WITH(all_of(store, models), ContainsSubstring("has no indicators in it"));
    }
    indicators::result_store store(folder / "s.sqlite");
    json wrong = speed(2);
    wrong["@result"].erase("ms");
    store.add(judged(result_of("a", wrong), models), {});
    store.migrate(models, true);
    store.add(judged(result_of("b", speed(2)), models), {});
    lab::statement still(store.file(), "SELECT x FROM pi_speed");
    REQUIRE(still.next());
    CHECK(still.integer(0) == 7);
    CHECK(all_of(store, models).size() == 1);
}

TEST_CASE("a store may be read where nothing can be written") {
    const lab_tests::temporary_folder folder;
    const indicators::registry models = speed_models();
    indicators::result_store(folder / "s?%.sqlite").add(judged(result_of("a", speed(2)), models), {});
    indicators::result_store store(folder / "s?%.sqlite", lab::database::mode::reading);
    CHECK(all_of(store, models).size() == 1);
    CHECK_THROWS_WITH(store.add(judged(result_of("b", speed(2)), models), {}), ContainsSubstring("readonly"));
}

TEST_CASE("the schema of a model has its types and ranges, and its page all of its fields") {
    const indicators::registry models = speed_models();
    const std::string sql = indicators::schema_of(*models.find("PiSpeed"));
    CHECK_THAT(sql, ContainsSubstring("CREATE TABLE \"indicator_of_pi_speed\""));
    CHECK_THAT(sql, ContainsSubstring("\"size\" INTEGER NOT NULL CHECK (\"size\" >= 1)"));
    CHECK_THAT(sql, ContainsSubstring("\"ms\" REAL NOT NULL CHECK (\"ms\" > 0)"));
    lab::database memory(":memory:");
    memory.run(indicators::base_schema() + sql);
    const std::string page = indicators::page_of(*models.find("PiSpeed"));
    for (const std::string& name : models.find("PiSpeed")->names())
        CHECK_THAT(page, ContainsSubstring("| `" + name + "` |"));
    CHECK_THAT(page, ContainsSubstring("`ms * per_s = 1000`"));
    CHECK_THAT(page, ContainsSubstring("Ranked by `ms`: less is better."));
}
