#include <weir/report/html.hpp>

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/report/describe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "support/catch.hpp"
#include "support/explained_runs.hpp"
#include "support/items.hpp"

using items::take_all;
using namespace std::chrono_literals;
using weir::html_text;
using weir::run_record;
using weir::run_recorder;
using weir::task;
using weir::virtual_time;

// What the pages of all kinds of runs show, tests/browser/ asks; here is what needs neither a browser nor a parser.
namespace {

auto loader(int n) {
    const auto decode = [](int i) -> task<int> {
        co_await weir::sleep_for(10ms);
        if (i == 5) throw std::runtime_error("item <5> is broken");
        co_return i;
    };
    return weir::source(std::views::iota(0, n)) | weir::pipe(decode, {.name = "decode <&>"}) | weir::sink();
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
}

run_record recorded(int n) {
    weir::virtual_time time;
    const auto pipeline = loader(n);
    const auto recorder = std::make_shared<weir::run_recorder>("a \"run\"", weir::describe(pipeline));
    static_cast<void>(take_all(
        pipeline.start(time, {.max_failures = weir::unlimited, .lap = 50ms, .reports = {recorder}})));
    return recorder->record();
}

}  // namespace

TEST_CASE("a page has six plots, whose lines have the figures of each lap") {
    const std::string page = html_text(recorded(40));
    CHECK(page.starts_with("<!DOCTYPE html>"));
    CHECK(count(page, "<svg class=\"plot\"") == 6);
    CHECK(count(page, "<svg class=\"graph\"") == 1);
    CHECK(page.find("data-v=\"10,10,10,10,10,10,10,10\"") != std::string::npos);  // the average time, ms
    // Of tasks: what ends with a lap counts for the next one, and for the last one what ends with the run.
    CHECK(page.find("data-v=\"4,5,5,5,5,5,5,6\"") != std::string::npos);
    CHECK(page.find("data-v=\"0,0,0,0,0,0,0,0\"") != std::string::npos);  // the sink's readiness
}

TEST_CASE("the point of a lap is in the middle of the lap, and a flat stretch is drawn by its two ends") {
    const std::string page = html_text(recorded(40));
    // Of 400 ms, from 170 to 1410.
    CHECK(count(page, " data-x=\"248,403,558,713,868,1023,1178,1333\"") == 6);
    CHECK(page.find("data-v=\"4,5,5,5,5,5,5,6\"><title>decode &lt;&amp;&gt;</title>"
                    "<path d=\"M248 355 403 289 1178 289 1333 222\"/>") != std::string::npos);
}

TEST_CASE("a page explains the states of slots, and lists the stages with failures") {
    const std::string page = html_text(recorded(40));
    CHECK(page.find("<ul class=\"states soft\" aria-label=\"The states of a stage's slots\">\n<li>") !=
          std::string::npos);
    CHECK(page.find("<tbody><tr><th>decode &lt;&amp;&gt;</th><td>1</td><td>40</td><td>2.5 %</td>"
                    "<td>10.0 ms</td><td>2.5 %</td></tr>\n</tbody>") != std::string::npos);
}

TEST_CASE("a page says which stages keep the order of their input") {
    const auto items_of = [](weir::output_order order) {
        weir::virtual_time time;
        const auto pipeline =
            weir::source({1}) | weir::pipe([](int n) { return n; }, {.output_order = order}) | weir::sink();
        const auto recorder = std::make_shared<weir::run_recorder>("", weir::describe(pipeline));
        static_cast<void>(take_all(pipeline.start(time, {.reports = {recorder}})));
        return html_text(recorder->record());
    };
    CHECK(count(items_of(weir::output_order::input), "int → int, in order</td>") == 1);
    CHECK(count(items_of(weir::output_order::completion), ", in order</td>") == 0);
}

TEST_CASE("a graph of more than 16 rows scrolls by itself") {
    const auto page_of = [](std::size_t stages) {
        run_record run;
        run.total.stages.resize(stages);
        run.total.channels.resize(stages);
        for (std::size_t i = 0; i < stages; ++i) {
            if (i > 0) run.total.stages[i].inputs = {i - 1};
            run.total.stages[i].outputs = {i};
        }
        return html_text(run);
    };
    // Below the stages is the program that takes what they give.
    CHECK(count(page_of(15), "class=\"scroll tall\"") == 0);
    CHECK(count(page_of(16), "class=\"scroll tall\"") == 1);
}

