// simulate: what a spec says, as plain values.
// Nothing here knows the library.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_SPEC_HPP
#define WEIR_EXAMPLES_SIMULATE_SPEC_HPP

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <optional>   // for std::optional
#include <stdexcept>  // for std::runtime_error
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace simulate {

enum class op { pipe, aggregate, disaggregate };

/// One stage between the source and the sink.
struct stage_spec {
    op kind = op::pipe;
    std::string name;
    std::size_t concurrency = 1;           // pipe
    std::vector<std::int64_t> service_ns;  // pipe: the k-th invocation takes service_ns[k % size]
    std::size_t size = 1;                  // aggregate
    bool drop_last = false;                // aggregate
};

/// A pipeline, its foreground, and what to measure.
struct pipeline_spec {
    std::string name;  // may be empty
    std::vector<stage_spec> stages;
    std::size_t sink_capacity = 3;
    std::optional<std::uint64_t> items;       // of the source; none: it never ends
    std::vector<std::int64_t> foreground_ns;  // how long the foreground is busy with each item, in turn
    std::optional<std::int64_t> snapshot_ns;  // measure from 0 to here; none: a steady state
};

/// A file that can't be used: which, where in it, which field, and why.
class spec_error : public std::runtime_error {
  public:
    /// \param where a line, an entry of a list, or nothing
    /// \param field as in `stages[1].concurrency`, or nothing
    spec_error(const std::string& file, const std::string& where, const std::string& field,
               const std::string& why)
        : std::runtime_error(file + ": " + (where.empty() ? "" : where + ": ") +
                             (field.empty() ? "" : field + ": ") + why) {}
};

}  // namespace simulate

#endif
