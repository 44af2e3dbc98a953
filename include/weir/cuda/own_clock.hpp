// weir cuda, internal: the clock of channels that coroutines of several executors use
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_OWN_CLOCK_HPP
#define WEIR_CUDA_OWN_CLOCK_HPP

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <exception>  // for std::terminate

namespace weir::cuda::detail {

// A channel that is given no executor measures by the clock of the first executor that uses it: this executor
// would have to outlive the channel. But blocks come back to their pool after a run and its executor are
// gone. So the pool's channel gets this executor, which has a clock and runs nothing.
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