TEST_CASE("names and messages are text on the page, never markup") {
    const std::string page = html_text(recorded(40));
    CHECK(page.find("<title>a &quot;run&quot;</title>") != std::string::npos);
    CHECK(page.find("decode &lt;&amp;&gt;") != std::string::npos);
    CHECK(page.find("item &lt;5&gt; is broken") != std::string::npos);
    CHECK(page.find("decode <") == std::string::npos);
}

TEST_CASE("a page forbids loading by a policy, and refers to nothing that could be loaded") {
    const std::string page = html_text(recorded(40));
    CHECK(page.find("default-src 'none'") != std::string::npos);
    // But for the names of XML's vocabularies.
    CHECK(count(page, "://") == count(page, "http://www.w3.org/"));
    CHECK(count(page, "src=") == 0);
}

TEST_CASE("if there are many laps, a point stands for several, and the page says so") {
    run_record run = recorded(40);
    const auto laps = run.laps;
    while (run.laps.size() < 1000) run.laps.insert(run.laps.end(), laps.begin(), laps.begin() + 8);
    const std::string page = html_text(run);
    CHECK(page.find("The record has 1000 laps; drawn are 200 points, each of 5 laps together") !=
          std::string::npos);
    CHECK(page.size() < 500'000);
}

TEST_CASE("a run without laps, and an empty run, have pages") {
    run_record run = recorded(40);
    run.laps.clear();
    CHECK(html_text(run).find("This run has no laps") != std::string::npos);
    const std::string nothing = html_text({});
    CHECK(nothing.find("no stages on record") != std::string::npos);
    CHECK(nothing.find("No item failed") != std::string::npos);
}

TEST_CASE("the page of statistics alone, as of the ranks of a job, counts the failures of their stages") {
    run_record run;
    run.total = recorded(40).total;
    const std::string page = html_text(run);
    CHECK(page.find("<b>1</b> <span>items failed") != std::string::npos);
    CHECK(page.find("<p>1 item failed.</p>") != std::string::npos);
    CHECK(page.find("Failed tasks of each stage") != std::string::npos);
    CHECK(page.find("No item failed") == std::string::npos);
}

TEST_CASE("a page says when the first item came, if any, and the rate since then") {
    run_record run = recorded(4);
    run.total.first_item = {.after = 3s, .since = 2s, .num_items = 3};
    const std::string page = html_text(run);
    CHECK(page.find("<b>3.0 s</b> <span>to the first item</span>") != std::string::npos);
    CHECK(page.find("<b>1.5 /s</b> <span>items a second since then</span>") != std::string::npos);
    run.total.first_item.reset();
    CHECK(html_text(run).find("first item") == std::string::npos);
}

TEST_CASE("a page says how long a run stood still at its end") {
    run_record run = recorded(4);
    CHECK(html_text(run).find("nothing had moved") == std::string::npos);
    run.total.idle = 12s;
    CHECK(html_text(run).find("for which nothing had moved") != std::string::npos);
}

TEST_CASE("a page lists the queues in which items were discarded") {
    CHECK(html_text(recorded(40)).find("destroyed") == std::string::npos);
    weir::virtual_time time;
    const auto recorder = std::make_shared<weir::run_recorder>("stopped");
    auto run = loader(60).start(time, {.max_failures = weir::unlimited, .reports = {recorder}});
    CHECK(run.get() == 0);
    time.run_until(weir::time_point(10s));  // as far as there is room
    run.stop();
    const weir::channel_stats last = recorder->record().total.channels.back();
    REQUIRE(last.num_discarded != 0);
    const std::string page = html_text(recorder->record());
    CHECK(page.find("<caption>Items destroyed in their queue") != std::string::npos);
    CHECK(page.find("<td>" + std::to_string(last.num_discarded) + "</td><td>" + std::to_string(last.num_put) +
                    "</td><td>1</td><td>0</td>") != std::string::npos);
}

TEST_CASE("indices of queues that do not exist are ignored in the graph") {
    run_record run = recorded(40);
    run.total.stages[0].outputs = {99};
    run.total.stages[1].inputs = {99, 1, 1};
    run.total.stages[1].outputs = {0};
    run.total.channels.pop_back();
    run.failures[0].lap = 99;
    CHECK(count(html_text(run), "<svg class=\"plot\"") == 6);
}

TEST_CASE("an html_report writes the whole page when the run ends") {
    const std::string path = "weir_html_test.html";
    {
        weir::virtual_time time;
        const auto page = std::make_shared<weir::html_report>(path, "twice");
        for (int i = 0; i < 2; ++i) {
            CHECK(take_all(loader(5).start(time, {.lap = 20ms, .reports = {page}})).size() == 5);
        }
        CHECK(page->name() == path);
        std::ifstream in(path, std::ios::binary);
        CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == html_text(page->record()));
    }
    CHECK(std::remove(path.c_str()) == 0);
}

