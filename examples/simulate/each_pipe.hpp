// simulate: visits each stage of a spec, also those of branches and inputs.
// The order is that of the statistics.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_EACH_PIPE_HPP
#define WEIR_EXAMPLES_SIMULATE_EACH_PIPE_HPP

#include "spec.hpp"

#include <algorithm>  // for std::ranges::all_of
#include <cstddef>    // for std::size_t
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace simulate {

namespace detail {

// Calls a function with each pipe and its path.
template <class Call>
void each_pipe(const std::vector<stage_spec>& stages, const std::string& path, Call& call) {
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const std::string stage = path + "[" + std::to_string(i) + "]";
        if (stages[i].kind == op::pipe) call(stages[i], stage);
        for (std::size_t k = 0; k < stages[i].branches.size(); ++k) {
            each_pipe(stages[i].branches[k].stages, stage + ".branches[" + std::to_string(k) + "].stages",
                      call);
        }
    }
}
template <class Call>
void each_pipe(const pipeline_spec& spec, Call call) {
    for (std::size_t i = 0; spec.merge && i < spec.merge->inputs.size(); ++i) {
        each_pipe(spec.merge->inputs[i].stages, "merge.inputs[" + std::to_string(i) + "].stages", call);
    }
    each_pipe(spec.stages, "stages", call);
}

inline bool has_route(const std::vector<stage_spec>& stages) {
    return !std::ranges::all_of(stages, [](const stage_spec& s) { return s.kind != op::route; });
}

}  // namespace detail

}  // namespace simulate

#endif
