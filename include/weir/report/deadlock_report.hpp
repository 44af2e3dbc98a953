// weir report: the reports of a watchdog: a deadlock with the waits that cause it, and a stall of workers
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_DEADLOCK_REPORT_HPP
#define WEIR_REPORT_DEADLOCK_REPORT_HPP

#include <weir/executor/wait_site.hpp>
#include <weir/measure/clock.hpp>

#include <cstddef>  // for std::size_t
#include <ostream>  // for std::ostream
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir {

/// A wait that can never end.
struct stuck_wait {
    std::string who;           ///< "stage 'x', slot 0", "a coroutine" or "a thread"
    std::string stage;         ///< the name of its stage; empty if it belongs to none
    std::size_t slot = 0;      ///< the number of the slot in that stage, from 0
    std::string where;         ///< where the stage was composed: "loader.cpp:42"; empty: not known
    std::string at;            ///< "channel 'y' is full, 64 of 64"; empty: not at a channel
    std::string what;          ///< follows "waits": "to put", "to get", "for its turn to give an item on"
    std::string channel;       ///< the name of the channel; empty if it has none
    std::size_t size = 0;      ///< items in the channel
    std::size_t capacity = 0;  ///< of the channel, in items
    duration seen{};           ///< how long the watchdog has known the wait; it may have begun earlier
    bool in_function = false;  ///< the user's function waits, not the code of the library around it
    /// The waits whose end could end this one, as indices in `deadlock_report::waits`. Empty: there are
    /// none, or `by_anyone`.
    std::vector<std::size_t> needs;
    bool by_anyone = false;  ///< any coroutine or thread could end the wait, but all of them wait
};

/// A set of waits, none of which can end before another one of them ends.
struct deadlock_report {
    /// The cause comes first: waits that need no other, or only each other. Then come the waits that need
    /// those.
    std::vector<stuck_wait> waits;
    bool partial = false;  ///< other coroutines still run, or may run

    /// The number of lines that `text` prints at most; `waits` has all waits.
    static constexpr std::size_t max_lines = 50;

    /// \returns one line for the waits of a stage for the same thing, in the order of `waits`.
    [[nodiscard]] std::string text() const;

    /// Writes what `text` returns.
    friend std::ostream& operator<<(std::ostream& out, const deadlock_report& r) { return out << r.text(); }

  private:
    // \returns why the wait can't end: "that needs stage 'a' or stage 'b', which wait themselves".
    [[nodiscard]] std::string why(const stuck_wait& w) const;
};

/// A function holds a worker of a pool for long, while coroutines wait for a worker.
struct stall_report {
    duration held{};          ///< how long
    std::size_t workers = 0;  ///< how many workers are held for the limit or longer
    std::size_t of = 0;       ///< how many workers the pool has
    /// The slots whose function runs now: "stage 'x', slot 0", "16 slots of stage 'y'". One of them holds the
    /// worker. Empty: no function of a stage runs, or the run has no statistics.
    std::vector<std::string> functions;

    /// \returns a sentence that says what is wrong and what to do.
    [[nodiscard]] std::string text() const;

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

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/deadlock_report.ipp>
#endif

#endif
