// simulate: the fields of a JSON object, looked up by name and checked by type.
// Every look-up reports a mistake with the path of the field.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_OBJECT_HPP
#define WEIR_EXAMPLES_SIMULATE_OBJECT_HPP

#include "numbers.hpp"

#include <algorithm>  // for std::find
#include <cstdint>    // for std::int64_t
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace simulate {

namespace detail {

// A JSON object and its path in the spec. Every look-up reports mistakes with the path of the field.
class object {
  public:
    object(const json& value, std::string path, const std::vector<std::string>& known)
        : value_(value), path_(std::move(path)) {
        if (!value.is_object()) throw mistake{path_, "must be an object (is " + shown(value) + ")"};
        for (const auto& [name, unused] : value.items()) {
            if (std::find(known.begin(), known.end(), name) != known.end()) continue;
            std::string list;
            for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
            throw mistake{field(name), "unknown field; known here: " + list};
        }
    }

    [[nodiscard]] bool has(const std::string& name) const { return value_.contains(name); }

    [[nodiscard]] const json& at(const std::string& name) const {
        if (!has(name)) throw mistake{field(name), "is missing"};
        return value_.at(name);
    }

    [[nodiscard]] std::string field(const std::string& name) const {
        return path_.empty() ? name : path_ + "." + name;
    }

    [[nodiscard]] std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most) const {
        return to_integer(at(name), field(name), least, most);
    }

    [[nodiscard]] std::int64_t integer_or(std::int64_t value, const std::string& name, std::int64_t least,
                                          std::int64_t most) const {
        return has(name) ? integer(name, least, most) : value;
    }

    [[nodiscard]] double number(const std::string& name, double least, double most) const {
        return to_number(at(name), field(name), least, most);
    }

    [[nodiscard]] bool boolean_or(bool value, const std::string& name) const {
        if (!has(name)) return value;
        if (!at(name).is_boolean()) {
            throw mistake{field(name), "must be true or false (is " + shown(at(name)) + ")"};
        }
        return at(name).get<bool>();
    }

    [[nodiscard]] std::string text_or(std::string value, const std::string& name) const {
        if (!has(name)) return value;
        if (!at(name).is_string()) {
            throw mistake{field(name), "must be a text in quotes (is " + shown(at(name)) + ")"};
        }
        return at(name).get<std::string>();
    }

    // A list that is not empty.
    [[nodiscard]] const json& list(const std::string& name) const {
        const json& found = at(name);
        if (!found.is_array()) throw mistake{field(name), "must be a list (is " + shown(found) + ")"};
        if (found.empty()) throw mistake{field(name), "must not be empty"};
        return found;
    }

    [[nodiscard]] std::vector<std::int64_t> times(const std::string& name) const {
        std::vector<std::int64_t> result;
        for (const json& t : list(name)) {
            const std::string path = field(name) + "[" + std::to_string(result.size()) + "]";
            result.push_back(to_integer(t, path, 0, max_time));
        }
        return result;
    }

  private:
    const json& value_;
    std::string path_;
};

}  // namespace detail

}  // namespace simulate

#endif
