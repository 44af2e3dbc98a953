#include "../../../examples/simulate/explained.hpp"

#include "../../../examples/simulate/explanation_text.hpp"
#include "../../../examples/simulate/request.hpp"
#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/report/describe.hpp>
#include <weir/report/html.hpp>
#include <weir/report/json.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

using nlohmann::json;
using nlohmann::ordered_json;
using simulate::explanation;
using simulate::request;
using namespace std::chrono_literals;

namespace {

// 500, 100 and 250 items per second; the consumer takes 1000.
const std::string three_stages = R"(
    "stages": [{"op": "pipe", "name": "s1", "service_ns": [2000000]},
               {"op": "pipe", "name": "s2", "concurrency": 2, "service_ns": [20000000]},
               {"op": "pipe", "name": "s3", "service_ns": [4000000]}],
    "foreground_ns": [1000000])";

std::string document(const std::string& spec, const std::string& changes) {
    return R"({"spec": {)" + spec + R"(}, "changes": [)" + changes + "]}";
}

explanation answer_to(const std::string& text) {
    const std::vector<request> all = simulate::parse_requests(text, "f.json");
    REQUIRE(all.size() == 1);
    return simulate::explained(all[0]);
}

ordered_json object_for(const std::string& text) { return simulate::to_json(answer_to(text)); }

double rate_with(const std::string& spec, const std::string& change) {
    const explanation all = answer_to(document(spec, change));
    CHECK(all.refused.empty());
    REQUIRE(all.predictions.size() == 1);
    CHECK(all.predictions[0].low <= all.predictions[0].rate);
    CHECK(all.predictions[0].high >= all.predictions[0].rate);
    return all.predictions[0].rate;
}

std::string cause_of(const std::string& spec) {
    const explanation all = answer_to("{" + spec + "}");
    return std::string(weir::name_of(all.why.cause)) + " " + all.why.stage;
}

std::string message_of(const std::string& text, const std::string& file = "f.json") {
    try {
        static_cast<void>(simulate::parse_requests(text, file));
    } catch (const simulate::spec_error& e) {
        return e.what();
    }
    return "no mistake found";
}

std::string message_for(const std::string& change) { return message_of(document(three_stages, change)); }

// A run of a source, two stages that take 2 and 20 ms, of which the second has two slots, and a sink, as JSON.
std::string stored_run(int items) {
    const auto wait = [](std::chrono::milliseconds time) {
        return [time](int i) -> weir::task<int> {
            co_await weir::sleep_for(time);
            co_return i;
        };
    };
    weir::virtual_time time;
    const auto p = weir::source(std::views::iota(0, items)) | weir::pipe(wait(2ms), {.name = "fast"}) |
                   weir::pipe(wait(20ms), {.name = "slow", .concurrency = 2}) | weir::sink();
    const auto recorder = std::make_shared<weir::run_recorder>("stored", weir::describe(p));
    CHECK(items::take_all(p.start(time, {.reports = {recorder}})).size() == static_cast<std::size_t>(items));
    return weir::json_text(recorder->record());
}

}  // namespace

TEST_CASE("the answer is an object with the cause, and the given changes in their order") {
    const std::string changes = R"({"consumer_ms": 20}, {"stage": "s2", "concurrency": 4})";
    CHECK(
        object_for(document(three_stages, changes)).dump() ==
        R"({"cause":"stage","stage":"s2","sure":1.0,"predictions":[)"
        R"({"change":{"consumer_ms":20},"rate":50.0,"low":50.0,"high":50.0},)"
        R"({"change":{"concurrency":4,"stage":"s2"},"rate":200.0,"low":200.0,"high":200.0}],"refused":null})");
}

