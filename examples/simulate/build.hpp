// simulate: turns a spec into a pipeline of the library.
// Its stages are known at run time only, so they stand in a stage_list.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_BUILD_HPP
#define WEIR_EXAMPLES_SIMULATE_BUILD_HPP

#include "spec.hpp"
#include "work.hpp"

#include <weir/executor/executor.hpp>
#include <weir/stages/pipeline.hpp>

#include <optional>  // for std::optional
#include <utility>   // for std::move

namespace simulate {

/// \param clock  on which the pipeline will be started
inline auto build(const pipeline_spec& spec, weir::executor& clock) {
    weir::stage_list<item> stages;
    for (const stage_spec& s : spec.stages) {
        switch (s.kind) {
            case op::pipe:
                stages.add(weir::pipe(timed_work(s.service_ns, clock),
                                      {.name = s.name, .concurrency = s.concurrency}));
                break;
            case op::aggregate:
                stages.add(weir::aggregate<item>(s.size, {.name = s.name, .drop_last = s.drop_last}));
                break;
            case op::disaggregate:
                stages.add(weir::disaggregate({.name = s.name}));
                break;
        }
    }
    const auto next_item = [left = spec.items]() mutable -> std::optional<item> {
        if (left && (*left)-- == 0) return std::nullopt;
        return item();
    };
    return weir::source(next_item) | std::move(stages) | weir::sink(spec.sink_capacity);
}

}  // namespace simulate

#endif
