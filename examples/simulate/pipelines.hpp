// simulate: reads a spec, which is checked completely before anything runs.
// One with which time would stand still is wrong, too.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_PIPELINES_HPP
#define WEIR_EXAMPLES_SIMULATE_PIPELINES_HPP

#include "numbers.hpp"
#include "object.hpp"
#include "spec.hpp"
#include "stages.hpp"

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t
#include <string>   // for std::string

namespace simulate {

namespace detail {

inline pipeline_spec to_spec(const json& value) {
    // "expect" is for whoever compares; "comment" for whoever reads the file.
    const object o(value, "",
                   {"name", "comment", "stages", "sink_capacity", "items", "foreground_ns", "snapshot_ns",
                    "expect"});
    pipeline_spec spec;
    spec.name = o.text_or("", "name");
    for (const json& stage : o.list("stages")) {
        spec.stages.push_back(to_stage(stage, "stages[" + std::to_string(spec.stages.size()) + "]"));
    }
    check_nesting(spec.stages);
    spec.sink_capacity = static_cast<std::size_t>(o.integer_or(3, "sink_capacity", 1, max_capacity));
    spec.foreground_ns = o.times("foreground_ns");
    if (o.has("items")) spec.items = static_cast<std::uint64_t>(o.integer("items", 0, max_items));
    if (o.has("snapshot_ns")) spec.snapshot_ns = o.integer("snapshot_ns", 1, max_time);

    bool takes_time = spec.items.has_value();
    for (const std::int64_t t : spec.foreground_ns) takes_time = takes_time || t > 0;
    for (const stage_spec& s : spec.stages) {
        for (const std::int64_t t : s.service_ns) takes_time = takes_time || t > 0;
    }
    if (!takes_time) {
        throw mistake{"foreground_ns",
                      "nothing here takes any time and the source never ends, so time would stand "
                      "still: give a time above 0, or 'items'"};
    }
    return spec;
}

// A spec itself, or an object that has one.
inline pipeline_spec to_spec_or_wrapped(const json& value) {
    if (!value.is_object()) throw mistake{"", "a spec must be an object (is " + shown(value) + ")"};
    if (!value.contains("spec")) return to_spec(value);
    try {
        return to_spec(value.at("spec"));
    } catch (mistake& m) {
        m.field = "spec" + (m.field.empty() ? "" : "." + m.field);
        throw;
    }
}

}  // namespace detail

}  // namespace simulate

#endif
