// weir report: what a watchdog has to say: who waits for whom, and what holds a worker
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_DEADLOCK_REPORT_HPP
#define WEIR_REPORT_DEADLOCK_REPORT_HPP

#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>

#include <algorithm>  // for std::find
#include <cstddef>    // for std::size_t
#include <ostream>    // for std::ostream
#include <sstream>    // for std::ostringstream
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir {

/// One who waits for ever.
struct stuck_wait {
    std::string who;           ///< "stage 'x', slot 0", "a coroutine" or "a thread"
    std::string stage;         ///< empty if it does not work for one
    std::size_t slot = 0;      ///< its number in that stage, from 0
    std::string where;         ///< of that stage, where it was composed: "loader.cpp:42"; empty: not known
    std::string at;            ///< "channel 'y' is full, 64 of 64"; empty: not at a channel
    std::string what;          ///< behind "waits": "to put", "to get", "for its turn to give an item on"
    std::string channel;       ///< the name of what it waits for; empty if that has none
    std::size_t size = 0;      ///< items in that channel
    std::size_t capacity = 0;  ///< of that channel, in items
    duration seen{};  ///< for how long a watchdog has seen it wait: a period less than it has waited, at most
    bool in_function = false;  ///< the stage's function waits, not the stage by itself
    /// Who could end it, as places in `deadlock_report::waits`. Empty: nobody is left, or `by_anyone`.
    std::vector<std::size_t> needs;
    bool by_anyone = false;  ///< any coroutine or thread might use that channel; but all of them wait
};

/// A set of waits of which none can end before another one does.
struct deadlock_report {
    /// All of them, the cause first: those that need nobody, or only each other; then who needs those.
    std::vector<stuck_wait> waits;
    bool partial = false;  ///< something else goes on, or may

    /// So many lines are printed; `waits` has all of them.
    static constexpr std::size_t max_lines = 50;

    /// \returns a line for each stage, or kind of others, and what it waits for, in the order of `waits`.
    [[nodiscard]] std::string text() const {
        detail::wait_lines lines;
        for (const stuck_wait& w : waits) {
            lines.add({w.who, w.stage, w.where, w.at, w.what, "; " + why(w)});
        }
        return std::string("weir: deadlock: ") + (waits.size() == 1 ? "this wait" : "these waits") +
               " can't end any more" + (partial ? ", though others go on:" : ":") + lines.text(max_lines);
    }

    /// Writes what `text` returns.
    friend std::ostream& operator<<(std::ostream& out, const deadlock_report& r) { return out << r.text(); }

  private:
    // "that needs stage 'a' or stage 'b', which wait themselves"
    [[nodiscard]] std::string why(const stuck_wait& w) const {
        if (w.by_anyone) {
            return w.at.empty() ? "nobody is left who could end that"
                                : "nobody is left to " + std::string(w.what == "to put" ? "get" : "put");
        }
        if (w.needs.empty()) return "those who could end that have ended";
        std::vector<std::string> names;
        for (const std::size_t i : w.needs) {
            const stuck_wait& needed = waits[i];
            std::string name = needed.stage.empty() ? needed.who : "stage '" + needed.stage + "'";
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
        }
        constexpr std::size_t most = 3;
        std::string text = "that needs ";
        for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : " or ") + names[i];
        if (names.size() > most) text += " or " + std::to_string(names.size() - most) + " more";
        return text + (names.size() == 1 ? ", which waits itself" : ", which wait themselves");
    }
};

/// A function that keeps a worker of a pool to itself while coroutines queue up for one.
struct stall_report {
    duration held{};          ///< for how long already
    std::size_t workers = 0;  ///< how many of the pool are held for as long as the limit or longer
    std::size_t of = 0;       ///< how many it has
    /// Of which a function runs now: "stage 'x', slot 0", "16 slots of stage 'y'"; one of them does it.
    /// Empty: no stage's, or the run has no statistics.
    std::vector<std::string> functions;

    /// \returns what is wrong, and what to do about it.
    [[nodiscard]] std::string text() const {
        std::ostringstream out;
        out << *this;
        return out.str();
    }

    /// Writes what `text` returns.
    friend std::ostream& operator<<(std::ostream& out, const stall_report& r) {
        out << "weir: stall: " << r.workers << " of a pool's " << r.of
            << (r.of == 1 ? " worker has" : " workers have") << " been held for "
            << r.held.count() / 1'000'000 << " ms, while coroutines wait to run";
        const char* before = "; these functions run: ";
        for (const std::string& each : r.functions) {
            out << before << each;
            before = "; ";
        }
        return out << ". What blocks belongs on a weir::blocking_pool: .executor = &io";
    }
};

}  // namespace weir

#endif