TEST_CASE("without changes the usual ones are predicted, the greatest gain first, and each can be given") {
    const std::string batches = R"("stages": [
        {"op": "pipe", "name": "s1", "service_ns": [2000000, 3000000], "concurrency": 2, "output_order": "input"},
        {"op": "aggregate", "size": 4}, {"op": "pipe", "service_ns": [9000000], "computes": true}],
        "workers": 1, "source_ns": [1000], "foreground_ns": [1000000])";
    const ordered_json all = object_for("{" + batches + "}");
    CHECK(all.at("predictions").size() > 10);
    double last = 1e9;
    std::string changes;
    for (const ordered_json& each : all.at("predictions")) {
        const bool is_batch = each.at("change").contains("batch");
        if (!is_batch) CHECK(each.at("rate") <= last);
        if (!is_batch) last = each.at("rate");
        changes += (changes.empty() ? "" : ",") + each.at("change").dump();
    }
    const ordered_json again = object_for(document(batches, changes));
    CHECK(json::parse(again.dump()) == json::parse(all.dump()));
}

TEST_CASE("each kind of change gives the rate that follows from the times") {
    CHECK(rate_with(three_stages, R"({"stage": "s1", "faster": 0.5})") == 100);
    CHECK(rate_with(three_stages, R"({"stage": "s2", "faster": 0.5})") == 200);
    CHECK(rate_with(three_stages, R"({"stage": "s2", "faster": 0.9})") == 250);  // that of s3
    CHECK(rate_with(three_stages, R"({"stage": "s2", "concurrency": 1})") == 50);
    CHECK(rate_with(three_stages, R"({"stage": "s2", "concurrency": 20})") == 250);
    CHECK(rate_with(three_stages, R"({"stage": "s1", "capacity": 8})") == 100);
    CHECK(rate_with(three_stages, R"({"capacity": 8})") == 100);
    CHECK(rate_with(three_stages, R"({"consumer_ms": 0})") == 100);
    CHECK(rate_with(three_stages, R"({"consumer_ms": 12.5})") == 80);
    CHECK(rate_with(three_stages, R"({"source": "unlimited"})") == 100);
    const std::string batches = R"("stages": [{"op": "pipe", "service_ns": [10000000]},
        {"op": "aggregate", "size": 4}], "foreground_ns": [0])";
    CHECK(rate_with(batches, R"({"stage": "aggregate", "batch": 2})") == 50);
    CHECK(rate_with(batches, R"({"consumer_ms": 100})") == 10);  // which takes no time today
    const std::string slow_source = R"("source_ns": [40000000], )" + three_stages;
    CHECK(rate_with(slow_source, R"({"stage": "s2", "concurrency": 4})") == 25);
    CHECK(rate_with(slow_source, R"({"source": "unlimited"})") == 100);
    const std::string computing = R"("stages": [{"op": "pipe", "name": "c", "concurrency": 8, "run_ms": 10}],
        "workers": 2, "foreground_ns": [1000])";
    CHECK(rate_with(computing, R"({"stage": "c", "concurrency": 4})") == 200);
    CHECK(rate_with(computing, R"({"workers": 5})") == 500);
    // One result of four takes as long as the others together; the queue has one place.
    const std::string in_order = R"("stages": [{"op": "pipe", "name": "o", "concurrency": 2, "capacity": 1,
        "output_order": "input", "service_ns": [30000000, 10000000, 10000000, 10000000]}], "foreground_ns": [0])";
    const double ordered = rate_with(in_order, R"({"stage": "o", "capacity": 1})");
    CHECK(rate_with(in_order, R"({"stage": "o", "output_order": "completion"})") > 1.1 * ordered);
}

