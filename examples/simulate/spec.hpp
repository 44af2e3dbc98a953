// simulate: a spec as plain values.
// Nothing here depends on weir.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_SPEC_HPP
#define WEIR_EXAMPLES_SIMULATE_SPEC_HPP

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::int64_t, std::uint64_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <vector>    // for std::vector

namespace simulate {

enum class op { pipe, aggregate, disaggregate, route };
enum class fan_in_order { arrival, round_robin, weighted, priority };

/// How many failures are tolerated: a count, a rate above 0, or any number.
struct limit_spec {
    std::optional<std::uint64_t> count;
    double rate = 0;
};

struct part_spec;

/// One stage between the source and the sink. Item k: the k-th that the stage takes, from 0.
struct stage_spec {
    op kind = op::pipe;
    std::string name;
    std::size_t concurrency = 1;             // pipe
    std::vector<std::int64_t> service_ns;    // pipe: item k takes service_ns[k % size]
    std::size_t capacity = 2;                // of the queue behind the stage
    bool keeps_order = false;                // pipe
    bool computes = false;                   // pipe: occupies a worker while it works
    std::optional<std::int64_t> run_ns;      // pipe that computes: only for the first part of its time
    std::vector<std::uint64_t> fails;        // pipe: these items, in ascending order
    std::uint64_t fails_every = 0;           // pipe: each item of this number fails, too; 0: none
    std::optional<limit_spec> max_failures;  // pipe; none: failures count for the whole pipeline
    std::size_t size = 1;                    // aggregate
    bool drop_last = false;                  // aggregate
    std::vector<std::size_t> to;             // route: item k goes to the branch to[k % size]
    std::vector<part_spec> branches;         // route
};

/// A branch of a route, or an input of a merge.
struct part_spec {
    std::string name;
    std::vector<stage_spec> stages;
    std::optional<std::uint64_t> items;  // of the input's source; none: endless
};

/// The begin of a pipeline with several sources.
struct merge_spec {
    std::string name;
    fan_in_order order = fan_in_order::arrival;
    std::vector<double> weights;  // one for each input, or none
    std::vector<part_spec> inputs;
};

/// A pipeline, its foreground, and what to measure.
struct pipeline_spec {
    std::string name;  // may be empty
    std::optional<merge_spec> merge;
    std::vector<stage_spec> stages;
    std::size_t source_capacity = 2, sink_capacity = 3;
    std::optional<std::uint64_t> items;   // of the source, in each epoch; none: endless
    std::optional<std::uint64_t> epochs;  // none: a stream without epochs
    limit_spec max_failures{.count = 0};
    std::optional<std::size_t> workers;       // for pipes that compute
    std::optional<std::int64_t> lap_ns;       // also print each lap
    std::vector<std::int64_t> source_ns;      // how long the source takes for an item; used in turn; empty: 0
    std::vector<std::int64_t> foreground_ns;  // how long the foreground is busy with an item; used in turn
    std::optional<std::int64_t> snapshot_ns;  // measure from 0 to here; none: a steady state
};

/// Whether all sources end.
[[nodiscard]] inline bool ends(const pipeline_spec& spec) {
    if (!spec.merge) return spec.items.has_value();
    for (const part_spec& input : spec.merge->inputs) {
        if (!input.items) return false;
    }
    return true;
}

}  // namespace simulate

#endif
