// simulate: checks rules that involve several fields: time advances, the requested measurement is possible, and stages
// that compute have workers.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_POSSIBLE_HPP
#define WEIR_EXAMPLES_SIMULATE_POSSIBLE_HPP

#include "each_pipe.hpp"
#include "numbers.hpp"
#include "spec.hpp"

#include <algorithm>  // for std::ranges::all_of
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace simulate {

namespace detail {

inline bool take_time(const std::vector<std::int64_t>& times) {
    return !times.empty() && std::ranges::all_of(times, [](std::int64_t t) { return t > 0; });
}

// Whether the items of the source come one after the other, with time between them.
inline void check_pace(const std::vector<stage_spec>& stages, const std::string& path) {
    if (!stages.empty() && stages[0].kind == op::pipe && take_time(stages[0].service_ns)) return;
    throw mistake{path,
                  "a source that never ends, with a merge, a route or failures behind it, needs a pipe "
                  "first, whose times are all above 0: else time might stand still"};
}

inline void check_time(const pipeline_spec& spec, bool some_fail) {
    if (ends(spec)) return;
    bool takes_time = false;
    for (const std::int64_t t : spec.source_ns) takes_time = takes_time || t > 0;
    for (const std::int64_t t : spec.foreground_ns) takes_time = takes_time || t > 0;
    each_pipe(spec, [&takes_time](const stage_spec& s, const std::string&) {
        for (const std::int64_t t : s.service_ns) takes_time = takes_time || t > 0;
    });
    if (!takes_time) {
        throw mistake{"foreground_ns",
                      "nothing here takes any time and the source never ends, so time would stand "
                      "still: give a time above 0, or 'items'"};
    }
    if (spec.merge) {
        for (std::size_t i = 0; i < spec.merge->inputs.size(); ++i) {
            const part_spec& input = spec.merge->inputs[i];
            if (!input.items) check_pace(input.stages, "merge.inputs[" + std::to_string(i) + "].stages");
        }
    } else if (!take_time(spec.source_ns) && (some_fail || has_route(spec.stages))) {
        check_pace(spec.stages, "stages");
    }
}

inline void check_possible(const pipeline_spec& spec) {
    bool some_fail = false;
    bool some_compute = false;
    each_pipe(spec, [&](const stage_spec& s, const std::string& path) {
        some_fail = some_fail || !s.fails.empty() || s.fails_every != 0;
        some_compute = some_compute || s.computes;
        if (s.computes && !spec.workers)
            throw mistake{path + (s.run_ns ? ".run_ms" : ".computes"),
                          "needs 'workers' beside the stages, which says how many there are"};
    });
    if (spec.workers && !some_compute)
        throw mistake{"workers", "nobody works for them: give a pipe \"computes\": true"};
    if (spec.epochs && !ends(spec))
        throw mistake{"epochs", "needs 'items', which says how many an epoch has"};
    check_time(spec, some_fail);
}

// Rules for a run that is measured: without `snapshot_ns` or `items` the statistics are those of a steady state.
inline void check_measured(const pipeline_spec& spec) {
    bool some_fail = false;
    bool some_compute = false;
    each_pipe(spec, [&](const stage_spec& s, const std::string&) {
        some_fail = some_fail || !s.fails.empty() || s.fails_every != 0;
        some_compute = some_compute || s.computes;
    });
    const bool repeats =
        !spec.merge && !has_route(spec.stages) && !some_fail && !some_compute && !spec.lap_ns;
    if (!repeats && !ends(spec) && !spec.snapshot_ns) {
        throw mistake{
            "snapshot_ns",
            "is missing: with a merge, a route, failures, workers or laps no steady state is looked "
            "for; give it, or 'items'"};
    }
}

}  // namespace detail

}  // namespace simulate

#endif
