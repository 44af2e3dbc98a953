#include <weir/report/trace.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"
#include "support/trace_check.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/split.hpp>
#include <weir/graph/tee.hpp>
#include <weir/graph/zip.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/cache.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/shuffle.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

using ints = std::vector<int>;
using items::take_all;
using strings = std::vector<std::string>;
using weir::task;
using weir::trace_options;
using weir::trace_report;
using weir::virtual_time;
using namespace std::chrono_literals;
using namespace weir::detail;

namespace {

auto follow(trace_options options = {.every = 1}) { return std::make_shared<trace_report>("", options); }

std::string lines_with(const std::string& text, std::string_view part) {
    std::string found;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        const std::string line = text.substr(at, end - at + 1);
        if (line.find(part) != line.npos) found += line;
        at = end + 1;
    }
    return found;
}

// Which value had the item of that number at that stage: what a trace has to say, too.
class notes {
  public:
    void write(const weir::invocation& call, int value) {
        const std::lock_guard guard(lock_);
        values_[{call.stage(), call.item()}] = value;
    }
    // Every visit of those stages is of the item that the trace says it came from, and of none that was chosen
    // one is missing.
    void check(const traces::trace& t, const strings& stages, std::uint64_t every, std::size_t items) {
        for (const traces::span& s : t.spans) {
            if (!s.is_item || !values_.contains({s.name, s.item})) continue;
            CHECK(s.from == "src " + std::to_string(values_.at({s.name, s.item})));
        }
        for (const std::string& stage : stages) {
            CAPTURE(stage);
            CHECK(t.visits(stage) == (items + every - 1) / every);
        }
        for (const traces::step& s : t.steps) CHECK(s.from->from == s.to->from);
    }

  private:
    std::mutex lock_;
    std::map<std::pair<std::string, std::uint64_t>, int> values_;
};

// Each item takes another time, so that they overtake each other in any stage with several slots.
auto noting(notes& n) {
    return [&n](int value, const weir::invocation& call) -> task<int> {
        n.write(call, value);
        co_await weir::sleep_for(std::chrono::microseconds(value * 7919 % 13));
        co_return value;
    };
}

std::string wrong_of(const traces::trace& t) { return t.wrong; }

}  // namespace

