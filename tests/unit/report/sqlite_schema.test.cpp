#include <weir/report/sqlite_schema.hpp>

#include "support/catch.hpp"

#include <stdexcept>
#include <string>

using weir::detail::make_tables;
using weir::detail::number_in;
using weir::detail::sqlite_file;

TEST_CASE("the tables are made once, and each column is one of a member") {
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

TEST_CASE("a file of something else, or of a later schema, is refused") {
    sqlite_file other(":memory:", sqlite_file::use::write);
    other.run("CREATE TABLE mine(a)");
    CHECK_THROWS_AS(make_tables(other), std::runtime_error);
    sqlite_file later(":memory:", sqlite_file::use::write);
    make_tables(later);
    later.run("PRAGMA user_version = 99");
    CHECK_THROWS_AS(make_tables(later), std::runtime_error);
}
