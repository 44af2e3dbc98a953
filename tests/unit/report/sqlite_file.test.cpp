#include <weir/report/sqlite_file.hpp>

#include "support/catch.hpp"

#include <stdexcept>
#include <string>

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

TEST_CASE("a statement gets its parameters in their order, and gives its rows one by one") {
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

TEST_CASE("an error has the path, and what SQLite says") {
    sqlite_file file(":memory:", sqlite_file::use::write);
    CHECK(error_of_sql(file, "SELECT * FROM absent") == ":memory:: no such table: absent");
    CHECK_THROWS_AS(sqlite_statement(file, "nonsense"), std::runtime_error);
    CHECK_THROWS_AS(sqlite_file("/no/such/file", sqlite_file::use::read), std::runtime_error);
}

TEST_CASE("what was not committed is rolled back") {
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
