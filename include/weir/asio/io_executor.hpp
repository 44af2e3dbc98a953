// weir asio: Asio by the name `lib`, standalone or Boost's, and an executor on the threads of its io_context
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_IO_EXECUTOR_HPP
#define WEIR_ASIO_IO_EXECUTOR_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/locked_timers.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/platform.hpp>

#include <algorithm>  // for std::clamp, std::max, std::min
#include <chrono>     // for std::chrono::hours, std::chrono::milliseconds
#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <memory>     // for std::shared_ptr
#include <optional>   // for std::optional
#include <utility>    // for std::move

// Asio has members of the name `emit`, which is a macro of Qt. MSVC, g++ and clang know these pragmas.
#pragma push_macro("emit")
#undef emit
#include WEIR_ASIO_FILE(any_io_executor.hpp)
#include WEIR_ASIO_FILE(associated_cancellation_slot.hpp)
#include WEIR_ASIO_FILE(async_result.hpp)
#include WEIR_ASIO_FILE(awaitable.hpp)
#include WEIR_ASIO_FILE(cancellation_signal.hpp)
#include WEIR_ASIO_FILE(cancellation_type.hpp)
#include WEIR_ASIO_FILE(co_spawn.hpp)
#include WEIR_ASIO_FILE(error.hpp)
#include WEIR_ASIO_FILE(execution.hpp)
#include WEIR_ASIO_FILE(execution_context.hpp)
#include WEIR_ASIO_FILE(executor_work_guard.hpp)
#include WEIR_ASIO_FILE(io_context.hpp)
#include WEIR_ASIO_FILE(post.hpp)
#include WEIR_ASIO_FILE(query.hpp)
#include WEIR_ASIO_FILE(steady_timer.hpp)
#include WEIR_ASIO_FILE(strand.hpp)
#include WEIR_ASIO_FILE(system_error.hpp)
#include WEIR_ASIO_FILE(this_coro.hpp)
#include WEIR_ASIO_FILE(use_awaitable.hpp)
#pragma pop_macro("emit")

namespace weir::asio::inline WEIR_ASIO_KIND {

/// `::asio`, or `::boost::asio` if `WEIR_USE_BOOST_ASIO` is defined or standalone Asio is not found. Code
/// that uses this name for Asio compiles with either library.
namespace lib = ::WEIR_ASIO_LIBRARY;

namespace detail {

// The address of this variable, passed to executor::runs_on(), stands for the Asio in use (standalone or
// Boost's). The call returns a pointer to an `any_io_executor` of this Asio, or null.
inline constexpr char this_library = 0;

// The timers of a weir executor that runs on an executor of Asio, and counters of resumptions. One timer
// of Asio is set to the earliest of the timers, or to one hour ahead if that is earlier. Owned by shared_ptr,
// because a handler of Asio may still be queued or running when the weir executor is destroyed.
class io_timers : public weir::detail::woken_timers<io_timers> {
    using base = weir::detail::woken_timers<io_timers>;
    friend base;

  public:
    io_timers(executor& ex, const lib::any_io_executor& on) : base(ex), strand_(on), timer_(strand_) {}

    using count = weir::detail::standard_platform::atomic<std::uint64_t>;

    // How many resumptions of coroutines have begun so far, and how many have returned.
    count begun{0}, ended{0};

  private:
    // Called when the earliest timer has changed. The strand sets the timer of Asio, because only one thread
    // at a time may use that timer.
    void set() {
        lib::post(strand_, [self = shared_from_this()] { self->arm_here(); });
    }

    // Sets the timer of Asio to the earliest of the timers. Called in the strand.
    void arm_here() {
        if (is_empty()) {
            timer_.cancel();
            return;
        }
        const time_point t = now();
        const duration left = (std::max)(next(), t) - t;
        timer_.expires_after((std::min<duration>)(left, std::chrono::hours(1)));
        timer_.async_wait([self = shared_from_this()](const auto& error) {
            if (!error) self->fire();
        });
    }

    // Called by the timer of Asio: posts the coroutines whose time has come.
    void fire() {
        if (is_empty()) return;
        fire_due();
        arm_here();
    }

    // The current time by the clock of `executor::now`.
    static time_point now() noexcept { return time_point(duration(weir::detail::standard_platform::now())); }

