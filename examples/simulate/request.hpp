// simulate: what explain and what_if are asked: a pipeline that has been recorded, and changes of it.
// A document is a spec or a stored run; both may have "changes" beside their other fields.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_REQUEST_HPP
#define WEIR_EXAMPLES_SIMULATE_REQUEST_HPP

#include "changes.hpp"
#include "checked_changes.hpp"
#include "entries.hpp"
#include "numbers.hpp"
#include "pipelines.hpp"
#include "recorded.hpp"
#include "spec_error.hpp"

#include <weir/insight/recording.hpp>
#include <weir/measure/stats.hpp>
#include <weir/report/json.hpp>
#include <weir/report/run_record.hpp>

#include <optional>     // for std::optional
#include <stdexcept>    // for std::invalid_argument, std::runtime_error
#include <string>       // for std::string, std::to_string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace simulate {

/// One document of a file.
struct request {
    std::string title;
    weir::recording from;
    std::optional<weir::pipeline_stats> stored;  // the statistics of a stored run; none: a spec
    bool is_drawn = true;                        // times are a sample: predictions have an interval
    std::string refused;                         // why nothing can be predicted; empty: it can be
    std::vector<change> changes;
};

namespace detail {

inline request to_request(const entry& of) {
    const json& value = of.value;
    request asked;
    const bool is_stored = value.is_object() && value.contains("schema");
    try {
        if (is_stored) {
            const weir::run_record run = weir::run_from_json(of.text.empty() ? value.dump() : of.text);
            asked.title = run.name;
            asked.stored = run.total;
            asked.from = recording_of(run);
        } else {
            const pipeline_spec spec = to_spec_or_wrapped(value, purpose::predict);
            asked.title = spec.name;
            asked.from = recording_of(spec);
            asked.is_drawn = prepare_draws(asked.from);
        }
    } catch (const std::invalid_argument& e) {
        asked.refused = without_prefix(e.what());
    } catch (const std::runtime_error& e) {  // of the reader of stored runs
        throw mistake{"", without_prefix(e.what())};
    }
    const bool is_inside = value.contains("spec") && !value.contains("changes");
    const json& holder = is_inside ? value.at("spec") : value;
    if (holder.contains("changes")) {
        asked.changes = to_changes(holder.at("changes"), is_inside ? "spec.changes" : "changes");
    }
    return asked;
}

}  // namespace detail

/// \returns at least one; each has been checked
/// Errors: `spec_error` for the first mistake.
[[nodiscard]] inline std::vector<request> parse_requests(std::string_view text, const std::string& file) {
    std::vector<request> all;
    for (const detail::entry& each : detail::to_entries(text, file)) {
        try {
            request asked = detail::to_request(each);
            if (asked.refused.empty())
                detail::check_changes(asked.changes, asked.from, asked.stored.has_value());
            if (asked.title.empty()) asked.title = "pipeline " + std::to_string(all.size() + 1);
            all.push_back(std::move(asked));
        } catch (const detail::mistake& m) {
            throw spec_error(file, each.where, m.field, m.why);
        }
    }
    return all;
}

}  // namespace simulate

#endif
