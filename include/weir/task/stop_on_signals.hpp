// weir task: Ctrl-C, or another signal, requests a stop
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_STOP_ON_SIGNALS_HPP
#define WEIR_TASK_STOP_ON_SIGNALS_HPP

#include <weir/platform/globals.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/spin_lock.hpp>
#include <weir/platform/system_signals.hpp>
#include <weir/task/stop_token.hpp>

#include <cerrno>            // for errno
#include <concepts>          // for std::same_as
#include <csignal>           // for SIGINT, which users name
#include <cstdint>           // for std::uint64_t
#include <initializer_list>  // for std::initializer_list
#include <mutex>             // for std::lock_guard
#include <optional>          // for std::optional
#include <stdexcept>         // for std::invalid_argument
#include <string>            // for std::to_string
#include <system_error>      // for std::system_error
#include <vector>            // for std::vector

namespace weir {

namespace detail {

// Who is to be told of which signals, once.
class signal_request {
  public:
    signal_request(std::initializer_list<int> numbers) : numbers_(numbers) {}

    stop_source stop;

  private:
    friend class signal_watch;
    bool has(int number) const noexcept {
        for (const int each : numbers_) {
            if (each == number) return !told_;
        }
        return false;
    }

    std::vector<int> numbers_;
    bool told_ = false;
    std::uint64_t serial_ = 0;
    signal_request* next_ = nullptr;
};

// All requests of the process. A signal is caught as long as one that has not been told yet names it.
class signal_watch {
  public:
    static void add(signal_request& to) {
        signal_watch& me = *only;
        const std::lock_guard guard(me.lock_);
        me.begun_ = me.begun_ || begin_signals<&signal_watch::tell>();
        if (!me.begun_) {
            throw std::system_error(errno, std::generic_category(),
                                    "weir: signals need a pipe and a thread, of which one can't be had");
        }
        static_cast<void>(forks_are_known);
        for (const int number : to.numbers_) {
            if (number > 0 && number < end_of_signals && !is_fault(number) && catch_signal(number)) continue;
            me.release(to);
            throw std::invalid_argument("weir: signal " + std::to_string(number) +
                                        " can't request a stop: it can't be caught, or tells of a "
                                        "fault, after which nothing goes on; give stop_on_signals SIGINT, "
                                        "SIGTERM and the like");
        }
        to.serial_ = ++me.serial_;
        to.next_ = me.first_;
        me.first_ = &to;
        tell_signal_thread(0);
    }

    static void remove(signal_request& it) noexcept {
        signal_watch& me = *only;
        const std::lock_guard guard(me.lock_);
        signal_request** at = &me.first_;
        while (*at != nullptr && *at != &it) at = &(*at)->next_;
        if (*at == nullptr) return;
        *at = it.next_;
        me.release(it);
    }

  private:
    // On the thread of the signals; no lock is held where a stop is requested. 0: there are new ones.
    static void tell(int number) noexcept {
        if (number == 0) return only->accept_all();
        bool any = false;
        const std::uint64_t last = only->last_serial();  // who hears of it may make another
        while (const std::optional<stop_source> next = only->take(number, last)) {
            next->request_stop();
            any = true;
        }
        // It came behind one that was the last for those who name it: the program gets it as usual.
        if (!any) send_signal_again(number);
    }

    std::uint64_t last_serial() noexcept {
        const std::lock_guard guard(lock_);
        return serial_;
    }
    std::optional<stop_source> take(int number, std::uint64_t last) noexcept {
        const std::lock_guard guard(lock_);
        for (signal_request* each = first_; each != nullptr; each = each->next_) {
            if (!each->has(number) || each->serial_ > last) continue;
            each->told_ = true;
            release(*each);
            return each->stop;
        }
        return std::nullopt;
    }

    // Under the lock, as the next: its signals are given back that nobody else waits for.
    void release(const signal_request& it) noexcept {
        for (const int number : it.numbers_) {
            if (number > 0 && number < end_of_signals && !is_named(number)) give_back_signal(number);
        }
    }
    bool is_named(int number) const noexcept {
        for (const signal_request* each = first_; each != nullptr; each = each->next_) {
            if (each->has(number)) return true;
        }
        return false;
    }