TEST_CASE("if a page can't be written, the error has the path") {
    try {
        weir::write_html("no/such/folder/run.html", {});
        FAIL("it was written");
    } catch (const std::system_error& e) {
        CHECK(std::string(e.what()).find("no/such/folder/run.html") != std::string::npos);
    }
}

TEST_CASE("the first sentence of a page is the verdict") {
    run_record run;
    run.name = "a run";
    run.total = explained_runs::limited_by("slow <&>");
    const std::string page = html_text(run);
    CHECK(page.find(
              "<h1><bdi>a run</bdi></h1>\n<p class=\"verdict\"><b>Verdict:</b> stage 'slow &lt;&amp;&gt;' is "
              "the "
              "bottleneck: it awaits 100 % of the time; slow &lt;&amp;&gt;: 4 slots instead of 2 would bring "
              "100 % more (sure: 100 %).</p>\n") != std::string::npos);
    CHECK(page.find("Look for the first stage") == std::string::npos);
    run.total = explained_runs::limited_by("slow", 19);
    const std::string other = html_text(run);
    CHECK(other.find("Verdict:") == std::string::npos);
    CHECK(other.find("Look for the first stage") != std::string::npos);
}

namespace {

auto often_failing(int n) {
    const auto decode = [](int i) -> task<int> {
        co_await weir::sleep_for(7ms);
        if (i % 5 == 3) throw std::runtime_error("item " + std::to_string(i));
        co_return i;
    };
    return weir::source(std::views::iota(0, n)) | weir::pipe(decode, {.name = "decode", .concurrency = 2}) |
           weir::sink();
}

weir::run_options with(std::shared_ptr<run_recorder> r) {
    return {.max_failures = weir::unlimited, .lap = 10ms, .reports = {std::move(r)}};
}

}  // namespace

TEST_CASE("a run is recorded with everything known, and with laps that add up to the whole") {
    virtual_time time;
    const auto p = often_failing(10);
    const auto recorder =
        std::make_shared<run_recorder>("test", weir::describe(p),
                                       weir::run_recorder_options{.settings = {{"threads", "1"}}});
    CHECK(take_all(p.start(time, with(recorder))).size() == 8);
    const run_record run = recorder->record();
    CHECK(run.name == "test");
    CHECK(run.ended);
    CHECK(run.settings.at(0).value == "1");
    CHECK(run.description == weir::describe(p));
    CHECK(run.machine == weir::this_machine());
    CHECK(run.started.size() == 20);
    CHECK(run.total.elapsed == 35ms);
    REQUIRE(run.laps.size() == 4);
    CHECK(run.laps[3].elapsed == 5ms);
    weir::pipeline_stats sum = run.laps[0];
    for (std::size_t i = 1; i < run.laps.size(); ++i) sum = weir::joined(sum, run.laps[i]);
    CHECK(sum.elapsed == run.total.elapsed);
    CHECK(sum.stages[1].num_tasks == run.total.stages[1].num_tasks);
    CHECK(sum.stages[1].times() == run.total.stages[1].times());
    CHECK(run.num_failures == 2);
    REQUIRE(run.failures.size() == 2);
    CHECK(run.failures[0].stage == "decode");
    CHECK(run.failures[0].item == 3);
    CHECK(run.failures[0].message == "item 3");
    CHECK(run.failures[0].where.find("html.test.cpp:") == 0);
    CHECK(run.failures[0].lap == 1);
    CHECK(weir::run_from_json(weir::json_text(run)) == run);
}

