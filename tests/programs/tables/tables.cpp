// A run that writes its laps to CSV and to SQLite, for killed.py and read_by_others.py:
//
//     tables FOLDER SECONDS
//
// SPDX-License-Identifier: BSL-1.0
#include <weir/report/csv.hpp>
#include <weir/report/describe.hpp>
#include <weir/report/sqlite.hpp>
#include <weir/weir.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;

int main(int count, char** arguments) {
    if (count != 3) return 2;
    const std::string folder = arguments[1];
    const auto sleeps = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(500us);
        if (n % 50 == 49) throw std::runtime_error("unreadable, \"again\"");
        co_return n;
    };
    const int items = static_cast<int>(std::atof(arguments[2]) * 2000);
    const auto loader = weir::source(std::views::iota(0, items)) |
                        weir::pipe(sleeps, {.name = "load, 'all'", .concurrency = 2}) |
                        weir::for_each([](int) {});
    weir::thread_pool pool(1);
    auto run =
        loader.start(pool,
                     {.max_failures = weir::unlimited,
                      .lap = 2ms,
                      .reports = {std::make_shared<weir::csv_report>(folder + "/run.csv"),
                                  std::make_shared<weir::sqlite_report>(folder + "/run.sqlite", "tables",
                                                                        weir::describe(loader))}});
    std::puts("begun");
    std::fflush(stdout);
    run.wait();
    run.stop();
}