TEST_CASE("a trace on virtual time has each span, wait and step at its instant") {
    virtual_time time;
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(10us);
        co_return n;
    };
    const auto slower = [](int n) -> task<int> {
        co_await weir::sleep_for(25us);
        co_return n;
    };
    const auto trace = follow();
    const auto p = weir::source({7, 8}) | weir::pipe(slow, {.name = "a"}) |
                   weir::pipe(slower, {.name = "b", .capacity = 1}) | weir::sink(1);
    CHECK(take_all(p.start(time, {.reports = {trace}})) == ints{7, 8});
    const std::string text = trace->text();
    CHECK(wrong_of(traces::trace(text)).empty());
    CHECK(text.starts_with(
        "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"events_dropped\":\"0\",\"flows_lost\":\"0\","
        "\"every\":\"1\"},\n\"traceEvents\":[\n{\"ph\":\"M\","));
    CHECK(lines_with(text, "thread_name") ==
          "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"src\"}},\n"
          "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"a\"}},\n"
          "{\"ph\":\"M\",\"pid\":1,\"tid\":3,\"name\":\"thread_name\",\"args\":{\"name\":\"b\"}},\n");
    CHECK(lines_with(text, "\"X\",\"pid\":1,\"tid\":2") ==
          "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0.000,\"dur\":10.000,\"name\":\"a\",\"cat\":\"item\","
          "\"args\":"
          "{\"item\":0,\"epoch\":0,\"from\":\"src 0\"}},\n"
          "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0.000,\"dur\":10.000,\"name\":\"await\",\"cat\":"
          "\"state\"},\n"
          "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":10.000,\"dur\":10.000,\"name\":\"a\",\"cat\":\"item\","
          "\"args\":"
          "{\"item\":1,\"epoch\":0,\"from\":\"src 1\"}},\n"
          "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":10.000,\"dur\":10.000,\"name\":\"await\",\"cat\":"
          "\"state\"},\n");
    CHECK(lines_with(text, "\"X\",\"pid\":1,\"tid\":3") ==
          "{\"ph\":\"X\",\"pid\":1,\"tid\":3,\"ts\":0.000,\"dur\":10.000,\"name\":\"wait_get\",\"cat\":"
          "\"state\"},\n"
          "{\"ph\":\"X\",\"pid\":1,\"tid\":3,\"ts\":10.000,\"dur\":25.000,\"name\":\"b\",\"cat\":\"item\","
          "\"args\":"
          "{\"item\":0,\"epoch\":0,\"from\":\"src 0\"}},\n"
          "{\"ph\":\"X\",\"pid\":1,\"tid\":3,\"ts\":10.000,\"dur\":25.000,\"name\":\"await\",\"cat\":"
          "\"state\"},\n"
          "{\"ph\":\"X\",\"pid\":1,\"tid\":3,\"ts\":35.000,\"dur\":25.000,\"name\":\"b\",\"cat\":\"item\","
          "\"args\":"
          "{\"item\":1,\"epoch\":0,\"from\":\"src 1\"}},\n"
          "{\"ph\":\"X\",\"pid\":1,\"tid\":3,\"ts\":35.000,\"dur\":25.000,\"name\":\"await\",\"cat\":"
          "\"state\"},\n");
    CHECK(lines_with(text, "\"id\":4") ==
          "{\"ph\":\"s\",\"pid\":1,\"tid\":2,\"ts\":20.000,\"id\":4,\"cat\":\"item\",\"name\":\"item\","
          "\"args\":"
          "{\"item\":1}},\n"
          "{\"ph\":\"f\",\"pid\":1,\"tid\":3,\"ts\":35.000,\"bp\":\"e\",\"id\":4,\"cat\":\"item\",\"name\":"
          "\"item\","
          "\"args\":{\"item\":1}},\n");
    CHECK(lines_with(text, "a_queue") ==
          "{\"ph\":\"C\",\"pid\":1,\"tid\":0,\"ts\":10.000,\"name\":\"a_queue\",\"args\":{\"items\":0}},\n"
          "{\"ph\":\"C\",\"pid\":1,\"tid\":0,\"ts\":10.000,\"name\":\"a_queue\",\"args\":{\"items\":0}},\n"
          "{\"ph\":\"C\",\"pid\":1,\"tid\":0,\"ts\":20.000,\"name\":\"a_queue\",\"args\":{\"items\":1}},\n"
          "{\"ph\":\"C\",\"pid\":1,\"tid\":0,\"ts\":35.000,\"name\":\"a_queue\",\"args\":{\"items\":0}},\n");
    const auto again = follow();
    virtual_time other;
    CHECK(take_all(p.start(other, {.reports = {again}})) == ints{7, 8});
    CHECK(again->text() == text);
}

TEST_CASE("the waits for room and for a turn lie in the span of the waiting item") {
    virtual_time time;
    const auto trace = follow();
    const auto first_is_slow = [](int n) -> task<int> {
        co_await weir::sleep_for(n == 0 ? 30us : 10us);
        co_return n;
    };
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(50us);
        co_return n;
    };
    const auto p = weir::source({0, 1, 2, 3}) |
                   weir::pipe(first_is_slow, {.name = "a",
                                              .concurrency = 2,
                                              .output_order = weir::output_order::input,
                                              .capacity = 1}) |
                   weir::pipe(slow, {.name = "b"}) | weir::sink();
    CHECK(take_all(p.start(time, {.reports = {trace}})).size() == 4);
    const traces::trace t(trace->text());
    CHECK(t.wrong.empty());
    CHECK(t.lanes.at(3) == "a #1");
    const auto state = [&t](const char* name, int lane) {
        for (const auto& s : t.spans) {
            if (s.name == name && s.lane == lane) return std::tuple(s.begin, s.end, s.depth);
        }
        return std::tuple<std::int64_t, std::int64_t, std::size_t>();
    };
    CHECK(state("wait_turn", 3) == std::tuple(10'000, 30'000, 1U));
    CHECK(state("wait_put", 2) == std::tuple(40'000, 80'000, 1U));
}

