// simulate: reads a file of specs.
// A file that can't be read is reported like a wrong spec.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_FILE_HPP
#define WEIR_EXAMPLES_SIMULATE_FILE_HPP

#include "parse.hpp"
#include "spec.hpp"
#include "spec_error.hpp"

#include <cerrno>        // for errno
#include <fstream>       // for std::ifstream
#include <sstream>       // for std::ostringstream
#include <string>        // for std::string
#include <system_error>  // for std::generic_category
#include <utility>       // for std::move
#include <vector>        // for std::vector

namespace simulate {

/// \returns the content of a file.
/// Errors: `spec_error` for a file that can't be read.
[[nodiscard]] inline std::string text_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    // A directory opens, but can't be read.
    if (!in || (in.peek(), in.bad())) {
        const std::string why = std::generic_category().message(errno);
        throw spec_error(file, "", "", "can't be read: " + why);
    }
    text << in.rdbuf();
    return std::move(text).str();
}

/// \returns at least one spec; each has been checked
/// Errors: `spec_error` for a file that can't be read, and for the first mistake in it.
[[nodiscard]] inline std::vector<pipeline_spec> read_specs(const std::string& file) {
    return parse_specs(text_of(file), file);
}

}  // namespace simulate

#endif
