// simulate: a running pipeline, a foreground that takes its items, and an observer.
// The same code runs on virtual time and on the wall clock.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_EXPERIMENT_HPP
#define WEIR_EXAMPLES_SIMULATE_EXPERIMENT_HPP

#include "end_of_instant.hpp"
#include "foreground.hpp"
#include "measurement.hpp"
#include "processors.hpp"
#include "spec.hpp"

#include <weir/executor/executor.hpp>
#include <weir/measure/stats.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <cstdint>   // for std::int64_t
#include <optional>  // for std::optional
#include <tuple>     // for std::tuple
#include <utility>   // for std::move
#include <variant>   // for std::monostate
#include <vector>    // for std::vector

namespace simulate {

namespace detail {

// A run, its foreground and their clock. The observer awaits snapshots, and stops the run.
template <class Run>
class experiment {
  public:
    experiment(const pipeline_spec& spec, Run run, weir::executor& clock, processors* cpus)
        : run_(std::move(run)), clock_(clock), cpus_(cpus), foreground_(spec, run_, clock) {}

    [[nodiscard]] const pipeline_spec& spec() const noexcept { return foreground_.spec(); }
    [[nodiscard]] weir::time_point start() const noexcept { return foreground_.start(); }
    [[nodiscard]] weir::time_point now() const noexcept { return clock_.now(); }
    // When the foreground took items, in ns.
    [[nodiscard]] const std::vector<std::int64_t>& takes() const noexcept { return foreground_.takes(); }
    [[nodiscard]] const std::optional<seen_failure>& failed() const noexcept { return foreground_.failed(); }

    // Runs the pipeline until the observer ends. Returns the observer's result.
    template <class T>
    T observed_by(weir::task<T> observer) {
        return std::get<0>(weir::sync_wait(clock_, beside(std::move(observer), consume_and_serve())));
    }

    // Until the source has ended and all items are consumed.
    weir::pipeline_stats whole() {
        const auto sees_all = [](experiment& e) -> weir::task<weir::pipeline_stats> {
            co_await e.foreground_.consume();
            end_of_instant settled(e.clock_);  // stages may not have been stopped yet after a failure
            co_await settled;
            if (e.cpus_ != nullptr) e.cpus_->close();
            co_return e.run_.stats();
        };
        return std::get<0>(weir::sync_wait(clock_, beside(sees_all(*this), serve())));
    }

    // The state of the pipeline before anything that is due at this instant happens.
    weir::task<weir::pipeline_stats> snapshot(weir::time_point when) {
        co_await weir::sleep_until(when, {}, weir::timer_order::before_all);
        co_return run_.stats();
    }

    void stop() {
        run_.stop();
        foreground_.stop();
        if (cpus_ != nullptr) cpus_->close();
    }

  private:
    template <class T>
    static auto beside(weir::task<T> work, weir::task<> others) -> weir::task<std::tuple<T, std::monostate>> {
        co_return co_await weir::when_all(std::move(work), std::move(others));
    }
    weir::task<> consume_and_serve() { co_await weir::when_all(foreground_.consume(), serve()); }
    weir::task<> serve() {
        if (cpus_ != nullptr) co_await cpus_->serve();
    }

    Run run_;
    weir::executor& clock_;
    processors* cpus_;  // null: no stage computes
    foreground<Run> foreground_;
};

template <class Run>
experiment(const pipeline_spec&, Run, weir::executor&, processors*) -> experiment<Run>;

}  // namespace detail

}  // namespace simulate

#endif