TEST_CASE("an item is traced from span to span, also if others overtake it") {
    for (const std::uint64_t every : {1U, 7U}) {
        CAPTURE(every);
        virtual_time time;
        notes n;
        const auto trace = follow({.every = every});
        const auto p = weir::source(std::views::iota(0, 200)) |
                       weir::pipe(noting(n), {.name = "a", .concurrency = 4}) |
                       weir::pipe(noting(n), {.name = "b", .concurrency = 3}) |
                       weir::pipe(noting(n), {.name = "c"}) | weir::sink();
        CHECK(take_all(p.start(time, {.reports = {trace}})).size() == 200);
        const traces::trace t(trace->text());
        CHECK(t.wrong.empty());
        n.check(t, {"src", "a", "b", "c"}, every, 200);
        CHECK(t.steps.size() == 3 * t.visits("c"));
        CHECK(t.dropped() == 0);
    }
}

TEST_CASE("items are traced on threads, through full and empty queues, and through branches") {
    for (const std::uint64_t every : {1U, 10U}) {
        CAPTURE(every);
        weir::thread_pool pool(3);
        notes n;
        const auto trace = follow({.every = every, .max_events = 2'000'000});
        const auto busy = [&n](int value, const weir::invocation& call) {
            n.write(call, value);
            return value;
        };
        const auto p =
            weir::source(std::views::iota(0, 3000)) | weir::pipe(busy, {.name = "a", .concurrency = 3}) |
            weir::tee(weir::pipe(busy, {.name = "seen"})) |
            weir::route([](int v) { return v % 2; }, weir::branch("even", weir::pipe(busy, {.name = "e"})),
                        weir::branch("odd")) |
            weir::pipe(noting(n),
                       {.name = "b", .concurrency = 4, .output_order = weir::output_order::input}) |
            weir::pipe(busy, {.name = "c", .concurrency = 2, .capacity = 16}) | weir::sink();
        CHECK(take_all(p.start(pool, {.reports = {trace}})).size() == 3000);
        const traces::trace t(trace->text());
        CHECK(t.wrong.empty());
        n.check(t, {"src", "a", "seen", "b", "c"}, every, 3000);
        CHECK(t.dropped() == 0);
        CHECK(t.about.find("otherData")->find("flows_lost")->text == "0");
    }
}

TEST_CASE("the items of a batch are traced into it, and the items that come out of it") {
    virtual_time time;
    const auto trace = follow({.every = 3});
    const auto p = weir::source(std::views::iota(0, 10)) | weir::aggregate(4, {.name = "batch"}) |
                   weir::disaggregate({.name = "apart"}) |
                   weir::pipe([](int n) { return n; }, {.name = "each"}) | weir::sink();
    CHECK(take_all(p.start(time, {.reports = {trace}})).size() == 10);
    const traces::trace t(trace->text());
    CHECK(t.wrong.empty());
    // 0 and 3 are in the first batch, which 3 fills; 6 in the second, which 7 fills; 9 is in the last.
    CHECK(t.next(t.visit("src", 6)) == strings{"batch 6"});
    CHECK(t.next(t.visit("batch", 0)) == strings{"batch 3"});
    CHECK(t.next(t.visit("batch", 3)) == strings{"apart 0"});
    CHECK(t.next(t.visit("batch", 6)) == strings{"batch 7"});
    CHECK(t.next(t.visit("batch", 7)) == strings{"apart 1"});
    CHECK(t.next(t.visit("apart", 0)) == strings{"each 0", "each 1", "each 2", "each 3"});
    CHECK(t.visit("each", 5)->from == "src 6");
    CHECK(t.visit("each", 9)->from == "src 9");
    CHECK(t.visits("each") == 10);
}

TEST_CASE("a batch by weight that leaves before an item came does not contain the item") {
    virtual_time time;
    const auto trace = follow({.every = 2});
    const auto p = weir::source({3, 3, 3, 3, 3}) |
                   weir::aggregate_by_weight(7, [](int n) { return n; }, {.name = "batch"}) |
                   weir::pipe([](ints v) { return v; }, {.name = "next"}) | weir::sink();
    CHECK(take_all(p.start(time, {.reports = {trace}})).size() == 3);
    const traces::trace t(trace->text());
    CHECK(t.wrong.empty());
    CHECK(t.next(t.visit("batch", 0)) == strings{"batch 2"});
    CHECK(t.visit("next", 0)->from == "src 0");
    CHECK(t.visit("next", 1)->from == "src 2");
    CHECK(t.visit("next", 2)->from == "src 4");
}