TEST_CASE("with a change by which no time passes, or by which too few items arrive, there is no rate") {
    const auto rates = [](const std::string& spec, const std::string& change) {
        const ordered_json first = object_for(document(spec, change)).at("predictions").at(0);
        CHECK(first.at("low").is_null() == first.at("rate").is_null());
        CHECK(first.at("high").is_null() == first.at("rate").is_null());
        return first.at("rate");
    };
    const std::string one =
        R"("stages": [{"op": "pipe", "name": "s", "service_ns": [10]}], "foreground_ns": [0])";
    CHECK(rates(one, R"({"stage": "s", "faster": 1})").is_null());
    CHECK(rates(one, R"({"stage": "s", "faster": 0.9})") == 1e9);
    const std::string drawn = R"("stages": [{"op": "pipe", "times": {"kind": "exp", "mean_ms": 1}},
        {"op": "aggregate", "size": 4}], "foreground_ns": [0])";
    CHECK(rates(drawn, R"({"stage": "pipe", "faster": 1})").is_null());
    // Of the usual changes, twice the size of batches leaves one of the two batches.
    const ordered_json two = object_for(R"({"stages": [{"op": "pipe", "name": "a", "service_ns": [2000000]},
        {"op": "aggregate", "size": 4}, {"op": "pipe", "service_ns": [9000000]}], "foreground_ns": [1], "items": 8})");
    CHECK(two.at("cause") == "stage");
    const ordered_json& last = two.at("predictions").back();
    CHECK(last.at("change").at("batch") == 8);
    CHECK(last.at("rate").is_null());
}

TEST_CASE("a run with a number of items is predicted as a whole") {
    // The consumer gets ten items, one each 20 ms, from the first one on.
    const std::string two = R"("stages": [{"op": "pipe", "name": "s", "service_ns": [10000000]}],
        "items": 10, "foreground_ns": [20000000])";
    CHECK(rate_with(two, R"({"consumer_ms": 0})") == 100);
    CHECK(rate_with(two, R"({"stage": "s", "concurrency": 2})") == 50);
}

TEST_CASE("with other batches, too, the rate is measured after the first tenth of the items") {
    // Of 100 batches of one, the first ten are skipped, which take longer. Today there are ten batches.
    std::string times = "9000000";
    for (int i = 1; i < 100; ++i) times += i < 10 ? ", 9000000" : ", 1000000";
    const std::string spec = R"("stages": [{"op": "pipe", "service_ns": [)" + times +
                             R"(]}, {"op": "aggregate", "size": 10}], "items": 100, "foreground_ns": [0])";
    CHECK(rate_with(spec, R"({"stage": "aggregate", "batch": 1})") == 1000);
    CHECK(rate_with(spec, R"({"stage": "pipe", "concurrency": 1})") == 100);
}

TEST_CASE("the cause is the change that brings most") {
    const auto stages = [](const std::string& first, const std::string& second) {
        return R"("stages": [{"op": "pipe", "name": "a", )" + first + R"(}, {"op": "pipe", "name": "b", )" +
               second + "}], ";
    };
    const std::string even = stages(R"("service_ns": [10000000])", R"("service_ns": [10000000])");
    CHECK(cause_of(three_stages) == "stage s2");
    CHECK(cause_of(even + R"("foreground_ns": [10000000])") == "balanced ");
    CHECK(cause_of(even + R"("foreground_ns": [30000000])") == "consumer ");
    CHECK(cause_of(even + R"("source_ns": [30000000], "foreground_ns": [0])") == "source ");
    CHECK(cause_of(stages(R"("concurrency": 8, "run_ms": 10)", R"("concurrency": 8, "run_ms": 10)") +
                   R"("workers": 2, "foreground_ns": [0])") == "workers ");
    // 16 short times, then 16 long ones, and the other way round.
    const auto bursts = [](const std::string& early, const std::string& late) {
        std::string times;
        for (int i = 0; i < 32; ++i) times += (i == 0 ? "" : ", ") + (i < 16 ? early : late);
        return "\"service_ns\": [" + times + "]";
    };
    const std::string little_room = cause_of(
        stages(bursts("1000000", "9000000"), bursts("9000000", "1000000")) + R"("foreground_ns": [0])");
    CHECK(little_room.starts_with("room "));
}

