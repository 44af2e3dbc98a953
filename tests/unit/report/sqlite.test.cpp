#include <weir/report/sqlite.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/report/describe.hpp>
#include <weir/report/html.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using items::take_all;
using weir::run_record;
using weir::virtual_time;
using weir::detail::make_tables;
using weir::detail::number_in;
using weir::detail::sqlite_file;
using weir::detail::sqlite_statement;

namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

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

TEST_CASE("a run written to a database is read without loss") {
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
        CHECK(read.outcome == "finished");
        CHECK(weir::read_sqlite(db.path, run).total == expected.total);
    }
    CHECK_FALSE(fs::exists(db.path + "-wal"));  // what is left is one file
    CHECK_THROWS_AS(weir::read_sqlite(db.path, 4), std::runtime_error);
    sqlite_file file(db.path, sqlite_file::use::read);
    const auto number = [&file](const char* sql) { return weir::detail::number_in(file, sql); };
    CHECK(number("SELECT count(*) FROM runs WHERE ended AND num_failures = 2 AND elapsed = 35000000") == 3);
    CHECK(number("SELECT count(*) FROM stages") == 3 * 4 * 3);
    CHECK(number("SELECT sum(num_tasks) FROM stages WHERE run = 2 AND stage = 1") == 10);
    CHECK(number("SELECT count(*) FROM failures WHERE \"where\" LIKE 'sqlite.test.cpp:%'") == 6);
    CHECK(number("SELECT lap_end FROM laps WHERE run = 3 AND lap = 3") == 35'000'000);
    CHECK(number("SELECT idle FROM laps WHERE run = 3 AND lap = 0") == 3'000'000);
    CHECK(number("SELECT sum(num_items) FROM laps WHERE run = 3") == 8);
    CHECK(number("SELECT max(first_item_after) FROM laps WHERE run = 3") == 7'000'000);
    CHECK(number("SELECT sum(first_item_since) FROM laps WHERE run = 3") == 28'000'000);
}

