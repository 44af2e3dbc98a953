// weir platform, internal: catches signals, each once, and passes their numbers to a thread of the library
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

// A signal handler may call only few functions. On POSIX the handler restores the signal's previous action
// and writes the number into a pipe, which a thread of the library reads. Windows calls handlers on a thread
// of their own, after it has restored the default action, so there the handler calls the listener itself.
using signal_listener = void (*)(int);

#if __has_include(<unistd.h>) && !defined(_WIN32)
inline constexpr int end_of_signals = NSIG;
inline struct sigaction signal_actions_before[NSIG];
inline constinit std::atomic<int> signal_pipe[2]{-1, -1};  // to read from, to write to
static_assert(std::atomic<int>::is_always_lock_free);

// Whether the signal reports a fault of the program itself.
inline bool is_fault(int number) noexcept {
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
           number == SIGABRT || number == SIGTRAP;
}

// relaxed, here and below: the pipe is opened before a signal is caught, and catching is a system call
inline void tell_signal_thread(int number) noexcept {
    const auto byte = static_cast<unsigned char>(number);
    // The pipe can't be full, as each signal is caught once.
    [[maybe_unused]] const auto n = ::write(signal_pipe[1].load(std::memory_order_relaxed), &byte, 1);
}
// The signal handler.
inline void note_signal(int number) noexcept {
    const int error = errno;
    sigaction(number, &signal_actions_before[number], nullptr);
    tell_signal_thread(number);
    errno = error;
}

inline bool is_caught(const struct sigaction& action) noexcept {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == &note_signal;
}

// Installs the handler for the next occurrence. A signal that the program ignores stays ignored. False: the
// signal can't be caught.
inline bool catch_signal(int number) noexcept {
    struct sigaction now{};
    if (sigaction(number, nullptr, &now) != 0) return false;
    if (is_caught(now) || ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN)) return true;
    signal_actions_before[number] = now;
    struct sigaction ours{};
    ours.sa_handler = &note_signal;
    ours.sa_flags = SA_RESTART;
    sigfillset(&ours.sa_mask);
    return sigaction(number, &ours, nullptr) == 0;
}
// Restores the previous action, unless the program has installed another one since.
inline void give_back_signal(int number) noexcept {
    struct sigaction now{};
    if (sigaction(number, nullptr, &now) != 0 || !is_caught(now)) return;
    sigaction(number, &signal_actions_before[number], nullptr);
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

inline void listen_for_signals(signal_listener to) noexcept {
    unsigned char number = 0;
    for (ssize_t n = 1; n == 1 || (n < 0 && errno == EINTR);) {
        n = ::read(signal_pipe[0].load(std::memory_order_relaxed), &number, 1);
        if (n == 1) to(number);
    }
}
// Starts the thread that calls `Listener` with each signal's number, and with 0 after
// `tell_signal_thread(0)`.
// False: the system lacks a resource.
template <signal_listener Listener>
bool begin_signals() noexcept {
    int ends[2];
    if (::pipe(ends) != 0) return false;
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
    signal_pipe[0].store(ends[0], std::memory_order_relaxed);
    signal_pipe[1].store(ends[1], std::memory_order_relaxed);
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool begun = begin_thread<[](void*) { detail::listen_for_signals(Listener); }>(nullptr);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return begun;
}
// Called in a forked process, which shares the parent's pipe and lacks its thread.
inline void forget_signals() noexcept {
    for (int number = 1; number < end_of_signals; ++number) give_back_signal(number);
    for (std::atomic<int>& end : signal_pipe) ::close(end.exchange(-1, std::memory_order_relaxed));
}

#else
// Windows: written from the documentation of std::signal there, not tested yet.
inline constexpr int end_of_signals = NSIG;
inline signal_listener signal_actions_before[NSIG];
inline constinit std::atomic<signal_listener> signal_told{nullptr};

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
inline void give_back_signal(int number) noexcept {
    const signal_listener now = std::signal(number, signal_actions_before[number]);
    if (now != SIG_ERR && now != &note_signal) std::signal(number, now);
}
inline void send_signal_again(int number) noexcept { std::raise(number); }
inline void accept_signal(int number) noexcept { static_cast<void>(number); }
inline void tell_signal_thread(int number) noexcept { static_cast<void>(number); }
template <signal_listener Listener>
bool begin_signals() noexcept {
    signal_told.store(Listener);
    return true;
}
inline void forget_signals() noexcept {}
#endif

}  // namespace weir::detail

#endif
