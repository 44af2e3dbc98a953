// performance_analysis: runs a loader, as for a training, for a minute: download, prepare, batch. It writes all reports:
// a page of HTML, SQLite, a trace, metrics and JSON.
// SPDX-License-Identifier: BSL-1.0
#include "../common/interrupt.hpp"
#include "../common/options.hpp"
#include "../common/output.hpp"
#include "loader.hpp"
#include "server.hpp"

#include <weir/report/describe.hpp>
#include <weir/report/html.hpp>
#include <weir/report/json.hpp>
#include <weir/report/live_view.hpp>
#include <weir/report/metrics.hpp>
#include <weir/report/sqlite.hpp>
#include <weir/report/trace.hpp>
#include <weir/weir.hpp>

#include <chrono>      // for std::chrono::steady_clock
#include <cstdint>     // for std::int64_t
#include <exception>   // for std::exception
#include <filesystem>  // for std::filesystem::create_directories
#include <iostream>    // for std::cout, std::cerr
#include <memory>      // for std::make_shared
#include <string>      // for std::string
#include <thread>      // for std::this_thread::sleep_for
#include <vector>      // for std::vector

using namespace std::chrono_literals;

namespace {

int analyse(std::int64_t seconds, const std::string& folder) {
    std::filesystem::create_directories(folder);
    performance_analysis::server server;
    weir::thread_pool pool(2);

    const auto loader = performance_analysis::loader_of(server);
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
                    std::make_shared<weir::metrics_file>(folder + "/run.prom")},
        .stop = examples::stop_request()};

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
