// weir report: explain_on_signal: a signal, as of `kill -USR1`, prints what each slot of each run waits for
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_EXPLAIN_ON_SIGNAL_HPP
#define WEIR_REPORT_EXPLAIN_ON_SIGNAL_HPP

#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/system_signals.hpp>
#include <weir/report/explain_all_runs.hpp>

#include <csignal>   // for SIGUSR1, which users name
#include <iostream>  // for std::cerr
#include <ostream>   // for std::ostream

namespace weir {

/// Prints what `explain_all_runs` returns whenever the process gets a signal, until the process ends. Called
/// at the begin of `main`, for example.
///
///     weir::explain_on_signal(SIGUSR1);       // kill -USR1 PID
///
/// A thread of the library prints: first the states of all slots (workers of stages), at once; then the
/// verdicts (what limits each run), when they are computed. For all signals that come while the thread
/// prints, it prints once more. The runs go on.
///
/// Without the signals of POSIX, as on Windows, this function throws; `explain_all_runs` works there.
///
/// \param number  the number of a signal that the program uses for nothing else, as `SIGUSR1`, `SIGUSR2`.
/// \param to      where to print. An exception from the stream is ignored.
/// Errors:   `std::invalid_argument` for a signal that can't be caught, that reports a fault, or that the
///           program handles; `std::system_error` if the system has no pipe or thread left.
/// Threads:  any may call it. A further call with the same signal replaces the stream, and waits while the
///           thread of the library prints. Only that thread uses the stream.
/// Lifetime: the stream has to live until the process ends, or until it is replaced. In a forked process the
///           signal is handled as before the call: call it again there. A handler that the program installs
///           later is kept; then nothing is printed.
/// Cost:     a sleeping thread; a print takes the time of `explain_all_runs`. As with every caught signal,
///           `poll`, `nanosleep` and others fail with `EINTR` in the thread that gets the signal.
void explain_on_signal(int number, std::ostream& to = std::cerr);

}  // namespace weir

namespace weir::detail {

// The streams of all signals that print explanations.
class signal_explanations {
  public:
    static void add(int number, std::ostream& to);

  private:
    // Called by the thread of the library: with a signal's number, to print; with 0 after `add`, to unblock.
    static void tell(int number) noexcept;
    void print(int number) noexcept;
    // Unblocks the added signals on the calling thread, as all other threads may block them.
    void accept_all() noexcept;
    // Called in a forked process, which has no such thread: removes all streams, and the signals' handlers.
    void forget_all() noexcept;

    static no_destroy<signal_explanations> only;
    static const bool forks_are_known;  // its initialisation registers `forget_all` for forked processes

    standard_platform::mutex lock_;               // guards the members below, also while the thread prints
    std::ostream* streams_[end_of_signals] = {};  // null: the signal prints nothing
    bool begun_ = false;                          // the thread of the library has been started
};

inline constinit no_destroy<signal_explanations> signal_explanations::only;
inline const bool signal_explanations::forks_are_known = at_fork_in_child([] { only->forget_all(); });

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/explain_on_signal.ipp>
#endif

#endif
