// weir measure, internal: bodies of the functions of measure/task_sample.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_TASK_SAMPLE_IPP
#define WEIR_MEASURE_TASK_SAMPLE_IPP

#include <weir/measure/task_sample.hpp>

#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <algorithm>  // for std::find, std::sort

namespace weir::detail {

WEIR_INLINE void thin(task_samples& all, std::uint64_t one_in) {
    if (one_in <= all.one_in) return;
    const std::uint64_t group = one_in / all.one_in;
    std::vector<task_sample> kept;
    for (std::uint64_t begin = 0, i = 0; begin < all.tasks.size(); begin += group, ++i) {
        // The last group may have fewer elements. If the chosen one does not exist, none of the group is
        // kept.
        const std::uint64_t chosen = begin + high_product(splitmix64(one_in, i), group);
        if (chosen < all.tasks.size()) kept.push_back(all.tasks[number_as<std::size_t>(chosen)]);
    }
    all.tasks.swap(kept);
    all.one_in = one_in;
}

WEIR_INLINE task_samples samples_of_lap(const task_samples& all, const std::optional<task_samples>& before,
                                        duration begin) {
    // Of the invocations that ended at the instant `begin`, the snapshot `before` may have some and lack
    // others.
    std::vector<task_sample> earlier;
    if (before) {
        for (const task_sample& each : before->tasks) {
            if (each.at == begin) earlier.push_back(each);
        }
    }
    task_samples lap{all.one_in};
    for (const task_sample& each : all.tasks) {
        if (each.at < begin) continue;
        const auto same = std::find(earlier.begin(), earlier.end(), each);
        if (same != earlier.end()) {
            earlier.erase(same);
            continue;
        }
        lap.tasks.push_back(each);
        lap.tasks.back().at -= begin;
    }
    return lap;
}

WEIR_INLINE void add_samples(task_samples& all, task_samples more) {
    thin(all, more.one_in);
    thin(more, all.one_in);
    all.tasks.insert(all.tasks.end(), more.tasks.begin(), more.tasks.end());
}

WEIR_INLINE void sort_and_limit(task_samples& all, std::size_t most) {
    // Invocations that ended at the same instant are ordered by their times, so that the order is the same
    // everywhere.
    std::sort(all.tasks.begin(), all.tasks.end(), [](const task_sample& a, const task_sample& b) {
        if (a.at != b.at) return a.at < b.at;
        return a.await != b.await ? a.await < b.await : a.run < b.run;
    });
    while (all.tasks.size() > most) thin(all, 2 * all.one_in);
}

}  // namespace weir::detail

#endif
