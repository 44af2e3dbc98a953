// Of result_store: what becomes of stored results when a model changes.
#include "indicators/store/result_store.hpp"

#include "indicators/documents.hpp"
#include "indicators/store/selection.hpp"
#include "lab/data/input_error.hpp"
#include "lab/folders.hpp"

#include "support/catch.hpp"

#include <string>

namespace {

using namespace indicator_tests;
using Catch::Matchers::ContainsSubstring;

class stored {
  public:
    stored() {
        const indicators::registry models = speed_models();
        store.add(judged(result_of("a", speed(2)), models), {});
        store.add(judged(result_of("b", speed(4)), models), {});
    }
    std::vector<indicators::found_result> results(const json& model, bool all = false) {
        indicators::selection what;
        what.name = "PiSpeed";
        what.all = all;
        return indicators::select_results(store, speed_models(model), what);
    }

    lab_tests::temporary_folder folder;
    indicators::result_store store{folder / "s.sqlite"};
};

json with_field(const char* part, const char* name, const json& field) {
    json model = speed_model();
    model[part][name] = field;
    return model;
}

}  // namespace

TEST_CASE("a field that may be left out is added with the next result") {
    stored s;
    const json model = with_field("results", "watts", {{"type", "float"}, {"optional", true}});
    json printed = speed(5);
    printed["@result"]["watts"] = 10.5;
    s.store.add(judged(result_of("c", printed), speed_models(model)), {});
    const auto found = s.results(model);
    REQUIRE(found.size() == 3);
    CHECK(found[0].values["watts"].is_null());
    CHECK(found[0].values["ms"] == 2.0);
    CHECK(found[2].values["watts"] == 10.5);
}

TEST_CASE("a change that stored results don't fit stores nothing, changes nothing, and says what to do") {
    stored s;
    const json model = with_field("results", "watts", {{"type", "float"}});
    json printed = speed(5);
    printed["@result"]["watts"] = 10.5;
    const indicators::registry newer = speed_models(model);
    const indicators::judged_run next = judged(result_of("c", printed), newer);
    REQUIRE(next.status == "accepted");
    CHECK_THROWS_WITH(s.store.add(next, {}),
                      ContainsSubstring("2 of them don't fit") &&
                          ContainsSubstring("a.0: $.stdout.@result.watts: is missing") &&
                          ContainsSubstring("--refuse-misfits"));
    CHECK_THROWS_AS(s.store.migrate(speed_models(model), false), lab::input_error);
    CHECK(s.results(speed_model()).size() == 2);
    CHECK(s.results(speed_model())[1].values["ms"] == 4.0);

    const auto done = s.store.migrate(speed_models(model), true);
    REQUIRE(done.size() == 1);
    CHECK(done[0].misfits.size() == 2);
    s.store.add(next, {});
    CHECK(s.results(model).size() == 1);
    CHECK(s.results(model, true).size() == 3);
    // Nothing is lost: with the first declaration they are what they were.
    const auto back = s.store.migrate(speed_models(), true);
    CHECK(back[0].accepted_now == 2);
    CHECK(back[0].misfits.size() == 1);  // has watts, which that doesn't know
    CHECK(s.results(speed_model()).size() == 2);
}

TEST_CASE("a field that is new has what it was before, and one that is renamed keeps its values") {
    stored s;
    json model = with_field("parameters", "threads", {{"type", "int"}, {"before", 1}});
    model["results"]["time"] = {{"type", "float"}, {"unit", "ms"}, {"above", 0}, {"was", "ms"}};
    model["results"].erase("ms");
    model["checks"][0]["equal"][0] = "time * per_s";
    model["score"]["field"] = "time";
    const auto done = s.store.migrate(speed_models(model), false);
    REQUIRE(done.size() == 1);
    CHECK(done[0].kept == 2);
    const auto found = s.results(model);
    REQUIRE(found.size() == 2);
    CHECK(found[0].values["threads"] == 1);
    CHECK(found[1].values["time"] == 4.0);
    CHECK(s.store.migrate(speed_models(model), false).empty());
}

TEST_CASE("a whole number may become a number") {
    stored s;
    const json model = with_field("parameters", "reps", {{"type", "float"}, {"role", "effort"}});
    s.store.migrate(speed_models(model), false);
    CHECK(s.results(model)[0].values["reps"].is_number_float());
}

TEST_CASE("what was refused for want of a model is accepted once there is one") {
    stored s;
    json other = speed_model();
    other["name"] = "PiOther";
    json printed = speed(3);
    printed["name"] = "PiOther";
    s.store.add(judged(result_of("x", printed), speed_models()), {});
    indicators::registry both = speed_models();
    both.add(other, "other.json");
    const auto done = s.store.migrate(both, false);
    REQUIRE(done.size() == 1);
    CHECK(done[0].name == "PiOther");
    CHECK(done[0].accepted_now == 1);
    indicators::selection what;
    what.name = "PiOther";
    CHECK(indicators::select_results(s.store, both, what).size() == 1);
}

TEST_CASE("a store tells what its results were declared as") {
    stored s;
    indicators::registry none;
    s.store.add_models_to(none);
    CHECK(none.names() == std::vector<std::string>{"PiSpeed"});
    indicators::registry newer =
        speed_models(with_field("results", "watts", {{"type", "float"}, {"optional", true}}));
    s.store.add_models_to(newer);
    CHECK(newer.find("PiSpeed")->find("watts") != nullptr);
}

TEST_CASE("a model that differs in case alone from a stored one is refused") {
    stored s;
    json model = speed_model();
    model["name"] = "PISPEED";
    json printed = speed(3);
    printed["name"] = "PISPEED";
    const indicators::registry other = [&] {
        indicators::registry all;
        all.add(model, "other.json");
        return all;
    }();
    CHECK_THROWS_WITH(s.store.add(judged(result_of("x", printed), other), {}),
                      ContainsSubstring("which differs from 'PISPEED' in case alone"));
    CHECK(s.results(speed_model()).size() == 2);
}