TEST_CASE(
    "items that are dropped or filtered out are traced no further, also the rest that an aggregate drops") {
    virtual_time time;
    const auto trace = follow();
    const auto p = weir::source(std::views::iota(0, 7)) |
                   weir::filter([](int n) { return n != 3; }, {.name = "some"}) | weir::skip(1) |
                   weir::aggregate(2, {.name = "two", .drop_last = true}) |
                   weir::pipe([](ints v) { return v; }, {.name = "next"}) | weir::sink();
    CHECK(take_all(p.start(time, {.reports = {trace}})).size() == 2);
    const traces::trace t(trace->text());
    CHECK(t.wrong.empty());
    CHECK(t.next(t.visit("some", 3)).empty());
    CHECK(t.next(t.visit("two", 4)).empty());
    CHECK(t.visit("next", 0)->from == "src 1");
    CHECK(t.visit("next", 1)->from == "src 4");
}

TEST_CASE("a batch that is divided is traced along all branches, and back into one batch") {
    virtual_time time;
    const auto trace = follow();
    const auto p = weir::source(std::views::iota(0, 8)) | weir::aggregate(4) |
                   weir::split([](int n) { return n % 2; }, {.name = "split"},
                               weir::branch("even", weir::pipe([](ints v) { return v; }, {.name = "e"})),
                               weir::branch("odd")) |
                   weir::pipe([](ints v) { return v; }, {.name = "next"}) | weir::sink();
    CHECK(take_all(p.start(time, {.reports = {trace}})).size() == 2);
    const traces::trace t(trace->text());
    CHECK(t.wrong.empty());
    CHECK(t.next(t.visit("split", 1)).size() == 2);
    CHECK(t.visit("e", 1)->from == "src 4");
    CHECK(t.visits("e") == 2);
    CHECK(t.visit("next", 0)->from == "src 0");
    CHECK(t.visit("next", 1)->from == "src 4");
    CHECK(t.visits("next") == 2);
}

TEST_CASE("both items of a zipped row are traced, and the items of each merged source") {
    virtual_time time;
    const auto trace = follow();
    const auto source = [](const char* name) { return weir::source(std::views::iota(0, 3), {.name = name}); };
    const auto first = [](std::tuple<int, int> row) { return std::get<0>(row); };
    const auto p =
        weir::merge(weir::zip(source("a"), source("b")) | weir::pipe(first, {.name = "row"}), source("c")) |
        weir::pipe([](int n) { return n; }, {.name = "next"}) | weir::sink();
    CHECK(take_all(p.start(time, {.reports = {trace}})).size() == 6);
    const traces::trace t(trace->text());
    CHECK(t.wrong.empty());
    for (std::uint64_t n = 0; n < 3; ++n) {
        CHECK(t.next(t.visit("b", n)).size() == 1);
        CHECK(t.visit("row", n)->from == "a " + std::to_string(n));
    }
    CHECK(t.visits("next") == 6);
}

TEST_CASE("items out of a shuffle, and replayed by a cache, begin anew in a trace") {
    virtual_time time;
    const auto trace = follow({.every = 2});
    const auto p = weir::source(std::views::iota(0, 4)) | weir::cache(2, {.name = "cache"}) |
                   weir::shuffle(3, 1, {.name = "mix"}) |
                   weir::pipe([](int n) { return n; }, {.name = "next"}) | weir::sink();
    CHECK(take_all(p.start(time, {.reports = {trace}})).size() == 8);
    const traces::trace t(trace->text());
    CHECK(t.wrong.empty());
    CHECK(t.visit("cache", 2)->from == "src 2");
    CHECK(t.visit("cache", 6)->from == "cache 6");
    CHECK(t.visit("cache", 6)->epoch == 1);
    CHECK(t.visits("next") == 4);
    for (std::uint64_t n = 0; n < 8; n += 2) CHECK(t.visit("next", n)->from == "mix " + std::to_string(n));
}

TEST_CASE("a trace marks failed items, and has the epochs") {
    virtual_time time;
    const auto trace = follow();
    const auto fails = [](int n) {
        if (n == 1) throw std::runtime_error("one");
        return n;
    };
    const auto p = weir::source(weir::epochs([](std::uint64_t) { return ints{0, 1, 2}; }, 2)) |
                   weir::pipe(fails, {.name = "a", .concurrency = 2, .max_failures = weir::unlimited}) |
                   weir::pipe([](int n) { return n; }, {.name = "b"}) | weir::sink();
    CHECK(take_all(p.start(time, {.reports = {trace}})).size() == 4);
    const traces::trace t(trace->text());
    CHECK(t.wrong.empty());
    CHECK(t.visits("a") == 6);
    CHECK(t.visit("a", 4)->failed);
    CHECK(t.visit("a", 4)->from == "src 4");
    CHECK_FALSE(t.visit("a", 3)->failed);
    CHECK(t.visit("a", 3)->epoch == 1);
    CHECK(t.next(t.visit("a", 4)).empty());
    const std::set<std::string> from{t.visit("b", 2)->from, t.visit("b", 3)->from};
    CHECK(from == std::set<std::string>{"src 3", "src 5"});
}

