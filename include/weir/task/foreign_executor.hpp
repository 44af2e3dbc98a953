// weir task, internal: the executor for coroutines of other libraries that have none
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_FOREIGN_EXECUTOR_HPP
#define WEIR_TASK_FOREIGN_EXECUTOR_HPP

#include <weir/executor/errors.hpp>
#include <weir/executor/executor.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/process.hpp>
#include <weir/platform/system.hpp>

#include <system_error>  // for std::system_error

namespace weir::detail {

// A `run_loop` on a thread of its own, from the first use to the end of the process. Each awaitable of the
// library includes this header, and resumes coroutines here that no executor runs: see `executor_of`.
class endless_loop {
  public:
    // Errors: `forked_error` in a process that was forked after the first use, `std::system_error` if no
    //         thread
    // can be started.
    static executor& get() {
        static endless_loop* const only = new endless_loop;  // never destroyed: its thread uses it to the end
        if (!only->process_.is_here()) throw forked_error();
        return *only->loop_;
    }

  private:
    endless_loop() {
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

    static endless_loop*& starting() noexcept {
        static endless_loop* loop = nullptr;
        return loop;
    }

    const process_of_origin process_;
    run_loop* loop_ = nullptr;
    parker started_;
};

// Set before main.
inline const bool has_foreign_executor = (foreign_executor = &endless_loop::get) != nullptr;

}  // namespace weir::detail

#endif
