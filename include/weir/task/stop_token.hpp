// weir task: stop_source requests a stop, stop_token tells of it, stop_callback runs a function then
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_STOP_TOKEN_HPP
#define WEIR_TASK_STOP_TOKEN_HPP

#include <weir/platform/platform.hpp>
#include <weir/task/stop_state.hpp>

#include <concepts>     // for std::constructible_from, std::invocable, std::same_as
#include <exception>    // for std::exception_ptr
#include <type_traits>  // for std::is_nothrow_constructible_v
#include <utility>      // for std::forward, std::move

namespace weir {

template <class Platform>
class basic_stop_source;
template <class Callback, class Platform = detail::standard_platform>
class stop_callback;

/// Tells whether a stop was requested. A default-constructed token never reports one: functions can take
/// `stop_token stop = {}`, and a call without a token then costs one check of a null pointer.
///
/// Threads: a value; copies may be used on any thread. Cost: one pointer; a copy changes a reference count.
/// Source: std::stop_token, which is experimental in libc++ 16, and whose atomics and waits tests can't
///         replace.
template <class Platform = detail::standard_platform>
class basic_stop_token {
    detail::basic_stop_ref<Platform> state_;

  public:
    basic_stop_token() noexcept = default;
    /// From a `std::stop_token`, as that of a `std::jthread`: a stop requested there counts here. Callbacks
    /// run on the thread that requests the stop, as for the standard's. The new token equals its own copies
    /// only; or, if no stop is possible, a default-constructed token.
    ///
    /// Errors: `std::bad_alloc`. Cost: one allocation, and a lock for a few instructions.
    // NOLINTNEXTLINE(google-explicit-constructor): see above
    basic_stop_token(const detail::std_stop_token& token)
        requires std::same_as<Platform, detail::standard_platform>
        : state_(token.stop_possible() ? new detail::forwarded_stop_state(token) : nullptr) {}

    /// A caller that gets `true` sees all that was done before the request.
    [[nodiscard]] bool stop_requested() const noexcept { return state_ && state_->requested(); }

    /// False if no stop was requested, and none can be: no source is left, or there never was one.
    [[nodiscard]] bool stop_possible() const noexcept { return state_ && state_->possible(); }

    /// Required by the `stoppable_token` concept of std::execution.
    template <class Callback>
    using callback_type = stop_callback<Callback, Platform>;

    /// \returns true if both belong to the same source, or neither to any.
    [[nodiscard]] friend bool operator==(const basic_stop_token&, const basic_stop_token&) noexcept = default;

  private:
    friend basic_stop_source<Platform>;
    template <class, class>
    friend class stop_callback;

    explicit basic_stop_token(detail::basic_stop_ref<Platform> state) noexcept : state_(std::move(state)) {}
};

/// The token for programs; only tests use another platform.
using stop_token = basic_stop_token<>;

/// Thrown by an await in the function of a pipeline's stage when the run (the started pipeline) is stopped or
/// the stage's `time_limit` is over: by sleeps, operations on channels, Asio's operations (weir/asio.hpp),
/// and receives and probes of MPI. These awaits also throw in tasks, generators, `when_all` and `when_any`
/// that the function awaits; and in an argument of `when_any` when another argument has ended. An awaited
/// sender is requested to stop. Other waits don't end early, nor do those of the tasks of a `task_group`:
/// these tasks can check the token that `stop()` of the `invocation` gives, which the stage's function may
/// receive.
///
/// The exception unwinds the function, and the item is destroyed. After a stop of the run, `stopped` is no
/// failure, and is not reported; after the time limit, the failure is `time_limit_exceeded`. Not derived from
/// `std::exception`, so that handlers of errors let it pass. Code that catches it has to rethrow it; the next
/// such await that has to wait throws it anyway.
class stopped {};

namespace detail {

// `retry` throws this if a stop ends its repetitions. `last`: the exception of the last call, which is nested
// in the item's failure if the stop came from the time limit.
class stopped_after_error : public stopped {
  public:
    // NOLINTNEXTLINE(bugprone-throw-keyword-missing): the check takes the member for a missing `throw`
    explicit stopped_after_error(std::exception_ptr error) noexcept : last(std::move(error)) {}
    std::exception_ptr last;
};

}  // namespace detail

/// Requests a stop, once, for all tokens from this source and from its copies.
///
/// Threads: any, at the same time, but for assignment. Cost: one allocation.
template <class Platform = detail::standard_platform>
class basic_stop_source {
    detail::basic_stop_ref<Platform> state_;

