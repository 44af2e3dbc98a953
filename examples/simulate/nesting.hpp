// simulate: checks that each stage gets the type of item that it takes.
// A list of items is no item: the type depends on the stages before.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_NESTING_HPP
#define WEIR_EXAMPLES_SIMULATE_NESTING_HPP

#include "numbers.hpp"
#include "spec.hpp"

#include <cstddef>   // for std::size_t
#include <optional>  // for std::optional
#include <string>    // for std::string
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace simulate {

namespace detail {

// The sizes of the lists around an item, outermost last: an item is a list of lists of ... as deep as there
// are aggregates before it that no disaggregate has undone.
using nesting = std::vector<std::size_t>;

inline nesting nested(nesting sizes, const std::vector<stage_spec>& stages, const std::string& path);

// The sizes that all parts give, if each takes `sizes`.
inline nesting nested_alike(const nesting& sizes, const std::vector<part_spec>& parts,
                            const std::string& path) {
    std::optional<nesting> all;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string part = path + "[" + std::to_string(i) + "]";
        nesting ends = nested(sizes, parts[i].stages, part + ".stages");
        if (all && *all != ends) {
            throw mistake{part + ".stages",
                          "gives lists of other sizes than the one before it, with which it is joined"};
        }
        all = std::move(ends);
    }
    return *all;
}

inline nesting nested(nesting sizes, const std::vector<stage_spec>& stages, const std::string& path) {
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const std::string stage = path + "[" + std::to_string(i) + "]";
        if (stages[i].kind == op::aggregate) {
            sizes.push_back(stages[i].size);
            std::size_t together = 1;
            for (const std::size_t size : sizes) together *= size;  // below 1e12: checked at each step
            if (together > static_cast<std::size_t>(max_size)) {
                throw mistake{stage + ".size", "makes lists of " + std::to_string(together) +
                                                   " items in all; at most " + std::to_string(max_size) +
                                                   " fit"};
            }
        } else if (stages[i].kind == op::disaggregate) {
            if (sizes.empty()) {
                throw mistake{stage + ".op",
                              "disaggregate needs lists, but single items arrive here: put an "
                              "aggregate before it"};
            }
            sizes.pop_back();
        } else if (stages[i].kind == op::route) {
            sizes = nested_alike(sizes, stages[i].branches, stage + ".branches");
        }
    }
    return sizes;
}

inline void check_nesting(const pipeline_spec& spec) {
    const nesting begin = spec.merge ? nested_alike({}, spec.merge->inputs, "merge.inputs") : nesting();
    static_cast<void>(nested(begin, spec.stages, "stages"));
}

}  // namespace detail

}  // namespace simulate

#endif
