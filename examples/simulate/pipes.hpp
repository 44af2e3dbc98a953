// simulate: reads a stage that works: a pipe.
// Its fields are the time per item, the order of results, and the items that fail.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_PIPES_HPP
#define WEIR_EXAMPLES_SIMULATE_PIPES_HPP

#include "failures.hpp"
#include "numbers.hpp"
#include "object.hpp"
#include "parts.hpp"
#include "spec.hpp"
#include "times.hpp"

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <string>   // for std::string

namespace simulate {

namespace detail {

// `number`: of the stage in its list.
inline stage_spec to_pipe(const json& value, const std::string& path, std::uint64_t number) {
    const object o(value, path,
                   {"op", "name", "concurrency", "capacity", "service_ns", "times", "output_order",
                    "computes", "run_ms", "fails", "fails_every", "max_failures"});
    stage_spec stage;
    stage.name = o.text_or("pipe", "name");
    stage.concurrency = static_cast<std::size_t>(o.integer_or(1, "concurrency", 1, max_concurrency));
    stage.capacity = to_capacity(o);
    stage.computes = o.boolean_or(o.has("run_ms"), "computes");
    if (o.has("run_ms")) stage.run_ns = static_cast<std::int64_t>(1e6 * o.number("run_ms", 0, 1e9) + 0.5);
    if (stage.run_ns && !o.has("service_ns") && !o.has("times")) {
        stage.service_ns = {*stage.run_ns};
    } else {
        stage.service_ns = times_or_drawn(o, "service_ns", "times", number);
    }
    stage.keeps_order = word(o, "output_order", {"completion", "input"}) == "input";
    stage.fails = to_failing(o);
    stage.fails_every = static_cast<std::uint64_t>(o.integer_or(0, "fails_every", 1, max_items));
    if (o.has("max_failures")) stage.max_failures = to_limit(o);
    return stage;
}

}  // namespace detail

}  // namespace simulate

#endif
