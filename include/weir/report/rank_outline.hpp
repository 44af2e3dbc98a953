// weir report, internal: the stages and queues that the pipelines of several ranks have together
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_RANK_OUTLINE_HPP
#define WEIR_REPORT_RANK_OUTLINE_HPP

#include <weir/measure/stats.hpp>
#include <weir/platform/bounds.hpp>

#include <algorithm>  // for std::ranges::find
#include <cstddef>    // for std::ptrdiff_t, std::size_t
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace weir::detail {

inline bool is_same(const stage_stats& a, const stage_stats& b) {
    return a.name == b.name && a.kind == b.kind;
}
inline bool is_same(const channel_stats& a, const channel_stats& b) { return a.name == b.name; }

// \returns the index in `all` of the stage or queue `mine[i]`; the size of `all` if it is not there. Of
//          several that are equal by `is_same`, the n-th of `mine` is the n-th of `all`.
template <class T>
std::size_t place_of(const std::vector<T>& all, const std::vector<T>& mine, std::size_t i) {
    std::size_t before = 0;
    for (std::size_t j = 0; j < i; ++j) before += is_same(mine[j], mine[i]) ? 1U : 0U;
    std::size_t place = 0;
    for (; place < all.size(); ++place) {
        if (is_same(all[place], mine[i]) && before-- == 0) break;
    }
    return place;
}

// Copies names, kinds, what a stage awaits, and which queues it uses; no figures.
inline stage_stats outline_of(const stage_stats& s) {
    stage_stats outline;
    outline.name = s.name;
    outline.kind = s.kind;
    outline.awaits_others = s.awaits_others;
    outline.inputs = s.inputs;
    outline.outputs = s.outputs;
    return outline;
}
inline channel_stats outline_of(const channel_stats& c) {
    channel_stats outline;
    outline.name = c.name;
    return outline;
}

// Adds the stages and queues of a rank, a process of the job, to `all`, those of the ranks before. A stage
// that is new goes behind the stage that is before it on the rank; if it is the first there, to the end.
inline void add_outline(pipeline_stats& all, const pipeline_stats& mine) {
    std::vector<std::size_t> queues;
    for (std::size_t i = 0; i < mine.channels.size(); ++i) {
        const std::size_t place = place_of(all.channels, mine.channels, i);
        if (place == all.channels.size()) all.channels.push_back(outline_of(mine.channels[i]));
        queues.push_back(place);
    }
    const auto add_queues = [&queues](std::vector<std::size_t>& to, const std::vector<std::size_t>& from) {
        for (const std::size_t q : from) {
            if (q < queues.size() && std::ranges::find(to, queues[q]) == to.end()) to.push_back(queues[q]);
        }
    };
    std::size_t next = all.stages.size();
    for (std::size_t i = 0; i < mine.stages.size(); ++i) {
        std::size_t place = place_of(all.stages, mine.stages, i);
        if (place == all.stages.size()) {
            place = next;
            stage_stats added = outline_of(mine.stages[i]);
            added.inputs.clear();
            added.outputs.clear();
            all.stages.insert(all.stages.begin() + number_as<std::ptrdiff_t>(place), added);
        }
        add_queues(all.stages[place].inputs, mine.stages[i].inputs);
        add_queues(all.stages[place].outputs, mine.stages[i].outputs);
        next = place + 1;
    }
}

// `place_of` for a stage or queue that has to be in `all`. Errors: `std::invalid_argument` if it is not.
template <class T>
std::size_t known_place_of(const std::vector<T>& all, const std::vector<T>& mine, std::size_t i) {
    const std::size_t place = place_of(all, mine, i);
    if (place != all.size()) return place;
    throw std::invalid_argument("weir: '" + mine[i].name +
                                "' of this rank is a stage or queue of no outline: make the rank_layout from "
                                "the rank_outline of each rank's run");
}

}  // namespace weir::detail

#endif
