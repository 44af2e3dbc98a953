// weir executor: an executor that one thread runs; one of them runs the coroutines that have no executor
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_RUN_LOOP_HPP
#define WEIR_EXECUTOR_RUN_LOOP_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/loop_turns.hpp>
#include <weir/executor/ready_queue.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/system.hpp>
#include <weir/platform/thread_record.hpp>

#include <coroutine>     // for std::coroutine_handle
#include <system_error>  // for std::system_error

namespace weir {

namespace detail {
class foreign_run_loop;
}

/// Runs coroutines on the thread that constructed it, whenever that thread calls `drive`, first come, first
/// served. While a coroutine blocks there in a wait of the library, another thread runs the loop.
/// `sync_wait(awaitable)` uses such a loop.
///
/// Threads: the constructing thread drives; any thread may post.
/// Lifetime: destroyed when no coroutine uses it any more.
/// Cost:     a short lock for each post and for each resumption.
class run_loop final : public executor, detail::loop_turns::loop {
  public:
    run_loop() : run_loop(executor_traits{.passing = true, .counts_wakes = true}) {}

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override;

    void add(timer& t) noexcept override;

    void cancel(timer& t) noexcept override;

    /// Runs the next coroutine. If none is ready, sleeps until one is posted, a timer is due, `done` is set,
    /// or `limit`.
    /// \returns false on any thread but the loop's own: the caller has to sleep.
    bool drive(detail::parker& done, time_point limit) override;

  private:
    friend detail::foreign_run_loop;
    explicit run_loop(const executor_traits& traits) : executor(traits) {}

    void turn(detail::parker& done, time_point limit) override;
    time_point instant() const noexcept override { return now(); }
    void sleep(detail::parker& done, time_point limit) noexcept override;

    const decltype(detail::standard_platform::this_thread()) thread_ =
        detail::standard_platform::this_thread();
    detail::spin_lock lock_;
    detail::ready_queue ready_;
    timer_queue timers_;
    detail::parker* sleeper_ = nullptr;  // of the thread that runs the loop and found nothing ready
    bool looks_again_ = false;           // that thread does not sleep the next time
    detail::loop_turns turns_;
};

namespace detail {

// A `run_loop` on a thread of its own, from the first use to the end of the process. It resumes the
// coroutines of other libraries that have no executor: see `executor_of`. Each awaitable of the library
// includes this header for it.
class foreign_run_loop {
  public:
    // Errors: `forked_error` in a process that was forked after the first use; `std::system_error` if no
    //         thread can be started.
    static executor& get() {
        static foreign_run_loop* const only = new foreign_run_loop;  // its thread never ends
        if (!only->process_.is_here()) throw forked_error();
        return *only->loop_;
    }

  private:
    foreign_run_loop() {
        starting() = this;
        if (!begin_thread<&run>(nullptr)) {
            throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                                    "weir: no thread for the coroutines that no executor runs");
        }
        while (!started_.wait()) {
        }
    }

    static void run(void*) {
        run_loop loop{executor_traits()};
        starting()->loop_ = &loop;
        starting()->started_.set();
        parker never;
        while (true) loop.drive(never, (time_point::max)());
    }

    static foreign_run_loop*& starting() noexcept {
        static foreign_run_loop* loop = nullptr;
        return loop;
    }

    const process_of_origin process_;
    run_loop* loop_ = nullptr;
    parker started_;
};

// Set before main.
inline const bool has_foreign_executor = (foreign_executor = &foreign_run_loop::get) != nullptr;

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/executor/run_loop.ipp>
#endif

#endif
