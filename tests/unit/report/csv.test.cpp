#include <weir/report/csv.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using items::take_all;
using weir::virtual_time;
using weir::detail::cell_row;
using weir::detail::cells_of;

namespace {

namespace fs = std::filesystem;
using strings = std::vector<std::string>;

const std::string csv_path = (fs::temp_directory_path() / "weir csv test.csv").string();

// The rows of a file without quotes around commas, field by field.
std::vector<strings> rows_of(const std::string& path) {
    std::vector<strings> rows;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        strings row{""};
        bool quoted = false;
        for (const char c : line) {
            quoted = quoted != (c == '"');
            if (c == ',' && !quoted) {
                row.emplace_back();
            } else {
                row.back() += c;
            }
        }
        rows.push_back(row);
    }
    return rows;
}

auto slow_csv(int n) {
    const auto sleeps = [](int i) -> weir::task<int> {
        co_await weir::sleep_for(10ms);
        co_return i;
    };
    return weir::source(std::views::iota(0, n)) | weir::pipe(sleeps, {.name = "a, \"b\"\nc"}) | weir::sink();
}

void run_with_csv(int n) {
    virtual_time time;
    const auto csv = std::make_shared<weir::csv_report>(csv_path);
    CHECK(csv->name() == csv_path);
    CHECK(take_all(slow_csv(n).start(time, {.lap = 20ms, .reports = {csv}})).size() ==
          static_cast<std::size_t>(n));
}

}  // namespace

TEST_CASE("each lap, also a shorter last one, has a row for each stage and queue") {
    fs::remove(csv_path);
    run_with_csv(5);
    const auto rows = rows_of(csv_path);
    REQUIRE(rows.size() == 1 + 3 * 6);  // of three stages and three queues
    const strings& head = rows[0];
    const auto at = [&](std::size_t row, std::string_view column) {
        const auto found = std::ranges::find(head, column);
        REQUIRE(found != head.end());
        REQUIRE(rows[row].size() == head.size());
        return rows[row][static_cast<std::size_t>(found - head.begin())];
    };
    CHECK(at(1, "lap") == "0");
    CHECK(at(1, "lap_begin") == "0");
    CHECK(at(1, "lap_end") == "20000000");
    CHECK(at(1, "idle") == "10000000");
    CHECK(at(1, "num_items") == "1");  // the second one comes with the lap's end, but behind it
    CHECK(at(1, "first_item_after") == "10000000");
    CHECK(at(1, "first_item_since") == "10000000");
    CHECK(at(1, "first_item_num_items") == "0");
    CHECK(at(1, "row") == "stage");
    CHECK(at(1, "name") == "src");
    CHECK(at(1, "rows_left") == "5");
    CHECK(at(2, "name") == "\"a, \"\"b\"\" c\"");
    CHECK(at(2, "num_tasks") == "1");
    CHECK(at(2, "slots_await") == "20000000");
    CHECK(at(2, "num_put").empty());
    CHECK(at(4, "row") == "queue");
    CHECK(at(6, "rows_left") == "0");
    CHECK(at(18, "lap") == "2");
    CHECK(at(18, "lap_begin") == "40000000");
    CHECK(at(18, "lap_end") == "50000000");
    CHECK(at(18, "num_items") == "2");
    CHECK(at(18, "first_item_after") == "10000000");
    CHECK(at(18, "first_item_since") == "10000000");
    CHECK(at(18, "first_item_num_items") == "2");
    CHECK(at(1, "run") == at(18, "run"));
    run_with_csv(3);
    const auto more = rows_of(csv_path);
    CHECK(more.size() == rows.size() + 2 * 6);
    CHECK(more.back().front() != rows.back().front());
    fs::remove(csv_path);
}

TEST_CASE("a file with other columns, or one that can't be written, gives a warning, and the run goes on") {
    static std::string warned;
    warned.clear();
    const auto before = weir::set_report_warning(
        [](std::string_view who, std::string_view why) noexcept { (warned += who) += why; });
    std::ofstream(csv_path) << "my,own,table\n";
    run_with_csv(3);
    CHECK(warned.find("its first line is another one") != std::string::npos);
    CHECK(rows_of(csv_path).size() == 1);
    fs::remove(csv_path);
    warned.clear();
    virtual_time time;
    const auto nowhere = std::make_shared<weir::csv_report>("/no/such/folder/a.csv");
    const auto full = std::make_shared<weir::csv_report>("/dev/full");
    CHECK(take_all(slow_csv(3).start(time, {.reports = {nowhere, full}})).size() == 3);
    CHECK(warned.find("/no/such/folder/a.csv") != std::string::npos);
    CHECK(warned.find("/dev/full") != std::string::npos);
    weir::set_report_warning(before);
}

TEST_CASE("a lap before the first item does not have the time of the first item") {
    fs::remove(csv_path);
    weir::csv_report csv(csv_path);
    weir::pipeline_stats lap;
    lap.elapsed = 1s;
    lap.stages.resize(1);
    csv.begins({});
    csv.lap(lap);
    csv.ends({}, lap);
    const auto rows = rows_of(csv_path);
    REQUIRE(rows.size() == 2);
    CHECK(
        strings(rows[0].begin() + 4, rows[0].begin() + 10) ==
        strings{"idle", "num_items", "first_item_after", "first_item_since", "first_item_num_items", "row"});
    CHECK(strings(rows[1].begin() + 4, rows[1].begin() + 10) == strings{"0", "0", "", "", "", "stage"});
    fs::remove(csv_path);
}

namespace {

const weir::detail::cell& cell_of(const cell_row& row, const std::string& column) {
    for (const auto& each : row) {
        if (each.column == column) return each;
    }
    FAIL("no column " << column);
    return row.front();
}

}  // namespace

TEST_CASE("the row of a stage has its members, the sums over its slots, and quantiles of its histogram") {
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

TEST_CASE("unknown values have empty cells, and no column appears twice") {
    weir::channel_stats c;
    c.put_waits = weir::histogram::without_quantiles(3, 9ns, 5ns);
    const cell_row row = cells_of(c);
    CHECK_FALSE(cell_of(row, "put_waits_p99").value.has_value());
    CHECK(cell_of(row, "put_waits_max").value == "5");
    std::set<std::string> names;
    for (const auto& each : row) names.insert(each.column);
    CHECK(names.size() == row.size());
}
