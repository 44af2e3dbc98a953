// simulate: the consumer of a pipeline: it takes an item, and is busy with it for a while.
// It gets the failure that stopped the run, if there was one.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_FOREGROUND_HPP
#define WEIR_EXAMPLES_SIMULATE_FOREGROUND_HPP

#include "measurement.hpp"
#include "punctual.hpp"
#include "spec.hpp"

#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/run/failure.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <cstdint>   // for std::int64_t, std::uint64_t
#include <optional>  // for std::optional
#include <vector>    // for std::vector

namespace simulate {

namespace detail {

template <class Run>
class foreground {
  public:
    foreground(const pipeline_spec& spec, Run& run, weir::executor& clock)
        : spec_(spec), run_(run), clock_(clock), start_(clock.now()) {}

    [[nodiscard]] const pipeline_spec& spec() const noexcept { return spec_; }
    [[nodiscard]] weir::time_point start() const noexcept { return start_; }
    // When it took items, in ns.
    [[nodiscard]] const std::vector<std::int64_t>& takes() const noexcept { return takes_; }
    [[nodiscard]] const std::optional<seen_failure>& failed() const noexcept { return failed_; }

    // Takes an item and is busy with it.
    weir::task<> consume() {
        punctual sleeper(clock_);
        for (std::uint64_t k = 0;; ++k) {
            const bool taken = co_await take();
            if (!taken) break;
            takes_.push_back(clock_.now().time_since_epoch().count());
            const weir::time_point end = sleeper.after(spec_.foreground_ns[k % spec_.foreground_ns.size()]);
            const bool in_time = co_await weir::sleep_until(end, stop_.get_token());
            if (!in_time) break;
            sleeper.woke_up(end);
        }
        // A coroutine that only watches does not keep virtual time going.
        if (spec_.snapshot_ns) {
            co_await weir::sleep_until(start_ + weir::duration(*spec_.snapshot_ns), stop_.get_token());
        }
    }
    void stop() { stop_.request_stop(); }

  private:
    weir::task<bool> take() {
        try {
            const auto taken = co_await run_.next();
            co_return taken.has_value();
        } catch (const weir::pipeline_failure& e) {
            failed_.emplace(seen_failure{e.stage(), e.item()});
        }
        co_return false;
    }

    const pipeline_spec& spec_;
    Run& run_;
    weir::executor& clock_;
    weir::time_point start_;
    std::optional<seen_failure> failed_;
    weir::stop_source stop_;
    std::vector<std::int64_t> takes_;
};

}  // namespace detail

}  // namespace simulate

#endif
