// weir task, internal: where coroutines of other libraries go on that no executor runs
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

// A loop on a thread of its own, for as long as the process lives.
class endless_loop {
  public:
    // Errors: `forked_error` in a process that was forked after it began, `std::system_error` where no thread
    // can be had.
    static executor& get() {
        static endless_loop* const it = new endless_loop;  // never destroyed: its thread uses it to the end
        if (!it->born_.is_here()) throw forked_error();
        return *it->loop_;
    }

  private:
    endless_loop() {
        beginning() = this;
        if (!begin_thread<&run>(nullptr)) {
            throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                                    "weir: no thread for the coroutines that no executor runs");
        }
        while (!begun_.wait()) {
        }
    }

    static void run(void*) {
        run_loop loop{executor_traits()};
        beginning()->loop_ = &loop;
        beginning()->begun_.set();
        parker never;
        while (true) loop.drive(never, (time_point::max)());
    }

    static endless_loop*& beginning() noexcept {
        static endless_loop* it = nullptr;
        return it;
    }

    const process_of_origin born_;
    run_loop* loop_ = nullptr;
    parker begun_;
};

// Before the program begins.
inline const bool has_foreign_executor = (foreign_executor = &endless_loop::get) != nullptr;

}  // namespace weir::detail

#endif
