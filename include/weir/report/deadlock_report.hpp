// weir report: what a watchdog has to say: who waits for whom, and what holds a worker
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_DEADLOCK_REPORT_HPP
#define WEIR_REPORT_DEADLOCK_REPORT_HPP

#include <weir/measure/clock.hpp>

#include <algorithm>  // for std::min
#include <cstddef>    // for std::size_t
#include <ostream>    // for std::ostream
#include <sstream>    // for std::ostringstream
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir {

/// One who waits for ever.
struct stuck_wait {
    std::string who;           ///< "stage 'x', slot 0", "a coroutine" or "a thread"
    std::string stage;         ///< empty if it does not work for one
    std::size_t slot = 0;      ///< its number in that stage, from 0
    std::string where;         ///< of that stage, where it was composed: "loader.cpp:42"; empty: not known
    std::string what;          ///< "waits to get from channel 'y' (0 of 2 places taken)"
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
    std::vector<stuck_wait> waits;  ///< all of them
    bool partial = false;           ///< something else goes on, or may

    /// So many waits are printed; `waits` has all of them.
    static constexpr std::size_t max_lines = 50;

    /// \returns a sentence for each wait.
    [[nodiscard]] std::string text() const {
        std::ostringstream out;
        out << *this;
        return out.str();
    }

    /// Writes what `text` returns.
    friend std::ostream& operator<<(std::ostream& out, const deadlock_report& r) {
        out << "weir: deadlock: " << (r.waits.size() == 1 ? "this wait" : "these waits")
            << " can't end any more" << (r.partial ? ", though others go on:" : ":");
        std::size_t left = r.waits.size();
        for (const stuck_wait& w : r.waits) {
            if (left + max_lines == r.waits.size() && left > 0) return out << "\n  and " << left << " more";
            --left;
            out << "\n  " << w.who << (w.where.empty() ? "" : " (" + w.where + ")") << ' ' << w.what;
            if (w.by_anyone) {
                out << ": nobody is left who could do something about that";
            } else if (w.needs.empty()) {
                out << ": those who could do something about that have ended";
            } else {
                constexpr std::size_t most = 3;
                out << ": that needs ";
                for (std::size_t i = 0; i < std::min(most, w.needs.size()); ++i) {
                    out << (i == 0 ? "" : " or ") << r.waits[w.needs[i]].who;
                }
                if (w.needs.size() > most) out << " or " << w.needs.size() - most << " more";
                out << (w.needs.size() == 1 ? ", which waits itself" : ", which all wait themselves");
            }
        }
        return out;
    }
};

/// A function that keeps a worker of a pool to itself while coroutines queue up for one.
struct stall_report {
    duration held{};          ///< for how long already
    std::size_t workers = 0;  ///< how many of the pool are held for as long as the limit or longer
    std::size_t of = 0;       ///< how many it has
    std::vector<std::string>
        functions;  ///< "stage 'x', slot 0": of which a function runs now; one of them does
                    ///< it. Empty: no stage's, or the run has no statistics

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