TEST_CASE("a run that never ended is read with the laps in the database, while others are written") {
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

namespace {

// Somebody else who locks the file as long as it lives.
class lock {
  public:
    explicit lock(const std::string& path, const char* how = "BEGIN IMMEDIATE")
        : file_(path, sqlite_file::use::write) {
        file_.run(how);
    }

  private:
    sqlite_file file_;
};

std::string& warnings() {
    static std::string all;
    return all;
}
// What the reports say that give up.
class warnings_of_reports {
  public:
    warnings_of_reports() { warnings().clear(); }
    warnings_of_reports(const warnings_of_reports&) = delete;
    warnings_of_reports& operator=(const warnings_of_reports&) = delete;
    ~warnings_of_reports() { weir::set_report_warning(before_); }

  private:
    weir::report_warning before_ = weir::set_report_warning(
        [](std::string_view who, std::string_view why) noexcept { (warnings() += who) += why; });
};

std::string text_of(const weir::pipeline_stats& stats) {
    std::string text;
    weir::detail::append_json(text, stats);
    return text;
}

// A run of which others lock the file from item `from` on, before it begins if that is 0, up to item `to`; nobody
// waits for them. Each item takes a little more than a lap.
run_record locked_run(const database& db, int from, int to, int items = 8,
                      const char* how = "BEGIN IMMEDIATE") {
    virtual_time time;
    std::optional<lock> others;
    if (from == 0) others.emplace(db.path, how);
    const auto step = [&](int n) -> weir::task<int> {
        if (n == from && !others) others.emplace(db.path, how);
        if (n == to) others.reset();
        co_await weir::sleep_for(11ms);
        if (n == 2 || n == 6) throw std::runtime_error("item " + std::to_string(n));
        co_return n;
    };
    const auto p =
        weir::source(std::views::iota(0, items)) | weir::pipe(step, {.name = "step"}) | weir::sink(8);
    const auto rows = std::make_shared<weir::sqlite_report>(db.path, "locked", weir::describe(p),
                                                            std::vector<weir::run_setting>{}, 0s);
    const auto recorder = std::make_shared<weir::run_recorder>("locked", weir::describe(p));
    auto run = p.start(time, {.max_failures = weir::unlimited, .lap = 10ms, .reports = {rows, recorder}});
    CHECK(take_all(run).size() == static_cast<std::size_t>(items) - 2);
    run.stop();
    return recorder->record();
}

}  // namespace

TEST_CASE("laps that end while others lock the file are written later") {
    const warnings_of_reports heard;
    const char* const how = GENERATE("BEGIN IMMEDIATE", "BEGIN EXCLUSIVE");
    for (const auto& [from, to] : {std::pair(3, 5), std::pair(0, 4), std::pair(0, 7), std::pair(1, 2)}) {
        const database db;
        const run_record as_it_was = locked_run(db, from, to, 8, how);
        const run_record r = weir::read_sqlite(db.path);
        CHECK(r.ended);
        REQUIRE(r.laps.size() == as_it_was.laps.size());
        for (std::size_t i = 0; i < r.laps.size(); ++i)
            CHECK(text_of(r.laps[i]) == text_of(as_it_was.laps[i]));
        CHECK(text_of(r.total) == text_of(as_it_was.total));
        REQUIRE(r.failures.size() == 2);
        CHECK(r.failures[0].lap == as_it_was.failures[0].lap);
        CHECK(r.failures[1].lap == as_it_was.failures[1].lap);
        CHECK(warnings().empty());
    }
}

TEST_CASE("if more laps end than are kept while others lock the file, no item is lost") {
    const warnings_of_reports heard;
    const database db;
    static_cast<void>(locked_run(db, 0, 649, 650));
    const run_record r = weir::read_sqlite(db.path);
    CHECK(r.laps.size() > 600);
    CHECK(r.laps.size() < 610);
    std::uint64_t tasks = 0;
    weir::duration elapsed{};
    for (const weir::pipeline_stats& lap : r.laps) {
        tasks += lap.stages.at(1).num_tasks;
        elapsed += lap.elapsed;
    }
    CHECK(tasks == 650);
    CHECK(elapsed == r.total.elapsed);
    CHECK(warnings().empty());
}

TEST_CASE("an item that fails while laps are joined is in the lap that they are joined with") {
    const database db;
    std::optional<lock> others(std::in_place, db.path, "BEGIN IMMEDIATE");
    weir::sqlite_report rows(db.path, "joined", {}, {}, 0s);
    weir::pipeline_stats lap;
    lap.elapsed = 10ms;
    rows.begins({});
    for (int i = 0; i < 600; ++i) rows.lap(lap);
    rows.failed({"decode", 0, nullptr});
    rows.lap(lap);
    others.reset();
    rows.lap(lap);
    rows.failed({"decode", 1, nullptr});
    rows.ends(lap, {});
    const run_record r = weir::read_sqlite(db.path);
    REQUIRE(r.laps.size() == 601);
    CHECK(r.laps[599].elapsed == 30ms);
    REQUIRE(r.failures.size() == 2);
    CHECK(r.failures[0].lap == 599);
    CHECK(r.failures[1].lap == 600);
}

TEST_CASE("if others lock the file until the end, the run goes on, and the error says what is missing") {
    const warnings_of_reports heard;
    const database db;
    static_cast<void>(locked_run(db, 0, 100));
    CHECK(warnings().find("others had it locked until the end, so that it lacks the run, with 9 laps") !=
          std::string::npos);
    warnings().clear();
    static_cast<void>(locked_run(db, 5, 100));
    CHECK(warnings().find("so that it lacks the end of the run, with 4 laps") != std::string::npos);
    const run_record r = weir::read_sqlite(db.path);
    CHECK_FALSE(r.ended);
    CHECK(r.laps.size() == 5);
    CHECK(r.failures.size() == 1);
}

TEST_CASE("a file that is no database of runs is refused with a warning, and is unchanged") {
    const warnings_of_reports heard;
    const std::string& warned = warnings();
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
        sqlite_file other(db.path, sqlite_file::use::write);
        other.run("CREATE TABLE mine(a)");
    }
    const std::string before = bytes_of(db.path);
    goes_on(db.path);
    CHECK(warned.find("is a database of something else") != std::string::npos);
    CHECK((bytes_of(db.path) == before));
    goes_on("/no/such/folder/a.sqlite");
    CHECK(warned.find("/no/such/folder/a.sqlite: unable to open database file: No such file") !=
          std::string::npos);
    CHECK_THROWS_AS(weir::read_sqlite("/no/such/a.sqlite"), std::runtime_error);
    goes_on("");
    CHECK(warned.find("the path of a database of runs is empty") != std::string::npos);
    CHECK_THROWS_AS(weir::read_sqlite(""), std::runtime_error);
}

