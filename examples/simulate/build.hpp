// simulate: builds a pipeline of weir from a spec.
// The number of inputs of a merge is a template argument, chosen from a few.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_BUILD_HPP
#define WEIR_EXAMPLES_SIMULATE_BUILD_HPP

#include "item.hpp"
#include "processors.hpp"
#include "source.hpp"
#include "spec.hpp"
#include "stage_builder.hpp"

#include <weir/executor/executor.hpp>
#include <weir/graph/merge.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipeline.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <utility>  // for std::index_sequence, std::make_index_sequence, std::move
#include <vector>   // for std::vector

namespace simulate {

namespace detail {

// Builds the stages of one run.
struct builder : stage_builder {
    // With this number of inputs; 0: one source without a merge.
    template <bool HasEpochs, std::size_t... I>
    auto whole(const pipeline_spec& spec, std::index_sequence<I...>) {
        const std::uint64_t epochs = spec.epochs.value_or(1);
        if constexpr (sizeof...(I) == 0) {
            return source<HasEpochs>({.name = "src", .capacity = spec.source_capacity}, spec.items, epochs) |
                   stages(spec.stages) | weir::sink(spec.sink_capacity);
        } else {
            const merge_spec& merge = *spec.merge;
            std::vector<stage_row> inputs;
            for (const part_spec& part : merge.inputs) inputs.push_back(stages(part.stages));
            weir::merge_options how{.name = merge.name, .weights = merge.weights};
            if (merge.order == fan_in_order::round_robin) how.order = weir::merge_order::round_robin;
            if (merge.order == fan_in_order::weighted) how.order = weir::merge_order::weighted;
            if (merge.order == fan_in_order::priority) how.order = weir::merge_order::priority;
            return weir::merge(std::move(how), source<HasEpochs>({.name = merge.inputs[I].name},
                                                                 merge.inputs[I].items, epochs) |
                                                   std::move(inputs[I])...) |
                   stages(spec.stages) | weir::sink(spec.sink_capacity);
        }
    }
    auto start_timed(const pipeline_spec& spec, weir::run_options options) {
        auto all = weir::source(timed_items(spec.source_ns, spec.items, clock),
                                {.name = "src", .capacity = spec.source_capacity}) |
                   stages(spec.stages) | weir::sink(spec.sink_capacity);
        return std::move(all).start(clock, std::move(options));
    }
    template <bool HasEpochs, std::size_t N>
    auto start(const pipeline_spec& spec, weir::run_options options) {
        return whole<HasEpochs>(spec, std::make_index_sequence<N>()).start(clock, std::move(options));
    }
};

}  // namespace detail

/// \returns the pipeline of a spec without merge, epochs and workers, for that clock.
inline auto build(const pipeline_spec& spec, weir::executor& clock) {
    return detail::builder{{clock, nullptr}}.whole<false>(spec, std::index_sequence<>());
}

}  // namespace simulate

#endif
