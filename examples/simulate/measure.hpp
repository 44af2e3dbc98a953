// simulate: runs the pipeline that a spec describes and measures it: up to an instant, or in its
// steady state. The same code runs on virtual time and on the clock of the wall.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_MEASURE_HPP
#define WEIR_EXAMPLES_SIMULATE_MEASURE_HPP

#include "build.hpp"
#include "spec.hpp"

#include <weir/executor.hpp>
#include <weir/sleep.hpp>
#include <weir/stats.hpp>
#include <weir/stop_token.hpp>
#include <weir/sync_wait.hpp>
#include <weir/task.hpp>
#include <weir/thread_pool.hpp>
#include <weir/virtual_time.hpp>
#include <weir/when_all.hpp>

#include <algorithm>  // for std::clamp, std::max
#include <chrono>     // for std::chrono::seconds
#include <cmath>      // for std::abs
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace simulate {

/// What was measured: the statistics of a window of time.
struct measurement {
    weir::pipeline_stats stats;
    /// True if the window is a whole number of periods of a steady state, so that averages are exact.
    bool steady = false;
    /// The shortest window with this property.
    weir::duration period{};
    /// In real time: by how much the machine was late at worst to wake up somebody who slept.
    weir::duration late{};
};

namespace detail {

// The figures of a window that make up its result. Two windows with the same ones are the same.
inline std::vector<std::int64_t> figures(const weir::pipeline_stats& s) {
    std::vector<std::int64_t> f;
    for (const weir::channel_stats& c : s.channels) {
        for (const std::uint64_t count : {c.num_put, c.num_get, std::uint64_t{c.size}}) {
            f.push_back(static_cast<std::int64_t>(count));
        }
        for (const weir::duration time : {c.put_wait, c.put_blocked, c.get_blocked, c.empty}) {
            f.push_back(time.count());
        }
    }
    for (const weir::stage_stats& stage : s.stages) {
        f.push_back(static_cast<std::int64_t>(stage.num_tasks));
        f.push_back(stage.busy.count());
    }
    return f;
}

// True if, at the end of the window, each pipe is as far with its work as it was at the beginning.
// Else its place in the cycle drifts, and a queue fills up or runs dry, however slowly.
inline bool balanced(const pipeline_spec& spec, const weir::pipeline_stats& window) {
    for (std::size_t i = 0; i < spec.stages.size(); ++i) {
        const std::vector<std::int64_t>& service = spec.stages[i].service_ns;
        if (service.empty()) continue;
        double sum = 0;
        for (const std::int64_t t : service) sum += static_cast<double>(t);
        const weir::stage_stats& measured = window.stages.at(i + 1);  // behind the source
        const double expected =
            static_cast<double>(measured.num_tasks) * sum / static_cast<double>(service.size());
        const double busy = static_cast<double>(measured.busy.count());
        if (std::abs(busy - expected) > 1e-9 * std::max(busy, 1.0)) return false;
    }
    return true;
}

// The smallest p with which the last two thirds of the values repeat; 0 if there is none.
inline std::size_t period_of(const std::vector<std::int64_t>& values) {
    const std::size_t begin = values.size() / 3;
    for (std::size_t p = 1; p <= begin; ++p) {
        bool repeats = true;
        for (std::size_t i = begin + p; repeats && i < values.size(); ++i)
            repeats = values[i] == values[i - p];
        if (repeats) return p;
    }
    return 0;
}

// A run with its foreground, and the clock by which both go.
template <class Run>
class experiment {
  public:
    experiment(const pipeline_spec& spec, Run run, weir::executor& clock)
        : spec_(spec), run_(std::move(run)), clock_(clock), start_(clock.now()) {}

    // From the start to an instant, the state before anything that is due then.
    measurement until(weir::duration end) {
        weir::sync_wait(clock_, both(observe_until(end)));
        return std::move(result_);
    }

    // All of a source that ends.
    measurement whole() {
        weir::sync_wait(clock_, consume());
        result_.stats = run_.stats();
        return std::move(result_);
    }

    // \param period  at whose multiples, from the start, things happen; 0: none is known
    measurement window(weir::duration warm_up, weir::duration length, weir::duration period) {
        weir::sync_wait(clock_, both(observe_window(warm_up, length, period)));
        return std::move(result_);
    }

    measurement steady_state() {
        weir::sync_wait(clock_, both(observe_steady_state()));
        return std::move(result_);
    }

    // From the start until every period is like the others.
    weir::duration settling_time(weir::duration period) {
        weir::sync_wait(clock_, both(observe_settling(period)));
        return settled_after_;
    }

  private:
    weir::task<> both(weir::task<> observe) { co_await weir::when_all(consume(), std::move(observe)); }

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

    // What the pipeline's state is before anything that is due at that instant happens.
    weir::task<weir::pipeline_stats> snapshot(weir::time_point when) {
        co_await weir::sleep_until(when, {}, weir::timer_order::before_all);
        co_return run_.stats();
    }

    void stop() {
        run_.stop();
        stop_.request_stop();
    }

    weir::task<> observe_until(weir::duration end) {
        result_.stats = co_await snapshot(start_ + end);
        stop();
    }

    // In real time. A machine that stands still for a while is no part of what is measured: somebody
    // who sleeps and looks at the clock notices, and the window is measured again.
    weir::task<> observe_window(weir::duration warm_up, weir::duration length, weir::duration period) {
        constexpr int attempts = 4;
        constexpr weir::duration nap = std::chrono::milliseconds(10);
        constexpr weir::duration undisturbed = std::chrono::milliseconds(4);
        constexpr weir::duration shift = std::chrono::milliseconds(2);
        for (int attempt = 0; attempt < attempts; ++attempt) {
            weir::duration begin_after = clock_.now() - start_ + warm_up;
            // A little behind the instants at which things happen: who is late then doesn't take his
            // item into another window.
            if (period.count() > 0) begin_after += period - begin_after % period + shift;
            const weir::time_point begin = start_ + begin_after;
            const weir::time_point end = begin + length;
            const weir::pipeline_stats before = co_await snapshot(begin);
            weir::duration late = clock_.now() - begin;
            for (weir::time_point next = begin + nap; next < end; next += nap) {
                co_await weir::sleep_until(next);
                late = std::max(late, clock_.now() - next);
            }
            weir::pipeline_stats after = co_await snapshot(end);
            late = std::max(late, clock_.now() - end);
            if (attempt == 0 || late < result_.late) {
                result_.stats = std::move(after) - before;
                result_.late = late;
            }
            if (late < undisturbed) break;
        }
        stop();
    }

    weir::task<> observe_settling(weir::duration period) {
        constexpr std::size_t periods = 400;
        std::vector<std::vector<std::int64_t>> windows;
        weir::pipeline_stats before = co_await snapshot(start_);
        for (std::size_t i = 1; i <= periods; ++i) {
            weir::pipeline_stats now = co_await snapshot(start_ + period * static_cast<std::int64_t>(i));
            windows.push_back(figures(now - before));
            before = std::move(now);
        }
        std::size_t settled = periods;
        while (settled > 0 && windows[settled - 1] == windows.back()) --settled;
        settled_after_ = period * static_cast<std::int64_t>(settled);
        stop();
    }

    // Looks for the period instead of computing it: the foreground's rhythm gives a first guess;
    // that all statistics repeat in windows of so many guesses confirms it. Slow drifts take long to
    // end, so the warm-up is doubled until one is found. On virtual time only: on another clock
    // nothing repeats exactly.
    weir::task<> observe_steady_state() {
        constexpr std::size_t first_warm_up = 200;  // items of the foreground
        constexpr std::size_t last_warm_up = 6400;
        for (std::size_t warm_up = first_warm_up; warm_up <= last_warm_up; warm_up *= 2) {
            while (takes_.size() < warm_up) co_await weir::sleep_for(stride());
            const bool found = co_await find_windows();
            if (found) {
                stop();
                co_return;
            }
        }
        // No period: the best that can be done is a long window.
        const weir::duration length = clock_.now() - start_;
        const weir::pipeline_stats before = co_await snapshot(clock_.now() + stride());
        weir::pipeline_stats after = co_await snapshot(clock_.now() + length);
        result_.stats = std::move(after) - before;
        stop();
    }

    weir::task<bool> find_windows() {
        std::vector<std::int64_t> gaps;
        for (std::size_t i = 1; i < takes_.size(); ++i) gaps.push_back(takes_[i] - takes_[i - 1]);
        const std::size_t period = period_of(gaps);
        if (period == 0) co_return false;
        const weir::duration length(takes_.back() - takes_[takes_.size() - 1 - period]);
        const auto periods_a_window = static_cast<std::int64_t>((99 + period) / period);
        const weir::duration step = length * periods_a_window;

        constexpr std::size_t max_windows = 120;
        std::vector<weir::pipeline_stats> snapshots;
        std::vector<std::vector<std::int64_t>> windows;
        weir::time_point when = clock_.now() + step;
        snapshots.push_back(co_await snapshot(when));
        while (windows.size() < max_windows) {
            when += step;
            weir::pipeline_stats now = co_await snapshot(when);
            windows.push_back(figures(now - snapshots.back()));
            snapshots.push_back(std::move(now));
            // q windows, and the same q again, and again.
            for (std::size_t q = 1; 3 * q <= windows.size(); ++q) {
                bool same = true;
                for (std::size_t i = windows.size() - 2 * q; same && i < windows.size(); ++i) {
                    same = windows[i] == windows[i - q];
                }
                if (!same) continue;
                weir::pipeline_stats whole = snapshots.back() - snapshots[snapshots.size() - 1 - q];
                if (!balanced(spec_, whole)) continue;
                result_.stats = std::move(whole);
                result_.steady = true;
                result_.period = q == 1 ? length : step * static_cast<std::int64_t>(q);
                co_return true;
            }
        }
        co_return false;
    }

    // How long to look away at a time while the warm-up goes on.
    [[nodiscard]] weir::duration stride() const {
        std::int64_t longest = 1;
        for (const std::int64_t t : spec_.foreground_ns) longest = std::max(longest, t);
        for (const stage_spec& s : spec_.stages) {
            for (const std::int64_t t : s.service_ns) longest = std::max(longest, t);
        }
        return weir::duration(4 * longest);
    }

    const pipeline_spec& spec_;
    Run run_;
    weir::executor& clock_;
    weir::time_point start_;
    weir::stop_source stop_;
    std::vector<std::int64_t> takes_;  // when the foreground took items
    measurement result_;
    weir::duration settled_after_{};
};

template <class Run>
experiment(const pipeline_spec&, Run, weir::executor&) -> experiment<Run>;

}  // namespace detail

/// On virtual time, exactly: up to `snapshot_ns`; without one, in the steady state, or all of a
/// source that ends.
/// \param seed 0: what is ready runs in order; else it is shuffled, which must change nothing
[[nodiscard]] inline measurement measure_virtual(const pipeline_spec& spec, std::uint64_t seed = 0) {
    weir::virtual_time clock(seed);
    detail::experiment experiment(spec, build(spec, clock).start(clock), clock);
    if (spec.snapshot_ns) return experiment.until(weir::duration(*spec.snapshot_ns));
    return spec.items ? experiment.whole() : experiment.steady_state();
}

/// In real time: the same windows. Virtual time tells beforehand how long the steady state takes to
/// come and to repeat: the window is the whole number of periods that comes closest to four seconds.
/// It is measured again if the machine was busy with other things.
[[nodiscard]] inline measurement measure_real(const pipeline_spec& spec) {
    using namespace std::chrono_literals;
    weir::duration warm_up = 1s;
    weir::duration window = 4s;
    measurement expected;
    if (!spec.snapshot_ns && !spec.items) expected = measure_virtual(spec);
    if (expected.steady) {
        const weir::duration period = expected.period;
        window = period * std::max<std::int64_t>(1, (window + period / 2) / period);
        weir::virtual_time clock;
        detail::experiment rehearsal(spec, build(spec, clock).start(clock), clock);
        warm_up = std::clamp<weir::duration>(rehearsal.settling_time(period), warm_up, 20s);
    }
    weir::thread_pool pool(2);
    detail::experiment experiment(spec, build(spec, pool).start(pool), pool);
    if (spec.snapshot_ns) return experiment.until(weir::duration(*spec.snapshot_ns));
    if (spec.items) return experiment.whole();
    measurement m = experiment.window(warm_up, window, expected.period);
    m.steady = expected.steady;
    m.period = expected.period;
    return m;
}

}  // namespace simulate

#endif