TEST_CASE("a pipeline that can't be predicted is refused with a reason, and its cause is unsure") {
    const auto refused = [](const std::string& text) {
        const ordered_json all = object_for(text);
        CHECK(all.at("cause") == "unsure");
        CHECK(all.at("stage") == nullptr);
        CHECK(all.at("sure") == 0);
        CHECK(all.at("predictions").empty());
        return all.at("refused").get<std::string>();
    };
    const auto pipe = [](const std::string& fields, const std::string& more) {
        return R"({"stages": [{"op": "pipe", "service_ns": [1000], )" + fields +
               R"(}], "foreground_ns": [9])" + more + "}";
    };
    CHECK(refused(R"({"merge": {"inputs": [{"items": 9}, {"items": 9}]}, "foreground_ns": [1],
                      "changes": [{"stage": "x", "concurrency": 2}]})") ==
          "a pipeline with a merge can't be predicted");
    CHECK(
        refused(
            R"({"stages": [{"op": "route", "to": [0], "branches": [{}]}], "items": 9, "foreground_ns": [1]})") ==
        "a pipeline with a route can't be predicted");
    CHECK(refused(pipe(R"("name": "p")", R"(, "items": 9, "epochs": 2)")) ==
          "a pipeline with epochs can't be predicted");
    CHECK(refused(pipe(R"("fails": [3])", R"(, "items": 9)")) ==
          "the failures of stage 'pipe' can't be predicted");
    CHECK(refused(pipe(R"("fails_every": 3)", "")) ==
          "the failures of stage 'pipe' stop the run ('max_failures')");
    CHECK(refused(pipe(R"("fails_every": 3, "max_failures": 0.3)", "")) ==
          "the failures of stage 'pipe' stop the run ('max_failures')");
    CHECK(refused(pipe(R"("fails_every": 1, "max_failures": "unlimited")", "")) ==
          "each item of stage 'pipe' fails");
    CHECK(refused(pipe(R"("name": "p")", R"(, "items": 1)")) ==
          "too few items: the consumer gets 1, and a rate needs at least 2");
    CHECK_THAT(refused(stored_run(10)),
               Catch::Matchers::StartsWith("stage 'src' has only 10 recorded invocations; "));
    CHECK_THAT(refused(stored_run(1)),
               Catch::Matchers::StartsWith("stage 'src' has only 1 recorded invocation; "));
}

TEST_CASE("failures that are tolerated are predicted") {
    const std::string failing =
        R"("stages": [{"op": "pipe", "name": "p", "service_ns": [10000000], "fails_every": 4,
        "max_failures": "unlimited"}], "foreground_ns": [0])";
    CHECK(rate_with(failing, R"({"stage": "p", "concurrency": 2})") == Catch::Approx(150).epsilon(0.002));
}

TEST_CASE("each document of a file has an answer") {
    const std::string two = "{" + three_stages + "}";
    CHECK(simulate::parse_requests("[" + two + ", " + two + "]", "f.json").size() == 2);
}

TEST_CASE("stages of one name are told apart by numbers") {
    const std::string twice = R"("stages": [{"op": "pipe", "service_ns": [5000000]},
        {"op": "pipe", "service_ns": [10000000]}], "foreground_ns": [0])";
    CHECK(cause_of(twice) == "stage pipe#2");
    CHECK(rate_with(twice, R"({"stage": "pipe#2", "concurrency": 4})") == 200);
}

TEST_CASE("times from a distribution have an interval around the rate") {
    const explanation all = answer_to(document(R"("stages": [
        {"op": "pipe", "name": "d", "times": {"kind": "exp", "mean_ms": 10, "seed": 3}}], "foreground_ns": [0])",
                                               R"({"stage": "d", "faster": 0.5})"));
    REQUIRE(all.predictions.size() == 1);
    CHECK(all.today.rate == Catch::Approx(100).epsilon(0.01));
    CHECK(all.predictions[0].rate == Catch::Approx(200).epsilon(0.01));
    CHECK(all.predictions[0].low < all.predictions[0].rate);
    CHECK(all.predictions[0].high > all.predictions[0].rate);
    CHECK(all.predictions[0].high < 1.1 * all.predictions[0].low);
}

