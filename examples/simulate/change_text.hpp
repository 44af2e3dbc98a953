// simulate: writes a change as JSON.
// changes.hpp is the inverse.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_CHANGE_TEXT_HPP
#define WEIR_EXAMPLES_SIMULATE_CHANGE_TEXT_HPP

#include <weir/insight/predict.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>  // for std::uint64_t

namespace simulate {

/// \returns the JSON from which `to_changes` reads this change.
[[nodiscard]] inline nlohmann::ordered_json to_json(const weir::setting_change& change) {
    using weir::change_kind;
    auto text = nlohmann::ordered_json::object();
    if (!change.stage.empty()) text["stage"] = change.stage;
    const auto count = static_cast<std::uint64_t>(change.value);
    switch (change.kind) {
        case change_kind::faster:
            text["faster"] = change.value;
            break;
        case change_kind::concurrency:
            text["concurrency"] = count;
            break;
        case change_kind::capacity:
            text["capacity"] = count;
            break;
        case change_kind::batch_size:
            text["batch"] = count;
            break;
        case change_kind::completion_order:
            text["output_order"] = "completion";
            break;
        case change_kind::threads:
            text["workers"] = count;
            break;
        case change_kind::consumer:
            text["consumer_ms"] = change.value * 1e3;
            break;
        case change_kind::source:
            text["source"] = "unlimited";
            break;
        case change_kind::max_bytes:
            text["max_bytes"] = 0;
            break;
    }
    return text;
}

}  // namespace simulate

#endif
