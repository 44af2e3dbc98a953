#include <weir/report/json.hpp>

#include "support/catch.hpp"

#include <weir/measure/histogram.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

using weir::duration;
using weir::run_record;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

namespace {

// Fills every member with something of its own.
class filler {
  public:
    explicit filler(unsigned seed) : random_(seed) {}

    void operator()(const char*, std::string& s) {
        static constexpr const char* odd[] = {"", "a \"b\"\\c", "K\xC3\xB6ln\n", "</script>", "\x01", ",;"};
        s = odd[random_() % 6] + std::to_string(random_());
    }
    void operator()(const char*, bool& b) { b = random_() % 2 == 0; }
    template <class T>
        requires std::is_integral_v<T>
    void operator()(const char*, T& n) {
        n = static_cast<T>(random_() >> (random_() % 64));
    }
    void operator()(const char*, duration& d) {
        d = duration(static_cast<std::int64_t>(random_() >> (1 + random_() % 60)));
    }
    void operator()(const char*, weir::output_order& o) {
        o = random_() % 2 == 0 ? weir::output_order::input : weir::output_order::completion;
    }
    void operator()(const char*, weir::histogram& h) {
        h = {};
        for (std::uint64_t i = random_() % 20; i > 0; --i)
            h.record(duration(static_cast<std::int64_t>(random_() >> (20 + random_() % 44))),
                     random_() % 1000 + 1);
        if (random_() % 8 == 0) h += weir::histogram::without_quantiles(7, 9us, 5us);
    }
    template <class T>
    void operator()(const char* name, std::optional<T>& o) {
        if (random_() % 2 == 0) (*this)(name, o.emplace());
    }
    template <class T>
    void operator()(const char* name, std::vector<T>& v) {
        v.resize(random_() % 4);
        for (T& each : v) (*this)(name, each);
    }
    template <weir::detail::has_fields T>
    void operator()(const char*, T& object) {
        weir::detail::each_field(object, *this);
    }

  private:
    std::mt19937_64 random_;
};

run_record filled(unsigned seed) {
    run_record run;
    filler fill(seed);
    fill("", run);
    return run;
}

std::string error_of(const std::string& text) {
    try {
        static_cast<void>(weir::run_from_json(text));
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("a run is unchanged after it is written as JSON and read") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        const run_record run = filled(seed);
        const std::string text = weir::json_text(run);
        CHECK(weir::run_from_json(text) == run);
        CHECK(weir::json_text(weir::run_from_json(text)) == text);
        CHECK(text.find('\n') == std::string::npos);
    }
    CHECK(weir::run_from_json(weir::json_text(run_record())) == run_record());
}

TEST_CASE(
    "the JSON of a run begins with its schema; the reader ignores unknown members and gives missing ones "
    "their defaults") {
    CHECK(weir::json_text(run_record()).starts_with(R"({"schema":"weir.run/1","name":"")"));
    const run_record run = weir::run_from_json(
        R"({"name":"a","news":[1,{"b":2}],"schema":"weir.run/1","total":{"stages":[{}]}})");
    CHECK(run.name == "a");
    CHECK(run.total.stages.size() == 1);
    CHECK(run.total.stages[0].concurrency == 1);
}

TEST_CASE("JSON that is not a run, or has a later schema, is refused with a message") {
    CHECK(error_of("{}") ==
          "weir: this JSON is no run of a pipeline: at byte 0 its \"schema\" is not that of weir.run");
    CHECK(error_of("[]").find("schema") != std::string::npos);
    CHECK(error_of(R"({"schema":"weir.run/2"})").find("is written in schema weir.run/2") !=
          std::string::npos);
    const auto in = [](const std::string& members) {
        return error_of(R"({"schema":"weir.run/1",)" + members + "}");
    };
    CHECK(in(R"("name":1)").find("at byte 30 there should be a string") != std::string::npos);
    CHECK(in(R"("ended":1)").find("there should be true or false") != std::string::npos);
    CHECK(in(R"("laps":{})").find("there should be an array") != std::string::npos);
    CHECK(in(R"("total":3)").find("there should be an object") != std::string::npos);
    CHECK(in(R"("num_failures":-1)").find("the number -1 doesn't fit") != std::string::npos);
    CHECK(in(R"("total":{"elapsed":-1})").find("a time is negative") != std::string::npos);
    CHECK(in(R"("num_failures":1.5)").find("the number 1.5 doesn't fit") != std::string::npos);
    CHECK(in(R"("num_failures":18446744073709551616)").find("doesn't fit") != std::string::npos);
    const auto histogram = [&in](const std::string& members) {
        return in(R"("total":{"stages":[{"task_times":{)" + members + "}}]}");
    };
    CHECK(histogram(R"("count":1,"buckets":[[65,1]])").find("these are not the buckets") !=
          std::string::npos);
    CHECK(histogram(R"("count":1,"buckets":[[5]])").find("isn't [duration, count]") != std::string::npos);
    CHECK(histogram(R"("count":1,"buckets":[[5,2]])").find("more than was counted") != std::string::npos);
}

TEST_CASE("a run is stored in a file and read again") {
    const auto path = (std::filesystem::temp_directory_path() / "weir json test.json").string();
    const run_record run = filled(3);
    weir::write_json(path, run);
    CHECK(weir::read_run(path) == run);
    std::filesystem::remove(path);
    CHECK_THROWS_AS(weir::read_run(path), std::system_error);
    CHECK_THROWS_AS(weir::write_json("/no/such/folder/a.json", run), std::system_error);
}

namespace {

template <class T>
std::string json(const T& value) {
    std::string text;
    weir::detail::append_json(text, value);
    return text;
}

}  // namespace

TEST_CASE("JSON numbers have all digits, and times are whole nanoseconds") {
    CHECK(json(true) == "true");
    CHECK(json(UINT64_MAX) == "18446744073709551615");
    CHECK(json(INT64_MIN) == "-9223372036854775808");
    CHECK(json(weir::duration(1500ms)) == "1500000000");
    CHECK(json(weir::output_order::input) == "\"input\"");
}

TEST_CASE("JSON objects have their members in order, without absent ones") {
    CHECK(json(weir::run_setting{"a", "b"}) == R"({"name":"a","value":"b"})");
    CHECK(json(std::vector<weir::run_setting>{}) == "[]");
    CHECK(json(std::vector<unsigned>{1, 2}) == "[1,2]");
    weir::process_stats p;
    p.processors = 4;
    CHECK(json(p) == R"({"elapsed":0,"processors":4})");
    weir::pipeline_stats run;
    CHECK(json(run) == R"({"elapsed":0,"stages":[],"channels":[],"idle":0,"num_items":0})");
    run.num_items = 3;
    run.first_item = {.after = 7ns, .since = 4ns, .num_items = 2};
    CHECK(json(run) == R"({"elapsed":0,"stages":[],"channels":[],"idle":0,"num_items":3,)"
                       R"("first_item":{"after":7,"since":4,"num_items":2}})");
}

TEST_CASE("the JSON of a histogram has its nonempty buckets") {
    weir::histogram h;
    h.record(5ns, 2);
    h.record(1us);
    CHECK(json(h) == R"({"count":3,"sum":1010,"max":1000,"buckets":[[5,2],[992,1]]})");
    CHECK(json(weir::histogram()) == R"({"count":0,"sum":0,"max":0,"buckets":[]})");
}
