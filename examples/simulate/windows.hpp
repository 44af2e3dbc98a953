// simulate: decides whether windows of time are equal, and so show a steady state.
// It only compares measurements, and waits for nothing.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_WINDOWS_HPP
#define WEIR_EXAMPLES_SIMULATE_WINDOWS_HPP

#include "spec.hpp"

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>

#include <algorithm>  // for std::max
#include <cmath>      // for std::abs
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <vector>     // for std::vector

namespace simulate {

namespace detail {

// The figures of a window that form its result. Windows with equal figures are equal.
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

// True if the progress of each pipe with its work is equal at the begin and the end of the window. Otherwise its
// place in the cycle drifts, and a queue becomes full or empty, however slowly.
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

// The time between two looks during the warm-up.
inline weir::duration stride(const pipeline_spec& spec) {
    std::int64_t longest = 1;
    for (const std::int64_t t : spec.foreground_ns) longest = std::max(longest, t);
    for (const stage_spec& s : spec.stages) {
        for (const std::int64_t t : s.service_ns) longest = std::max(longest, t);
    }
    return weir::duration(4 * longest);
}

// The last q windows equal the q windows before them, and these the q windows before.
inline bool repeats_after(const std::vector<std::vector<std::int64_t>>& windows, std::size_t q) {
    for (std::size_t i = windows.size() - 2 * q; i < windows.size(); ++i) {
        if (windows[i] != windows[i - q]) return false;
    }
    return true;
}

}  // namespace detail

}  // namespace simulate

#endif
