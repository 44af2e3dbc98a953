// weir cuda, internal: whose time is measured in queues that coroutines of many executors use
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_OWN_CLOCK_HPP
#define WEIR_CUDA_OWN_CLOCK_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <exception>  // for std::terminate

namespace weir::cuda::detail {

// A channel without a clock measures by that of the first executor that needs one, which then has to outlive
// it. Blocks come back to their pool long after a run and its executor are gone; so the pool has this one,
// which tells the time and runs nothing.
class own_clock final : public executor {
  public:
    using executor::post;
    void post(std::coroutine_handle<>) noexcept override { std::terminate(); }
    void add(timer&) noexcept override { std::terminate(); }
    void cancel(timer&) noexcept override { std::terminate(); }
    bool drive(flag&, time_point) override { return false; }
};

}  // namespace weir::cuda::detail

#endif
