#include <weir/report/cells.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <set>
#include <string>

using namespace std::chrono_literals;
using weir::detail::cell_row;
using weir::detail::cells_of;

namespace {

const weir::detail::cell& cell_of(const cell_row& row, const std::string& column) {
    for (const auto& each : row) {
        if (each.column == column) return each;
    }
    FAIL("no column " << column);
    return row.front();
}

}  // namespace

TEST_CASE("a stage's row has its members, those of its slots as sums, and quantiles of its histogram") {
    weir::stage_stats s;
    s.name = "decode, \"fast\"";
    s.inputs = {0, 2};
    s.per_slot = {{.run = 1ms}, {.run = 2ms, .await = 5ns}};
    s.task_times.record(7ns);
    const cell_row row = cells_of(s);
    CHECK(cell_of(row, "name").value == s.name);
    CHECK(cell_of(row, "name").is_text);
    CHECK(cell_of(row, "inputs").value == "0 2");
    CHECK(cell_of(row, "slots_run").value == "3000000");
    CHECK(cell_of(row, "slots_await").value == "5");
    CHECK(cell_of(row, "task_times_p50").value == "7");
    CHECK(cell_of(row, "task_times_max").value == "7");
    CHECK_FALSE(cell_of(row, "transfers_bytes").value.has_value());
    CHECK_FALSE(cell_of(row, "transfers_bytes").is_text);
    CHECK(row.size() == cells_of(weir::stage_stats()).size());
}

TEST_CASE("what isn't known has no value, and no column is there twice") {
    weir::channel_stats c;
    c.put_waits = weir::histogram::without_quantiles(3, 9ns, 5ns);
    const cell_row row = cells_of(c);
    CHECK_FALSE(cell_of(row, "put_waits_p99").value.has_value());
    CHECK(cell_of(row, "put_waits_max").value == "5");
    std::set<std::string> names;
    for (const auto& each : row) names.insert(each.column);
    CHECK(names.size() == row.size());
}