TEST_CASE("a run that is stopped, or fails, leaves a correct trace") {
    for (const bool fails : {false, true}) {
        virtual_time time;
        const auto trace = follow();
        const auto slow = [fails](int n) -> task<int> {
            co_await weir::sleep_for(10us);
            if (fails && n == 20) throw std::runtime_error("twenty");
            co_return n;
        };
        {
            auto run =
                (weir::source(std::views::iota(0)) | weir::pipe(slow, {.name = "a", .concurrency = 3}) |
                 weir::pipe(slow, {.name = "b"}) | weir::sink())
                    .start(time, {.reports = {trace}});
            for (int i = 0; i < 9; ++i) CHECK(run.get());
            if (fails) CHECK_THROWS(run.drain());
        }
        const traces::trace t(trace->text());
        CHECK(t.wrong.empty());
        CHECK(t.visits("a") >= 9);
        if (fails) CHECK(t.visit("a", 20)->failed);
    }
}

TEST_CASE("a trace of a long run keeps the last events, and says how many were dropped") {
    virtual_time time;
    const auto trace = follow({.every = 1, .max_events = 100});
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(10us);
        co_return n;
    };
    const auto p = weir::source(std::views::iota(0, 500)) | weir::pipe(slow, {.name = "a"}) |
                   weir::for_each([](int) {}, {.name = "b"});
    CHECK(p.start(time, {.reports = {trace}}).wait().items == 500);
    const std::string text = trace->text();
    const traces::trace t(text);
    CHECK(t.wrong.empty());
    CHECK(t.dropped() > 2000);
    CHECK(t.visit("b", 499) != nullptr);
    CHECK(t.visit("a", 0) == nullptr);
    CHECK(t.spans.size() + t.depths.size() + 2 * t.steps.size() <= 100);
    CHECK(lines_with(text, "process_labels").find(std::to_string(t.dropped()) + " events dropped") !=
          std::string::npos);
}

TEST_CASE("with a time span, only items that begin in it are traced") {
    virtual_time time;
    const auto trace = follow({.every = 1, .after = 100us, .length = 50us});
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(10us);
        co_return n;
    };
    const auto p = weir::source(std::views::iota(0, 50), {.capacity = 1}) |
                   weir::pipe(slow, {.name = "a", .capacity = 1}) | weir::sink(1);
    CHECK(take_all(p.start(time, {.reports = {trace}})).size() == 50);
    const traces::trace t(trace->text());
    CHECK(t.wrong.empty());
    CHECK(t.visits("src") == 5);
    CHECK(t.visits("a") == 5);
    for (const auto& s : t.spans) {
        if (s.name == "src") CHECK((s.begin >= 100'000 && s.begin < 150'000));
    }
}

TEST_CASE("slots that are added later have their own lanes") {
    virtual_time time;
    const auto trace = follow();
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(10us);
        co_return n;
    };
    {
        auto run = (weir::source(std::views::iota(0, 30)) | weir::pipe(slow, {.name = "a"}) | weir::sink())
                       .start(time, {.reports = {trace}});
        CHECK(run.get());
        run.set_concurrency("a", 3);
        run.set_capacity("src", 10);
        CHECK(run.drain().items == 29);
    }
    const traces::trace t(trace->text());
    CHECK(t.wrong.empty());
    CHECK(t.lanes.at(4) == "a #2");
    CHECK(t.visits("a") == 30);
}

TEST_CASE("without statistics no item is traced") {
    virtual_time time;
    const auto trace = follow();
    const auto p = weir::source({1, 2}) | weir::pipe([](int n) { return n; }) | weir::sink();
    CHECK(take_all(p.start<weir::unmeasured>(time, {.reports = {trace}})).size() == 2);
    const traces::trace t(trace->text());
    CHECK(t.wrong.empty());
    CHECK(t.spans.empty());
}

