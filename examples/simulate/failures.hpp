// simulate: reads which items fail, and how many failures are tolerated.
// A rate is written with a point, a count without.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_FAILURES_HPP
#define WEIR_EXAMPLES_SIMULATE_FAILURES_HPP

#include "numbers.hpp"
#include "object.hpp"
#include "spec.hpp"

#include <cstdint>  // for std::int64_t, std::uint64_t
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace simulate {

namespace detail {

inline std::vector<std::uint64_t> to_failing(const object& o) {
    std::vector<std::uint64_t> items;
    if (!o.has("fails")) return items;
    for (const json& each : o.list("fails")) {
        const std::string field = o.field("fails") + "[" + std::to_string(items.size()) + "]";
        const auto item = static_cast<std::uint64_t>(to_integer(each, field, 0, max_items));
        if (!items.empty() && item <= items.back()) {
            throw mistake{field, "must be greater than the item before it, which is " +
                                     std::to_string(items.back()) + " (is " + shown(each) + ")"};
        }
        items.push_back(item);
    }
    return items;
}

inline limit_spec to_limit(const object& o) {
    const json& value = o.at("max_failures");
    limit_spec limit;
    if (value == "unlimited") return limit;
    if (value.is_number_integer()) {
        limit.count = static_cast<std::uint64_t>(o.integer("max_failures", 0, max_items));
    } else if (value.is_number_float() && value.get<double>() > 0 && value.get<double>() <= 1) {
        limit.rate = value.get<double>();
    } else {
        throw mistake{o.field("max_failures"),
                      "must be a count, a rate above 0.0 and up to 1.0, or \"unlimited\" (is " +
                          shown(value) + ")"};
    }
    return limit;
}

}  // namespace detail

}  // namespace simulate

#endif
