// weir report, internal: bodies of the functions of report/explain_on_signal.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_EXPLAIN_ON_SIGNAL_IPP
#define WEIR_REPORT_EXPLAIN_ON_SIGNAL_IPP

#include <weir/report/explain_on_signal.hpp>

#include <weir/platform/config.hpp>

#include <cerrno>        // for errno
#include <mutex>         // for std::lock_guard
#include <new>           // for placement new
#include <stdexcept>     // for std::invalid_argument
#include <string>        // for std::to_string
#include <system_error>  // for std::system_error

namespace weir {

WEIR_INLINE void explain_on_signal(int number, std::ostream& to) {
    detail::signal_explanations::add(number, to);
}

}  // namespace weir

namespace weir::detail {

WEIR_INLINE void signal_explanations::add(int number, std::ostream& to) {
    static_cast<void>(forks_are_known);
    signal_explanations& me = *only;
    const std::lock_guard guard(me.lock_);
    const std::string begin = "weir: signal " + std::to_string(number) + " can't print explanations: ";
    if (!me.begun_ && can_catch_every_signal) {  // makes the pipe before a handler can write into it
        me.begun_ = begin_signals<&signal_explanations::tell>(signals_always);
        if (!me.begun_) {
            throw std::system_error(errno, std::generic_category(),
                                    "weir: signals need a pipe and a thread, of which one can't be had");
        }
    }
    switch (catch_every_signal(number)) {
        case signal_catch::caught:
            break;
        case signal_catch::refused:
            throw std::invalid_argument(begin +
                                        "it can't be caught, or reports a fault; give "
                                        "explain_on_signal SIGUSR1 or SIGUSR2");
        case signal_catch::taken:
            throw std::invalid_argument(begin +
                                        "the program has a handler for it, or stop_on_signals; give "
                                        "explain_on_signal another signal, as SIGUSR1 or SIGUSR2");
        case signal_catch::unsupported:
            throw std::invalid_argument(begin +
                                        "this system has no signals of POSIX; call "
                                        "explain_all_runs, which returns the text");
    }
    me.streams_[number] = &to;
    tell_signal_thread(signals_always, 0);
}

WEIR_INLINE void signal_explanations::tell(int number) noexcept {
    mark_registry_reader();
    if (number == 0) return only->accept_all();
    only->print(number);
}

WEIR_INLINE void signal_explanations::print(int number) noexcept {
    const std::lock_guard guard(lock_);
    std::ostream* const to = streams_[number];
    if (to == nullptr) return;
    try {
        const present_runs runs;
        // Each text is one insertion, so that the output of other threads is before or behind it.
        *to << runs.states() << std::flush;
        *to << runs.verdicts() << std::flush;
    } catch (...) {  // NOLINT(bugprone-empty-catch): the next signal may find memory, or a stream that works
    }
}

WEIR_INLINE void signal_explanations::accept_all() noexcept {
    const std::lock_guard guard(lock_);
    for (int number = 1; number < end_of_signals; ++number) {
        if (streams_[number] != nullptr) accept_signal(number);
    }
}

WEIR_INLINE void signal_explanations::forget_all() noexcept {
    new (&lock_) standard_platform::mutex;  // at the fork, a thread of the parent may have held it
    for (std::ostream*& each : streams_) each = nullptr;
    if (begun_) forget_signals(signals_always);
    begun_ = false;
}

}  // namespace weir::detail

#endif
