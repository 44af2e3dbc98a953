// Stages that sleep or compute for given times, and the times of their items.
#ifndef BENCH_COMMON_WORKLOAD_HPP
#define BENCH_COMMON_WORKLOAD_HPP

#include "harness.hpp"

#include <weir/measure/clock.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace bench {

// Of successive items; the first time follows the last one.
using times = std::vector<weir::duration>;

inline times log_normal(double mean_us, std::uint64_t seed) {
    constexpr double sigma = 1;
    constexpr std::size_t count = 4'096;
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> time(-sigma * sigma / 2, sigma);
    times all;
    for (std::size_t i = 0; i < count; ++i) {
        all.emplace_back(static_cast<std::int64_t>(1'000 * mean_us * time(random)));
    }
    return all;
}
inline times constant(double us) { return {weir::duration(static_cast<std::int64_t>(1'000 * us))}; }

inline weir::duration time_of(const times& all, std::size_t item, double factor = 1) {
    const auto ns = static_cast<double>(all[item % all.size()].count());
    return weir::duration(static_cast<std::int64_t>(ns * factor));
}

// Occupies the thread, in steps of a microsecond.
inline void compute(weir::duration d) {
    static const work microsecond(1'000);
    for (std::int64_t i = d / std::chrono::microseconds(1); i > 0; --i) microsecond();
}

inline weir::task<std::size_t> sleep_for_item(std::size_t item, weir::duration d) {
    co_await weir::sleep_for(d);
    co_return item;
}

inline auto sleeping(times all, double factor = 1) {
    return
        [all = std::move(all), factor](std::size_t i) { return sleep_for_item(i, time_of(all, i, factor)); };
}
inline auto computing(times all, double factor = 1) {
    return [all = std::move(all), factor](std::size_t i) {
        compute(time_of(all, i, factor));
        return i;
    };
}

}  // namespace bench

#endif