TEST_CASE("rates of batches whose times are drawn are exact to a percent") {
    const std::string batches =
        R"("stages": [{"op": "pipe", "service_ns": [1000]}, {"op": "aggregate", "size": 16},
        {"op": "pipe", "name": "b", "times": {"kind": "exp", "mean_ms": 10}}], "foreground_ns": [0])";
    CHECK(rate_with(batches, R"({"stage": "b", "capacity": 2})") == Catch::Approx(100).epsilon(0.01));
}

TEST_CASE("batches of times in turn are simulated for as many items as others") {
    std::string times = "9000000";
    for (int i = 1; i < 300; ++i) times += i < 250 ? ", 1000000" : ", 5000000";
    const std::string batches =
        R"("stages": [{"op": "pipe", "service_ns": [1000]}, {"op": "aggregate", "size": 16},
        {"op": "pipe", "name": "b", "service_ns": [)" +
        times + "]}], \"foreground_ns\": [0]";
    const double mean = (9 + 249 * 1.0 + 50 * 5.0) / 300;  // ms
    CHECK(rate_with(batches, R"({"stage": "b", "capacity": 2})") ==
          Catch::Approx(1000 / mean).epsilon(0.001));
}

TEST_CASE("of batches, a file with many items is simulated in part") {
    const auto lengths = [](const std::string& times) {
        const std::string text = R"({"items": 1000000000, "stages": [{"op": "pipe", )" + times +
                                 R"(}, {"op": "aggregate", "size": 1000}], "foreground_ns": [0]})";
        return simulate::run_length(simulate::parse_requests(text, "f.json").at(0));
    };
    const simulate::run_lengths in_turn = lengths(R"("service_ns": [1000])");
    CHECK(in_turn.repeated.items == 1'000);
    CHECK(in_turn.repeated.resamples == 0);
    CHECK(!in_turn.longer);
    const simulate::run_lengths drawn = lengths(R"("times": {"kind": "exp", "mean_ms": 1})");
    CHECK(drawn.repeated.items == 20);
    REQUIRE(drawn.longer);
    CHECK(drawn.longer->items == 1'000);
    CHECK(drawn.longer->skipped == 100);
    // A run with fewer items is simulated as a whole.
    const std::string short_run =
        R"({"items": 64, "stages": [{"op": "pipe", "times": {"kind": "exp", "mean_ms": 1}},
        {"op": "aggregate", "size": 2}], "foreground_ns": [0]})";
    const simulate::run_lengths whole =
        simulate::run_length(simulate::parse_requests(short_run, "f.json").at(0));
    CHECK(whole.repeated.skipped == 3);
    CHECK(!whole.longer);
}

TEST_CASE("a stored run is explained, and may have changes") {
    std::string run = stored_run(300);
    const explanation all = answer_to(run);
    CHECK(all.refused.empty());
    CHECK((all.why.cause == weir::limit_cause::stage));
    CHECK(all.why.stage == "slow");
    CHECK(all.today.rate == Catch::Approx(100).epsilon(0.01));
    run.insert(1, R"("changes": [{"stage": "slow", "concurrency": 4}, {"workers": 1}],)");
    const explanation changed = answer_to(run);
    REQUIRE(changed.predictions.size() == 2);
    CHECK(changed.predictions[0].rate == Catch::Approx(200).epsilon(0.01));
}

