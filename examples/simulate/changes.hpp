// simulate: reads the changes of a pipeline that are to be predicted.
// change_text.hpp is the inverse.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_CHANGES_HPP
#define WEIR_EXAMPLES_SIMULATE_CHANGES_HPP

#include "numbers.hpp"
#include "object.hpp"
#include "parts.hpp"

#include <weir/insight/predict.hpp>

#include <cstdint>  // for std::int64_t
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace simulate {

/// A change, and the JSON that it was read from.
struct change {
    nlohmann::ordered_json text;
    weir::setting_change what;
};

namespace detail {

// The one setting that a change is about.
inline std::string setting_of(const object& o, const std::string& path) {
    std::string found;
    for (const char* const name : {"faster", "concurrency", "capacity", "batch", "output_order", "workers",
                                   "consumer_ms", "source", "max_bytes"}) {
        if (!o.has(name)) continue;
        if (!found.empty()) {
            throw mistake{o.field(name),
                          "is a second change beside '" + found + "': give each an entry of its own"};
        }
        found = name;
    }
    if (!found.empty()) return found;
    throw mistake{path,
                  "changes nothing: give one of faster, concurrency, capacity, batch, output_order, workers, "
                  "consumer_ms, source, max_bytes"};
}

inline double count(const object& o, const std::string& name, std::int64_t most) {
    return static_cast<double>(o.integer(name, 1, most));
}

inline weir::setting_change to_change(const json& value, const std::string& path) {
    using weir::change_kind;
    const object o(value, path,
                   {"stage", "faster", "concurrency", "capacity", "batch", "output_order", "workers",
                    "consumer_ms", "source", "max_bytes"});
    const std::string setting = setting_of(o, path);
    const bool of_all = setting == "workers" || setting == "consumer_ms" || setting == "source";
    if (of_all && o.has("stage"))
        throw mistake{o.field("stage"), "is not for '" + setting + "', which has no stage"};
    if (!of_all && !o.has("stage") && setting != "capacity") throw mistake{o.field("stage"), "is missing"};
    const std::string stage = o.text_or("", "stage");
    if (stage.empty() && o.has("stage")) throw mistake{o.field("stage"), "must not be empty"};
    if (setting == "faster") return {change_kind::faster, stage, o.number(setting, 0, 1)};
    if (setting == "concurrency")
        return {change_kind::concurrency, stage, count(o, setting, max_concurrency)};
    if (setting == "capacity") return {change_kind::capacity, stage, count(o, setting, max_capacity)};
    if (setting == "batch") return {change_kind::batch_size, stage, count(o, setting, max_size)};
    if (setting == "workers") return {change_kind::threads, "", count(o, setting, max_concurrency)};
    if (setting == "consumer_ms") return {change_kind::consumer, "", o.number(setting, 0, 1e6) * 1e-3};
    if (setting == "source") {
        static_cast<void>(word(o, setting, {"unlimited"}));
        return {change_kind::source, "", 0};
    }
    if (setting == "max_bytes") return {change_kind::max_bytes, stage, o.number(setting, 0, 0)};  // no limit
    static_cast<void>(word(o, setting, {"completion"}));
    return {change_kind::completion_order, stage, 0};
}

// `value`: a list, which may be empty. `path`: of the list.
inline std::vector<change> to_changes(const json& value, const std::string& path) {
    if (!value.is_array()) throw mistake{path, "must be a list (is " + shown(value) + ")"};
    std::vector<change> changes;
    for (const json& each : value) {
        changes.push_back({each, to_change(each, path + "[" + std::to_string(changes.size()) + "]")});
    }
    return changes;
}

}  // namespace detail

}  // namespace simulate

#endif
