// simulate: reads the stages of a spec, and checks that each gets what it takes.
// A list of items is no item: what a stage gets depends on those before it.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_STAGES_HPP
#define WEIR_EXAMPLES_SIMULATE_STAGES_HPP

#include "numbers.hpp"
#include "object.hpp"
#include "spec.hpp"

#include <cstddef>  // for std::size_t
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace simulate {

namespace detail {

inline stage_spec to_stage(const json& value, const std::string& path) {
    if (!value.is_object()) throw mistake{path, "must be an object (is " + shown(value) + ")"};
    if (!value.contains("op"))
        throw mistake{path + ".op", "is missing; it is pipe, aggregate or disaggregate"};
    stage_spec stage;
    const json& kind = value.at("op");
    if (kind == "pipe") {
        const object o(value, path, {"op", "name", "concurrency", "service_ns"});
        stage.kind = op::pipe;
        stage.name = o.text_or("pipe", "name");
        stage.concurrency = static_cast<std::size_t>(o.integer_or(1, "concurrency", 1, max_concurrency));
        stage.service_ns = o.times("service_ns");
    } else if (kind == "aggregate") {
        const object o(value, path, {"op", "name", "size", "drop_last"});
        stage.kind = op::aggregate;
        stage.name = o.text_or("aggregate", "name");
        stage.size = static_cast<std::size_t>(o.integer("size", 1, max_size));
        stage.drop_last = o.boolean_or(false, "drop_last");
    } else if (kind == "disaggregate") {
        const object o(value, path, {"op", "name"});
        stage.kind = op::disaggregate;
        stage.name = o.text_or("disaggregate", "name");
    } else {
        throw mistake{path + ".op",
                      "must be \"pipe\", \"aggregate\" or \"disaggregate\" (is " + shown(kind) + ")"};
    }
    if (stage.name.empty()) throw mistake{path + ".name", "must not be empty"};
    return stage;
}

// What arrives at each stage: an item is a list of lists of ... as deep as there are aggregates
// before it that no disaggregate has undone.
inline void check_nesting(const std::vector<stage_spec>& stages) {
    std::vector<std::size_t> sizes;  // of the lists around an item, outermost last
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const std::string path = "stages[" + std::to_string(i) + "]";
        if (stages[i].kind == op::aggregate) {
            sizes.push_back(stages[i].size);
            std::size_t together = 1;
            for (const std::size_t size : sizes) together *= size;  // below 1e12: checked at each step
            if (together > static_cast<std::size_t>(max_size)) {
                throw mistake{path + ".size", "makes lists of " + std::to_string(together) +
                                                  " items in all; at most " + std::to_string(max_size) +
                                                  " fit"};
            }
        } else if (stages[i].kind == op::disaggregate) {
            if (sizes.empty()) {
                throw mistake{path + ".op",
                              "disaggregate needs lists, but single items arrive here: put an "
                              "aggregate before it"};
            }
            sizes.pop_back();
        }
    }
}

}  // namespace detail

}  // namespace simulate

#endif
