#include <weir/report/sqlite.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/report/describe.hpp>
#include <weir/report/run_recorder.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using items::take_all;
using weir::run_record;
using weir::virtual_time;

namespace {

namespace fs = std::filesystem;

struct database {
    std::string path = (fs::temp_directory_path() / "weir sqlite test.sqlite").string();
    database() { remove(); }
    database(const database&) = delete;
    ~database() { remove(); }
    void remove() const {
        for (const char* end : {"", "-wal", "-shm", "-journal"}) fs::remove(path + end);
    }
};

auto failing(int n) {
    const auto decode = [](int i) -> weir::task<int> {
        co_await weir::sleep_for(7ms);
        if (i % 5 == 3) throw std::runtime_error("item '" + std::to_string(i) + "'");
        co_return i;
    };
    return weir::source(std::views::iota(0, n)) |
           weir::pipe(decode, {.name = "de'co\"de", .concurrency = 2}) | weir::sink();
}

}  // namespace

TEST_CASE("a run that was written to a database is read from it without loss") {
    const database db;
    virtual_time time;
    const auto p = failing(10);
    const auto recorder =
        std::make_shared<weir::run_recorder>("test", weir::describe(p),
                                             weir::run_recorder_options{.settings = {{"threads", "1"}}});
    const auto rows = std::make_shared<weir::sqlite_report>(db.path, "test", weir::describe(p),
                                                            std::vector{weir::run_setting{"threads", "1"}});
    for (int run = 1; run <= 3; ++run) {
        CHECK(take_all(
                  p.start(time, {.max_failures = weir::unlimited, .lap = 10ms, .reports = {rows, recorder}}))
                  .size() == 8);
        run_record expected = recorder->record();
        const run_record read = weir::read_sqlite(db.path);
        expected.started = read.started;
        CHECK(read == expected);
        CHECK(weir::read_sqlite(db.path, run).total == expected.total);
    }
    CHECK_FALSE(fs::exists(db.path + "-wal"));  // what is left is one file
    CHECK_THROWS_AS(weir::read_sqlite(db.path, 4), std::runtime_error);
    weir::detail::sqlite_file file(db.path, weir::detail::sqlite_file::use::read);
    const auto number = [&file](const char* sql) { return weir::detail::number_in(file, sql); };
    CHECK(number("SELECT count(*) FROM runs WHERE ended AND num_failures = 2 AND elapsed = 35000000") == 3);
    CHECK(number("SELECT count(*) FROM stages") == 3 * 4 * 3);
    CHECK(number("SELECT sum(num_tasks) FROM stages WHERE run = 2 AND stage = 1") == 10);
    CHECK(number("SELECT count(*) FROM failures WHERE \"where\" LIKE 'sqlite.test.cpp:%'") == 6);
    CHECK(number("SELECT lap_end FROM laps WHERE run = 3 AND lap = 3") == 35'000'000);
}

TEST_CASE("a run that never ended is read with the laps that are there, while others are written") {
    const database db;
    virtual_time time;
    const auto p = failing(40);
    const auto open_rows = std::make_shared<weir::sqlite_report>(db.path, "open");
    auto open = p.start(time, {.max_failures = weir::unlimited, .lap = 10ms, .reports = {open_rows}});
    time.run_until(time.now() + 25ms);
    const run_record now = weir::read_sqlite(db.path);
    CHECK_FALSE(now.ended);
    CHECK(now.laps.size() == 2);
    CHECK(now.total.elapsed == 20ms);
    CHECK(now.num_failures == 1);
    const auto other = std::make_shared<weir::sqlite_report>(db.path, "other");
    virtual_time elsewhere;
    CHECK(take_all(failing(3).start(elsewhere, {.reports = {other}})).size() == 3);
    CHECK(weir::read_sqlite(db.path).name == "other");
    CHECK(weir::read_sqlite(db.path, 1).name == "open");
}

TEST_CASE("on a pool, several runs write to one file at once") {
    const database db;
    weir::thread_pool pool(2);
    auto first = failing(30).start(pool, {.max_failures = weir::unlimited,
                                          .lap = 5ms,
                                          .reports = {std::make_shared<weir::sqlite_report>(db.path, "a")}});
    auto second = failing(30).start(pool, {.max_failures = weir::unlimited,
                                           .lap = 5ms,
                                           .reports = {std::make_shared<weir::sqlite_report>(db.path, "b")}});
    first.drain();
    second.drain();
    first.stop();
    second.stop();
    for (const int run : {1, 2}) {
        const run_record r = weir::read_sqlite(db.path, run);
        CHECK(r.ended);
        CHECK(r.num_failures == 6);
        CHECK(r.failures.size() == 6);
        CHECK(r.total.stages.at(1).num_tasks == 30);
    }
}

TEST_CASE("what is no database of runs is refused, left as it is, and warned of") {
    static std::string warned;
    warned.clear();
    const auto before = weir::set_report_warning(
        [](std::string_view who, std::string_view why) noexcept { (warned += who) += why; });
    const database db;
    virtual_time time;
    const auto goes_on = [&](const std::string& path) {
        const auto rows = std::make_shared<weir::sqlite_report>(path);
        CHECK(take_all(failing(3).start(time, {.reports = {rows}})).size() == 3);
    };
    std::ofstream(db.path) << std::string(5000, 'x');
    goes_on(db.path);
    CHECK(warned.find("file is not a database") != std::string::npos);
    CHECK(fs::file_size(db.path) == 5000);
    CHECK_THROWS_AS(weir::read_sqlite(db.path), std::runtime_error);
    db.remove();
    {
        weir::detail::sqlite_file other(db.path, weir::detail::sqlite_file::use::write);
        other.run("CREATE TABLE mine(a)");
    }
    goes_on(db.path);
    CHECK(warned.find("is a database of something else") != std::string::npos);
    goes_on("/no/such/folder/a.sqlite");
    CHECK(warned.find("/no/such/folder/a.sqlite: unable to open database file: No such file") !=
          std::string::npos);
    CHECK_THROWS_AS(weir::read_sqlite("/no/such/a.sqlite"), std::runtime_error);
    weir::set_report_warning(before);
}