    lib::strand<lib::any_io_executor> strand_;
    lib::steady_timer timer_;
};

}  // namespace detail

/// Runs coroutines on the threads that run an `io_context`, together with Asio's own handlers:
///
///     asio::io_context io;
///     weir::asio::io_executor on_io(io);
///     weir::pipe(parse, {.executor = &on_io})
///
/// Sleeps on this executor are timers of the context. `io.run()` doesn't return while a coroutine is posted
/// or sleeps. A coroutine that waits for a channel doesn't count for `io.run()`: hold a work guard meanwhile.
///
/// Threads:  any may post and add timers. If one thread runs the context, coroutines here are never resumed
///           at the same time, nor at the same time as a handler.
/// Lifetime: the context outlives the executor, and the executor outlives the coroutines that run on it.
/// Errors:   an exception that leaves a resumed coroutine leaves `io.run()`, too. `std::terminate` if there
///           is no memory to post.
/// Watchdog: reports coroutines that hold all threads of the executor while others are ready. While a thread
///           is free, the watchdog assumes that a coroutine here may always run, as a context doesn't show
///           its work.
/// Cost:     a handler of Asio for each post, and three counters.
///
/// With `-fno-rtti` Asio wants `-DASIO_NO_TYPEID` (Boost's: `-DBOOST_ASIO_NO_TYPEID`).
class io_executor final : public executor {
  public:
    /// \param threads the number of threads that run `io`. 0: each thread that waits for a coroutine here
    ///                (in `sync_wait`, for an item or the end of a run) runs `io` until its wait
    ///                ends. 1 or more: a thread that doesn't run `io` blocks in such a wait, for ever if no
    ///                thread runs `io`. So a work guard has to keep `io.run()` going until no coroutine runs.
    /// Errors: `std::invalid_argument` for a negative number.
    explicit io_executor(lib::io_context& io, std::size_t threads = 1)
        : executor({.parallelism = (std::max<std::size_t>)(threads, 1)}), io_(&io),
          native_(io.get_executor()), timers_(std::make_shared<detail::io_timers>(*this, native_)) {
        weir::detail::refuse_negative(
            threads, "weir: an io_executor was told a negative number of threads; tell it 0 or more");
        if (threads == 0) work_guard_.emplace(io.get_executor());
    }

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override {
        posted_.fetch_add(1);
        lib::post(*io_, [this, h] { work_on(h); });
    }

    void add(timer& t) noexcept override { timers_->add(t); }
    void cancel(timer& t) noexcept override { timers_->cancel(t); }

    /// If `threads` is 0, or the calling thread runs the context already: runs at most one handler, and
    /// returns true. Waits at most 1 ms for a handler, because setting `done` doesn't wake the context. On
    /// any other thread, returns false.
    bool drive(flag& done, time_point limit) override {
        if (!work_guard_ && !io_->get_executor().running_in_this_thread()) return false;
        const duration left = std::clamp<duration>(limit - now(), duration(0), std::chrono::milliseconds(1));
        if (left == duration(0)) {
            io_->poll_one();
        } else if (io_->run_one_for(left) == 0 && io_->stopped()) {
            done.wait(left.count());
        }
        return true;
    }

    // `view.pending` (for watchdogs: a coroutine here may run yet) stays true, because a context of Asio
    // doesn't tell whether it has work left.
    void inspect(weir::detail::executor_view& view) const override {
        // Read in this order, so that ended <= begun <= posted, although other threads increment them
        // meanwhile.
        const std::uint64_t ended = timers_->ended.load();
        const std::uint64_t begun = timers_->begun.load();
        const std::uint64_t posted = posted_.load();
        view.resumed = begun;
        view.busy = weir::detail::number_as<std::size_t>(begun - ended);
        const std::size_t threads = traits().parallelism;
        const bool all_busy = view.busy >= threads;
        view.crowded = all_busy && posted != begun;
        view.workers.assign(threads, {all_busy, ended});
    }

    // For coroutines of Asio that a coroutine here awaits (asio/native_awaitable.hpp): this executor of Asio.
    const void* runs_on(const void* library) const noexcept override {
        return library == &detail::this_library ? &native_ : nullptr;
    }

    /// The context, for the I/O objects of the stages that run on this executor.
    [[nodiscard]] lib::io_context& context() const noexcept { return *io_; }

  private:
    // Called by the context: resumes the coroutine, and counts the begin and the end for `inspect`.
    void work_on(std::coroutine_handle<> h) {
        class ending {
          public:
            explicit ending(std::shared_ptr<detail::io_timers> of) noexcept : of_(std::move(of)) {}
            ending(const ending&) = delete;
            ending& operator=(const ending&) = delete;
            ~ending() { of_->ended.fetch_add(1); }

          private:
            const std::shared_ptr<detail::io_timers> of_;
        };
        timers_->begun.fetch_add(1);
        const ending at_the_end(timers_);
        resume(h);  // if this was the last coroutine, the executor may be gone now
    }

    lib::io_context* io_;
    const lib::any_io_executor native_;
    detail::io_timers::count posted_{0};  // the number of posts so far
    std::shared_ptr<detail::io_timers> timers_;
    // Only if `threads` is 0: without work, the context would stop, and `drive` could no longer run it.
    std::optional<lib::executor_work_guard<lib::io_context::executor_type>> work_guard_;
};

}  // namespace weir::asio::inline WEIR_ASIO_KIND

#endif
