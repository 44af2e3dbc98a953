// What the tests of every kind of stage ask of a run: the epochs that it gave, and whether its times add up.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_FLOWS_HPP
#define WEIR_TESTS_SUPPORT_FLOWS_HPP

#include <weir/measure/stats.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace flows {

// The items of each epoch, with its number; at most so many epochs.
template <class Run>
auto by_epoch(Run& run, std::size_t most = 1000) {
    using item = typename Run::value_type;
    std::vector<std::pair<std::size_t, std::vector<item>>> all;
    for (auto& epoch : run.epochs()) {
        all.emplace_back(static_cast<std::size_t>(epoch.number()), std::vector<item>());
        for (auto& each : epoch) all.back().second.push_back(std::move(each));
        if (all.size() == most) break;
    }
    return all;
}
template <class Run>
auto by_epoch(Run&& run, std::size_t most = 1000) {
    return by_epoch(run, most);
}

// Every instant of every slot is in one state.
inline bool add_up(const weir::pipeline_stats& stats) {
    for (const auto& stage : stats.stages) {
        const auto slots = static_cast<weir::duration::rep>(stage.per_slot.size());
        if (stage.times().total() != slots * stage.elapsed) return false;
    }
    return true;
}

}  // namespace flows

#endif