    void accept_all() noexcept {
        const std::lock_guard guard(lock_);
        for (const signal_request* each = first_; each != nullptr; each = each->next_) {
            for (const int number : each->numbers_) accept_signal(number);
        }
    }

    // In a forked process the requests are the parent's, and so is their thread.
    void begin_anew() noexcept {
        lock_.unlock();
        first_ = nullptr;
        if (begun_) forget_signals();
        begun_ = false;
    }

    static no_destroy<signal_watch> only;
    static const bool forks_are_known;

    spin_lock lock_;
    signal_request* first_ = nullptr;
    std::uint64_t serial_ = 0;  // of the last one
    bool begun_ = false;
};

inline constinit no_destroy<signal_watch> signal_watch::only;
inline const bool signal_watch::forks_are_known = at_fork_in_child([] { only->begin_anew(); });

}  // namespace detail

/// Requests a stop when a signal comes. `weir.hpp` doesn't include it.
///
///     const weir::stop_on_signals interrupted({SIGINT, SIGTERM});
///     auto run = pipeline.start(pool, {.stop = interrupted});
///
/// A handler of one's own must not call `request_stop`, which takes locks.
///
/// The first of the signals requests the stop, on a thread of the library, and gives all of them back to
/// whoever handled them before: so the second one ends the program as usual. A signal requests the stop of
/// each object that names it. One that the program ignores stays ignored. One that all other threads have
/// blocked comes to the thread of the library.
///
/// Errors:   `std::invalid_argument` for no signal, and for one that can't be caught, or tells of a fault;
///           `std::system_error` where the system has no pipe or thread left.
/// Threads:  any make and destroy such objects. Functions that hear of the stop (`stop_callback`) run on the
///           thread of the library, one after another; they may take locks, and may destroy the object.
/// Lifetime: the signals are caught until the first one comes, or the object is destroyed, which gives them
///           back; its tokens may outlive it. Who installs a handler meanwhile keeps it. In a forked process
///           the signals are given back: make another object there.
/// Cost:     a thread, from the first object on to the end of the process, that sleeps.
///
/// On Windows Ctrl-C is `SIGINT`, and Ctrl-Break and the end of the console are `SIGBREAK`. The system calls
/// the functions that hear of the stop on a thread of its own, and the library has none.
class stop_on_signals {
  public:
    /// \param numbers  the signals, by the names of `<csignal>`.
    [[nodiscard("signals are caught as long as this lives: give it a name")]] stop_on_signals(
        std::initializer_list<int> numbers)
        : request_(numbers) {
        if (numbers.size() == 0) {
            throw std::invalid_argument(
                "weir: stop_on_signals was given no signal; give it one or more, as {SIGINT, SIGTERM}");
        }
        detail::signal_watch::add(request_);
    }
    stop_on_signals(const stop_on_signals&) = delete;
    stop_on_signals& operator=(const stop_on_signals&) = delete;
    ~stop_on_signals() { detail::signal_watch::remove(request_); }

    /// A token, for the options of a run and whatever else takes one.
    operator stop_token() const& noexcept {  // NOLINT(google-explicit-constructor): .stop = interrupted
        return request_.stop.get_token();
    }
    /// Refuses at compile time an object without a name, which gives the signals back at once.
    template <std::same_as<stop_token> Token>
    operator Token() const&& {  // NOLINT(google-explicit-constructor): as above
        static_assert(!std::same_as<Token, stop_token>,
                      "weir: these stop_on_signals are gone at the end of this expression, and would hear of "
                      "no signal: give them a name, const weir::stop_on_signals interrupted({SIGINT}), and "
                      "that to the run");
        return {};
    }

    /// \returns whether one of the signals has come.
    [[nodiscard]] bool stop_requested() const noexcept { return request_.stop.stop_requested(); }

  private:
    detail::signal_request request_;
};

}  // namespace weir

#endif
