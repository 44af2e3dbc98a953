// weir run: one call of a stage's function: the hooks before and after it, and its time limit
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_INVOCATION_HPP
#define WEIR_RUN_INVOCATION_HPP

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/later.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <exception>    // for std::exception_ptr
#include <memory>       // for std::addressof, std::shared_ptr
#include <stdexcept>    // for std::invalid_argument, std::runtime_error
#include <string>       // for std::string
#include <type_traits>  // for std::is_convertible_v
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir {

namespace detail {

class invocation_guard;

// The address of this variable identifies the type `T`, without run-time type information.
template <class T>
inline constexpr char type_mark = 0;

// A pointer to an item of any type. `as` returns null if `T` is not the type of the item.
class any_item {
  public:
    any_item() noexcept = default;
    template <class T>
    explicit any_item(const T& item) noexcept : item_(std::addressof(item)), type_(&type_mark<T>) {}

    template <class T>
    const T* as() const noexcept {
        return type_ == &type_mark<T> ? static_cast<const T*>(item_) : nullptr;
    }

  private:
    const void* item_ = nullptr;
    const char* type_ = nullptr;
};

}  // namespace detail

/// Describes one call of a stage's function. May be the second parameter of the function of a `pipe`:
///
///     weir::pipe([](image i, const weir::invocation& call) { return decode(i, call.slot()); })
///
/// Lifetime: as long as the call.
class invocation {
  public:
    /// \param stage  outlives the invocation.
    /// \param item   the number of the item.
    invocation(const std::string& stage, std::uint64_t item, std::uint64_t epoch, std::size_t slot,
               stop_token stop)
        : stop_(std::move(stop)), stage_(&stage), item_(item), epoch_(epoch), slot_(slot) {}

    [[nodiscard]] const std::string& stage() const noexcept { return *stage_; }  ///< the name of the stage

    /// \returns the item's number at this stage, from 0, in the order in which the stage took its items. In a
    ///          call without an item, as `flush` of a user's aggregator: how many items the stage has taken.
    [[nodiscard]] std::uint64_t item() const noexcept { return item_; }

    /// \returns the item's epoch (pass of the source over its data), from 0; 0 if the source has no epochs.
    ///          In a branch of a `split`, and at its join, each batch counts as an epoch.
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

    /// \returns the index of the slot (worker of the stage), less than `stage_options::concurrency`, unless
    ///          `set_concurrency` or a profile (trials of stages) has added slots. Calls at the same time
    ///          have different slots.
    [[nodiscard]] std::size_t slot() const noexcept { return slot_; }

    /// \returns a token that is stopped at the `stage_options::time_limit`, or when the run is stopped. A
    ///          function that waits should return when the token is stopped.
    [[nodiscard]] const stop_token& stop() const noexcept { return stop_; }

    /// \returns in `hook::before`, the item; null if the item is no `T`, in a source, where a `split` joins
    ///          the parts of a batch, and after `before`.
    /// Lifetime: until `before` returns.
    template <class T>
    [[nodiscard]] const T* input() const noexcept {
        return input_.as<T>();
    }

    /// \returns in `hook::after`, the result of a source, or of a stage with one result per item; null if the
    ///          result is no `T`, if the function failed, and if there is no result.
    /// Lifetime: until `after` returns.
    template <class T>
    [[nodiscard]] const T* output() const noexcept {
        return output_.as<T>();
    }

  private:
    friend class detail::invocation_guard;

    detail::any_item input_;
    detail::any_item output_;
    stop_token stop_;
    const std::string* stage_;
    std::uint64_t item_;
    std::uint64_t epoch_;
    std::size_t slot_;
};

/// Functions that are called before and after every invocation of a stage, of all stages of a run, or of all
/// runs of a process: see `stage_options::hooks`, `run_options::hooks`, `run_defaults::hooks`. Hooks are
/// also called when a source finds the end of an epoch or of the stream. Override some of the functions.
///
/// Errors:  an exception from `before` or `after` fails the item, like one from the function; an exception
///          from `stage_begins` or `stage_ends` stops the run, as a failure of the stage; after one from
///          `stage_begins`, no stage takes an item.
/// Threads: `stage_begins`: the thread that starts the run; others: the stage's threads, several at once.
/// Cost:    two or three readings of the clock for each invocation. The time of a hook counts as
///          `slot_times::overhead` (the library's own work for a slot), not as task time.
class hook {
  public:
    hook() = default;
    hook(const hook&) = delete;
    hook& operator=(const hook&) = delete;
    virtual ~hook() = default;

    /// Called once per run and stage, before the stage takes its first item; not for a `sink`, which only
    /// passes items on.
    virtual void stage_begins(const std::string& stage) { static_cast<void>(stage); }

    /// Called once per run and stage that has begun, when no slot of the stage works any more, also after a
    /// failure or a stop. The last results of the stage may not have been taken yet.
    virtual void stage_ends(const std::string& stage) { static_cast<void>(stage); }

    /// Called before the function; the item is `call.input<T>()`. If `before` throws, the item fails, and the
    /// function isn't called.
    virtual void before(const invocation& call) { static_cast<void>(call); }

    /// Called after the function; the result is `call.output<T>()`. `error`: the exception by which the item
    /// fails: of the function, of `before` or `after` of a hook whose `before` was called later, or
    /// `time_limit_exceeded`; null: none. Called only if `before` of this hook has returned. If a later
    /// stage ends before a generator, `error` is null, and an exception from `after` is dropped.
    virtual void after(const invocation& call, const std::exception_ptr& error) {
        static_cast<void>(call);
        static_cast<void>(error);
    }
};

namespace detail {

// Checks the type of a hook. A member function with the name of a virtual function of `hook`, but of another
// type, hides that function, and would never be called. Private members can't be checked. The names of these
// templates make a sentence of the compiler's message.
template <class Function>
struct takes {
    template <class Class>
    static void as_a_member(Function Class::*) {}
};
template <class H>
struct the_hook {
    using call = void(const invocation&);
    using end_of_call = void(const invocation&, const std::exception_ptr&);
    using of_a_stage = void(const std::string&);
    static constexpr bool before_fits =
        !requires { &H::before; } || requires { takes<call>::as_a_member(&H::before); };
    static constexpr bool after_fits =
        !requires { &H::after; } || requires { takes<end_of_call>::as_a_member(&H::after); };
    static constexpr bool stages_fit =
        (!requires { &H::stage_begins; } || requires { takes<of_a_stage>::as_a_member(&H::stage_begins); }) &&
        (!requires { &H::stage_ends; } || requires { takes<of_a_stage>::as_a_member(&H::stage_ends); });
    static_assert(before_fits && after_fits && stages_fit,
                  "weir: this hook has a member that is named as one of weir::hook's and takes something "
                  "else, so it would never be called; they are before(const invocation&), "
                  "after(const invocation&, const std::exception_ptr&), stage_begins(const std::string&) and "
                  "stage_ends(const std::string&): write override behind them; the type is that of "
                  "the_hook<...> in this message");
};

}  // namespace detail

/// An element of a list of hooks, such as `run_options::hooks`: a `std::shared_ptr` that checks the type of
/// the hook, and refuses null.
class shared_hook : public std::shared_ptr<hook> {
  public:
    /// `H` derives from `hook`. Errors: `std::invalid_argument` for null.
    template <class H>
        requires std::is_convertible_v<H*, hook*>
    // NOLINTNEXTLINE(google-explicit-constructor): .hooks = {std::make_shared<mine>()} is the point
    shared_hook(std::shared_ptr<H> one) : std::shared_ptr<hook>(std::move(one)) {
        static_cast<void>(sizeof(detail::the_hook<H>));
        if (get() == nullptr) {
            throw std::invalid_argument(
                "weir: a hook is null, so that it can't be called: was it moved from? Give it a "
                "std::make_shared, or leave it out");
        }
    }
};

/// A call of a stage's function, also called a task, took longer than the `time_limit` of the stage. If the
/// function threw an exception other than `stopped`, that exception is nested.
class time_limit_exceeded : public std::runtime_error {
  public:
    /// \param limit  the time limit of the stage.
    explicit time_limit_exceeded(duration limit);

    [[nodiscard]] duration limit() const noexcept { return limit_; }  ///< the time limit of the stage

  private:
    duration limit_;
};

namespace detail {

// The time limit of one task. Requests a stop of the task at the limit, or when the run is stopped. `env`:
// the environment of the worker, the coroutine that calls the stage's function. While the timer exists, this
// stop also ends the waits of the function's coroutines, such as `sleep_for`: see `coroutine_env::ends`.
class task_timer {
  public:
    task_timer(coroutine_env& env, duration limit, stop_token run_ends);
    task_timer(const task_timer&) = delete;
    task_timer& operator=(const task_timer&) = delete;
    ~task_timer();

    const stop_token& token() const noexcept { return token_; }

    // Stops the timer at the end of the task, and records whether the limit has passed, for `fail_if_late`.
    // Awaitable of void. Resumes on the coroutine's executor.
    auto off() noexcept {
        was_late_ = executor_.now() > deadline_;
        return delayed_.cancel();
    }
    // Called after `off`. Returns true if the task took too long. The task then fails: `error` is set.
    bool fail_if_late(std::exception_ptr& error) const noexcept;

  private:
    struct forward_stop {  // called when the run is stopped
        const stop_source* stop;
        void operator()() const noexcept { stop->request_stop(); }
    };
    struct expire {  // called at the time limit
        task_timer* timer;
        void operator()() const noexcept {
            timer->expired_ = true;  // no atomic: read after the await of `off`, which waits for this call
            timer->stop_.request_stop();
        }
    };

    coroutine_env& env_;            // of the worker
    const end_token* const outer_;  // the former `env_.ends`, which the destructor restores
    executor& executor_;            // of the worker
    const duration limit_;
    const time_point deadline_;  // when the limit is reached
    bool was_late_ = false;      // off() was called after the limit
    bool expired_ = false;       // the limit has passed while the timer ran
    const stop_source stop_;
    const stop_token token_{stop_.get_token()};
    const end_token end_token_{&token_, detail::work_of(outer_)};  // `env_.ends` during the task
    stop_callback<forward_stop> on_end_;                           // registered at the run's stop token
    delayed_action<expire> delayed_;                               // the timer of the executor
};

// Begins and ends one task: calls the hooks, and starts the timer. Constructed only if needed: most stages
// have no hooks, no time limit, no item that a trace follows, and no function that takes the `invocation`.
class invocation_guard {
  public:
    // Begins the task. Sets `error` if that fails: a hook threw, or there is no memory for the timer.
    invocation_guard(const std::vector<shared_hook>& hooks, const stop_token& run_ends,
                     const std::string& stage, std::uint64_t item, std::uint64_t epoch, std::size_t slot,
                     const any_item& input, duration time_limit, coroutine_env& env,
                     std::exception_ptr& error) noexcept;
    invocation_guard(const invocation_guard&) = delete;
    invocation_guard& operator=(const invocation_guard&) = delete;
    ~invocation_guard();

    const invocation& call() const noexcept { return call_; }
    // The timer of the time limit, or null. The worker awaits its `off()` after the function has ended.
    task_timer* timer() noexcept { return timer_ ? &*timer_ : nullptr; }

    // Ends the task: calls `after` of each hook whose `before` has returned, in reverse order. The first
    // exception from a hook becomes `error` if `error` is null.
    void end(const any_item& output, std::exception_ptr& error) noexcept;

  private:
    const std::vector<shared_hook>& hooks_;  // of the run, then of the stage
    invocation call_;
    later<task_timer> timer_;
    std::size_t entered_ = 0;  // hooks whose `before` has returned
};

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/run/invocation.ipp>
#endif

#endif
