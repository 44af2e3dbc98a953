// simulate: the eight pipelines of "Understanding the performance statistics", and the figures of that document.
// In all of them the foreground takes 30 ms for an item.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_DOCUMENTS_HPP
#define WEIR_EXAMPLES_SIMULATE_DOCUMENTS_HPP

#include "scenario.hpp"
#include "spec.hpp"

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::int64_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace simulate {

namespace detail {

inline stage_spec pipe(std::int64_t ms, std::size_t concurrency = 1) {
    stage_spec s;
    s.name = std::to_string(ms) + "ms";
    s.concurrency = concurrency;
    s.service_ns = {ms * 1'000'000};
    return s;
}

inline stage_spec aggregate(std::size_t size) {
    stage_spec s;
    s.kind = op::aggregate;
    s.name = "aggregate";
    s.size = size;
    return s;
}

inline pipeline_spec spec_of(std::string name, std::vector<stage_spec> stages) {
    pipeline_spec p;
    p.name = std::move(name);
    p.stages = std::move(stages);
    p.foreground_ns = {30'000'000};
    return p;
}

}  // namespace detail

/// \returns all eight, in the order of the document.
inline std::vector<scenario> documents() {
    using detail::aggregate, detail::pipe, detail::spec_of;
    const std::optional<double> not_said;
    return {
        {"One stage of 25 ms: loading is fast enough",
         spec_of("single_25", {pipe(25)}),
         33,
         {{30, not_said, 100}, {5, 0, 100}, {not_said, not_said, 100}}},
        {"One stage of 35 ms: loading is too slow",
         spec_of("single_35", {pipe(35)}),
         28,
         {{not_said, not_said, not_said}, {0, 35, 0}, {not_said, not_said, 0}}},
        {"Three stages, fast to slow",
         spec_of("fast_to_slow", {pipe(10), pipe(25), pipe(40)}),
         25,
         {{40, 0, 100}, {30, 0, 100}, {15, 0, 100}, {0, 40, 0}, {not_said, 10, 0}}},
        {"Three stages, slow to fast",
         spec_of("slow_to_fast", {pipe(40), pipe(25), pipe(10)}),
         25,
         {{not_said, 0, not_said}, {0, 15, 0}, {0, 30, 0}, {0, 40, 0}, {0, 10, 0}}},
        {"Fast to slow, the slow one with concurrency 2",
         spec_of("concurrency_2", {pipe(10), pipe(25), pipe(40, 2)}),
         33,
         {{30, 0, 100}, {20, 0, 100}, {5, 0, 100}, {20, 0, 100}, {not_said, 0, 100}}},
        {"Fast to slow, the slow one with concurrency 3",
         spec_of("concurrency_3", {pipe(10), pipe(25), pipe(40, 3)}),
         33,
         {{not_said, not_said, not_said},
          {not_said, not_said, not_said},
          {not_said, not_said, not_said},
          {51, not_said, not_said},
          {not_said, not_said, not_said}}},
        {"6 ms, then lists of 4: fast enough",
         spec_of("aggregate_4", {pipe(6), aggregate(4)}),
         33,
         {{7.5, 0, not_said}, {1.5, 1.5, 57}, {24, 0, not_said}, {30, 0, not_said}}},
        {"6 ms, then lists of 6: too slow",
         spec_of("aggregate_6", {pipe(6), aggregate(6)}),
         27.7,
         {{not_said, not_said, not_said}, {0, not_said, 0}, {0, not_said, 0}, {0, not_said, 0}}},
    };
}

}  // namespace simulate

#endif
