// weir task: stop_on_signals: a signal, as of Ctrl-C, requests a stop
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_STOP_ON_SIGNALS_HPP
#define WEIR_TASK_STOP_ON_SIGNALS_HPP

#include <weir/platform/parking.hpp>
#include <weir/platform/process.hpp>
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
#include <utility>           // for std::exchange
#include <vector>            // for std::vector

namespace weir {

namespace detail {

// A stop source and a list of signals. The first signal of the list that the process gets requests the stop.
class signal_request {
  public:
    signal_request(std::initializer_list<int> numbers) : numbers_(numbers) {}

    stop_source stop;

  private:
    friend class signal_watch;
    bool has(int number) const noexcept {
        for (const int each : numbers_) {
            if (each == number) return true;
        }
        return false;
    }

    std::vector<int> numbers_;
    std::uint64_t serial_ = 0;  // the number of this request, from 1
    // Links in the list of the requests that wait for a signal. `at_`: the pointer that points to this
    // request; null: the request has not been added, or is served.
    signal_request* next_ = nullptr;
    signal_request** at_ = nullptr;
};

// All requests of the process that wait for a signal. A signal is caught while a request that names it waits.
class signal_watch {
  public:
    static void add(signal_request& to) {  // catches the signals, and adds the request to the list
        signal_watch& me = *instance;
        const std::lock_guard guard(me.lock_);
        me.begun_ = me.begun_ || begin_signals<&signal_watch::tell>(signals_once);
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
        me.link(to);
        bool is_new = false;
        for (const int number : to.numbers_) is_new = !std::exchange(me.is_accepted_[number], true) || is_new;
        if (is_new) tell_signal_thread(signals_once, 0);
    }

    static void remove(signal_request& request) noexcept {  // if it still waits
        signal_watch& me = *instance;
        const std::lock_guard guard(me.lock_);
        if (request.at_ == nullptr || request.serial_ <= me.forgotten_) return;
        unlink(request);
        me.release(request);
    }

  private:
    // Called on the thread for signals: requests the stop of each waiting request that names the signal, and
    // restores handlers that no request needs now. `number` 0: a request has named a signal for the first
    // time, which this thread then unblocks. No lock is held during `request_stop`.
    static void tell(int number) noexcept {
        if (number == 0) return instance->accept_all();
        bool any = false;
        const std::uint64_t last = instance->last_serial();  // a callback of the stop may add a request
        while (const std::optional<stop_source> next = instance->take(number, last)) {
            next->request_stop();
            any = true;
        }
        // No request waits for this signal any more: sends it again, to the handler that was restored.
        if (!any) send_signal_again(number);
    }

    std::uint64_t last_serial() noexcept {  // the number of the latest request
        const std::lock_guard guard(lock_);
        return serial_;
    }
    // Removes a waiting request that names the signal, of those up to number `last`; returns its stop source.
    std::optional<stop_source> take(int number, std::uint64_t last) noexcept {
        const std::lock_guard guard(lock_);
        for (signal_request* each = first_; each != nullptr; each = each->next_) {
            if (!each->has(number) || each->serial_ > last) continue;
            unlink(*each);
            release(*each);
            return each->stop;
        }
        return std::nullopt;
    }

    // The following functions are called under the lock.
    void link(signal_request& r) noexcept {
        r.next_ = first_;
        r.at_ = &first_;
        if (first_ != nullptr) first_->at_ = &r.next_;
        first_ = &r;
    }
    static void unlink(signal_request& r) noexcept {
        *r.at_ = r.next_;
        if (r.next_ != nullptr) r.next_->at_ = r.at_;
        r.at_ = nullptr;
    }

    // Restores the handlers of signals that no other waiting request names.
    void release(const signal_request& request) noexcept {
        for (const int number : request.numbers_) {
            if (number > 0 && number < end_of_signals && !is_named(number))
                give_back_signal(signals_once, number);
        }
    }
    bool is_named(int number) const noexcept {  // by a waiting request
        for (const signal_request* each = first_; each != nullptr; each = each->next_) {
            if (each->has(number)) return true;
        }
        return false;
    }

