// Writes pages of runs of all kinds: tests/browser/run shows them to a browser, and tests/browser/pages.py reads them.
//
//     pages FOLDER    writes FOLDER/*.html, and the run of one of them as FOLDER/documents_single_35.json
// SPDX-License-Identifier: BSL-1.0
#include "../../examples/simulate/build.hpp"
#include "../../examples/simulate/documents.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/graph/route.hpp>
#include <weir/report/describe.hpp>
#include <weir/report/html.hpp>
#include <weir/report/json.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using weir::duration;
using weir::pipeline_stats;
using weir::run_record;
using weir::task;

namespace {

std::string folder;

void write(const std::string& name, const run_record& run) {
    weir::write_html(folder + "/" + name + ".html", run);
}

template <class Run>
task<> consume(Run& run, weir::executor& clock, duration each, weir::time_point end) {
    while (clock.now() < end) {
        const auto item = co_await run.next();
        if (!item) break;
        co_await weir::sleep_for(each);
    }
}

// The documents' scenarios: 20 laps, each a whole number of periods of all of them. By the report itself.
void documents() {
    for (const simulate::scenario& s : simulate::documents()) {
        weir::virtual_time clock;
        const auto pipeline = simulate::build(s.spec, clock);
        const auto page = std::make_shared<weir::html_report>(folder + "/documents_" + s.spec.name + ".html",
                                                              s.title, weir::describe(pipeline),
                                                              weir::run_recorder_options{
                                                                  .settings = {{"foreground", "30 ms"}}});
        {
            auto run = pipeline.start(clock, {.lap = 2520ms, .reports = {page}});
            weir::sync_wait(clock, consume(run, clock, 30ms, clock.now() + 20 * 2520ms));
        }
        if (s.spec.name == "single_35")
            weir::write_json(folder + "/documents_single_35.json", page->record());
    }
}

// The pipeline of the guide to the analysis: downloads that change, and spike.
void production() {
    weir::virtual_time clock;
    const auto download = [](std::vector<int> urls) -> task<std::vector<int>> {
        const int n = urls.front() / 8;
        const int ms = 190 + (n / 500) % 3 * 80 + (n % 331 == 7 ? 500 : 0);
        co_await weir::sleep_for(std::chrono::milliseconds(ms));
        co_return urls;
    };
    const auto preprocess = [](int i) -> task<int> {
        co_await weir::sleep_for(45ms + (i % 7) * 1ms);
        if (i % 997 == 13) throw std::runtime_error("image " + std::to_string(i) + " is truncated");
        co_return i;
    };
    const auto collate = [](std::vector<int> items) -> task<std::size_t> {
        co_await weir::sleep_for(6ms);
        co_return items.size();
    };
    int copies = 0;
    const auto transfer = [&copies](std::size_t n) -> task<std::size_t> {
        co_await weir::sleep_for(++copies % 10 < 2 ? 26ms : 15ms);
        co_return n;
    };
    int i = 0;
    const auto next = [&i]() -> std::optional<int> { return i++; };
    const auto pipeline =
        weir::source(next, {.name = "dataset"}) | weir::aggregate(8) |
        weir::pipe(download, {.name = "download", .concurrency = 12}) | weir::disaggregate() |
        weir::pipe(preprocess, {.name = "preprocess", .concurrency = 12}) | weir::aggregate(4) |
        weir::pipe(collate, {.name = "collate"}) | weir::pipe(transfer, {.name = "transfer"}) | weir::sink(3);
    const auto recorder = std::make_shared<weir::run_recorder>(
        "training on one machine", weir::describe(pipeline),
        weir::run_recorder_options{.settings = {{"threads", "12"}, {"dataset", "images/train"}}});
    {
        auto run = pipeline.start(clock, {.max_failures = weir::unlimited, .lap = 1s, .reports = {recorder}});
        weir::sync_wait(clock, consume(run, clock, 19ms, clock.now() + 120s));
    }
    run_record all = recorder->record();
    write("production", all);
    run_record none = all;
    none.laps.clear();
    none.description = {};
    write("no_laps", none);
    while (all.laps.size() < 1000) all.laps.push_back(all.laps[all.laps.size() % 100]);
    write("long", all);
    // As with weir::summed, and with copies.
    for (auto& s : none.total.stages)
        s.task_times = weir::histogram::without_quantiles(s.task_times.count(), s.task_time, 400ms);
    none.total.stages[7].transfers =
        weir::transfer_stats{6000, 12'000'000'000, 3s, 6000, 3s, 200ms, 40, 80ms, 0, 0ms};
    none.ended = false;
    write("summed", none);
}

const std::vector<std::string> hostile_names = {"</script><script>alert(1)</script>",
                                                "\"'><img src=x onerror=alert(2)>",
                                                "",
                                                std::string(300, 'W'),
                                                "день 数据 🎉 ضغط",
                                                "bad \xFF\xC0 utf-8 \x01\x02\x7F",
                                                "&amp; &#38; ]]> <!-- -->",
                                                "same",
                                                "same",
                                                "\xE2\x80\xAE backwards",
                                                "line\nbreak\ttab",
                                                "${x}{{y}}<%z%>"};

// A tree of branches, one inside of the other, that all come together again.
run_record wide(std::size_t stages, std::size_t laps, bool hostile) {
    run_record run;
    run.name = hostile ? hostile_names[0] : "a wide graph";
    run.started = "2026-11-25T03:00:00Z";
    run.ended = true;
    const auto lap_of = [&](std::size_t lap, std::size_t times) {
        pipeline_stats p;
        p.elapsed = 1s * times;
        for (std::size_t i = 0; i < stages; ++i) {
            weir::stage_stats s;
            s.name = hostile ? hostile_names[i % hostile_names.size()] : "stage " + std::to_string(i);
            s.kind = i == 0 ? "source" : i + 1 == stages ? "sink" : "pipe";
            s.elapsed = p.elapsed;
            s.num_tasks = (20 + (i * 7 + lap) % 5) * times;
            s.task_time = std::chrono::microseconds(100 << (i % 9)) * s.num_tasks;
            const duration busy = s.task_time;
            const duration rest = p.elapsed - busy;
            s.per_slot = {{0ms, rest * (i % 5) / 5, rest / 50, busy / 2, busy - busy / 2,
                           rest - rest * (i % 5) / 5 - rest / 50, 0ms}};
            s.task_times.record(s.task_time / s.num_tasks, s.num_tasks);
            if (i != 0) s.inputs = {i + 1 == stages ? stages - 2 : (i - 1) / 3};
            s.outputs = {i + 1 == stages ? stages - 1 : 3 * i + 1 < stages - 1 ? i : stages - 2};
            p.stages.push_back(s);
            weir::channel_stats c;
            c.name = s.name;
            c.capacity = 2;
            c.elapsed = p.elapsed;
            c.num_put = c.num_get = s.num_tasks;
            c.put_wait = rest / 3;
            c.get_wait = c.get_blocked = rest / 4 * (i % 4);
            c.empty = rest * (i % 5) / 5;
            c.put_waits.record(c.put_wait / s.num_tasks, s.num_tasks);
            c.get_waits.record(c.get_wait / s.num_tasks, s.num_tasks);
            p.channels.push_back(c);
            if (!hostile || lap != 0) continue;
            run.failures.push_back({s.name, i, s.name + std::string(5000, '<'), s.name, i % laps});
        }
        return p;
    };
    for (std::size_t lap = 0; lap < laps; ++lap) run.laps.push_back(lap_of(lap, 1));
    run.total = lap_of(0, laps);
    run.num_failures = run.failures.size() * 1000;
    for (const std::string& name : hostile_names) {
        if (hostile) run.settings.push_back({name, name + name});
    }
    return run;
}

void small() {
    write("empty", {});
    // Three items pass at once, and take no time at all.
    for (int items : {3, 100}) {
        weir::virtual_time clock;
        const auto next = [&items]() -> std::optional<int> {
            return items-- > 0 ? std::optional<int>(1) : std::nullopt;
        };
        const auto pipeline = weir::source(next) | weir::sink();
        const auto recorder =
            std::make_shared<weir::run_recorder>("no stages between", weir::describe(pipeline));
        const std::string name = items == 3 ? "no_time" : "no_stages_between";
        {
            auto run = pipeline.start(clock, {.reports = {recorder}});
            weir::sync_wait(clock, consume(run, clock, 5ms, clock.now() + 1s));
        }
        write(name, recorder->record());
    }
    write("hostile", wide(12, 7, true));
}

void branches() {
    weir::virtual_time clock;
    const auto wait = [](duration d) {
        return [d](int i) -> task<int> {
            co_await weir::sleep_for(d);
            co_return i;
        };
    };
    const auto inner =
        weir::route([](const int& i) { return i % 3 == 0 ? 0u : 1u; },
                    weir::branch("small", weir::pipe(wait(4ms), {.name = "thumbnail"})),
                    weir::branch("large", weir::pipe(wait(9ms), {.name = "tile"}) |
                                              weir::pipe(wait(12ms), {.name = "scale", .concurrency = 3})));
    int n = 0;
    const auto pipeline =
        weir::source([&n]() -> std::optional<int> { return n++; }, {.name = "urls"}) |
        weir::route([](const int& i) { return static_cast<unsigned>(i % 3); },
                    weir::branch("images",
                                 weir::pipe(wait(6ms), {.name = "decode", .concurrency = 2}) | inner),
                    weir::branch("audio", weir::pipe(wait(20ms), {.name = "resample", .concurrency = 4})),
                    weir::branch("text", weir::pipe(wait(1ms), {.name = "tokenize"}))) |
        weir::pipe(wait(2ms), {.name = "pack"}) | weir::sink(3);
    const auto recorder = std::make_shared<weir::run_recorder>("branches", weir::describe(pipeline));
    {
        auto run = pipeline.start(clock, {.lap = 500ms, .reports = {recorder}});
        weir::sync_wait(clock, consume(run, clock, 5ms, clock.now() + 20s));
    }
    write("branches", recorder->record());
}

// A loader of images for a training loop. The server is slow for the second third of the run: `download` replaces
// `decode` as the bottleneck. tests/browser/picture.py makes the picture of README.md from this page.
void loader() {
    weir::virtual_time clock;
    const auto download = [](int n) -> task<int> {
        const duration slow = n >= 3300 && n < 4700 ? 100ms : 0ms;
        co_await weir::sleep_for(30ms + (n * 7 % 5) * 4ms + slow);
        co_return n;
    };
    const auto decode = [](int n) -> task<int> {
        co_await weir::sleep_for(22ms + (n * 3 % 7) * 1ms);
        co_return n;
    };
    int n = 0;
    const auto pipeline = weir::source([&n]() -> std::optional<int> { return n++; }, {.name = "urls"}) |
                          weir::pipe(download, {.name = "download", .concurrency = 8}) |
                          weir::pipe(decode, {.name = "decode", .concurrency = 4}) |
                          weir::aggregate(16, {.name = "batch"}) | weir::sink(3);
    const auto recorder = std::make_shared<weir::run_recorder>("an image loader", weir::describe(pipeline));
    {
        auto run = pipeline.start(clock, {.lap = 1s, .reports = {recorder}});
        weir::sync_wait(clock, consume(run, clock, 70ms, clock.now() + 60s));
    }
    write("loader", recorder->record());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: pages FOLDER\n");
        return 2;
    }
    folder = argv[1];
    documents();
    production();
    small();
    branches();
    loader();
    write("wide", wide(100, 60, false));
    write("wide_hostile", wide(300, 40, true));
}
