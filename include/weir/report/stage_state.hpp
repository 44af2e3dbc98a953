// weir report, internal: the states of a stage's slots, in the words and the order of pictures
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_STAGE_STATE_HPP
#define WEIR_REPORT_STAGE_STATE_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/measure/unit_text.hpp>

#include <array>    // for std::array
#include <cmath>    // for std::lround
#include <cstddef>  // for std::size_t
#include <string>   // for std::string

namespace weir::detail {

struct stage_state {
    duration slot_times::* time;
    const char* name;  // its style, and its name in statistics
    const char* is;    // in two words, as in "83 % is starved"
    const char* meaning;
};

inline constexpr std::array<stage_state, 7> stage_states = {{
    {&slot_times::run, "run", "at work", "the stage's function has a thread"},
    {&slot_times::await, "await", "awaiting", "the function itself waits: a sleep, I/O, a copy"},
    {&slot_times::runnable, "runnable", "no thread", "it could go on, but no thread was free"},
    {&slot_times::wait_get, "wait_get", "starved", "waits for an item of the stage before"},
    {&slot_times::wait_put, "wait_put", "held back", "waits for room: the stage behind is slower"},
    {&slot_times::wait_turn, "wait_turn", "in line", "is done, and waits for others to leave before it"},
    {&slot_times::off, "off", "off", "not begun, ended, or taken out of service"},
}};

[[nodiscard]] inline double share_of(duration part, duration all) {
    return all <= duration(0) ? 0 : static_cast<double>(part.count()) / static_cast<double>(all.count());
}

// The one with the most time; of equals the first.
[[nodiscard]] inline const stage_state& chief_state(const slot_times& t) {
    const stage_state* most = &stage_states.back();
    for (auto s = stage_states.rbegin(); s != stage_states.rend(); ++s) {
        if (t.*(s->time) >= t.*(most->time)) most = &*s;
    }
    return t.total() <= duration(0) ? stage_states.back() : *most;
}

// `83 % starved, 17 % at work`: those that there are.
[[nodiscard]] inline std::string states_text(const slot_times& t) {
    std::string text;
    for (const stage_state& s : stage_states) {
        if (t.*(s.time) <= duration(0)) continue;
        text += (text.empty() ? "" : ", ") + units::percent(share_of(t.*(s.time), t.total())) + " " + s.is;
    }
    return text.empty() ? "no time has passed" : text;
}

// The shares as strokes behind each other, `width` long from `x` on, at the height `y`.
[[nodiscard]] inline std::string state_bar(const slot_times& t, long x, long y, long width) {
    std::string out;
    double begin = 0;
    for (const stage_state& s : stage_states) {
        const auto edge = [&](double at) { return x + std::lround(at * static_cast<double>(width)); };
        const long from = edge(begin);
        begin += share_of(t.*(s.time), t.total());
        if (edge(begin) == from) continue;
        out += "<path class=\"st-" + std::string(s.name) + "\" d=\"M" + std::to_string(from) + " " +
               std::to_string(y) + "h" + std::to_string(edge(begin) - from) + "\"/>";
    }
    return out;
}

}  // namespace weir::detail

#endif