    void accept_all() noexcept {  // on the thread for signals: unblocks the signals that were named
        const std::lock_guard guard(lock_);
        for (int number = 0; number < end_of_signals; ++number) {
            if (is_accepted_[number]) accept_signal(number);
        }
    }

    // Called in a forked child. Releases the lock, and forgets all requests and the thread for signals, which
    // belong to the parent process.
    void forget_all() noexcept {
        lock_.unlock();
        first_ = nullptr;
        forgotten_ = serial_;
        for (bool& each : is_accepted_) each = false;
        if (begun_) forget_signals(signals_once);
        begun_ = false;
    }

    static no_destroy<signal_watch> instance;
    static const bool forks_are_known;

    spin_lock lock_;
    signal_request* first_ = nullptr;     // the latest request that waits
    std::uint64_t serial_ = 0;            // the number of the latest request
    std::uint64_t forgotten_ = 0;         // in a forked child: the number of the parent's latest request
    bool is_accepted_[end_of_signals]{};  // the thread accepts the signal, or was told to
    bool begun_ = false;                  // the thread for signals has begun
};

inline constinit no_destroy<signal_watch> signal_watch::instance;
inline const bool signal_watch::forks_are_known = at_fork_in_child([] { instance->forget_all(); });

}  // namespace detail

/// Requests a stop when the process gets a signal. `weir.hpp` doesn't include this header.
///
///     const weir::stop_on_signals interrupted({SIGINT, SIGTERM});
///     auto run = pipeline.start(pool, {.stop = interrupted});
///
/// A signal handler of your own must not call `request_stop`, which takes locks.
///
/// The first signal requests the stop, on a thread of the library. The handlers of the object's signals are
/// then restored, except of signals that another object waits for. So a second Ctrl-C ends the program as
/// usual. A signal requests the stop of each object that names the signal. Signals that the program ignores
/// stay ignored. Signals that all other threads block come to the thread of the library.
///
/// Errors:   `std::invalid_argument` for an empty list, for a signal that can't be caught, and for one that
///           reports a fault; `std::system_error` if the system has no pipe or thread left.
/// Threads:  any may make and destroy such objects. Functions of `stop_callback` run on the thread of the
///           library, one after another; they may take locks, and may destroy the object.
/// Lifetime: signals are caught until the first one comes or the object is destroyed. Both restore the
///           handlers, except of signals that another object waits for. Tokens may outlive the object. A
///           handler that the program installs meanwhile is kept.
///           In a forked process the handlers are restored: make another object there.
/// Cost:     a sleeping thread, from the first object to the end of the process.
///
/// On Windows Ctrl-C is `SIGINT`, and Ctrl-Break and the end of the console are `SIGBREAK`. There the system
/// calls the functions on a thread of its own, and the library has no thread.
class stop_on_signals {
  public:
    /// \param numbers  numbers of signals, as `SIGINT`.
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

    /// A token, for the options of a run and other functions that take one.
    operator stop_token() const& noexcept {  // NOLINT(google-explicit-constructor): .stop = interrupted
        return request_.stop.get_token();
    }
    /// Rejects a temporary at compile time: it would restore the handlers at once.
    template <std::same_as<stop_token> Token>
    operator Token() const&& {  // NOLINT(google-explicit-constructor): as above
        static_assert(!std::same_as<Token, stop_token>,
                      "weir: these stop_on_signals are gone at the end of this expression, and would hear of "
                      "no signal: give them a name, const weir::stop_on_signals interrupted({SIGINT}), and "
                      "that to the run");
        return {};
    }

    /// \returns whether one of the signals came.
    [[nodiscard]] bool stop_requested() const noexcept { return request_.stop.stop_requested(); }

  private:
    detail::signal_request request_;
};

}  // namespace weir

#endif