TEST_CASE("while a run goes on, its record has the laps that have ended, and their sum as the total") {
    virtual_time time;
    const auto p = often_failing(10);
    const auto recorder = std::make_shared<run_recorder>();
    CHECK_FALSE(recorder->record().ended);
    auto run = p.start(time, with(recorder));
    time.run_until(time.now() + 25ms);
    const run_record now = recorder->record();
    CHECK_FALSE(now.ended);
    CHECK(now.laps.size() == 2);
    CHECK(now.total.elapsed == 20ms);
    CHECK(now.total.stages.at(1).name == "decode");
}

TEST_CASE("if there are many laps, pairs of laps are joined, and nothing is lost") {
    virtual_time time;
    const auto p = often_failing(40);
    const auto recorder = std::make_shared<run_recorder>("", weir::pipeline_description(),
                                                         weir::run_recorder_options{.most_laps = 4});
    CHECK(take_all(p.start(time, with(recorder))).size() == 32);
    const run_record run = recorder->record();
    CHECK(run.laps.size() <= 5);
    weir::pipeline_stats sum = run.laps[0];
    for (std::size_t i = 1; i < run.laps.size(); ++i) sum = weir::joined(sum, run.laps[i]);
    CHECK(sum.elapsed == run.total.elapsed);
    CHECK(sum.channels[0].put_waits.buckets() == run.total.channels[0].put_waits.buckets());
    for (const auto& each : run.failures) CHECK(each.lap < run.laps.size());
}

TEST_CASE("a recorder is written as its record is, also while the run goes on") {
    const auto path = (std::filesystem::temp_directory_path() / "weir recorder test.json").string();
    const auto is_same = [&path](const run_recorder& recorder) {
        weir::write_json(path, recorder);
        return weir::read_run(path) == recorder.record();
    };
    virtual_time time;
    const auto p = often_failing(40);
    const auto recorder =
        std::make_shared<run_recorder>(R"("laps":[])", weir::describe(p),
                                       weir::run_recorder_options{.settings = {{R"("laps":[])", "{}"}}});
    CHECK(is_same(*recorder));
    auto run = p.start(time, with(recorder));
    time.run_until(time.now() + 25ms);
    CHECK(recorder->record().laps.size() == 2);
    CHECK(is_same(*recorder));
    run.stop();
    CHECK(recorder->record().ended);
    CHECK(is_same(*recorder));
    std::filesystem::remove(path);
}

TEST_CASE("a record and its page say why the run ended, if that is known") {
    virtual_time time;
    const auto p = often_failing(10);
    const auto recorder = std::make_shared<run_recorder>();
    static_cast<void>(take_all(p.start(time, with(recorder))));
    CHECK(recorder->record().outcome == "finished");
    p.start(time, with(recorder)).stop();
    CHECK(recorder->record().outcome == "stopped");
    weir::run_options options = with(recorder);
    weir::stop_source source;
    source.request_stop();
    options.stop = source.get_token();
    static_cast<void>(take_all(p.start(time, options)));
    CHECK(recorder->record().outcome == "stopped by a token");
    options = with(recorder);
    options.max_failures = 0;
    CHECK_THROWS(take_all(p.start(time, options)));
    CHECK(recorder->record().outcome == "failed in 'decode'");
    CHECK(html_text(recorder->record()).find(" Outcome: failed in 'decode'.") != std::string::npos);
    CHECK(html_text({}).find("Outcome") == std::string::npos);
    const auto run = p.start(time, with(recorder));
    CHECK(recorder->record().outcome.empty());
}

