// bottleneck: is data loading the bottleneck, or the loop that consumes the items? Three runs answer it from
// one figure: how long the sink waited on either side. A live view shows each run while it goes on.
// SPDX-License-Identifier: BSL-1.0
#include "../common/interrupt.hpp"
#include "../common/options.hpp"
#include "../common/output.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/report/live_view.hpp>
#include <weir/report/log.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>    // for std::chrono::milliseconds
#include <cstdint>   // for std::int64_t, std::uint64_t
#include <iomanip>   // for std::setprecision
#include <iostream>  // for std::cout
#include <memory>    // for std::make_shared
#include <ranges>    // for std::views::iota

namespace {

using milliseconds = std::chrono::duration<double, std::milli>;

// The sink takes items from the stage before it and puts them where the foreground takes them. If
// it waits for items, loading is slow; if it waits for room, the foreground is.
void say_who_is_slow(const weir::pipeline_stats& stats) {
    const weir::channel_stats& before = stats.channels.at(stats.channels.size() - 2);
    const weir::channel_stats& after = stats.channels.back();
    const milliseconds upstream = before.ave_get_wait();
    const milliseconds downstream = after.ave_put_wait();
    std::cout << std::fixed << std::setprecision(3) << "  For each item the sink waited " << upstream.count()
              << " ms for data (upstream) and " << downstream.count() << " ms for room (downstream).\n  => ";
    constexpr milliseconds noticeable{1};
    if (upstream < noticeable && downstream < noticeable) {
        std::cout << "Nothing is a bottleneck: both are quick.\n\n";
    } else if (upstream > downstream) {
        std::cout << "The bottleneck is data loading: the foreground waits for data.\n\n";
    } else {
        std::cout << "The bottleneck is the foreground: data waits for it.\n\n";
    }
}

template <class Pipeline>
void run(const char* title, const Pipeline& pipeline, weir::executor& executor, std::uint64_t items,
         std::chrono::milliseconds foreground) {
    if (examples::interrupted()) return;
    std::cout << title << std::endl;
    const auto view = std::make_shared<weir::live_view>(weir::live_view_options{.total = items});
    auto run = pipeline.start(executor, {.lap = std::chrono::milliseconds(250),
                                         .reports = {view},
                                         .stop = examples::stop_request()});
    while (run.get()) examples::be_busy(foreground);
    run.stop();
    const weir::pipeline_stats stats = run.stats();
    weir::log_lines(std::cout, stats, weir::log_style::document);
    say_who_is_slow(stats);
}

}  // namespace

int main(int argc, char** argv) {
    std::int64_t items = 100;
    std::int64_t delay_ms = 100;
    examples::options options("bottleneck [OPTION...]",
                              "Three runs of a pipeline: nothing slow, a slow foreground, slow loading.");
    options.number("--items", items, 1, 1'000'000, "items of each run");
    options.number("--delay-ms", delay_ms, 0, 60'000, "how long the slow side takes for an item");
    if (const auto status = options.parse(argc, argv)) return *status;
    static_cast<void>(examples::stop_request());

    const std::chrono::milliseconds delay(delay_ms);
    // A coroutine may use the captures of its lambda: the stage keeps the function while it runs.
    const auto load_slowly = [delay](std::int64_t item) -> weir::task<std::int64_t> {
        co_await weir::sleep_for(delay);
        co_return item;
    };

    const auto count = static_cast<std::uint64_t>(items);
    const auto numbers = std::views::iota(std::int64_t{0}, items);
    const auto quick = weir::source(numbers) | weir::sink(1);
    const auto slow = weir::source(numbers) | weir::pipe(load_slowly, {.name = "delay"}) | weir::sink(1);

    weir::thread_pool pool(2);
    run("Nothing is slow", quick, pool, count, std::chrono::milliseconds(0));
    run("The foreground is slow", quick, pool, count, delay);
    run("Loading is slow", slow, pool, count, std::chrono::milliseconds(0));
    return examples::exit_status(examples::interrupted() ? examples::exit_interrupted : 0, "bottleneck");
}
