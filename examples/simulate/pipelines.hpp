// simulate: reads a spec, and checks all of it before anything runs.
// A spec whose time would stand still is wrong, too.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_PIPELINES_HPP
#define WEIR_EXAMPLES_SIMULATE_PIPELINES_HPP

#include "failures.hpp"
#include "merges.hpp"
#include "nesting.hpp"
#include "numbers.hpp"
#include "object.hpp"
#include "possible.hpp"
#include "spec.hpp"
#include "stages.hpp"
#include "times.hpp"

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <string>   // for std::string

namespace simulate {

namespace detail {

enum class purpose { measure, predict };

inline pipeline_spec to_spec(const json& value, purpose what_for) {
    // "expect" is for tests, "comment" for readers of the file.
    const object o(value, "",
                   {"name", "comment", "merge", "stages", "sink_capacity", "items", "epochs", "max_failures",
                    "workers", "source_ns", "source_times", "source_capacity", "foreground_ns",
                    "foreground_times", "lap_ns", "snapshot_ns", "expect", "changes"});
    pipeline_spec spec;
    spec.name = o.text_or("", "name");
    if (o.has("merge")) {
        spec.merge = to_merge(o.at("merge"));
        if (o.has("items"))
            throw mistake{"items", "belongs to each of the merge's inputs: merge.inputs[0].items"};
    }
    // Behind a merge there may be no stage.
    const bool has_none = o.has("merge") && (!o.has("stages") || o.at("stages") == json::array());
    if (!has_none) spec.stages = to_stages(o.list("stages"), "stages");
    check_nesting(spec);
    spec.sink_capacity = static_cast<std::size_t>(o.integer_or(3, "sink_capacity", 1, max_capacity));
    spec.foreground_ns = times_or_drawn(o, "foreground_ns", "foreground_times", 2 * max_stages);
    spec.source_capacity = static_cast<std::size_t>(o.integer_or(2, "source_capacity", 1, max_capacity));
    if (o.has("source_ns") || o.has("source_times")) {
        if (spec.merge || o.has("epochs")) {
            throw mistake{o.has("source_ns") ? "source_ns" : "source_times",
                          "is for one source without epochs"};
        }
        spec.source_ns = times_or_drawn(o, "source_ns", "source_times", 2 * max_stages + 1);
    }
    if (o.has("items")) spec.items = static_cast<std::uint64_t>(o.integer("items", 0, max_items));
    if (o.has("epochs")) spec.epochs = static_cast<std::uint64_t>(o.integer("epochs", 1, max_items));
    if (o.has("max_failures")) spec.max_failures = to_limit(o);
    if (o.has("workers")) spec.workers = static_cast<std::size_t>(o.integer("workers", 1, max_concurrency));
    if (o.has("lap_ns")) spec.lap_ns = o.integer("lap_ns", 1, max_time);
    if (o.has("snapshot_ns")) spec.snapshot_ns = o.integer("snapshot_ns", 1, max_time);
    check_possible(spec);
    if (what_for == purpose::measure) check_measured(spec);
    return spec;
}

// A spec, or an object that contains one.
inline pipeline_spec to_spec_or_wrapped(const json& value, purpose what_for) {
    if (!value.is_object()) throw mistake{"", "a spec must be an object (is " + shown(value) + ")"};
    if (!value.contains("spec")) return to_spec(value, what_for);
    try {
        return to_spec(value.at("spec"), what_for);
    } catch (mistake& m) {
        m.field = "spec" + (m.field.empty() ? "" : "." + m.field);
        throw;
    }
}

}  // namespace detail

}  // namespace simulate

#endif
