// weir platform, internal: catches signals, once or each time, and tells threads of the library their numbers
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SYSTEM_SIGNALS_HPP
#define WEIR_PLATFORM_SYSTEM_SIGNALS_HPP

#include <weir/platform/system.hpp>

#include <atomic>   // for std::atomic
#include <cerrno>   // for errno
#include <csignal>  // for std::signal

#if __has_include(<unistd.h>) && !defined(_WIN32)
#include <fcntl.h>    // for fcntl
#include <pthread.h>  // for pthread_sigmask
#include <signal.h>   // for sigaction; <csignal> has none of that
#include <unistd.h>   // for pipe, read, write
#endif

namespace weir::detail {

// A function that is called with the number of each caught signal. A signal handler may call only few
// functions. So on POSIX the handler writes the number into a pipe; a thread of the library reads the pipe
// and calls the listener. Windows calls handlers on a thread of their own, after it has restored the default
// action, so there the handler calls the listener itself.
using signal_listener = void (*)(int);

// The result of `catch_every_signal`.
enum class signal_catch {
    caught,
    refused,     // no signal that a program can catch, or a signal that reports a fault
    taken,       // another handler is installed: the program's, or that of stop_on_signals
    unsupported  // the system has no handlers that remain installed after a signal
};

#if __has_include(<unistd.h>) && !defined(_WIN32)
inline constexpr int end_of_signals = NSIG;
inline constexpr bool can_catch_every_signal = true;
static_assert(std::atomic<int>::is_always_lock_free);

void note_signal(int number) noexcept;
void note_every_signal(int number) noexcept;

// Signals that are caught in the same way: their handler, the pipe to their thread, and the actions to be
// restored.
struct signal_pipe {
    void (*handler)(int);
    std::atomic<int> ends[2]{-1, -1};  // to read from, to write to
    // A signal that is noted is on its way to the thread, and is not written into the pipe again.
    std::atomic<bool> is_noted[NSIG]{};
    struct sigaction before[NSIG]{};
};
inline constinit signal_pipe signals_once{&note_signal};          // each signal is caught once
inline constinit signal_pipe signals_always{&note_every_signal};  // a signal is caught each time

// Whether the signal reports a fault of the program itself.
inline bool is_fault(int number) noexcept {
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
           number == SIGABRT || number == SIGTRAP;
}

// relaxed, here and below: the ends of the pipe are stored before a handler is installed. `sigaction`, a
// system call, installs the handler: so the handler sees the ends, on any thread. Other readers hold the lock
// under which `begin_signals` was called, or are on the thread that `begin_signals` starts after the stores.
inline void tell_signal_thread(signal_pipe& pipe, int number) noexcept {
    const auto byte = static_cast<unsigned char>(number);
    // Doesn't block: the number is lost if the pipe is full, as when the listener, which the thread calls,
    // takes long. The next signal with this number is told again.
    const auto n = ::write(pipe.ends[1].load(std::memory_order_relaxed), &byte, 1);
    if (n != 1) pipe.is_noted[number].store(false);
}
// The signal handler for signals that are caught once.
inline void note_signal(int number) noexcept {
    const int error = errno;
    sigaction(number, &signals_once.before[number], nullptr);
    tell_signal_thread(signals_once, number);
    errno = error;
}
// The signal handler for signals that are caught each time.
inline void note_every_signal(int number) noexcept {
    const int error = errno;
    if (!signals_always.is_noted[number].exchange(true)) tell_signal_thread(signals_always, number);
    errno = error;
}

inline bool has_handler(const struct sigaction& action, void (*handler)(int)) noexcept {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == handler;
}
inline bool install(int number, void (*handler)(int)) noexcept {
    struct sigaction ours{};
    ours.sa_handler = handler;
    ours.sa_flags = SA_RESTART;
    sigfillset(&ours.sa_mask);
    return sigaction(number, &ours, nullptr) == 0;
}

// Installs the handler for the next occurrence. A signal that the program ignores stays ignored. False: the
// signal can't be caught.
inline bool catch_signal(int number) noexcept {
    struct sigaction now{};
    if (sigaction(number, nullptr, &now) != 0) return false;
    if (has_handler(now, &note_signal) || has_handler(now, SIG_IGN)) return true;
    signals_once.before[number] = now;
    return install(number, &note_signal);
}
// Installs the handler for all occurrences, also of a signal that the program ignores.
inline signal_catch catch_every_signal(int number) noexcept {
    struct sigaction now{};
    if (number <= 0 || number >= end_of_signals || is_fault(number) || sigaction(number, nullptr, &now) != 0)
        return signal_catch::refused;
    if (has_handler(now, &note_every_signal)) return signal_catch::caught;
    if (!has_handler(now, SIG_DFL) && !has_handler(now, SIG_IGN)) return signal_catch::taken;
    signals_always.before[number] = now;
    return install(number, &note_every_signal) ? signal_catch::caught : signal_catch::refused;
}
// Restores the previous action, unless the program has installed another one since.
inline void give_back_signal(signal_pipe& pipe, int number) noexcept {
    struct sigaction now{};
    if (sigaction(number, nullptr, &now) != 0 || !has_handler(now, pipe.handler)) return;
    sigaction(number, &pipe.before[number], nullptr);
}
// Sends the signal to the whole process, as if it came from outside.
inline void send_signal_again(int number) noexcept { ::kill(::getpid(), number); }
// Unblocks the signal on the calling thread, as all other threads may block it.
inline void accept_signal(int number) noexcept {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

inline void listen_for_signals(signal_pipe& pipe, signal_listener to) noexcept {
    unsigned char number = 0;
    for (ssize_t n = 1; n == 1 || (n < 0 && errno == EINTR);) {
        n = ::read(pipe.ends[0].load(std::memory_order_relaxed), &number, 1);
        if (n != 1) continue;
        pipe.is_noted[number].store(false);  // before the listener acts: signals meanwhile are told, too
        to(number);
    }
}
// Starts the thread that calls `Listener` with each signal's number, and with 0 after
// `tell_signal_thread(pipe, 0)`.
// False: the system lacks a resource.
template <signal_listener Listener>
bool begin_signals(signal_pipe& pipe) noexcept {
    int ends[2];
    if (::pipe(ends) != 0) return false;
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
    // relaxed: the start of the thread publishes them
    pipe.ends[0].store(ends[0], std::memory_order_relaxed);
    pipe.ends[1].store(ends[1], std::memory_order_relaxed);
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool begun = begin_thread<[](void* from) {
        detail::listen_for_signals(*static_cast<signal_pipe*>(from), Listener);
    }>(&pipe);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!begun) {
        // relaxed: no thread reads the ends
        for (std::atomic<int>& end : pipe.ends) ::close(end.exchange(-1, std::memory_order_relaxed));
        errno = EAGAIN;  // pthread_create returns this error, and doesn't set errno
    }
    return begun;
}
// Restores the previous action of each signal that still has the pipe's handler, and closes the pipe. Called
// in a forked process, which shares the pipe with its parent, and lacks the thread.
inline void forget_signals(signal_pipe& pipe) noexcept {
    for (int number = 1; number < end_of_signals; ++number) {
        give_back_signal(pipe, number);
        pipe.is_noted[number].store(false);
    }
    // relaxed: the process has one thread
    for (std::atomic<int>& end : pipe.ends) ::close(end.exchange(-1, std::memory_order_relaxed));
}

#else
// Windows: written from the documentation of std::signal there, not tested yet.
inline constexpr int end_of_signals = NSIG;
inline constexpr bool can_catch_every_signal = false;
inline signal_listener signal_actions_before[NSIG];
inline constinit std::atomic<signal_listener> signal_told{nullptr};  // the listener
struct signal_pipe {};                                               // the handler calls the listener itself
inline constinit signal_pipe signals_once;
inline constinit signal_pipe signals_always;

inline bool is_fault(int number) noexcept {
    return number == SIGSEGV || number == SIGFPE || number == SIGILL || number == SIGABRT;
}
inline void note_signal(int number) noexcept {
    std::signal(number, signal_actions_before[number]);
    signal_told.load()(number);
}
inline bool catch_signal(int number) noexcept {
    const signal_listener before = std::signal(number, &note_signal);
    if (before == SIG_ERR) return false;
    if (before == SIG_IGN) std::signal(number, SIG_IGN);
    if (before != &note_signal) signal_actions_before[number] = before;
    return true;
}
inline signal_catch catch_every_signal(int number) noexcept {
    static_cast<void>(number);
    return signal_catch::unsupported;
}
inline void give_back_signal(signal_pipe&, int number) noexcept {
    const signal_listener now = std::signal(number, signal_actions_before[number]);
    if (now != SIG_ERR && now != &note_signal) std::signal(number, now);
}
inline void send_signal_again(int number) noexcept { std::raise(number); }
inline void accept_signal(int number) noexcept { static_cast<void>(number); }
inline void tell_signal_thread(signal_pipe&, int number) noexcept { static_cast<void>(number); }
template <signal_listener Listener>
bool begin_signals(signal_pipe&) noexcept {
    signal_told.store(Listener);
    return true;
}
inline void forget_signals(signal_pipe&) noexcept {}
#endif

}  // namespace weir::detail

#endif
