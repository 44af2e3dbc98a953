// simulate: parses a file of specs, and reports the place of a mistake.
// A file has one spec, a list of specs, or one spec per line.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_PARSE_HPP
#define WEIR_EXAMPLES_SIMULATE_PARSE_HPP

#include "entries.hpp"
#include "numbers.hpp"
#include "pipelines.hpp"
#include "spec.hpp"
#include "spec_error.hpp"

#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <vector>       // for std::vector

namespace simulate {

/// \param text  the content of the file: a spec or a list of specs, or one spec a line, as in a file whose name ends
///              in ".jsonl". Instead of a spec there may be an object that has one as its field "spec".
/// \param file  its name, for the messages
/// \returns at least one spec; each has been checked
/// Errors: `spec_error` for the first mistake.
[[nodiscard]] inline std::vector<pipeline_spec> parse_specs(std::string_view text, const std::string& file) {
    std::vector<pipeline_spec> specs;
    for (const detail::entry& each : detail::to_entries(text, file)) {
        try {
            specs.push_back(detail::to_spec_or_wrapped(each.value, detail::purpose::measure));
        } catch (const detail::mistake& m) {
            throw spec_error(file, each.where, m.field, m.why);
        }
    }
    return specs;
}

}  // namespace simulate

#endif
