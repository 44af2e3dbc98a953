// simulate: reads the inputs of a pipeline that begins with a merge instead of one source.
// Each input has its own source and stages.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_MERGES_HPP
#define WEIR_EXAMPLES_SIMULATE_MERGES_HPP

#include "numbers.hpp"
#include "object.hpp"
#include "parts.hpp"
#include "spec.hpp"
#include "stages.hpp"

#include <cstdint>  // for std::uint64_t
#include <string>   // for std::string
#include <utility>  // for std::move

namespace simulate {

namespace detail {

inline merge_spec to_merge(const json& value) {
    const object o(value, "merge", {"name", "order", "weights", "inputs"});
    merge_spec merge;
    merge.name = o.text_or("merge", "name");
    if (merge.name.empty()) throw mistake{o.field("name"), "must not be empty"};
    for (const json& each : parts(o, "inputs")) {
        const object input(each, o.field("inputs") + "[" + std::to_string(merge.inputs.size()) + "]",
                           {"name", "items", "stages"});
        part_spec part;
        part.name = input.text_or("src", "name");
        if (part.name.empty()) throw mistake{input.field("name"), "must not be empty"};
        if (input.has("items")) part.items = static_cast<std::uint64_t>(input.integer("items", 0, max_items));
        if (input.has("stages")) part.stages = to_stages(input.list("stages"), input.field("stages"));
        merge.inputs.push_back(std::move(part));
    }
    const std::string order = word(o, "order", {"arrival", "round_robin", "weighted", "priority"});
    merge.order = order == "round_robin" ? fan_in_order::round_robin
                  : order == "weighted"  ? fan_in_order::weighted
                  : order == "priority"  ? fan_in_order::priority
                                         : fan_in_order::arrival;
    if (!o.has("weights")) return merge;
    if (merge.order != fan_in_order::weighted)
        throw mistake{o.field("weights"), "have no effect without \"order\": \"weighted\""};
    for (const json& each : o.list("weights")) {
        const std::string field = o.field("weights") + "[" + std::to_string(merge.weights.size()) + "]";
        merge.weights.push_back(static_cast<double>(to_integer(each, field, 0, max_weight)));
    }
    if (merge.weights.size() != merge.inputs.size()) {
        throw mistake{o.field("weights"), "must be one for each input, " +
                                              std::to_string(merge.inputs.size()) + " (are " +
                                              std::to_string(merge.weights.size()) + ")"};
    }
    return merge;
}

}  // namespace detail

}  // namespace simulate

#endif
