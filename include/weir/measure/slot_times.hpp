// weir measure: the time that a slot of a stage spent in each state, and the names of states in reports
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_SLOT_TIMES_HPP
#define WEIR_MEASURE_SLOT_TIMES_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/slot_state.hpp>
#include <weir/platform/bounds.hpp>

#include <array>        // for std::array
#include <cstddef>      // for std::size_t
#include <string_view>  // for std::string_view

namespace weir {

/// The time that one slot of a stage (one of its c workers) spent in each state. A slot is always in exactly
/// one state, so the times sum to the elapsed time.
struct slot_times {
    duration off{};        ///< not at work: not started yet, ended, or taken out of service
    duration wait_get{};   ///< from suspending in get until an item is handed over: starved
    duration runnable{};   ///< from being ready to run until a thread runs it: short of threads
    duration run{};        ///< the stage's function has a thread
    duration await{};      ///< the stage's function is itself suspended: a sleep, I/O, a copy
    duration wait_put{};   ///< from suspending in put until there is room: held back
    duration wait_turn{};  ///< done with an item that may not leave yet: earlier items have to leave
                           ///< first, or it is not its turn in a merge
    duration overhead{};   ///< the library wakes other threads, or calls hooks or `on_failure`

    /// \returns the sum of all states.
    [[nodiscard]] constexpr duration total() const noexcept;
    /// \returns the time in which the slot had an item in work: `run` + `await`.
    [[nodiscard]] constexpr duration busy() const noexcept { return detail::sum(run, await); }

    /// The sum, state by state. Lifetime: the result refers to this object.
    constexpr slot_times& operator+=(const slot_times& other) noexcept;
    /// A lap; nothing becomes negative. Lifetime: the result refers to this object.
    constexpr slot_times& operator-=(const slot_times& earlier) noexcept;
    [[nodiscard]] friend constexpr slot_times operator+(slot_times a, const slot_times& b) noexcept {
        a += b;
        return a;
    }
    [[nodiscard]] friend constexpr slot_times operator-(slot_times later,
                                                        const slot_times& earlier) noexcept {
        later -= earlier;
        return later;
    }
    [[nodiscard]] friend constexpr bool operator==(const slot_times&, const slot_times&) = default;
};

namespace detail {

// A state and its texts in reports.
struct state_in_reports {
    slot_state state;
    duration slot_times::* time;
    const char* name;     // the name of the member, key, label, column and style
    const char* is;       // a short form, as in "83 % is starved"
    const char* meaning;  // the explanation on a page
    const char* note;     // the explanation below a table; empty: none needed
    char sign;            // the character in a text bar
    const char* ansi;     // its colour of the 256 terminal colours
    const char* colour;   // the colour on a page

    // For narrow columns: `get` for `wait_get`.
    [[nodiscard]] constexpr std::string_view short_name() const noexcept {
        const std::string_view whole = name;
        return whole.starts_with("wait_") ? whole.substr(5) : whole;
    }
};

// All states, in the order of charts and tables. All reports take names, order and colours from here. The
// colours can be told apart with red-green colour blindness.
inline constexpr auto states_in_reports = std::to_array<state_in_reports>({
    {slot_state::run, &slot_times::run, "run", "at work", "the stage's function has a thread", "", '#',
     "38;5;33", "#0072b2"},
    {slot_state::await, &slot_times::await, "await", "awaiting",
     "the function itself waits: a sleep, I/O, a copy", "", '~', "38;5;45", "#56b4e9"},
    {slot_state::runnable, &slot_times::runnable, "runnable", "no thread",
     "it could go on, but no thread was free", "no thread was free", '!', "38;5;201", "#d55e00"},
    {slot_state::wait_get, &slot_times::wait_get, "wait_get", "starved",
     "waits for an item of the stage before", "starved by the stage before", '.', "38;5;245", "#cc79a7"},
    {slot_state::wait_put, &slot_times::wait_put, "wait_put", "held back",
     "waits for room: the stage behind is slower", "held back by the stage after", '=', "38;5;214",
     "#e69f00"},
    {slot_state::wait_turn, &slot_times::wait_turn, "wait_turn", "in line",
     "is done, and waits for others to leave before it", "done, others leave first", '-', "38;5;229",
     "#009e73"},
    {slot_state::overhead, &slot_times::overhead, "overhead", "handing over",
     "the library wakes other threads, or calls hooks or on_failure", "to wake threads, hooks", '+',
     "38;5;141", "#8b6fb5"},
    {slot_state::off, &slot_times::off, "off", "off", "not begun, ended, or taken out of service", "", '_',
     "38;5;240", "#9aa1a9"},
});

// The same, in the order of `slot_state`, which is that of the members.
inline constexpr auto states_by_number = [] {
    std::array<state_in_reports, slot_states> all{};
    for (const state_in_reports& each : states_in_reports) all[static_cast<std::size_t>(each.state)] = each;
    return all;
}();
// Each state has one row.
static_assert([] {
    for (const state_in_reports& each : states_by_number) {
        if (each.name == nullptr) return false;
    }
    return states_in_reports.size() == slot_states;
}());

}  // namespace detail

constexpr duration slot_times::total() const noexcept {
    duration all{};
    for (const auto& each : detail::states_by_number) all = detail::sum(all, this->*each.time);
    return all;
}
constexpr slot_times& slot_times::operator+=(const slot_times& other) noexcept {
    for (const auto& each : detail::states_by_number) {
        this->*each.time = detail::sum(this->*each.time, other.*each.time);
    }
    return *this;
}
constexpr slot_times& slot_times::operator-=(const slot_times& earlier) noexcept {
    for (const auto& each : detail::states_by_number) {
        this->*each.time = detail::since(earlier.*each.time, this->*each.time);
    }
    return *this;
}

}  // namespace weir

#endif
