// weir asio: an executor that runs coroutines on Asio's io_context
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_IO_EXECUTOR_HPP
#define WEIR_ASIO_IO_EXECUTOR_HPP

#include <weir/asio/io_timers.hpp>
#include <weir/asio/library.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/bounds.hpp>

#include <algorithm>  // for std::clamp, std::max
#include <chrono>     // for std::chrono::milliseconds
#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <memory>     // for std::shared_ptr
#include <optional>   // for std::optional
#include <utility>    // for std::move

namespace weir::asio::inline WEIR_ASIO_KIND {

/// Runs coroutines on the threads that run an `io_context`, together with Asio's own handlers:
///
///     asio::io_context io;
///     weir::asio::io_executor on_io(io);
///     weir::pipe(parse, {.executor = &on_io})
///
/// Sleeps here are timers of that context. As long as something is posted or sleeps, `io.run()` doesn't
/// return; a coroutine that waits for a channel doesn't keep it: hold a work guard where that may happen.
///
/// Threads:  any may post and add timers. With one thread that runs the context, coroutines here are never
///           resumed at the same time, nor at the same time as a handler.
/// Lifetime: the context outlives it, and it outlives what runs on it.
/// Errors:   what leaves a resumed coroutine comes out of `io.run()`; no memory to post: std::terminate.
/// Watchdog: sees coroutines here that keep all of its threads from others. Else it takes it for one that may
///           always go on: nobody knows what is still to come from a context.
/// Cost:     a handler of Asio for each post, and three counters.
///
/// With `-fno-rtti` Asio wants `-DASIO_NO_TYPEID` (Boost's: `-DBOOST_ASIO_NO_TYPEID`).
class io_executor final : public executor {
  public:
    /// \param threads how many run `io`. With 0, nobody else does: then whoever waits for something that
    ///                runs here (`sync_wait`, taking an item from a run, its end) does, until it has it. With
    ///                more, who waits on another thread waits for those, and for ever where there are none:
    ///                `io.run()` has to go on, by a work guard, until nothing runs here.
    explicit io_executor(lib::io_context& io, std::size_t threads = 1)
        : executor({.parallelism = (std::max<std::size_t>)(threads, 1)}), io_(&io),
          native_(io.get_executor()), timers_(std::make_shared<detail::io_timers>(*this, native_)) {
        if (threads == 0) work_.emplace(io.get_executor());
    }

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override {
        posted_.fetch_add(1);
        lib::post(*io_, [this, h] { work_on(h); });
    }

    void add(timer& t) noexcept override { timers_->add(t); }
    void cancel(timer& t) noexcept override { timers_->cancel(t); }

    /// Where `threads` is 0, or the thread runs the context already: runs the next handler. Nobody tells the
    /// context when `done` is set, so it looks again after a millisecond.
    bool drive(flag& done, time_point limit) override {
        if (!work_ && !io_->get_executor().running_in_this_thread()) return false;
        const duration left = std::clamp<duration>(limit - now(), duration(0), std::chrono::milliseconds(1));
        if (left == duration(0)) {
            io_->poll_one();
        } else if (io_->run_one_for(left) == 0 && io_->stopped()) {
            done.wait(left.count());
        }
        return true;
    }

    // Asio tells nobody what its context still has to do, so something always may be pending.
    void inspect(weir::detail::executor_view& view) const override {
        // In this order none is less than the one before it.
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

    const void* runs_on(const void* library) const noexcept override {
        return library == &detail::this_library ? &native_ : nullptr;
    }

    /// Where it runs, for the I/O objects of the stages that run on it.
    [[nodiscard]] lib::io_context& context() const noexcept { return *io_; }

  private:
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
        resume(h);  // if that was the last one, this may be gone now
    }

    lib::io_context* io_;
    const lib::any_io_executor native_;
    detail::io_timers::count posted_{0};  // coroutines, ever
    std::shared_ptr<detail::io_timers> timers_;
    std::optional<lib::executor_work_guard<lib::io_context::executor_type>> work_;
};

}  // namespace weir::asio::inline WEIR_ASIO_KIND

#endif
