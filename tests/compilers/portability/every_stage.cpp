// A program with every stage and every report, for what compilers are asked for: warnings, no type information.
// SPDX-License-Identifier: BSL-1.0
#include "../../support/item_stages.hpp"

#include <weir/report/csv.hpp>
#include <weir/report/describe.hpp>
#include <weir/report/html.hpp>
#include <weir/report/json.hpp>
#include <weir/report/live_view.hpp>
#include <weir/report/log.hpp>
#include <weir/report/metrics.hpp>
#include <weir/report/profile.hpp>
#include <weir/report/structure.hpp>
#include <weir/report/trace.hpp>
#include <weir/simulation.hpp>
#include <weir/stages/batch_slots.hpp>
#include <weir/stages/block_pool.hpp>
#include <weir/weir.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <ranges>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

int failures = 0;

template <class A, class B>
void equal(const char* what, const A& is, const B& wanted) {
    if (is == wanted) return;
    ++failures;
    std::cout << what << " is " << is << ", not " << wanted << '\n';
}

template <class Pipeline>
std::uint64_t sum_of(const Pipeline& pipeline, weir::executor& home) {
    std::uint64_t sum = 0;
    auto run = pipeline.start(home);
    for (const auto& n : run) sum += static_cast<std::uint64_t>(n);
    return sum;
}

int twice(int n) { return 2 * n; }
weir::task<int> later(int n) {
    co_await weir::sleep_for(1us);
    co_return n;
}
weir::generator<int> from_one_to(int last) {
    for (int n = 1; n <= last; ++n) co_yield n + 0;
}
weir::async_generator<int> slowly_to(int last) {
    for (int n = 1; n <= last; ++n) {
        co_await weir::yield();
        co_yield n + 0;
    }
}
std::vector<int> twice_each(std::vector<int> batch) {
    for (int& n : batch) n *= 2;
    return batch;
}
int add(std::vector<int> batch) {
    int sum = 0;
    for (const int n : batch) sum += n;
    return sum;
}

void rows(weir::executor& home) {
    const int array[] = {1, 2, 3};
    equal("a C array", sum_of(weir::source(array) | weir::pipe(twice) | weir::sink(), home), 12U);
    equal("a generator", sum_of(weir::source([] { return from_one_to(10); }) | weir::sink(), home), 55U);
    equal("a coroutine's generator",
          sum_of(weir::source([] { return slowly_to(10); }) | weir::pipe(later, {.concurrency = 3}) |
                     weir::sink(),
                 home),
          55U);
    const auto batches =
        weir::source(std::views::iota(1, 101)) | weir::filter([](const int& n) { return n % 2 == 0; }) |
        weir::flat_map([](int n) { return std::vector<int>(2, n); }) | weir::skip(2) | weir::take(20) |
        weir::shuffle(5, 1) | weir::aggregate(4) | weir::disaggregate() | weir::aggregate_for(1h) |
        weir::pipe(add, {.output_order = weir::output_order::input}) | weir::sink();
    equal("each stage that puts what it takes",
          sum_of(item_stages::behind(weir::source({1, 2, 3}), 2) | weir::sink(), home), 6U);
    equal("a long row", sum_of(batches, home), 2U * (4U + 6U + 8U + 10U + 12U + 14U + 16U + 18U + 20U + 22U));
    const auto heavy =
        weir::source({3, 4, 5}) |
        weir::aggregate_by_weight(8, [](const int& n) { return static_cast<std::uint64_t>(n); }) |
        weir::pipe(add) | weir::sink();
    equal("batches by weight", sum_of(heavy, home), 12U);
    const auto counted =
        weir::source({1, 1, 1}) |
        weir::pipe(weir::per_slot([] { return [n = 0](int m) mutable { return n += m; }; })) |
        weir::pipe(weir::retry([](const int& n) { return n; }, {.delay = 1us})) | weir::sink();
    equal("a function for each slot", sum_of(counted, home), 6U);
    const auto lap =
        weir::epochs([](std::uint64_t epoch) { return std::vector<std::uint64_t>(3, epoch); }, 2);
    equal("epochs", sum_of(weir::source(lap) | weir::sink(), home), 3U);
    const auto kept = weir::source(std::vector<int>{1, 2}) | weir::cache(3) | weir::sink();
    equal("a cache", sum_of(kept, home), 9U);
    weir::block_pool blocks(2 * sizeof(int), 3);
    const auto write = [](int n, std::span<int> place) { place[0] = n; };
    const auto places = weir::source({1, 2, 3}) |
                        weir::batch_slots<int>(blocks, {.places = 2}, write, {.concurrency = 2}) |
                        weir::disaggregate() | weir::sink();
    equal("places of batches", sum_of(places, home), 6U);
    const auto halve = [](int n, weir::feeder<int>& more) {
        if (n > 1) more.add(n / 2);
        return n;
    };
    const auto tree = weir::source({8, 9}) | weir::traverse(halve, {.concurrency = 2}) | weir::sink();
    equal("items that add items", sum_of(tree, home), 8U + 4U + 2U + 1U + 9U + 4U + 2U + 1U);
    weir::channel<int> from(3), to(3);
    for (int n = 1; n <= 3; ++n) static_cast<void>(from.try_put(n + 0));
    from.close();
    auto through = (weir::source(from) | weir::pipe(twice) | weir::sink_to(to)).start(home);
    through.wait();
    equal("what a channel got", to.try_get().value() + to.try_get().value() + to.try_get().value(), 12);
    int seen = 0;
    const auto each = weir::source({1, 2, 3}) | weir::for_each([&seen](int n) { seen += n; });
    equal("items at the end", each.start(home).wait().items, 3U);
    equal("what the end saw", seen, 6);
}

