#include <weir/report/table.hpp>

#include "support/catch.hpp"
#include "support/explained_runs.hpp"
#include "unit/report/german.hpp"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <sstream>
#include <string>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using weir::channel_stats;
using weir::duration;
using weir::histogram;
using weir::line_text;
using weir::pipeline_stats;
using weir::process_stats;
using weir::slot_times;
using weir::stage_stats;
using namespace std::chrono_literals;

namespace {

stage_stats stage(std::string name, std::size_t concurrency, std::uint64_t tasks, duration each,
                  slot_times times) {
    stage_stats s;
    s.name = std::move(name);
    s.concurrency = concurrency;
    s.elapsed = 10s;
    s.num_tasks = tasks;
    s.task_time = each * static_cast<std::int64_t>(tasks);
    if (each > 0ns) s.task_times.record(each, tasks);
    s.per_slot = {times};
    return s;
}

channel_stats channel(std::string name, std::size_t size, std::size_t capacity, std::uint64_t items,
                      duration put_wait, duration get_wait, duration empty) {
    channel_stats c;
    c.name = std::move(name);
    c.size = size;
    c.capacity = capacity;
    c.elapsed = 10s;
    c.num_put = items + size;
    c.num_get = items;
    c.put_wait = put_wait * static_cast<std::int64_t>(c.num_put);
    c.get_wait = c.get_blocked = get_wait * static_cast<std::int64_t>(items);
    c.empty = empty;
    c.put_waits.record(put_wait, c.num_put);
    c.get_waits.record(get_wait, c.num_get);
    return c;
}

slot_times times(duration run, duration await, duration runnable, duration wait_get, duration wait_put) {
    slot_times t;
    t.run = run;
    t.await = await;
    t.runnable = runnable;
    t.wait_get = wait_get;
    t.wait_put = wait_put;
    return t;
}

// The foreground takes 30 ms an item, one stage 40 ms on two slots.
pipeline_stats example() {
    pipeline_stats p;
    p.elapsed = 10s;
    p.num_items = 330;
    p.first_item = {.after = 2s, .since = 8s, .num_items = 329};
    p.stages = {stage("src", 1, 0, 0ns, times(10ms, 0ns, 0ns, 0ns, 9'990ms)),
                stage("decode", 2, 333, 40ms, times(1s, 12'320ms, 20ms, 0ns, 6'660ms)),
                stage("sink", 1, 0, 0ns, times(1ms, 0ns, 0ns, 9ms, 9'990ms))};
    p.stages[2].kind = "sink";
    p.stages[1].num_failures = 1;
    p.stages[1].failure_time = 120ms;
    p.stages[1].busy = 13'320ms;
    p.channels = {channel("src", 2, 2, 335, 30ms, 0ns, 3ms), channel("decode", 2, 2, 332, 20ms, 0ns, 40ms),
                  channel("sink", 3, 3, 330, 30ms, 27us, 100ms)};
    return p;
}

const std::string text_of_example =
    R"(pipeline, 10.0 s elapsed; first item after 2.0 s, 41.1 /s since, 33.0 /s in all

                                       ---- time of a task -----  --------- % of the slots' time ---------
stage   slots  tasks  failed     rate      ave      p50      p99  run  await  runnable  wait_get  wait_put
src         1      0       0        0        -        -        -   <1      0         0         0       100
decode      2    333       1  33.3 /s  40.1 ms  40.0 ms  40.0 ms    5     62        <1         0        33
sink        1      0       0        0        -        -        -   <1      0         0        <1       100

                              --- put wait ---  --- get wait ---
queue   size  items     rate      ave      p99      ave      p99  readiness
src      2/2    335  33.5 /s  30.0 ms  30.0 ms        0        0      100 %
decode   2/2    332  33.2 /s  20.0 ms  20.0 ms        0        0      100 %
sink     3/3    330  33.0 /s  30.0 ms  30.0 ms  27.0 us  27.0 us       99 %

                 -- time of failed tasks ---
failures  tasks     ave  in all  of the work
decode        1  120 ms  120 ms          1 %

runnable: no thread was free; wait_get: starved by the stage before; wait_put: held back by the stage after.
)";

// No stage of the example names its queues, so that it can't be predicted.
constexpr const char* verdict_of_example =
    "verdict: the pipeline keeps up: the consumer waits <1 % of the time (sure: 70 %, as only the states of "
    "the slots tell\n"
    "it: this run can't be predicted: its first stage is no source).\n";

std::size_t longest_line(const std::string& text) {
    std::istringstream in(text);
    std::size_t longest = 0;
    for (std::string line; std::getline(in, line);) longest = std::max(longest, line.size());
    return longest;
}

}  // namespace

TEST_CASE("a table shows the stages and the queues, column under column") {
    CHECK(weir::table_text(example()) == std::string(text_of_example) + verdict_of_example);
    std::ostringstream out;
    out << example();
    CHECK(out.str() == std::string(text_of_example) + verdict_of_example);
}

TEST_CASE("failed tasks take at most all of the work, also if their time includes overhead") {
    pipeline_stats p = example();
    p.stages[1].task_time = 0ms;
    p.stages[1].failure_time = p.stages[1].busy + 80ms;
    CHECK(weir::table_text(p).find("decode        1  13.4 s  13.4 s        100 %\n") != std::string::npos);
}

TEST_CASE("a table is printed alike in a German locale and with any flags of the stream") {
    const weir_test::german_locale here;
    std::ostringstream out;
    out << std::hex << std::showpos << std::setw(500) << std::setfill('*') << example();
    CHECK(out.str() == std::string(text_of_example) + verdict_of_example);
}

TEST_CASE("a table has a column of discarded items if there are any") {
    pipeline_stats p = example();
    p.channels[1].num_discarded = 12;
    const std::string text = weir::table_text(p);
    CHECK(text.find("  readiness  discarded\n") != std::string::npos);
    CHECK(text.find("      100 %         12\n") != std::string::npos);
    CHECK(text.find("       99 %          0\n") != std::string::npos);
}

TEST_CASE("an empty table is a heading") {
    CHECK(weir::table_text(pipeline_stats()) == "pipeline, 0 s elapsed\n");
}

TEST_CASE("if nothing has moved for long, the first line of a table says so") {
    pipeline_stats p;
    p.elapsed = 25s;
    p.idle = 10s - 1ns;
    CHECK(table_text(p) == "pipeline, 25.0 s elapsed\n");
    p.idle = 10s;
    CHECK(table_text(p) ==
          "pipeline, 25.0 s elapsed; nothing has moved for 10.0 s: a weir::watchdog names who can't go on\n");
    p.stages.resize(1);
    p.num_items = 3;
    p.first_item = {.after = 20s, .since = 5s, .num_items = 2};
    CHECK(table_text(p).starts_with(
        "pipeline, 25.0 s elapsed; first item after 20.0 s, 0.40 /s since, 0.12 /s in all;\n"
        "nothing has moved for 10.0 s: a weir::watchdog names who can't go on\n\n"));
}

TEST_CASE("the first line of a table says when the first item came, and the rate since then") {
    pipeline_stats p;
    p.stages.resize(1);
    const auto line = [&p] {
        const std::string text = table_text(p);
        return text.substr(0, text.find('\n'));
    };
    CHECK(line() == "pipeline, 0 s elapsed; no item yet");
    p.elapsed = 20s;
    CHECK(line() == "pipeline, 20.0 s elapsed; no item yet");
    p.num_items = 1;
    p.first_item = {.after = 20s};  // this instant
    CHECK(line() == "pipeline, 20.0 s elapsed; first item after 20.0 s");
    p.elapsed = 40s;
    p.first_item->since = 20s;
    CHECK(line() == "pipeline, 40.0 s elapsed; first item after 20.0 s, 0 /s since, 0.03 /s in all");
    p.num_items = 2001;
    p.first_item->num_items = 2000;
    CHECK(line() == "pipeline, 40.0 s elapsed; first item after 20.0 s, 100 /s since, 50.0 /s in all");
    p.first_item = {.after = 0s, .since = 40s, .num_items = 2000};
    CHECK(line() == "pipeline, 40.0 s elapsed; first item after 0 s, 50.0 /s since, 50.0 /s in all");
    p.num_items = 2000;  // of a lap behind it
    CHECK(line() == "pipeline, 40.0 s elapsed; 50.0 /s");
    p.first_item.reset();  // without statistics
    CHECK(line() == "pipeline, 40.0 s elapsed; 50.0 /s");
    p.num_items = 0;
    p.first_item = {.after = 1s, .since = 40s};
    CHECK(line() == "pipeline, 40.0 s elapsed; 0 /s");
}

TEST_CASE("the line before the verdict is about the process, if it is known") {
    pipeline_stats p = example();
    p.process.emplace().resident = 212'000'000U;
    CHECK(weir::table_text(p) ==
          text_of_example + std::string("process: 212 MB resident.\n") + verdict_of_example);
}

TEST_CASE("the last lines of a table are the verdict, at most 120 columns wide") {
    pipeline_stats p = explained_runs::limited_by("slow");
    p.process.emplace().resident = 212'000'000U;
    CHECK_THAT(weir::table_text(p),
               EndsWith("process: 212 MB resident.\n"
                        "verdict: stage 'slow' is the bottleneck: it awaits 100 % of the time; slow: 4 slots "
                        "instead of 2 would bring 100 % more\n(sure: 100 %).\n"));
    const std::string text =
        weir::table_text(explained_runs::limited_by("d\xc3\xa9\n" + std::string(200, 'x')));
    CHECK(text.find("verdict: stage\n'd???xxx") != std::string::npos);
    CHECK(text.find("would bring 100 % more (sure: 100 %).\n") == text.size() - 38);
}

TEST_CASE("a program that prints a table has the verdict for WEIR_DIAGNOSE=1") {
    std::ostringstream out;
    out << explained_runs::limited_by("slow", 19);
    const auto verdict = weir::detail::the_verdict_of_diagnosis.load();
    REQUIRE(verdict != nullptr);
    CHECK(verdict(explained_runs::limited_by("slow")) == explained_runs::sentence);
    CHECK(verdict(explained_runs::limited_by("slow", 19)).empty());
}

TEST_CASE("a table without a verdict ends as before") {
    for (const pipeline_stats& p :
         {explained_runs::limited_by("slow", 19), explained_runs::limited_by("slow", 0)})
        CHECK_THAT(weir::table_text(p), !ContainsSubstring("verdict"));
}

TEST_CASE("a table has columns only for the states in which slots were") {
    for (const auto& state : weir::detail::states_in_reports) {
        CAPTURE(state.name);
        pipeline_stats p;
        slot_times t;
        t.*state.time = 43ms;
        p.stages = {stage("a", 1, 0, 0ns, t), stage("b", 1, 0, 0ns, slot_times())};
        const std::string text = weir::table_text(p);
        for (const auto& other : weir::detail::states_in_reports) {
            const std::string column = "  " + std::string(other.name) + "\n";
            CHECK((text.find(column) != std::string::npos) == (&other == &state));
        }
        CHECK(text.find("  100\n") != std::string::npos);
        CHECK(text.find("  -\n") != std::string::npos);
        const std::string note = "\n\n" + std::string(state.name) + ": " + state.note + ".\n";
        CHECK(text.ends_with(note) == (*state.note != '\0'));
    }
}

TEST_CASE("the shares in a line of a table add up to all of the time") {
    pipeline_stats p;
    slot_times t;
    t.run = 57ms;
    t.wait_turn = 43ms;
    p.stages = {stage("hash", 4, 0, 0ns, t)};
    CHECK(weir::table_text(p) == R"(pipeline, 0 s elapsed; no item yet

                                   - time of a task -   % of the slots' time -
stage  slots  tasks  failed  rate       ave  p50  p99           run  wait_turn
hash       4      0       0     0         -    -    -            57         43

wait_turn: done, others leave first.
)");
}

TEST_CASE("stages that did nothing yet have dashes instead of times in a table") {
    pipeline_stats p;
    p.stages.resize(1);
    p.stages[0].name = "a";
    p.channels.resize(1);
    p.channels[0].name = "a";
    CHECK(weir::table_text(p) == R"(pipeline, 0 s elapsed; no item yet

                                   - time of a task -
stage  slots  tasks  failed  rate       ave  p50  p99
a          1      0       0     0         -    -    -

                           put wait -   get wait -
queue  size  items  rate     ave  p99     ave  p99  readiness
a       0/0      0     0       -    -       -    -          -
)");
}

TEST_CASE("a table has the items that a function added to its stage") {
    pipeline_stats p = example();
    p.stages[1].added =
        weir::added_stats{.num_added = 90, .num_waiting = 4, .most_waiting = 17, .num_discarded = 2};
    CHECK(weir::table_text(p).find("added   items  pending  at most  discarded\n"
                                   "decode     90        4       17          2\n") != std::string::npos);
}

TEST_CASE("a table has the speed of copies to a device, once there are any") {
    pipeline_stats p = example();
    const auto line_of = [&p] {
        const std::string text = weir::table_text(p);
        const std::size_t at = text.find("decode", text.find("copies"));
        REQUIRE(at != std::string::npos);
        return text.substr(at, text.find('\n', at) - at);
    };
    p.stages[1].transfers.emplace();
    CHECK(line_of() == "decode        0    0 B        -       -         0    -");
    weir::transfer_stats& t = *p.stages[1].transfers;
    t.num_copies = 4;
    t.bytes = 8'000'000;
    t.copying = 2s;
    CHECK(line_of() == "decode        4  8.0 MB  4.0 MB/s       -         0    -");
    t.num_handed_over = 4;
    t.handed_over = 4s;
    t.exposed = 1s;
    t.num_block_waits = 1;
    t.block_wait = 3ms;
    CHECK(line_of() == "decode        4  8.0 MB  4.0 MB/s    75 %      1  3.0 ms");
}

TEST_CASE("a table of statistics without histograms has dashes instead of quantiles") {
    pipeline_stats p = example();
    p.stages[1].task_times = weir::histogram::without_quantiles(332, 13'280ms, 40ms);
    p.channels[1].put_waits = weir::histogram::without_quantiles(334, 6'680ms, 20ms);
    const std::string text = weir::table_text(p);
    CHECK(text.find("333       1  33.3 /s   40.1 ms    -    -") != std::string::npos);
    CHECK(text.find("decode   2/2    332  33.2 /s  20.0 ms        -        0        0      100 %") !=
          std::string::npos);
}

TEST_CASE("a table keeps within 120 columns for every name") {
    pipeline_stats p = example();
    stage_stats& s = p.stages[1];
    s.name = "a stage whose name is a sentence";
    s.concurrency = 99'999;
    s.num_tasks = UINT64_MAX;
    s.num_failures = 999'999;
    s.task_time = duration::max();
    s.task_times.record(1'002s, 1'000);
    p.channels[1] = channel(s.name, 99'999, 99'999, 1, 1'002s, 1'002s, 5s);
    p.channels[1].num_get = 123'456'789'012;
    p.channels[1].get_blocked = duration::max();
    const std::string text = weir::table_text(p);
    CHECK(longest_line(text) <= 120);
    CHECK(longest_line(text) > 110);  // the case is a wide one
    CHECK(text.find("\na stage whose name ~ ") != std::string::npos);

    for (const auto& state : weir::detail::states_in_reports) s.per_slot[0].*state.time = 1s;
    const std::string whole = weir::table_text(p);
    CHECK(longest_line(whole) <= 120);
    INFO(whole);
    CHECK(whole.find("\na ~ ") != std::string::npos);
    CHECK(whole.find("leave first") != std::string::npos);
}

TEST_CASE("a table cuts only long names, and shows characters outside ASCII as question marks") {
    pipeline_stats p;
    p.channels.resize(3);
    p.channels[0].name = "exactly twenty chars";
    p.channels[1].name = "twenty-one characters";
    p.channels[2].name = "\xc3\xa4\t\x7f !~";
    const std::string text = weir::table_text(p);
    CHECK(text.find("\nexactly twenty chars ") != std::string::npos);
    CHECK(text.find("\ntwenty-one characte~ ") != std::string::npos);
    CHECK(text.find("\n???? !~ ") != std::string::npos);
}

TEST_CASE("the line of a histogram has what it knows") {
    histogram h;
    CHECK(line_text(h) == "0 times");
    h.record(4ms);
    CHECK(line_text(h) == "1 time, ave 4.0 ms, p50 4.0 ms, p99 4.0 ms, max 4.0 ms");
    CHECK(line_text(histogram::without_quantiles(2, 10ms, 7ms)) == "2 times, ave 5.0 ms, max 7.0 ms");
}

TEST_CASE("the times of a slot, a stage and a queue have lines") {
    slot_times t;
    t.run = 2s;
    t.await = 3ms;
    t.wait_turn = 4us;
    const std::string times =
        "run 2.0 s, await 3.0 ms, runnable 0, wait_get 0, wait_put 0, wait_turn 4.0 us, overhead 0, off 0";
    CHECK(line_text(t) == times);

    stage_stats s;
    s.name = "decode";
    s.concurrency = 3;
    s.elapsed = 10s;
    s.num_tasks = 21;
    s.num_failures = 1;
    s.task_time = 20ms;
    s.failure_time = 80ms;
    s.per_slot = {t};
    CHECK(line_text(s) == "decode[3]: 21 tasks, 1 failed after 80.0 ms, 2.1 /s, ave 1.0 ms; " + times);
    s.concurrency = 1;
    s.num_tasks = 1;
    s.num_failures = 0;
    CHECK(line_text(s) == "decode: 1 task, 0 failed, 0.10 /s, ave 20.0 ms; " + times);

    channel_stats c;
    c.name = "decode";
    c.size = 2;
    c.capacity = 8;
    c.elapsed = 10s;
    c.num_put = 22;
    c.num_get = 20;
    c.put_wait = 22ms;
    c.get_blocked = 40ms;
    c.empty = 1s;
    CHECK(line_text(c) ==
          "decode_queue: 2 of 8 in it, 20 taken, 2.0 /s, put wait 1.0 ms, get wait 2.0 ms, "
          "readiness 90.0 %");
    c.num_discarded = 2;
    CHECK(line_text(c).find("20 taken, 2 discarded, 2.0 /s") != std::string::npos);
}

TEST_CASE("the line of a process has what the system tells") {
    process_stats p;
    CHECK(line_text(p).empty());
    p.resident = 212'000'000U;
    CHECK(line_text(p) == "212 MB resident");
    p.elapsed = 10s;
    p.user_time = 17s;
    p.system_time = 1s;
    p.voluntary_switches = 9'000U;
    p.involuntary_switches = 3'000U;
    p.major_faults = 0U;
    p.bytes_read = 1'200'000'000U;
    p.bytes_written = 0U;
    CHECK(line_text(p) ==
          "1.8 processors busy, 0.1 in the system; 212 MB resident; 12.0 k context switches, 3000 of them "
          "forced; read 1.2 GB, written 0 B");
    p.processors = 2U;
    p.major_faults = 7U;
    p.system_time.reset();
    p.involuntary_switches.reset();
    p.bytes_read.reset();
    CHECK(line_text(p) ==
          "1.7 of 2 processors busy; 212 MB resident; 7 page faults from storage; written 0 B");
}

TEST_CASE("a line is the same for every locale and flag of the stream") {
    histogram h;
    h.record(4ms, 1000);
    const weir_test::german_locale here;
    std::ostringstream out;
    out << std::setw(90) << std::setfill('*') << std::hex << h;
    CHECK(out.str() == line_text(h));
}

TEST_CASE("a text in lines is broken at spaces, and a long word has a line of its own") {
    using weir::detail::in_lines;
    CHECK(in_lines("", 5).empty());
    CHECK(in_lines("ab cd", 5) == "ab cd");
    CHECK(in_lines("ab cd e", 5) == "ab cd\ne");
    CHECK(in_lines("abcdefgh ij kl", 5) == "abcdefgh\nij kl");
    CHECK(in_lines("ab abcdefgh ij", 5) == "ab\nabcdefgh\nij");
    CHECK(in_lines("abcdefgh", 5) == "abcdefgh");
}

TEST_CASE("the lines of a verdict are ASCII") {
    weir::verdict v;
    v.sentence = "d\xc3\xa9\n e";
    CHECK(weir::detail::verdict_lines(v, 12) == "verdict:\nd??? e.\n");
}