namespace {

std::string error_of_sql(sqlite_file& file, const char* sql) {
    try {
        file.run(sql);
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("a statement takes its parameters in order, and gives its rows one by one") {
    sqlite_file file(":memory:", sqlite_file::use::write);
    file.run("CREATE TABLE t(a INTEGER, b TEXT)");
    sqlite_statement insert(file, "INSERT INTO t VALUES(?, ?)");
    insert << std::int64_t{1} << "one\0two";
    CHECK_FALSE(insert.step());
    insert << std::int64_t{2} << nullptr;
    CHECK_FALSE(insert.step());
    CHECK(file.last_row() == 2);
    sqlite_statement select(file, "SELECT a, b FROM t ORDER BY a");
    REQUIRE(select.step());
    CHECK(select.number(0) == 1);
    CHECK(select.text(1) == "one");
    REQUIRE(select.step());
    CHECK(select.text(1).empty());
    CHECK_FALSE(select.step());
}

TEST_CASE("an error has the path and the message of SQLite") {
    sqlite_file file(":memory:", sqlite_file::use::write);
    CHECK(error_of_sql(file, "SELECT * FROM absent") == ":memory:: no such table: absent");
    CHECK_THROWS_AS(sqlite_statement(file, "nonsense"), std::runtime_error);
    CHECK_THROWS_AS(sqlite_file("/no/such/file", sqlite_file::use::read), std::runtime_error);
}

TEST_CASE("an uncommitted transaction is rolled back") {
    sqlite_file file(":memory:", sqlite_file::use::write);
    file.roll_back();
    file.run("CREATE TABLE t(a)");
    file.run("BEGIN");
    file.run("INSERT INTO t VALUES(1)");
    file.roll_back();
    sqlite_statement count(file, "SELECT count(*) FROM t");
    REQUIRE(count.step());
    CHECK(count.number(0) == 0);
    CHECK(file.run_unless_busy("SELECT 1"));
}

TEST_CASE("the tables are created once, with a column for each member") {
    sqlite_file file(":memory:", sqlite_file::use::write);
    make_tables(file);
    make_tables(file);
    CHECK(number_in(file,
                    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN "
                    "('runs', 'laps', 'stages', 'queues', 'failures', 'json')") == 6);
    CHECK(number_in(file, "SELECT count(*) FROM pragma_table_info('queues')") ==
          5 + static_cast<std::int64_t>(weir::detail::cells_of(weir::channel_stats()).size()));
    CHECK(number_in(file, "SELECT count(*) FROM pragma_table_info('stages') WHERE name = 'slots_wait_put'") ==
          1);
    CHECK(number_in(file, "SELECT count(*) FROM pragma_table_info('laps') WHERE name = 'idle'") == 1);
    CHECK(number_in(file,
                    "SELECT count(*) FROM pragma_table_info('laps') WHERE name IN "
                    "('num_items', 'first_item_after', 'first_item_since', 'first_item_num_items')") == 4);
    CHECK(number_in(file,
                    "SELECT count(*) FROM pragma_table_info('runs') WHERE name IN "
                    "('name', 'started', 'ended', 'elapsed', 'num_failures')") == 5);
}

TEST_CASE("an empty database of another program gets the tables, whatever its user_version is") {
    sqlite_file file(":memory:", sqlite_file::use::write);
    file.run(("PRAGMA user_version = " + std::to_string(weir::detail::sqlite_schema)).c_str());
    make_tables(file);
    CHECK(number_in(file, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'runs'") == 1);
}

TEST_CASE("a database of another program, or of a later schema, is refused") {
    sqlite_file other(":memory:", sqlite_file::use::write);
    other.run("CREATE TABLE mine(a)");
    CHECK_THROWS_AS(make_tables(other), std::runtime_error);
    sqlite_file later(":memory:", sqlite_file::use::write);
    make_tables(later);
    later.run("PRAGMA user_version = 99");
    CHECK_THROWS_AS(make_tables(later), std::runtime_error);
}
