#include <weir/report/log.hpp>

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/weir.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iomanip>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/explained_runs.hpp"
#include "support/items.hpp"
#include "unit/report/german.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using namespace std::chrono_literals;
using weir::channel_stats;
using weir::duration;
using weir::failure;
using weir::failure_log;
using weir::log_sink;
using weir::log_style;
using weir::pipeline_stats;
using weir::stage_stats;
using weir::detail::cost_of_brief_verdict;
using weir::detail::recent_verdict;

namespace {

stage_stats stage(std::string name, std::string kind, std::size_t concurrency = 1) {
    stage_stats s;
    s.name = std::move(name);
    s.kind = std::move(kind);
    s.concurrency = concurrency;
    return s;
}

// Each stage gives to the queue at its place, and takes from the one before.
pipeline_stats in_a_row(pipeline_stats p) {
    for (std::size_t i = 0; i < p.stages.size(); ++i) {
        if (i > 0) p.stages[i].inputs = {i - 1};
        p.stages[i].outputs = {i};
    }
    return p;
}

// A source and a stage, as in the documents' example of today's format. The histograms are filled
// so that their quantiles are the example's: a bucket is told by its greatest value.
pipeline_stats of_today() {
    pipeline_stats p;
    p.elapsed = 285'560us;
    p.stages = {stage("0:0:src", "source"), stage("0:1:decode", "pipe", 2)};
    channel_stats src;
    src.name = "0:0:src";
    src.elapsed = p.elapsed;
    src.num_put = 100;
    src.num_get = 100;
    src.put_wait = 270ms;
    src.get_wait = 840us;
    src.get_blocked = 420us;
    src.empty = 1'500us;
    src.put_waits.record(5'400us, 90);
    src.put_waits.record(6'900us, 10);
    src.get_waits.record(5'800ns, 90);
    src.get_waits.record(43'700ns, 10);
    channel_stats decode;
    decode.name = "0:1:decode";
    p.channels = {src, decode};
    stage_stats& s = p.stages[1];
    s.num_tasks = 100;
    s.task_time = 550ms;
    s.task_times.record(5'600us, 90);
    s.task_times.record(8ms, 10);
    return p;
}

const std::string text_of_today =
    "[0:0:src_queue]\tProcessed   100 items in  285.6 [ ms] (QPS:  350.2) Ave wait time: put:    "
    "2.7 "
    "[ ms], get (by next stage):    4.2 [ us]. P90: put:    5.5 [ ms], get:    5.9 [ us]. P99: "
    "put:  "
    "  6.9 [ ms], get:   43.7 [ us]. Occupancy rate: 99%\n"
    "[0:1:decode[2]]\tCompleted   100 tasks (  0 failed). Ave task time:    5.5 [ ms]. P90:    5.6 "
    "[ "
    "ms]. P99:    8.0 [ ms].\n"
    "[0:1:decode_queue]\tProcessed     0 items in    0.0 [ us] (QPS:    0.0) Ave wait time: put:   "
    " 0.0 "
    "[ us], get (by next stage):    0.0 [ us]. P90: put:    0.0 [ us], get:    0.0 [ us]. P99: "
    "put:  "
    "  0.0 [ us], get:    0.0 [ us]. Occupancy rate: 0%\n";

// The last example of the document on bottlenecks: the delay is in the pipeline.
pipeline_stats of_the_document() {
    pipeline_stats p;
    p.elapsed = 10'198'400us;
    p.stages = {stage("src", "source"), stage("delay", "pipe"), stage("sink", "sink")};
    p.stages[1].elapsed = 10'198'400us;
    p.stages[1].num_tasks = 100;
    p.stages[1].task_time = 100 * duration(101'335'400);
    p.stages[2].elapsed = 10'193'800us;
    p.channels.resize(3);
    p.channels[1].num_get = 100;
    p.channels[1].get_wait = p.channels[1].get_blocked = 100 * duration(100'867'300);
    p.channels[2].num_put = 100;
    p.channels[2].put_wait = 100 * duration(16'700);
    return p;
}

const std::string text_of_the_document =
    "[delay]\tCompleted   100 tasks (  0 failed) in 10.1984 [sec]. QPS: 9.81 (Concurrency:   1). "
    "Average task time: 101.3354 [ ms].\n"
    "[sink]\tProcessed   100 items in 10.1938 [sec]. QPS: 9.81. Average wait time: Upstream: "
    "100.8673 "
    "[ms ], Downstream: 0.0167 [ms ].\n";

pipeline_stats sink_alone(duration elapsed, duration upstream, duration downstream) {
    pipeline_stats p;
    p.elapsed = elapsed;
    p.stages = {stage("src", "source"), stage("sink", "sink")};
    p.stages[1].elapsed = elapsed;
    p.channels.resize(2);
    p.channels[0].num_get = 100;
    p.channels[0].get_wait = 100 * upstream;
    p.channels[1].num_put = 100;
    p.channels[1].put_wait = 100 * downstream;
    return p;
}

// Counts the writes that reach it.
struct counting_buffer : std::stringbuf {
    int writes = 0;
    int flushes = 0;
    std::streamsize xsputn(const char* s, std::streamsize n) override {
        ++writes;
        return std::stringbuf::xsputn(s, n);
    }
    int sync() override {
        ++flushes;
        return 0;
    }
};

}  // namespace

TEST_CASE("the log lines of SPDL's current documents are reproduced to the letter") {
    CHECK(weir::log_text(in_a_row(of_today())) == text_of_today);
}

TEST_CASE("the log lines of SPDL's document on bottlenecks are reproduced to the letter") {
    CHECK(weir::log_text(in_a_row(of_the_document()), log_style::document) == text_of_the_document);
    CHECK(weir::log_text(in_a_row(sink_alone(7'090us, 67'400ns, 700ns)), log_style::document) ==
          "[sink]\tProcessed   100 items in 7.0900 [ms ]. QPS: 14104.37. Average wait time: "
          "Upstream: "
          "0.0674 [ms ], Downstream: 0.0007 [ms ].\n");
    CHECK(weir::log_text(in_a_row(sink_alone(10'229'400us, 15'700ns, 102'239'900ns)), log_style::document) ==
          "[sink]\tProcessed   100 items in 10.2294 [sec]. QPS: 9.78. Average wait time: Upstream: "
          "0.0157 [ms ], Downstream: 102.2399 [ms ].\n");
}

TEST_CASE("the older log lines don't lose a wait of nanoseconds") {
    CHECK(weir::log_text(in_a_row(sink_alone(1s, 99ns, 0ns)), log_style::document) ==
          "[sink]\tProcessed   100 items in 1.0000 [sec]. QPS: 100.00. Average wait time: Upstream: "
          "99.0000 [ns ], Downstream: 0.0000 [ms ].\n");
}

TEST_CASE("every stage except source and sink has a task line, named with its slots if it has several") {
    pipeline_stats p;
    p.stages = {stage("src", "source"), stage("a", "pipe", 3), stage("b", "aggregate"),
                stage("c", "disaggregate"), stage("sink", "sink")};
    p.stages[1].num_tasks = 123'456;
    p.stages[1].num_failures = 1'234;
    const std::string none = "   0.0 [ us]. P90:    0.0 [ us]. P99:    0.0 [ us].\n";
    CHECK(weir::log_text(in_a_row(p)) ==
          "[a[3]]\tCompleted 123456 tasks (1234 failed). Ave task time: " + none +
              "[b]\tCompleted     0 tasks (  0 failed). Ave task time: " + none +
              "[c]\tCompleted     0 tasks (  0 failed). Ave task time: " + none);
}

TEST_CASE("a stage whose name has line breaks gets one line, and so does its queue") {
    pipeline_stats p;
    p.stages = {stage("src", "source"), stage("a\n[b]\tCompleted", "pipe"), stage("c\r\nd", "sink")};
    p = in_a_row(p);
    for (const log_style style : {log_style::current, log_style::document}) {
        CHECK_THAT(weir::log_text(p, style), ContainsSubstring("[a [b] Completed]\tCompleted"));
        CHECK_THAT(weir::log_text(p, style), !ContainsSubstring("\r"));
    }
    weir::channel_stats behind;
    behind.name = "c\r\nd";
    p.channels.push_back(behind);
    p.stages[2].outputs = {p.channels.size() - 1};
    CHECK_THAT(weir::log_text(p), ContainsSubstring("[c  d_queue]\tProcessed"));
    CHECK_THAT(weir::log_text(p, log_style::document), ContainsSubstring("[c  d]\tProcessed"));
}

TEST_CASE("the occupancy rate of a log line is rounded down") {
    const auto occupancy = [](duration empty) {
        pipeline_stats p;
        p.stages = {stage("src", "source")};
        p.channels.resize(1);
        p.channels[0].elapsed = 1s;
        p.channels[0].empty = empty;
        const std::string text = weir::log_text(in_a_row(p));
        return text.substr(text.rfind(' '));
    };
    CHECK(occupancy(0s) == " 100%\n");
    CHECK(occupancy(1ms) == " 99%\n");
    CHECK(occupancy(430ms) == " 57%\n");  // 1 - 0.43 is a little less than 0.57
    CHECK(occupancy(999ms) == " 0%\n");
    CHECK(occupancy(1s) == " 0%\n");
}

TEST_CASE("empty statistics have no log lines") {
    CHECK(weir::log_text(pipeline_stats()).empty());
    CHECK(weir::log_text(pipeline_stats(), log_style::document).empty());
    pipeline_stats sink_only;
    sink_only.stages = {stage("sink", "sink")};
    CHECK(weir::log_text(in_a_row(sink_only), log_style::document).empty());
    sink_only.channels.resize(1);
    CHECK(weir::log_text(in_a_row(sink_only), log_style::document).find("Upstream: 0.0000 [ms ]") !=
          std::string::npos);
}

TEST_CASE("if nothing has moved for long, a log line of the current style says so") {
    pipeline_stats p;
    p.idle = 10s - 1ns;
    CHECK(weir::log_text(p).empty());
    p.idle = 90s;
    CHECK(weir::log_text(p) == "[pipeline]\tnothing has moved for 90.0 s\n");
    CHECK(weir::log_text(p, weir::log_style::document).empty());
}

TEST_CASE("a log line of the current style says once when the first item came") {
    pipeline_stats p;
    p.elapsed = 4s;
    CHECK(weir::log_text(p).empty());
    p.num_items = 21;
    p.first_item = {.after = 3s, .since = 1s, .num_items = 20};
    CHECK(weir::log_text(p) == "[pipeline]\tfirst item after 3.0 s, 20.0 /s since, 5.2 /s in all\n");
    CHECK(weir::log_text(p, weir::log_style::document).empty());
    p.num_items = 20;  // of a lap behind it
    CHECK(weir::log_text(p).empty());
}

TEST_CASE("the last log line of the current style is about the process, if it is known") {
    pipeline_stats p;
    p.process.emplace().resident = 212'000'000U;
    CHECK(weir::log_text(p) == "[process]\t212 MB resident\n");
    CHECK(weir::log_text(p, weir::log_style::document).empty());
}

TEST_CASE("log lines read the same in a German locale") {
    const weir_test::german_locale here;
    std::ostringstream out;
    out << std::hex << std::showpos << std::setw(500) << std::setfill('*');
    weir::log_lines(out, in_a_row(of_today()));
    CHECK(out.str() == text_of_today);
    CHECK(weir::log_text(in_a_row(of_the_document()), log_style::document) == text_of_the_document);
}

TEST_CASE("a log sink writes each lap's lines in one write") {
    counting_buffer buffer;
    std::ostream out(&buffer);
    const std::function<void(const pipeline_stats&)> on_lap = log_sink(out, log_style::document);
    on_lap(in_a_row(of_the_document()));
    CHECK(buffer.writes == 1);
    CHECK(buffer.flushes == 1);
    on_lap(in_a_row(of_the_document()));
    CHECK(buffer.writes == 2);
    CHECK(buffer.str() == text_of_the_document + text_of_the_document);
    log_sink with_default_style(out);
    buffer.str("");
    with_default_style(in_a_row(of_today()));
    CHECK(buffer.str() == text_of_today);
}

TEST_CASE("the last log line is the verdict, for people and for programs") {
    const pipeline_stats p = explained_runs::limited_by("slow", 2'000);
    const std::string line =
        "[verdict]\tcause=stage stage=\"slow\" gain=1.00 sure=1.00: " + explained_runs::sentence + ".\n";
    CHECK_THAT(weir::log_text(p), EndsWith("\n" + line));
    CHECK_THAT(weir::log_text(p, log_style::document), !ContainsSubstring("verdict"));
    std::ostringstream out;
    log_sink sink(out);
    sink(p);
    CHECK(out.str() == weir::log_text(p));
    CHECK_THAT(weir::log_text(explained_runs::limited_by("a\n\"b\"", 2'000)),
               ContainsSubstring(
                   "\n[verdict]\tcause=stage stage=\"a 'b'\" gain=1.00 sure=1.00: stage 'a?\"b\"' is"));
}

TEST_CASE("a verdict that costs more than 1 % of a lap is not in the lap's lines") {
    pipeline_stats p = explained_runs::limited_by("slow", 2'000);
    const weir::duration cost = weir::detail::cost_of_brief_verdict(p);
    p.elapsed = 100 * cost;
    CHECK_THAT(weir::log_text(p), ContainsSubstring("[verdict]"));
    p.elapsed = 100 * cost - 1ns;
    CHECK_THAT(weir::log_text(p), !ContainsSubstring("[verdict]"));
}

TEST_CASE("a log sink repeats the last verdict in short laps") {
    std::ostringstream out;
    log_sink sink(out);
    sink(explained_runs::limited_by("slow", 100));
    CHECK_THAT(out.str(), !ContainsSubstring("[verdict]"));
    sink(explained_runs::limited_by("slow", 2'000));
    out.str("");
    sink(explained_runs::limited_by("slow", 100));
    CHECK_THAT(out.str(), EndsWith(explained_runs::sentence + ".\n"));
}

TEST_CASE("an unknown quantile in a log line is a dash as wide as a time") {
    pipeline_stats p = of_today();
    stage_stats& s = p.stages[1];
    s.task_times = weir::histogram::without_quantiles(100, 550ms, 8ms);
    channel_stats& c = p.channels[0];
    c.put_waits = weir::histogram::without_quantiles(100, 270ms, 7ms);
    const std::string text = weir::log_text(in_a_row(p));
    CHECK(text.find("Ave task time:    5.5 [ ms]. P90:            -. P99:            -.\n") !=
          std::string::npos);
    CHECK(text.find("P90: put:            -, get:    5.9 [ us]. P99: put:            -, get:   43.7 [ us]") !=
          std::string::npos);
    CHECK(text.size() == text_of_today.size());
}

namespace {

template <class Error = std::runtime_error>
failure failed(const std::string& stage, std::uint64_t item, const std::string& message) {
    return failure(stage, item, std::make_exception_ptr(Error(message)));
}

std::size_t lines_of(const std::ostringstream& out) {
    const std::string text = out.str();
    std::size_t n = 0;
    for (const char c : text) n += c == '\n' ? 1U : 0U;
    return n;
}

}  // namespace

TEST_CASE("a failure log writes stage, item and message, in one line") {
    std::ostringstream out;
    const failure_log log(out);
    log(failed("read", 17, "no such file"));
    log(failed("parse", 3, "line 1\nline 2\r\nline 3"));
    log(failed("two\nlines", 4, "no"));
    log(failure("odd", 0, std::make_exception_ptr(7)));
    CHECK(out.str() ==
          "[read] item 17 failed: no such file\n"
          "[parse] item 3 failed: line 1 line 2  line 3\n"
          "[two lines] item 4 failed: no\n"
          "[odd] item 0 failed: 7 (thrown as int)\n");
    CHECK(log.count() == 4);
}

TEST_CASE("only the first failures of a kind are written, then every hundredth") {
    std::ostringstream out;
    const failure_log log(out);
    for (std::uint64_t n = 0; n < 1000; ++n) log(failed("read", n, "no such file"));
    CHECK(out.str() ==
          "[read] item 0 failed: no such file\n"
          "[read] item 1 failed: no such file\n"
          "[read] item 2 failed: no such file\n"
          "[read] item 3 failed: no such file\n"
          "[read] item 4 failed: no such file\n"
          "[read] item 104 failed: no such file (failure 105 of this kind, 99 not shown)\n"
          "[read] item 204 failed: no such file (failure 205 of this kind, 99 not shown)\n"
          "[read] item 304 failed: no such file (failure 305 of this kind, 99 not shown)\n"
          "[read] item 404 failed: no such file (failure 405 of this kind, 99 not shown)\n"
          "[read] item 504 failed: no such file (failure 505 of this kind, 99 not shown)\n"
          "[read] item 604 failed: no such file (failure 605 of this kind, 99 not shown)\n"
          "[read] item 704 failed: no such file (failure 705 of this kind, 99 not shown)\n"
          "[read] item 804 failed: no such file (failure 805 of this kind, 99 not shown)\n"
          "[read] item 904 failed: no such file (failure 905 of this kind, 99 not shown)\n");
    out.str({});
    log.summary();
    CHECK(out.str() == "[read] 95 more not shown: no such file\n");
    out.str({});
    log.summary();
    CHECK(out.str().empty());
    CHECK(log.count() == 1000);
}

TEST_CASE("failures differ by stage, by message and by the type of the exception") {
    std::ostringstream out;
    const failure_log log(out, {.first = 1});
    for (std::uint64_t n = 0; n < 3; ++n) {
        log(failed("a", n, "x"));
        log(failed("b", n, "x"));
        log(failed("a", n, "y"));
        log(failed<std::logic_error>("a", n, "x"));
    }
    CHECK(out.str() ==
          "[a] item 0 failed: x\n[b] item 0 failed: x\n[a] item 0 failed: y\n[a] item 0 failed: x\n");
    out.str({});
    log.summary();
    CHECK(out.str() ==
          "[a] 2 more not shown: x\n[b] 2 more not shown: x\n[a] 2 more not shown: y\n[a] 2 more not shown: "
          "x\n");
}

TEST_CASE("the number of failures to write can be set") {
    std::ostringstream out;
    const failure_log none(out, {.first = 0, .every = 4});
    for (std::uint64_t n = 0; n < 10; ++n) none(failed("a", n, "x"));
    CHECK(out.str() ==
          "[a] item 3 failed: x (failure 4 of this kind, 3 not shown)\n"
          "[a] item 7 failed: x (failure 8 of this kind, 3 not shown)\n");
    out.str({});
    const failure_log all(out, {.first = 1, .every = 1});
    all(failed("a", 0, "x"));
    all(failed("a", 1, "x"));
    CHECK(out.str() == "[a] item 0 failed: x\n[a] item 1 failed: x (failure 2 of this kind)\n");
    CHECK_THROWS_AS(failure_log(out, {.every = 0}), std::invalid_argument);
}

TEST_CASE("a failure log remembers a limited number of kinds; all others count as one") {
    std::ostringstream out;
    const failure_log log(out, {.first = 1, .every = 100, .most_kinds = 10});
    for (std::uint64_t n = 0; n < 200; ++n) log(failed("a", n, "file " + std::to_string(n)));
    CHECK(lines_of(out) == 10 + 1 + 1);
    CHECK(items::contains(out.str(),
                          "[a] item 110 failed: file 110 (failure 101 of this kind, 99 not shown)\n"));
    log.summary();
    CHECK(items::contains(out.str(), "[other] 89 more not shown: failures of other kinds\n"));
    CHECK(log.count() == 200);
}

TEST_CASE("a failure log writes messages of any length, and remembers a bounded part") {
    std::ostringstream out;
    const failure_log log(out, {.first = 1});
    const std::string text(5000, 'x');
    log(failed("a", 0, text));
    log(failed("a", 1, text + "y"));
    CHECK(out.str() == "[a] item 0 failed: " + text + "\n");
    log.summary();
    CHECK(out.str().size() < 6000);
}

TEST_CASE("a run tells a failure log of its failures, also from several threads") {
    std::ostringstream out;
    const failure_log log(out);
    weir::virtual_time time;
    const auto breaks = [](int n) {
        if (n % 2 == 0) throw std::runtime_error("even");
        return n;
    };
    auto run = (weir::source(std::views::iota(0, 100)) | weir::pipe(breaks, {.name = "p"}) | weir::sink())
                   .start(time, {.max_failures = weir::unlimited, .on_failure = log});
    CHECK(items::take_all(run).size() == 50);
    CHECK(log.count() == 50);
    CHECK(lines_of(out) == 5);

    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&log] {
            for (std::uint64_t n = 0; n < 500; ++n) log(failed("t", n, "odd"));
        });
    }
    for (std::thread& t : threads) t.join();
    CHECK(log.count() == 2050);
    CHECK(lines_of(out) == 5 + 5 + 19);
    log.summary();
    CHECK(items::contains(out.str(), "[t] 95 more not shown: odd\n"));
}

TEST_CASE("a verdict is one line of a log, also if it has no stage, or one with a strange name") {
    weir::verdict v;
    v.sentence = "not sure";
    CHECK(weir::detail::verdict_line(v) == "[verdict]\tcause=unsure gain=0.00 sure=0.00: not sure.\n");
    v.cause = weir::limit_cause::threads;
    v.stage = "a\n\"b\"\r";
    v.gain = 0.126;
    v.sure = 0.8;
    CHECK(weir::detail::verdict_line(v) ==
          "[verdict]\tcause=workers stage=\"a 'b' \" gain=0.13 sure=0.80: not sure.\n");
}

TEST_CASE("a verdict in JSON has its change in the form in which changes are read") {
    using enum weir::change_kind;
    weir::verdict v;
    v.sentence = "\"so\"";
    CHECK(
        weir::detail::verdict_json(v) ==
        R"({"cause":"unsure","stage":null,"lost":0.0000,"gain":0.0000,"change":null,"sure":0.00,"sentence":"\"so\""})");
    for (const auto& [change, text] : std::vector<std::pair<weir::setting_change, std::string>>{
             {{faster, "a\"b", 0.5}, R"({"stage":"a\"b","faster":0.5000})"},
             {{concurrency, "a", 4}, R"({"stage":"a","concurrency":4})"},
             {{capacity, "a", 16}, R"({"stage":"a","capacity":16})"},
             {{capacity, "", 16}, R"({"capacity":16})"},
             {{batch_size, "a", 8}, R"({"stage":"a","batch":8})"},
             {{completion_order, "a"}, R"({"stage":"a","output_order":"completion"})"},
             {{threads, "", 4}, R"({"workers":4})"},
             {{consumer, "", 0.002}, R"({"consumer_ms":2.000000})"},
             {{source}, R"({"source":"unlimited"})"}}) {
        v.change = change;
        CHECK_THAT(weir::detail::verdict_json(v),
                   Catch::Matchers::ContainsSubstring(",\"change\":" + text + ","));
    }
}

namespace {

// A lap of the same length as `like`, in which nothing came to an end.
pipeline_stats empty_lap(const pipeline_stats& like) {
    pipeline_stats lap = like - like;
    lap.elapsed = like.elapsed;
    return lap;
}

}  // namespace

TEST_CASE("a recent verdict is made when it costs 1 % of the time since the last one, of all laps since") {
    pipeline_stats lap = explained_runs::limited_by("slow", 2'000);
    const weir::duration cost = cost_of_brief_verdict(lap);
    REQUIRE(100 * cost < lap.elapsed);
    recent_verdict recent;
    const auto& v = recent.add(lap);
    REQUIRE(v);
    CHECK(v->sentence == explained_runs::sentence);

    const pipeline_stats other = explained_runs::limited_by("other", 200);
    const weir::duration pause = 100 * cost_of_brief_verdict(other) - other.elapsed;
    REQUIRE(pause > 0ns);
    CHECK(recent.add(other)->stage == "slow");  // too short
    pipeline_stats rest = other - other;
    rest.elapsed = pause - 1ns;
    CHECK(recent.add(rest)->stage == "slow");
    rest.elapsed = 1ns;
    CHECK(recent.add(rest)->stage != "slow");  // now it is the verdict of the last three laps
}

TEST_CASE("without items there is no recent verdict, and the last one stays") {
    const pipeline_stats lap = explained_runs::limited_by("slow", 2'000);
    recent_verdict recent;
    CHECK_FALSE(recent.add(empty_lap(lap)));
    CHECK_FALSE(recent.add(pipeline_stats()));
    recent_verdict later;
    CHECK(later.add(lap));
    CHECK(later.add(empty_lap(lap))->stage == "slow");
    CHECK(later.add(pipeline_stats())->stage == "slow");
}