  public:
    basic_stop_source() : state_(new detail::basic_stop_state<Platform>) {}
    basic_stop_source(const basic_stop_source& other) noexcept : state_(other.state_) {
        if (state_) state_->add_source();
    }
    basic_stop_source(basic_stop_source&&) noexcept = default;
    basic_stop_source& operator=(basic_stop_source other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~basic_stop_source() {
        if (state_) state_->remove_source();
    }

    /// Runs every registered callback, on this thread, before it returns. A callback may destroy this source.
    /// Not to be called in a signal handler: if the handler interrupts a thread that holds the state's lock,
    /// the program ends with a message, or hangs (on Windows). For signals there is `stop_on_signals`.
    ///
    /// \returns true if this call made the request; false if a stop was requested before (the callbacks may
    ///          still be running then, on the thread of that request), or if the source was moved from.
    /// Errors:  a callback that throws ends the program.
    bool request_stop() const noexcept {
        const detail::basic_stop_ref<Platform> keep = state_;
        return keep && keep->request();
    }

    /// \returns a token of this source. From a source that was moved from: a token that never reports a stop.
    [[nodiscard]] basic_stop_token<Platform> get_token() const noexcept {
        return basic_stop_token<Platform>(state_);
    }
    /// The same as `stop_requested` of the source's tokens.
    [[nodiscard]] bool stop_requested() const noexcept { return state_ && state_->requested(); }

    /// False only for a source that was moved from.
    [[nodiscard]] bool stop_possible() const noexcept { return static_cast<bool>(state_); }

    [[nodiscard]] friend bool operator==(const basic_stop_source&,
                                         const basic_stop_source&) noexcept = default;
};

/// The source for programs; only tests use another platform.
using stop_source = basic_stop_source<>;

/// Calls a function when a stop is requested, while this object lives.
///
/// - Stop requested before the construction: the constructor calls the function before it returns.
/// - Stop requested later: `request_stop` calls the function, on the thread that calls `request_stop`.
/// - Object destroyed before the request: the function is never called.
///
/// The destructor waits while another thread runs the function. If the function itself destroys the object,
/// the destructor returns at once. No lock is held while the function runs: it may use the source, tokens and
/// other callbacks.
///
/// Errors: a function that throws ends the program.
/// Cost: no allocation; a lock for a few instructions to register and to leave.
///
/// `stop_callback on_stop(token, [&] { ... });`
template <class Callback, class Platform>
class stop_callback : detail::basic_stop_node<Platform> {
    static_assert(std::invocable<Callback>,
                  "weir: stop_callback needs a function to call without arguments, and this can't "
                  "be called so; did you mean a lambda, [&] { ... }?");

    using node = detail::basic_stop_node<Platform>;

    Callback callback_;
    detail::basic_stop_ref<Platform> state_;  // null: not registered

  public:
    using callback_type = Callback;

    /// \param token     the callback shares the ownership of the token's state.
    /// \param callback  the function to call; moved from even if no stop is possible.
    /// Errors: only those of constructing the callback.
    template <class Function>
        requires std::constructible_from<Callback, Function>
    [[nodiscard("it is called only while this object lives")]] explicit stop_callback(
        basic_stop_token<Platform> token,
        Function&& callback) noexcept(std::is_nothrow_constructible_v<Callback, Function>)
        : node(&run), callback_(std::forward<Function>(callback)) {
        if (!token.stop_possible()) return;
        // Kept before `add` links this object: from then on the callback may run, and destroy the object.
        state_ = token.state_;
        if (token.state_->add(*this)) return;
        state_ = {};
        run(*this);
    }

    ~stop_callback() {
        if (state_) state_->remove(*this);
    }

    stop_callback(const stop_callback&) = delete;
    stop_callback& operator=(const stop_callback&) = delete;

  private:
    // Calls the user's function, once: so a function that is held by value is called as an rvalue.
    static void run(node& self) noexcept {
        std::forward<Callback>(static_cast<stop_callback&>(self).callback_)();
    }
};

template <class Platform, class Callback>
stop_callback(basic_stop_token<Platform>, Callback) -> stop_callback<Callback, Platform>;
template <class Callback>
stop_callback(detail::std_stop_token, Callback) -> stop_callback<Callback>;

}  // namespace weir

#endif
