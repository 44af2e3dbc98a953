// weir executor, internal: what becomes of pools, runs and groups when a coroutine calls std::exit
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_PROCESS_EXIT_HPP
#define WEIR_EXECUTOR_PROCESS_EXIT_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/parker.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/thread_record.hpp>
#include <weir/platform/transfer.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstring>    // for std::memcpy

namespace weir::detail {

// True while the process ends by a `std::exit` that a coroutine on this thread has called: static objects are
// destroyed on top of that coroutine, which never goes on. A destructor that would wait for coroutines leaves
// them as they are then.
WEIR_NOINLINE inline bool exits_in_a_coroutine() noexcept {
    return basic_thread_record<standard_platform>::is_over() && trampoline::of_this_call() != nullptr;
}

// What other threads still take they have taken after this, and block, as nothing new comes. A guess, for
// threads that nobody can wait for.
inline void let_consumers_block() noexcept {
    parker nobody;
    nobody.wait(10'000'000);
}

// What a pool becomes that is destroyed while threads use it for which nobody can wait: it takes everything,
// and runs nothing.
class left_executor final : public executor {
  public:
    using executor::post;
    void post(std::coroutine_handle<>) noexcept override {}
    void add(timer&) noexcept override {}
    void cancel(timer&) noexcept override {}
    bool drive(flag&, time_point) override { return false; }

    // The table of its functions, to which each of its objects points. In the ABIs of all compilers that this
    // library is tested with, that pointer is the first thing in an object.
    static void* functions() {
        static const left_executor& it = *new left_executor;
        void* table = nullptr;
        std::memcpy(static_cast<void*>(&table), static_cast<const void*>(&it), sizeof table);
        return table;
    }
};

}  // namespace weir::detail

#endif
