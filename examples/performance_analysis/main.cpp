// performance_analysis: a loader as a training has it, which downloads, prepares and batches, for a minute; all
// that is reported of it is written: a page of HTML, SQLite, a trace, metrics, JSON.
// SPDX-License-Identifier: BSL-1.0
#include "../common/options.hpp"
#include "../common/output.hpp"
#include "server.hpp"

#include <weir/report/describe.hpp>
#include <weir/report/html.hpp>
#include <weir/report/json.hpp>
#include <weir/report/live_view.hpp>
#include <weir/report/metrics_report.hpp>
#include <weir/report/run_recorder.hpp>
#include <weir/report/sqlite.hpp>
#include <weir/report/trace.hpp>
#include <weir/weir.hpp>

#include <chrono>      // for std::chrono::steady_clock
#include <cstdint>     // for std::int64_t
#include <exception>   // for std::exception
#include <filesystem>  // for std::filesystem::create_directories
#include <iostream>    // for std::cout, std::cerr
#include <memory>      // for std::make_shared
#include <ranges>      // for std::views::iota
#include <string>      // for std::string
#include <thread>      // for std::this_thread::sleep_for
#include <utility>     // for std::move
#include <vector>      // for std::vector

using namespace std::chrono_literals;

namespace {

using pages = std::vector<std::string>;

// Some work for a processor, of so many bytes.
std::uint64_t prepared(const std::string& page) {
    std::uint64_t sum = 0;
    for (int round = 0; round < 20; ++round) {
        for (const char c : page) sum = sum * 31 + static_cast<unsigned char>(c);
    }
    return sum;
}

int analyse(std::int64_t seconds, const std::string& folder) {
    std::filesystem::create_directories(folder);
    performance_analysis::server server;
    weir::thread_pool pool(2);

    const auto download = [&](std::vector<int> numbers) -> weir::task<pages> {
        std::vector<weir::task<std::string>> all;
        for (const int n : numbers) all.push_back(server.get("/" + std::to_string(n)));
        auto got = co_await weir::when_all(std::move(all));
        co_return got;
    };
    const auto collate = [](const std::vector<std::uint64_t>& items) {
        std::uint64_t sum = 0;
        for (const std::uint64_t each : items) sum += each;
        return sum;
    };
    const auto transfer = [](std::uint64_t batch) -> weir::task<std::uint64_t> {
        co_await weir::sleep_for(2ms);  // as a copy to a device takes it
        co_return batch;
    };
    // clang-format off
    const auto loader = weir::source(std::views::iota(0))
                      | weir::aggregate(8)
                      | weir::pipe(download, {.name = "download", .concurrency = 12})
                      | weir::disaggregate()
                      | weir::pipe(prepared, {.name = "preprocess", .concurrency = 12})
                      | weir::aggregate(4)
                      | weir::pipe(collate, {.name = "collate"})
                      | weir::pipe(transfer, {.name = "transfer"})
                      | weir::sink(2);
    // clang-format on

    const auto made_of = weir::describe(loader);
    const std::vector<weir::run_setting> settings = {{"seconds", std::to_string(seconds)}, {"workers", "2"}};
    const auto recorder =
        std::make_shared<weir::run_recorder>("performance_analysis", made_of,
                                             weir::run_recorder_options{.settings = settings});
    const weir::run_options reported = {
        .lap = 500ms,
        .reports = {std::make_shared<weir::live_view>(), recorder,
                    std::make_shared<weir::sqlite_report>(folder + "/run.sqlite", "performance_analysis",
                                                          made_of, settings),
                    std::make_shared<weir::trace_report>(folder + "/run.trace.json",
                                                         weir::trace_options{.every = 20}),
                    std::make_shared<weir::metrics_file>(folder + "/run.prom")}};

    std::uint64_t batches = 0;
    {
        auto run = loader.start(pool, reported);
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
        for ([[maybe_unused]] const std::uint64_t batch : run) {
            ++batches;
            std::this_thread::sleep_for(15ms);  // a step of the training
            if (std::chrono::steady_clock::now() >= end) break;
        }
        run.stop();
    }
    const weir::run_record record = recorder->record();
    weir::write_json(folder + "/run.json", record);
    weir::write_html(folder + "/run.html", record);
    std::cout << record.total << batches << " batches in " << seconds << " s\n\n";
    for (const char* file : {"run.html", "run.json", "run.sqlite", "run.trace.json", "run.prom"}) {
        std::cout << folder << '/' << file << '\n';
    }
    return examples::exit_status(0, "performance_analysis");
}

}  // namespace

int main(int argc, char** argv) {
    std::int64_t seconds = 60;
    std::string folder = "performance_analysis.out";
    examples::options options(
        "performance_analysis [OPTION...]",
        "Runs a loader of downloads from a server of its own, and writes all reports of it.");
    options.number("--seconds", seconds, 1, 86'400, "how long it runs");
    options.text("-o", "FOLDER", folder, "where the reports are written (" + folder + ")");
    if (const auto status = options.parse(argc, argv)) return *status;
    try {
        return analyse(seconds, folder);
    } catch (const std::exception& e) {
        std::cerr << "performance_analysis: " << e.what() << '\n';
        return 1;
    }
}
