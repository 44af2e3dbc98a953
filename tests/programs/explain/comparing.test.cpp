#include "../../../examples/simulate/comparing_program.hpp"

#include "support/catch.hpp"
#include "support/folder.hpp"
#include "support/printed.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/report/html.hpp>
#include <weir/report/json.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

using namespace std::chrono_literals;

using printed::captured;
using printed::outcome;

namespace {

outcome compare(std::vector<std::string> arguments) {
    std::vector<const char*> words{"diff"};
    for (const std::string& each : arguments) words.push_back(each.c_str());
    const captured out(std::cout);
    const captured err(std::cerr);
    const int status = simulate::comparing_program(static_cast<int>(words.size()), words.data());
    return {status, out.text(), err.text()};
}

std::string spec(int ns, int slots = 1) {
    return R"({"name": "n", "foreground_ns": [5000000], "stages": [{"op": "pipe", "name": "s", "service_ns": [)" +
           std::to_string(ns) + R"(], "concurrency": )" + std::to_string(slots) + "}]}";
}

// Stores a run of 200 items.
void store(const std::string& path, weir::duration time) {
    weir::virtual_time clock;
    const auto recorder = std::make_shared<weir::run_recorder>("stored", weir::pipeline_description());
    auto run = (weir::source(std::views::iota(0, 200)) |
                weir::pipe(
                    [time](int n) -> weir::task<int> {
                        co_await weir::sleep_for(time);
                        co_return n;
                    },
                    {.name = "s"}) |
                weir::sink(3))
                   .start(clock, {.reports = {recorder}});
    static_cast<void>(run.drain());
    weir::write_json(path, *recorder);
}

}  // namespace

TEST_CASE("two specs are compared: their times are exact") {
    const files::folder here("weir_diff_test");
    const std::string a = here / "a.json", b = here / "b.json";
    std::ofstream(a) << "[" << spec(10'000'000) << ", " << spec(10'000'000) << "]";
    std::ofstream(b) << "[" << spec(11'000'000) << ", " << spec(10'000'000, 2) << "]";
    const outcome text = compare({a, b});
    CHECK(text.status == 0);
    CHECK(text.out.starts_with(
        "n: 's' takes 10.0 % longer (+10.0 % to +10.0 %): 11.0 ms instead of 10.0 ms; the "
        "rate is "));
    CHECK(text.out.find("\nn: concurrency of s: 1 -> 2; the rate is 200 /s instead of 100 /s (+100.0 %)\n") !=
          std::string::npos);
    const outcome json = compare({"--json", a, b});
    CHECK(json.status == 0);
    std::istringstream lines(json.out);
    std::string line;
    std::getline(lines, line);
    const nlohmann::json first = nlohmann::json::parse(line);
    CHECK(first["changed"] == true);
    CHECK(first["refused"].is_null());
    CHECK(first["stages"][0]["stage"] == "s");
    CHECK(first["stages"][0]["changed"] == true);
    CHECK(first["stages"][0]["before_ns"] == 10'000'000);
    CHECK(first["stages"][0]["change"].get<double>() == Approx(0.1));
    CHECK(first["rate"]["changed"] == true);
    std::getline(lines, line);
    CHECK(nlohmann::json::parse(line)["settings"][0] == "concurrency of s: 1 -> 2");
}

TEST_CASE("verdicts and rates of specs are those of explain, also of a few items") {
    const files::folder here("weir_diff_test");
    const std::string a = here / "a.json", b = here / "b.json";
    const auto few = [](const std::string& items) {
        return R"({"items": )" + items + R"(, "foreground_ns": [5000000], "stages": [
            {"op": "pipe", "name": "s", "service_ns": [10000000]}]})";
    };
    std::ofstream(a) << few("1");
    std::ofstream(b) << few("10");
    const nlohmann::json found = nlohmann::json::parse(compare({"--json", a, b}).out);
    CHECK(found["verdict"]["before"] ==
          "not sure why it is not faster: too few items: the consumer gets 1, and a rate needs at least 2");
    CHECK(found["verdict"]["after"].get<std::string>().starts_with("stage 's' is the bottleneck"));
    CHECK(found["rate"]["after"] == 100);
}

TEST_CASE("two stored runs are compared by their statistics") {
    const files::folder here("weir_diff_test");
    const std::string a = here / "a.json", b = here / "b.json";
    store(a, 10ms);
    store(b, 11ms);
    CHECK(compare({a, a}).out.starts_with("stored: no difference was seen\n"));
    CHECK(compare({a, b}).out.starts_with("stored: 's' takes 10.0 % longer ("));
}

TEST_CASE("what can't be compared is refused: other numbers of documents, a run and a spec, a missing file") {
    const files::folder here("weir_diff_test");
    const std::string one = here / "one.json", two = here / "two.json", run = here / "run.json";
    std::ofstream(one) << spec(10'000'000);
    std::ofstream(two) << "[" << spec(10'000'000) << ", " << spec(10'000'000) << "]";
    store(run, 10ms);
    const outcome uneven = compare({one, two});
    CHECK(uneven.status == 2);
    CHECK(uneven.err == "diff: " + two + ": has 2 documents, and " + one + " has 1\n");
    const outcome mixed = compare({"--json", one, run});
    CHECK(mixed.status == 0);
    CHECK(nlohmann::json::parse(mixed.out)["refused"] == "one is a stored run, and the other one a spec");
    CHECK(compare({one, here / "none.json"}).status == 2);
    CHECK(compare({one}).err.starts_with("diff: needs two FILEs\n"));
    CHECK(compare({one, one, one}).err.starts_with("diff: takes two FILE, but got '"));
    std::ifstream whole(run);
    std::string text(std::istreambuf_iterator<char>(whole), {});
    const std::string capacity = "\"capacity\":";
    text.replace(text.find(capacity), capacity.size() + 1, capacity + "9223372036854775808");
    std::ofstream(two) << text;
    const outcome negative = compare({"--json", run, two});
    CHECK(negative.status == 0);
    CHECK(nlohmann::json::parse(negative.out)["refused"].is_null());  // times can be compared
    CHECK(negative.out.find("stage 'src' can't be predicted: its capacity is negative") != std::string::npos);
    std::ofstream(two) << R"({"schema": "weir.run/1", "name": )";
    const outcome cut = compare({one, two});
    CHECK(cut.status == 2);
    CHECK(cut.err.starts_with("diff: " + two + ": "));
}
