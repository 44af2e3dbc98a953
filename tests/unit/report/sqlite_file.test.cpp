#include <weir/report/sqlite_file.hpp>

#include "support/catch.hpp"

#include <stdexcept>
#include <string>

using weir::detail::make_tables;
using weir::detail::number_in;
using weir::detail::sqlite_file;
using weir::detail::sqlite_statement;

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

TEST_CASE("a database of another program, or of a later schema, is refused") {
    sqlite_file other(":memory:", sqlite_file::use::write);
    other.run("CREATE TABLE mine(a)");
    CHECK_THROWS_AS(make_tables(other), std::runtime_error);
    sqlite_file later(":memory:", sqlite_file::use::write);
    make_tables(later);
    later.run("PRAGMA user_version = 99");
    CHECK_THROWS_AS(make_tables(later), std::runtime_error);
}