void graphs(weir::executor& home) {
    const auto merged = weir::merge({.order = weir::merge_order::weighted, .weights = {1, 2}},
                                    weir::source({1, 2}), weir::source({3, 4}));
    equal("a merge", sum_of(merged | weir::sink(), home), 10U);
    const auto zipped =
        weir::zip(weir::source({1, 2}), weir::source({3, 4})) |
        weir::pipe([](std::tuple<int, int> both) { return std::get<0>(both) * std::get<1>(both); });
    equal("a zip", sum_of(zipped | weir::sink(), home), 11U);
    const auto routed = weir::source({1, 2, 3}) |
                        weir::route([](int n) { return n % 2; }, weir::branch("even", weir::pipe(twice)),
                                    weir::branch("odd")) |
                        weir::sink();
    equal("a route", sum_of(routed, home), 8U);
    const auto divided = weir::source({std::vector<int>{1, 2, 3}}) |
                         weir::split([](int n) { return n % 2; },
                                     weir::branch("even", weir::pipe(twice_each)), weir::branch("odd")) |
                         weir::pipe(add) | weir::sink();
    equal("a split", sum_of(divided, home), 8U);
    int seen = 0;
    const auto watched =
        weir::source({1, 2, 3}) | weir::tee(weir::pipe([&seen](int n) { return seen += n; })) | weir::sink();
    equal("a tee", sum_of(watched, home), 6U);
    equal("what came past the tee", seen, 6);
}

weir::task<> count_into(weir::channel<int>& to) {
    for (int n = 0; n < 5; ++n) static_cast<void>(co_await to.put(n + 0));
    to.close();
}
weir::task<int> from_channels(weir::executor& home) {
    weir::channel<int> numbers(2), others(2);
    weir::task_group group(home);
    group.spawn(count_into(numbers));
    int sum = 0;
    while (const auto n = co_await numbers.get()) sum += *n;
    static_cast<void>(others.try_put(7));
    const auto first = co_await weir::select(weir::on_get(others), weir::after(1h));
    co_await group.join();
    auto [a, b] = co_await weir::when_all(later(1), later(2));
    co_return sum + a + b + (first.index() == 0 ? 7 : 0);
}

// All that a run tells. One of its items fails.
void reports(weir::executor& home) {
    std::ostringstream log;
    weir::failure_log failed(log);
    const auto halve = [](int n) -> weir::task<int> {
        co_await weir::yield();
        if (n % 2 != 0) throw std::runtime_error("odd");
        co_return n / 2;
    };
    const auto pipeline = weir::source(weir::draws(weir::sampler({.size = 100}), 1)) |
                          weir::pipe([](weir::draw d) { return static_cast<int>(d.index); }) |
                          weir::pipe(halve, {.concurrency = 3, .max_failures = 50}) | weir::sink(2);
    const auto recorder = std::make_shared<weir::run_recorder>("every stage");
    auto run = pipeline.start(home, {.on_failure = failed, .reports = {recorder}});
    int sum = 0;
    for (const int n : run) sum += n;
    equal("a run with failures", sum, 1225);
    equal("where the next run begins", run.checkpoint().watermark(), 100U);
    const weir::pipeline_stats stats = run.stats();
    equal("failures", stats.stages.at(2).num_failures, 50U);
    weir::simulation::check_identities(stats);
    const weir::run_record record = recorder->record();
    equal("what JSON keeps", weir::run_from_json(weir::json_text(record)) == record, true);
    log << pipeline << stats << weir::mermaid(weir::describe(pipeline)) << weir::metrics_text(stats)
        << weir::html_text(record) << weir::live_line(stats, {.done = 1});
    weir::log_lines(log, stats, weir::log_style::document);
    equal("that all of them wrote something", log.str().size() > 10'000, true);
    if (home.traits().exclusive) return;
    const auto found = weir::profile(weir::source({1, 2}) | weir::pipe(twice) | weir::sink(), home);
    equal("stages that were profiled", found.stages.empty(), false);
}

// It stops at the first failure, whose message is the standard library's.
void failing(weir::executor& home) {
    const auto pipeline =
        weir::source({1, 2}) |
        weir::pipe([](int n) { return std::vector<int>(1).at(static_cast<std::size_t>(n)); }) | weir::sink();
    try {
        sum_of(pipeline, home);
        equal("that it fails", false, true);
    } catch (const weir::pipeline_failure& failure) {
        equal("the stage that fails", failure.stage(), std::string("pipe#1"));
    }
}

void all_on(weir::executor& home) {
    rows(home);
    graphs(home);
    equal("channels", weir::sync_wait(home, from_channels(home)), 20);
    reports(home);
    failing(home);
}

}  // namespace

int main() {
    weir::thread_pool pool(2);
    all_on(pool);
    weir::blocking_pool blocking(8);
    all_on(blocking);
    weir::run_loop loop;
    all_on(loop);
    weir::virtual_time time;
    all_on(time);
    const auto explored =
        weir::simulation::explore(weir::source({1, 2, 3}) | weir::pipe(twice, {.concurrency = 2}) |
                                      weir::sink(),
                                  [](const auto& all) { equal("what a schedule gives", all.size(), 3U); },
                                  {.schedules = 10});
    equal("schedules", explored.schedules, 10U);
    return failures == 0 ? 0 : 1;
}
