#include <weir/measure/slot_times.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <set>
#include <string_view>

using weir::slot_times;
using weir::detail::states_by_number;
using weir::detail::states_in_reports;
using namespace std::chrono_literals;

namespace {

constexpr slot_times each{1s, 2s, 4s, 8s, 16s, 32s, 64s, 128s};

}  // namespace

static_assert(slot_times{}.total() == 0s);
static_assert(each.total() == 255s);
static_assert((each + each).total() == 510s);
static_assert(each + each - each == each);
static_assert(slot_times{} - each == slot_times{});

TEST_CASE("reports show each state of a slot once, by names, signs and colours of its own") {
    weir::duration all{};
    std::set<std::string_view> names;
    std::set<char> signs;
    std::set<std::string_view> colours;
    for (const auto& state : states_in_reports) {
        all += each.*state.time;
        names.insert(state.name);
        names.insert(state.is);
        signs.insert(state.sign);
        colours.insert(state.ansi);
        colours.insert(state.colour);
    }
    CHECK(all == each.total());
    CHECK(names.size() >= 2 * states_in_reports.size() - 1);  // off is "off"
    CHECK(signs.size() == states_in_reports.size());
    CHECK(colours.size() == 2 * states_in_reports.size());
    CHECK(states_in_reports[3].short_name() == "get");
    CHECK(states_in_reports[0].short_name() == "run");
}

TEST_CASE("the states' numbers are the places of their members") {
    weir::duration next = 1s;
    for (const auto& state : states_by_number) {
        CHECK(each.*state.time == next);
        next *= 2;
    }
}