TEST_CASE("all laps that are kept are as long, but the last one, and failures are in the right ones") {
    weir::pipeline_stats lap;
    lap.elapsed = 10ms;
    run_recorder recorder("", {}, {.most_laps = 4});
    recorder.begins({});
    for (std::size_t i = 0; i < 13; ++i) {
        recorder.failed({"decode", i, nullptr});
        recorder.lap(lap);
        const run_record now = recorder.record();
        CHECK(now.total.elapsed == (i + 1) * 10ms);
        for (const weir::pipeline_stats& each : now.laps)
            CHECK((each.elapsed == now.laps[0].elapsed || &each == &now.laps.back()));
        CHECK(now.laps.back().elapsed <= now.laps[0].elapsed);
    }
    lap.elapsed = 5ms;
    recorder.failed({"decode", 13, nullptr});
    recorder.ends(lap, {});
    const run_record run = recorder.record();
    REQUIRE(run.laps.size() == 4);
    CHECK(run.laps[2].elapsed == 40ms);
    CHECK(run.laps[3].elapsed == 15ms);
    REQUIRE(run.failures.size() == 14);
    for (const auto& each : run.failures) CHECK(each.lap == each.item / 4);
    recorder.begins({});
    for (std::size_t i = 0; i < 2; ++i) recorder.lap(lap);
    CHECK(recorder.record().laps.size() == 2);
}

TEST_CASE("a rest without time is joined with the last lap, and no others are, also if there are many laps") {
    virtual_time time;
    const auto p = often_failing(40);
    const auto whole = std::make_shared<run_recorder>();
    static_cast<void>(take_all(p.start(time, with(whole))));
    std::vector<weir::pipeline_stats> laps = whole->record().laps;
    REQUIRE(laps.size() > 3);
    weir::pipeline_stats rest = laps[3];
    rest.elapsed = 0ms;
    run_recorder recorder("", {}, {.most_laps = 3});
    recorder.begins({});
    for (std::size_t i = 0; i < 3; ++i) recorder.lap(laps[i]);
    recorder.ends(rest, whole->record().total);
    REQUIRE(recorder.record().laps.size() == 3);
    CHECK(recorder.record().laps[2].elapsed == laps[2].elapsed);
    CHECK(recorder.record().laps[2].stages[1].num_tasks ==
          laps[2].stages[1].num_tasks + rest.stages[1].num_tasks);
}

TEST_CASE("what reads the laps of a recorder may use the recorder, as a slot that fails meanwhile does") {
    struct reader : run_recorder {
        std::uint64_t failures_meanwhile() {
            each_lap([&](const weir::pipeline_stats&) { failed({"decode", 0, nullptr}); });
            return record().num_failures;
        }
    };
    virtual_time time;
    const auto recorder = std::make_shared<reader>();
    static_cast<void>(take_all(often_failing(3).start(time, with(recorder))));
    CHECK(recorder->failures_meanwhile() == recorder->record().laps.size());
}

TEST_CASE("if there are many failures, the first are kept, and all are counted") {
    virtual_time time;
    const auto recorder = std::make_shared<run_recorder>("", weir::pipeline_description(),
                                                         weir::run_recorder_options{.most_failures = 1});
    const auto p = often_failing(40);
    CHECK(take_all(p.start(time, with(recorder))).size() == 32);
    CHECK(recorder->record().num_failures == 8);
    CHECK(recorder->record().failures.size() == 1);
    CHECK(take_all(often_failing(3).start(time, with(recorder))).size() == 3);
    CHECK(recorder->record().num_failures == 0);
    CHECK(recorder->record().total.stages[1].num_tasks == 3);
}

TEST_CASE("the text of an exception may ask the recorder, which has no lock then") {
    struct asks : std::exception {
        explicit asks(const run_recorder& r) : recorder(&r) {}
        const char* what() const noexcept override { return recorder->record().ended ? "ended" : "goes on"; }
        const run_recorder* recorder;
    };
    virtual_time time;
    const auto recorder = std::make_shared<run_recorder>("test");
    const auto p = weir::source({1}) | weir::pipe([&](int n) {
                       if (n == 1) throw asks(*recorder);
                       return n;
                   }) |
                   weir::sink();
    CHECK(take_all(p.start(time, with(recorder))).empty());
    CHECK(recorder->record().failures.at(0).message == "goes on");
}

TEST_CASE("a recorder of fewer than two laps is refused") {
    CHECK_THROWS_AS(run_recorder("", {}, {.most_laps = 1}), std::invalid_argument);
}
