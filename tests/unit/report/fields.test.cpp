#include <weir/report/fields.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

using weir::detail::cell_row;
using weir::detail::cells_of;
using namespace std::chrono_literals;

namespace {

// Becomes whatever a member is.
struct anything {
    template <class T>
    operator T() const {  // NOLINT(google-explicit-constructor)
        throw std::logic_error("nobody calls this");
    }
};

template <class T, std::size_t... I>
constexpr bool made_of(std::index_sequence<I...>) {
    return requires { T{(static_cast<void>(I), anything())...}; };
}
// How many members an aggregate has.
template <class T, std::size_t N = 0>
constexpr std::size_t members() {
    if constexpr (made_of<T>(std::make_index_sequence<N + 1>())) {
        return members<T, N + 1>();
    } else {
        return N;
    }
}

template <class T>
void check(const char* type) {
    CAPTURE(type);
    T object{};
    std::set<std::string> names;
    std::set<const void*> places;
    std::size_t listed = 0;
    weir::detail::each_field(object, [&](const char* name, auto& member) {
        ++listed;
        names.insert(name);
        places.insert(&member);
    });
    CHECK(listed == members<T>());
    CHECK(names.size() == listed);
    CHECK(places.size() == listed);
}

}  // namespace

TEST_CASE("each member of a reported type is listed once") {
    check<weir::slot_times>("slot_times");
    check<weir::channel_stats>("channel_stats");
    check<weir::transfer_stats>("transfer_stats");
    check<weir::stage_stats>("stage_stats");
    check<weir::process_stats>("process_stats");
    check<weir::first_item_stats>("first_item_stats");
    check<weir::pipeline_stats>("pipeline_stats");
    check<weir::described_stage>("described_stage");
    check<weir::described_edge>("described_edge");
    check<weir::described_branch>("described_branch");
    check<weir::pipeline_description>("pipeline_description");
    check<weir::machine_info>("machine_info");
    check<weir::build_info>("build_info");
    check<weir::run_setting>("run_setting");
    check<weir::recorded_failure>("recorded_failure");
    check<weir::run_record>("run_record");
    check<weir::stage_on_rank>("stage_on_rank");
    check<weir::queue_on_rank>("queue_on_rank");
    check<weir::rank_record>("rank_record");
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
