// simulate: fields that several kinds of objects have: a capacity, one of a few words, a list of a few parts.
// The library needs the number of branches and inputs at compile time.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_PARTS_HPP
#define WEIR_EXAMPLES_SIMULATE_PARTS_HPP

#include "numbers.hpp"
#include "object.hpp"

#include <cstddef>  // for std::size_t
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace simulate {

namespace detail {

// The capacity of the queue behind a stage.
inline std::size_t to_capacity(const object& o) {
    return static_cast<std::size_t>(o.integer_or(2, "capacity", 1, max_capacity));
}

inline constexpr std::size_t max_parts = 4;

inline const json& parts(const object& o, const std::string& name) {
    const json& found = o.list(name);
    if (found.size() > max_parts) {
        throw mistake{o.field(name), "must have at most " + std::to_string(max_parts) + " entries (has " +
                                         std::to_string(found.size()) + ")"};
    }
    return found;
}

// The first word is the default.
inline std::string word(const object& o, const std::string& name, const std::vector<std::string>& known) {
    if (!o.has(name)) return known.front();
    std::string list;
    for (const std::string& k : known) {
        if (o.at(name) == k) return k;
        list += (list.empty() ? "\"" : ", \"") + k + "\"";
    }
    throw mistake{o.field(name), "must be one of " + list + " (is " + shown(o.at(name)) + ")"};
}

}  // namespace detail

}  // namespace simulate

#endif
