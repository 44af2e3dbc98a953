// simulate: a pipeline at work, with a foreground that takes its items, and somebody who observes it.
// The same code runs on virtual time and on the clock of the wall.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_EXPERIMENT_HPP
#define WEIR_EXAMPLES_SIMULATE_EXPERIMENT_HPP

#include "spec.hpp"
#include "work.hpp"

#include <weir/executor/executor.hpp>
#include <weir/measure/stats.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <cstdint>  // for std::int64_t, std::uint64_t
#include <tuple>    // for std::tuple
#include <utility>  // for std::move
#include <variant>  // for std::monostate
#include <vector>   // for std::vector

namespace simulate {

namespace detail {

// A run with its foreground, and the clock by which both go. Who observes it awaits snapshots, and stops it.
template <class Run>
class experiment {
  public:
    experiment(const pipeline_spec& spec, Run run, weir::executor& clock)
        : spec_(spec), run_(std::move(run)), clock_(clock), start_(clock.now()) {}

    [[nodiscard]] const pipeline_spec& spec() const noexcept { return spec_; }
    [[nodiscard]] weir::time_point start() const noexcept { return start_; }
    [[nodiscard]] weir::time_point now() const noexcept { return clock_.now(); }
    // When the foreground took items, in ns.
    [[nodiscard]] const std::vector<std::int64_t>& takes() const noexcept { return takes_; }

    // Runs it until the observer has seen enough. Returns what that saw.
    template <class T>
    T observed_by(weir::task<T> observer) {
        return std::get<1>(weir::sync_wait(clock_, both(std::move(observer))));
    }

    // All of a source that ends.
    weir::pipeline_stats whole() {
        weir::sync_wait(clock_, consume());
        return run_.stats();
    }

    // What the pipeline's state is before anything that is due at that instant happens.
    weir::task<weir::pipeline_stats> snapshot(weir::time_point when) {
        co_await weir::sleep_until(when, {}, weir::timer_order::before_all);
        co_return run_.stats();
    }

    void stop() {
        run_.stop();
        stop_.request_stop();
    }

  private:
    template <class T>
    auto both(weir::task<T> observer) -> weir::task<std::tuple<std::monostate, T>> {
        co_return co_await weir::when_all(consume(), std::move(observer));
    }

    // The foreground: takes an item, then is busy with it.
    weir::task<> consume() {
        punctual sleeper(clock_);
        for (std::uint64_t k = 0;; ++k) {
            const auto taken = co_await run_.next();
            if (!taken) break;
            takes_.push_back(clock_.now().time_since_epoch().count());
            const weir::time_point end = sleeper.after(spec_.foreground_ns[k % spec_.foreground_ns.size()]);
            const bool in_time = co_await weir::sleep_until(end, stop_.get_token());
            if (!in_time) break;
            sleeper.woke_up(end);
        }
    }

    const pipeline_spec& spec_;
    Run run_;
    weir::executor& clock_;
    weir::time_point start_;
    weir::stop_source stop_;
    std::vector<std::int64_t> takes_;
};

template <class Run>
experiment(const pipeline_spec&, Run, weir::executor&) -> experiment<Run>;

}  // namespace detail

}  // namespace simulate

#endif
