#include <weir/report/json.hpp>

#include "support/catch.hpp"
#include "support/explained_runs.hpp"

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

using namespace std::string_view_literals;
using namespace std::chrono_literals;
using weir::duration;
using weir::run_record;
using weir::detail::json_reader;
using weir::detail::json_value;

namespace {

json_value read(std::string_view text) { return json_reader(text).whole(); }

std::string read_error_of(std::string_view text) {
    try {
        read(text);
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("JSON is read with any white space") {
    const json_value v = read(" { \"a\" : [ 1 , -2.5e+3 , true , null ] ,\r\n\t\"b\":{}, \"c\":\"\" } ");
    REQUIRE(v.is == json_value::kind::object);
    REQUIRE(v.find("a") != nullptr);
    const json_value& a = *v.find("a");
    REQUIRE(a.items.size() == 4);
    CHECK(a.items[0].text == "1");
    CHECK(a.items[1].text == "-2.5e+3");
    CHECK(a.items[2].text == "true");
    CHECK(a.items[3].is == json_value::kind::null);
    CHECK(v.find("b")->items.empty());
    CHECK(v.find("c")->text.empty());
    CHECK(v.find("d") == nullptr);
    CHECK(read("{\"a\":1,\"a\":2}").find("a")->text == "2");
    CHECK(read("0").text == "0");
}

TEST_CASE("the escapes of JSON strings are read") {
    CHECK(read(R"("\"\\\/\b\f\n\r\t")").text == "\"\\/\b\f\n\r\t");
    CHECK(read(R"("\u0041\u00e9\u20AC\ud83d\ude00")").text == "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    CHECK(read(R"("\u0000")").text == std::string(1, '\0'));
}

TEST_CASE("invalid JSON is refused, with the byte of the error") {
    for (const std::string_view text : {""sv,
                                        " "sv,
                                        "{"sv,
                                        "["sv,
                                        "[1"sv,
                                        "[1,]"sv,
                                        "{\"a\"}"sv,
                                        "{\"a\":}"sv,
                                        "{a:1}"sv,
                                        "{\"a\":1,}"sv,
                                        "nul"sv,
                                        "01"sv,
                                        "-"sv,
                                        "1."sv,
                                        "1e"sv,
                                        ".5"sv,
                                        "+1"sv,
                                        "\"a"sv,
                                        "\"\\x\""sv,
                                        "\"\\u12\""sv,
                                        "\"\\u12g4\""sv,
                                        "\"\\ud800\""sv,
                                        "\"\\ud800\\u0041\""sv,
                                        "\"\\udc00\""sv,
                                        "\"\x01\""sv,
                                        "\"\xFF\""sv,
                                        "1 2"sv,
                                        "NaN"sv}) {
        CAPTURE(text);
        CHECK(read_error_of(text).find("weir: this is no JSON: at byte ") == 0);
    }
    CHECK(read_error_of("[1,]") == "weir: this is no JSON: at byte 3 a value is missing");
    CHECK(read_error_of(std::string(100'000, '[')).find("nested too deeply") != std::string::npos);
}

TEST_CASE("cut or randomly changed JSON is never read past its end") {
    const std::string text = R"({"a":[1,2,{"b":"c\u00e9"}],"d":{"e":null,"f":-1.5e3}})";
    for (std::size_t n = 0; n < text.size(); ++n) CHECK(read_error_of(text.substr(0, n)) != "none");
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
        std::string changed = text;
        for (int k = 0; k < 3; ++k) changed[random() % changed.size()] = static_cast<char>(random() % 256);
        read_error_of(changed);
    }
}

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
    void operator()(const char* name, weir::task_samples& samples) {
        (*this)(name, samples.tasks);
        samples.one_in = std::uint64_t{1} << (random_() % 40);
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
    CHECK(
        in(R"("description":{"stages":[{"output_order":"sorted"}]})").find("neither input nor completion") !=
        std::string::npos);
    CHECK(in(R"("description":{"stages":[{"output_order":"completion"}]})") == "none");
    const auto histogram = [&in](const std::string& members) {
        return in(R"("total":{"stages":[{"task_times":{)" + members + "}}]}");
    };
    CHECK(histogram(R"("count":1,"buckets":[[65,1]])").find("these are not the buckets") !=
          std::string::npos);
    CHECK(histogram(R"("count":1,"buckets":[[5]])").find("isn't [duration, count]") != std::string::npos);
    CHECK(histogram(R"("count":1,"buckets":[[5,2]])").find("more than was counted") != std::string::npos);
    const auto samples = [&in](const std::string& members) {
        return in(R"("total":{"consumer":{)" + members + "}}");
    };
    CHECK(samples(R"("one_in":2,"tasks":[[1,2,3,4,5,6,false]])") == "none");
    CHECK(samples(R"("one_in":2,"tasks":[[1,2,3,4,5,6]])")
              .find("an invocation isn't [at, run, await, runnable, taken, results, failed]") !=
          std::string::npos);
    CHECK(samples(R"("one_in":2,"tasks":[[1,2,3,4,5,6,false,8]])").find("an invocation isn't") !=
          std::string::npos);
    CHECK(samples(R"("one_in":2,"tasks":[[1,-2,3,4,5,6,false]])").find("a time is negative") !=
          std::string::npos);
    CHECK(samples(R"("one_in":2,"tasks":[7])").find("there should be an array") != std::string::npos);
    CHECK(samples(R"("one_in":0)").find("should be of one in a power of two") != std::string::npos);
    CHECK(samples(R"("one_in":3)").find("should be of one in a power of two") != std::string::npos);
}

TEST_CASE("a run is stored in a file and read again") {
    const auto folder = std::filesystem::temp_directory_path().string();
    const std::string path = folder + "/weir l\u00e4ufe test.json";  // UTF-8, on Windows, too
    const run_record run = filled(3);
    weir::write_json(path, run);
    CHECK(weir::read_run(path) == run);
    weir::detail::output_file::replace(path, "");
    CHECK_THROWS_WITH(weir::read_run(path), "weir: this is no JSON: at byte 0 a value is missing");
    std::filesystem::remove(std::filesystem::path(std::u8string(path.begin(), path.end())));
    CHECK_THROWS_AS(weir::read_run(path), std::system_error);
    CHECK_THROWS_AS(weir::read_run(folder), std::system_error);
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

TEST_CASE("the JSON of a run has its verdict, which is not read back") {
    run_record run;
    run.total = explained_runs::limited_by("slow");
    const std::string text = json_text(run);
    CHECK_THAT(
        text,
        Catch::Matchers::StartsWith(
            R"({"schema":"weir.run/1","verdict":{"cause":"stage","stage":"slow","lost":0.5000,"gain":1.0000,)"
            R"("change":{"stage":"slow","concurrency":4},"sure":1.00,"sentence":"stage 'slow' is the bottleneck: )"));
    CHECK(weir::run_from_json(text) == run);
    run.total = explained_runs::limited_by("slow", 19);
    CHECK(json_text(run).find("verdict") == std::string::npos);
}
