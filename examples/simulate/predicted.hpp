// simulate: a spec as a recording, for predictions: its settings and the times of its stages.
// Invocation k has the same time in a prediction and in a run on virtual time.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_PREDICTED_HPP
#define WEIR_EXAMPLES_SIMULATE_PREDICTED_HPP

#include "spec.hpp"

#include <weir/insight/recording.hpp>
#include <weir/measure/clock.hpp>
#include <weir/run/stage_options.hpp>

#include <algorithm>  // for std::min, std::ranges::binary_search
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <numeric>    // for std::lcm
#include <stdexcept>  // for std::invalid_argument
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace simulate {

namespace detail {

inline weir::recorded_stage in_turn(const std::vector<std::int64_t>& times) {
    weir::recorded_stage sample{.num_tasks = times.size(), .in_sequence = true};
    for (const std::int64_t each : times)
        sample.tasks.push_back({weir::duration(0), weir::duration(each), 1});
    return sample;
}

inline weir::recorded_stage pipe_sample(const stage_spec& s) {
    weir::recorded_stage sample{.in_sequence = true};
    constexpr std::size_t most = 1'000'000;
    const std::size_t n = s.service_ns.size();
    const std::size_t whole = s.fails_every == 0 ? n : std::lcm(n, static_cast<std::size_t>(s.fails_every));
    if (whole > most || !s.fails.empty()) {
        throw std::invalid_argument("the failures of stage '" + s.name + "' can't be predicted");
    }
    for (std::size_t k = 0; k < whole; ++k) {
        const std::int64_t time = s.service_ns[k % n];
        const std::int64_t run = s.computes ? std::min(time, s.run_ns.value_or(time)) : 0;
        const bool fails = s.fails_every != 0 && k % s.fails_every == s.fails_every - 1;
        sample.tasks.push_back({weir::duration(run), weir::duration(time - run), fails ? 0U : 1U});
        sample.num_failures += fails ? 1 : 0;
    }
    sample.num_tasks = whole;
    return sample;
}

inline weir::stage_role role_of(op kind) {
    if (kind == op::aggregate) return weir::stage_role::aggregate;
    return kind == op::disaggregate ? weir::stage_role::disaggregate : weir::stage_role::function;
}

}  // namespace detail

/// \returns the settings and times of a spec.
/// Errors: `std::invalid_argument` for a spec that can't be predicted: with a merge, a route or epochs, or with
///         failures of single items.
[[nodiscard]] inline weir::recording to_recording(const pipeline_spec& spec) {
    if (spec.merge) throw std::invalid_argument("a pipeline with a merge can't be predicted");
    if (spec.epochs) throw std::invalid_argument("a pipeline with epochs can't be predicted");
    weir::recording all;
    all.settings.num_items = spec.items;
    if (spec.workers) all.settings.pools.push_back(*spec.workers);
    const auto add = [&all](weir::stage_settings settings, weir::recorded_stage sample) {
        all.settings.stages.push_back(std::move(settings));
        all.stages.push_back(std::move(sample));
    };
    add({.name = "src", .role = weir::stage_role::source, .capacity = spec.source_capacity},
        detail::in_turn(spec.source_ns));
    for (const stage_spec& s : spec.stages) {
        if (s.kind == op::route) throw std::invalid_argument("a pipeline with a route can't be predicted");
        weir::stage_settings settings{.name = s.name, .role = detail::role_of(s.kind)};
        settings.concurrency = s.concurrency;
        settings.capacity = s.capacity;
        if (s.keeps_order) settings.output_order = weir::output_order::input;
        settings.batch_size = s.size;
        settings.drop_last = s.drop_last;
        if (s.computes) settings.pool = 1;
        add(std::move(settings), s.kind == op::pipe ? detail::pipe_sample(s) : weir::recorded_stage());
    }
    add({.name = "sink", .role = weir::stage_role::sink, .capacity = spec.sink_capacity}, {});
    add({.name = "consumer", .role = weir::stage_role::consumer}, detail::in_turn(spec.foreground_ns));
    return all;
}

}  // namespace simulate

#endif