TEST_CASE("a wrong change is refused with a sentence that names it") {
    const std::string good = "no mistake found";
    CHECK(message_for(R"({"stage": "s2", "concurrency": 4})") == good);
    CHECK(message_for("") == good);
    CHECK(message_for(R"({"stage": "s4", "concurrency": 4})") ==
          "f.json: changes[0].stage: no stage is called 's4'; there are: src, s1, s2, s3, sink, consumer");
    CHECK(message_for(R"({"stage": "s2", "concurrency": 4}, {"stage": "s2", "concurrency": -4})") ==
          "f.json: changes[1].concurrency: must be at least 1 (is -4)");
    CHECK(message_for(R"({"stage": "s2", "capacity": 0})") ==
          "f.json: changes[0].capacity: must be at least 1 (is 0)");
    CHECK(message_for(R"({"stage": "s2", "faster": -0.5})") ==
          "f.json: changes[0].faster: must be a number from 0.0 to 1.0 (is -0.5)");
    CHECK(message_for(R"({"consumer_ms": -1})") ==
          "f.json: changes[0].consumer_ms: must be a number from 0.0 to 1000000.0 (is -1)");
    CHECK(message_for(R"({"source": "fast"})") ==
          "f.json: changes[0].source: must be one of \"unlimited\" (is \"fast\")");
    CHECK(message_for(R"({"stage": "s2", "output_order": "input"})") ==
          "f.json: changes[0].output_order: must be one of \"completion\" (is \"input\")");
    CHECK(message_for(R"({"workers": 2})") ==
          "f.json: changes[0].workers: this pipeline has no 'workers' to change");
    CHECK(message_for(R"({"stage": "s2", "batch": 2})") ==
          "f.json: changes[0]: stage 's2' has no batch size to change");
    CHECK(message_for(R"({"stage": "src", "concurrency": 2})") ==
          "f.json: changes[0]: stage 'src' has no slots to change");
    CHECK(message_for(R"({"stage": "consumer", "capacity": 2})") ==
          "f.json: changes[0].stage: no queue is behind the consumer");
    CHECK(message_for(R"({"stage": "s2"})") ==
          "f.json: changes[0]: changes nothing: give one of faster, concurrency, capacity, batch, "
          "output_order, "
          "workers, consumer_ms, source, max_bytes");
    CHECK(message_for(R"({"stage": "s2", "faster": 0.5, "capacity": 3})") ==
          "f.json: changes[0].capacity: is a second change beside 'faster': give each an entry of its own");
    CHECK(message_for(R"({"concurrency": 2})") == "f.json: changes[0].stage: is missing");
    CHECK(message_for(R"({"stage": "", "concurrency": 2})") == "f.json: changes[0].stage: must not be empty");
    CHECK(message_for(R"({"stage": "s2", "consumer_ms": 2})") ==
          "f.json: changes[0].stage: is not for 'consumer_ms', which has no stage");
    CHECK(message_for(R"({"stage": "s2", "slots": 2})")
              .starts_with("f.json: changes[0].slots: unknown field; "));
    CHECK(message_for("3") == "f.json: changes[0]: must be an object (is 3)");
    CHECK(message_of("{" + three_stages + R"(, "changes": 3})") == "f.json: changes: must be a list (is 3)");
    CHECK(message_of(R"({"spec": {)" + three_stages + R"(, "changes": [3]}})") ==
          "f.json: spec.changes[0]: must be an object (is 3)");
    const std::string one_line =
        R"({"spec": {"foreground_ns": [1], "stages": [{"op": "pipe", "service_ns": [1]}]})";
    CHECK(message_of(one_line + "}\n" + one_line + R"(, "changes": [{"workers": 0}]})") ==
          "f.json: line 2: changes[0].workers: must be at least 1 (is 0)");
}

TEST_CASE("a truncated or wrong file is refused with a sentence") {
    const std::string run = stored_run(3);
    CHECK(message_of(run) == "no mistake found");
    CHECK(message_of(run.substr(0, run.size() / 2)).starts_with("f.json: line 1, column "));
    CHECK(message_of(document(three_stages, "").substr(0, 90)).starts_with("f.json: line 3, column "));
    CHECK(message_of("") == "f.json: is empty; it must hold at least one spec");
    CHECK(message_of(R"({"schema": "weir.run/1", "total": 4})") ==
          "f.json: this JSON is no run of a pipeline: at byte 34 there should be an object");
    CHECK(message_of(R"({"schema": "weir.run/7"})")
              .starts_with("f.json: this run is written in schema weir.run/7, "));
    CHECK(message_of(R"({"schema": 1})") ==
          "f.json: this JSON is no run of a pipeline: at byte 0 its \"schema\" is not that of weir.run");
}