TEST_CASE("a trace is written to its file when the run has ended, for all names") {
    const std::string path = "trace.test.json";
    virtual_time time;
    const auto trace = std::make_shared<trace_report>(path, trace_options{.every = 1});
    const auto p =
        weir::source({1}) | weir::pipe([](int n) { return n; }, {.name = "\"a\\\n\xff"}) | weir::sink();
    CHECK(take_all(p.start(time, {.reports = {trace}})).size() == 1);
    std::ifstream in(path);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    std::remove(path.c_str());
    CHECK(text == trace->text());
    CHECK(traces::trace(text).wrong.empty());
    CHECK(traces::trace(text).lanes.at(2) == "\"a\\\n\xef\xbf\xbd");
}

namespace {
std::string warned;
}

TEST_CASE("a path that can't be written, and two runs at a time, give a warning, and the runs go on") {
    warned.clear();
    const auto before = weir::set_report_warning([](std::string_view who, std::string_view why) noexcept {
        warned += std::string(who) + ": " + std::string(why) + "\n";
    });
    {
        virtual_time time;
        const auto trace = std::make_shared<trace_report>("no/such/folder/run.json");
        const auto p = weir::source({1, 2}) | weir::sink();
        auto first = p.start(time, {.reports = {trace}});
        auto second = p.start(time, {.reports = {trace}});
        CHECK(take_all(second).size() == 2);
        CHECK(take_all(first).size() == 2);
        auto both = p.start(time, {.reports = {follow(), follow()}});
        CHECK(take_all(both).size() == 2);
    }
    weir::set_report_warning(before);
    CHECK(warned ==
          "no/such/folder/run.json: weir: a trace_report is of one run at a time, and the one before goes "
          "on\n"
          "a trace: weir: another one follows this run's items\n"
          "no/such/folder/run.json: no/such/folder/run.json: No such file or directory\n");
}

TEST_CASE("invalid options of a trace are refused") {
    CHECK_THROWS_AS(trace_report("", {.every = 0}), std::invalid_argument);
    CHECK_THROWS_AS(trace_report("", {.max_events = 0}), std::invalid_argument);
    CHECK_THROWS_AS(trace_report("", {.every = std::uint64_t(-1)}), std::invalid_argument);
    CHECK_THROWS_AS(trace_report("", {.after = -1ns}), std::invalid_argument);
    CHECK(trace_report("").text().empty());
}

namespace {

// One item from slot to slot; `seen`: when the second one got it.
std::string text_of(std::int64_t seen) {
    run_trace run({.every = 1, .most = 100, .after = 0, .until = INT64_MAX});
    auto& from = static_cast<slot_trace&>(run.add_slot(run.add_stage("a")));
    auto& to = static_cast<slot_trace&>(run.add_slot(run.add_stage("b")));
    run.add_queue("a", 2, true);
    run.reserve();
    run.begin(1000);
    from.begin_new(from.chosen(0, 2000), 0, 0, 2000);
    from.end_step(3500);
    from.left(0, 0);
    from.end_step(4007);
    to.came(0, 0, 1);
    to.begin(0, 0, seen);
    to.end_step(seen + 10);
    to.came(0, 1, 1);  // whose other end is not there any more
    to.begin(1, 0, seen + 20);
    run.end();
    return weir::detail::trace_text(run);
}

}  // namespace

TEST_CASE("a step has both ends or none, and times are microseconds with three decimals") {
    const traces::trace t(text_of(5000));
    CHECK(t.wrong.empty());
    CHECK(t.steps.size() == 1);
    CHECK(t.steps.at(0).left == 2500);
    CHECK(t.steps.at(0).came == 4000);
    CHECK(t.visit("a", 0)->end == 3007);
    CHECK(t.visits("b") == 2);
    CHECK(text_of(5000).find("\"ts\":1.000,\"dur\":2.007,\"name\":\"a\"") != std::string::npos);
}

TEST_CASE("if clocks differ, a step never goes back in time, nor to before its item began") {
    const traces::trace late(text_of(3400));
    CHECK(late.wrong.empty());
    CHECK(late.steps.at(0).left == late.steps.at(0).came);
    const traces::trace before(text_of(1900));
    CHECK(before.wrong.empty());
    CHECK(before.steps.empty());
}
