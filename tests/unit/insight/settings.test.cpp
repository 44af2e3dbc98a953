#include <weir/insight/settings.hpp>

#include "support/catch.hpp"
#include "support/recordings.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

using weir::pipeline_settings;
using weir::stage_role;

namespace {

pipeline_settings two_stages() {
    return recordings::builder().stage({.name = "a"}, {}).aggregate("batch", 4).consumed().settings;
}

std::string refusal_of(const pipeline_settings& settings) {
    try {
        weir::detail::check_settings(settings);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

std::string refusal_after(const std::function<void(pipeline_settings&)>& change) {
    pipeline_settings settings = two_stages();
    change(settings);
    return refusal_of(settings);
}

}  // namespace

TEST_CASE("a stage is found by its name, and can be changed") {
    pipeline_settings settings = two_stages();
    settings.stage("a").concurrency = 3;
    CHECK(std::as_const(settings).stage("a").concurrency == 3);
    CHECK(settings.stage("batch").batch_size == 4);
}

TEST_CASE("a name that no stage has is refused with the names of all stages") {
    CHECK_THROWS_WITH(two_stages().stage("decode"),
                      "weir: no stage is called 'decode'; there are: src, a, batch, sink, consumer");
}

TEST_CASE("a name that two stages have is refused") {
    pipeline_settings settings = two_stages();
    settings.stages[2].name = "a";
    CHECK_THROWS_WITH(settings.stage("a"),
                      Catch::Matchers::ContainsSubstring("several stages are called 'a'"));
}

TEST_CASE("settings of a pipeline that can exist are accepted") { CHECK(refusal_of(two_stages()).empty()); }

TEST_CASE("settings that no pipeline can have are refused with the name of the stage") {
    using Catch::Matchers::ContainsSubstring;
    CHECK_THAT(refusal_after([](auto& s) { s.stages.resize(2); }), ContainsSubstring("a source first"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[0].role = stage_role::function; }),
               ContainsSubstring("a source first"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[1].role = stage_role::source; }),
               ContainsSubstring("'a'"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[1].concurrency = 0; }),
               ContainsSubstring("'a'") && ContainsSubstring("is 0"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[1].concurrency = static_cast<std::size_t>(-1); }),
               ContainsSubstring("above 100000"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[2].concurrency = 2; }),
               ContainsSubstring("several slots"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[0].capacity = 0; }),
               ContainsSubstring("'src'") && ContainsSubstring("is 0"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[0].capacity = static_cast<std::size_t>(-1); }),
               ContainsSubstring("negative"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[2].batch_size = 0; }), ContainsSubstring("batch size"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[1].time_factor = -1; }),
               ContainsSubstring("time factor"));
    CHECK_THAT(refusal_after(
                   [](auto& s) { s.stages[1].time_factor = std::numeric_limits<double>::infinity(); }),
               ContainsSubstring("time factor"));
    CHECK_THAT(refusal_after([](auto& s) { s.stages[1].pool = 1; }), ContainsSubstring("no pool"));
}
