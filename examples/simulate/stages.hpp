// simulate: reads the stages of a spec, and those of the branches of a route.
// A field that a kind of stage does not have is unknown there.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_STAGES_HPP
#define WEIR_EXAMPLES_SIMULATE_STAGES_HPP

#include "numbers.hpp"
#include "object.hpp"
#include "parts.hpp"
#include "pipes.hpp"
#include "spec.hpp"

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t
#include <string>   // for std::string
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace simulate {

namespace detail {

inline std::vector<stage_spec> to_stages(const json& list, const std::string& path);

inline stage_spec to_route(const json& value, const std::string& path) {
    const object o(value, path, {"op", "name", "to", "branches"});
    stage_spec stage;
    stage.name = o.text_or("route", "name");
    for (const json& each : parts(o, "branches")) {
        const std::size_t i = stage.branches.size();
        const object branch(each, o.field("branches") + "[" + std::to_string(i) + "]", {"name", "stages"});
        part_spec part;
        part.name = branch.text_or("branch " + std::to_string(i), "name");
        for (const part_spec& other : stage.branches) {
            if (other.name == part.name)
                throw mistake{branch.field("name"), "another branch is called " + shown(part.name)};
        }
        if (branch.has("stages")) part.stages = to_stages(branch.list("stages"), branch.field("stages"));
        stage.branches.push_back(std::move(part));
    }
    for (const json& each : o.list("to")) {
        const std::string field = o.field("to") + "[" + std::to_string(stage.to.size()) + "]";
        const auto last = static_cast<std::int64_t>(stage.branches.size()) - 1;
        stage.to.push_back(static_cast<std::size_t>(to_integer(each, field, 0, last)));
    }
    return stage;
}

inline stage_spec to_stage(const json& value, const std::string& path, std::uint64_t number) {
    if (!value.is_object()) throw mistake{path, "must be an object (is " + shown(value) + ")"};
    if (!value.contains("op"))
        throw mistake{path + ".op", "is missing; it is pipe, aggregate, disaggregate or route"};
    stage_spec stage;
    const json& kind = value.at("op");
    if (kind == "pipe") {
        stage = to_pipe(value, path, number);
    } else if (kind == "aggregate") {
        const object o(value, path, {"op", "name", "size", "drop_last", "capacity"});
        stage.kind = op::aggregate;
        stage.name = o.text_or("aggregate", "name");
        stage.size = static_cast<std::size_t>(o.integer("size", 1, max_size));
        stage.drop_last = o.boolean_or(false, "drop_last");
        stage.capacity = to_capacity(o);
    } else if (kind == "disaggregate") {
        const object o(value, path, {"op", "name", "capacity"});
        stage.kind = op::disaggregate;
        stage.capacity = to_capacity(o);
        stage.name = o.text_or("disaggregate", "name");
    } else if (kind == "route") {
        stage = to_route(value, path);
        stage.kind = op::route;
    } else {
        throw mistake{path + ".op", "must be \"pipe\", \"aggregate\", \"disaggregate\" or \"route\" (is " +
                                        shown(kind) + ")"};
    }
    if (stage.name.empty()) throw mistake{path + ".name", "must not be empty"};
    return stage;
}

inline std::vector<stage_spec> to_stages(const json& list, const std::string& path) {
    std::vector<stage_spec> stages;
    for (const json& each : list)
        stages.push_back(to_stage(each, path + "[" + std::to_string(stages.size()) + "]", stages.size()));
    return stages;
}

}  // namespace detail

}  // namespace simulate

#endif
