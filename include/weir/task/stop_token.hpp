// weir task: asks work to stop, and tells it so: source, token, callback
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_STOP_TOKEN_HPP
#define WEIR_TASK_STOP_TOKEN_HPP

#include <weir/platform/platform.hpp>
#include <weir/task/stop_state.hpp>

#include <concepts>     // for std::constructible_from, std::invocable, std::same_as
#include <type_traits>  // for std::is_nothrow_constructible_v
#include <utility>      // for std::forward, std::move

namespace weir {

template <class Platform>
class basic_stop_source;
template <class Callback, class Platform = detail::standard_platform>
class stop_callback;

/// Tells whether a stop was requested. The default one never says so, so that a function takes
/// `stop_token stop = {}` and a caller who never stops pays one look at a null pointer.
///
/// Threads: a value; copies may be asked from any thread. Cost: one pointer, copying counts.
/// Source: std::stop_token, which libc++ 16 has only as an experiment, and whose waiting can't go
///         through a platform of ours.
template <class Platform = detail::standard_platform>
class basic_stop_token {
    detail::basic_stop_ref<Platform> state_;

  public:
    basic_stop_token() noexcept = default;
    /// From a `std::stop_token`, as that of a `std::jthread`: says what that says. So whatever takes a token
    /// of ours takes one of those. Equals only its copies. Its callbacks are called by the thread that
    /// requests the stop, as those of the standard's are.
    ///
    /// Errors: `std::bad_alloc`. Cost: one allocation, and a lock for a few instructions.
    // NOLINTNEXTLINE(google-explicit-constructor): see above
    basic_stop_token(const detail::std_stop_token& token)
        requires std::same_as<Platform, detail::standard_platform>
        : state_(token.stop_possible() ? new detail::forwarded_stop_state(token) : nullptr) {}

    /// What was done before the request is seen by whoever gets `true`.
    [[nodiscard]] bool stop_requested() const noexcept { return state_ && state_->requested(); }

    /// False if no stop was requested and none can be: no source is left, or there never was one.
    [[nodiscard]] bool stop_possible() const noexcept { return state_ && state_->possible(); }

    /// As std::execution asks of what tells its senders to stop.
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

/// The one to use; only tests have another platform.
using stop_token = basic_stop_token<>;

/// What an await throws that ends because the run has been stopped in whose stage it waits, or the stage's
/// `time_limit` is over: a sleep, an operation on channels or, by our adapter, of Asio, also in tasks,
/// generators, `when_all` and `when_any` that the stage's function awaits. A sender is asked to stop. Nothing
/// else ends by itself, as a task of a `task_group`: let it look at `invocation::stop`.
/// It unwinds the function, and the item is destroyed. After a stop that is no failure, and nobody is told of
/// one; after the time limit it is the failure `time_limit_exceeded`. Not derived from `std::exception`, so
/// that what handles errors lets it pass; who catches it all the same throws it again, as the next await
/// would.
class stopped {};

/// Requests a stop, once, for all tokens that come from it or from a copy of it.
///
/// Threads: any number, on the same object too, but for assignment. Cost: one allocation.
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

    /// Runs every registered callback, on this thread, before it returns. A callback may destroy
    /// this source. Not to be called in a signal handler, which may have interrupted the thread while it
    /// held a lock that this takes: if it did, the program ends with a sentence where the stack can be looked
    /// through (not on Windows), and else hangs. For signals there is `stop_on_signals`.
    ///
    /// \returns true if this call made the request; false if it had been made, or from a source
    ///          that was moved from. In the first case of these two the callbacks may still be
    ///          running, on the thread that made the request.
    /// Errors:  a callback that throws ends the program.
    bool request_stop() const noexcept {
        const detail::basic_stop_ref<Platform> keep = state_;
        return keep && keep->request();
    }

    /// Of a source that was moved from: one that never says so.
    [[nodiscard]] basic_stop_token<Platform> get_token() const noexcept {
        return basic_stop_token<Platform>(state_);
    }
    /// As its tokens say.
    [[nodiscard]] bool stop_requested() const noexcept { return state_ && state_->requested(); }

    /// False only for a source that was moved from.
    [[nodiscard]] bool stop_possible() const noexcept { return static_cast<bool>(state_); }

    [[nodiscard]] friend bool operator==(const basic_stop_source&,
                                         const basic_stop_source&) noexcept = default;
};

/// The one to use; only tests have another platform.
using stop_source = basic_stop_source<>;

/// Calls a function when a stop is requested, for as long as this object lives.
///
/// - Requested before: the constructor calls it, on its own thread, before it returns.
/// - Requested later: the thread that requests calls it, inside `request_stop`.
/// - Destroyed before: it is never called.
///
/// The destructor returns when the function is not running: if another thread is in it, it sleeps
/// until that is out; if the function itself destroys the callback, it returns at once. No lock is
/// held while the function runs, so it may use the source, tokens and other callbacks freely.
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
    detail::basic_stop_ref<Platform> state_;  // none: not registered

  public:
    using callback_type = Callback;

    /// \param token     the callback shares the ownership of what it belongs to.
    /// \param callback  what to call; also moved from if no stop is possible.
    /// Errors: only those of constructing the callback.
    template <class Function>
        requires std::constructible_from<Callback, Function>
    [[nodiscard("it is called only while this object lives")]] explicit stop_callback(
        basic_stop_token<Platform> token,
        Function&& callback) noexcept(std::is_nothrow_constructible_v<Callback, Function>)
        : node(&run), callback_(std::forward<Function>(callback)) {
        if (!token.stop_possible()) return;
        // Kept before it is linked: the callback may run, and destroy this object, from then on.
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
    // The function is called as what it was given as, once: an rvalue if it is held by value.
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
