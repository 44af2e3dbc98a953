#include <weir/measure/slot_times.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <cstdint>
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

using weir::detail::slot_state;
using weir::detail::state_journal;

TEST_CASE("a journal has the last states, and says from which on") {
    state_journal j;
    CHECK(j.count() == 0);
    j.add(slot_state::wait_get, 5);
    CHECK(j.first() == 0);
    CHECK(j[0].since == 5);
    for (std::int64_t t = 6; t < 106; ++t) j.add(slot_state::run, t);
    CHECK(j.count() == 101);
    CHECK(j[j.first()].since == 5 + static_cast<std::int64_t>(j.first()));
    CHECK(j[100].since == 105);
    CHECK(j[100].state == slot_state::run);
}

using weir::detail::slot_state;
using weir::detail::stillness;
using namespace std::chrono_literals;

TEST_CASE("a run has been still since the last slot began to wait, or since another movement") {
    stillness still;
    still.add(slot_state::wait_get, 100);
    CHECK(still.until(1000) == 900ns);
    still.add(slot_state::wait_put, 300);
    still.add(slot_state::await, 200);
    still.add(slot_state::off, 250);
    still.add(slot_state::wait_turn, 299);
    still.add(slot_state::runnable, 1);
    CHECK(still.until(1000) == 700ns);
    still.moved(299);
    CHECK(still.until(1000) == 700ns);
    still.moved(999);
    CHECK(still.until(1000) == 1ns);
    CHECK(still.until(998) == 0ns);  // the clock was set back, or it moved meanwhile
}

TEST_CASE("a slot that has a thread counts as moving, for however long") {
    for (const slot_state s : {slot_state::run, slot_state::overhead}) {
        stillness still;
        still.add(slot_state::wait_get, 0);
        still.add(s, 0);
        CHECK(still.until(1'000'000) == 0ns);
    }
}

TEST_CASE("a run without slots, or whose slots have all ended, is not still") {
    stillness still;
    CHECK(still.until(1000) == 0ns);
    still.add(slot_state::off, 10);
    still.moved(20);
    CHECK(still.until(1000) == 0ns);
    still.add(slot_state::wait_get, 10);
    CHECK(still.until(1000) == 980ns);
}
