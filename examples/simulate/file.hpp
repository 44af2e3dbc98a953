// simulate: reads a file of specs.
// A file that can't be read is reported like a wrong spec.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_FILE_HPP
#define WEIR_EXAMPLES_SIMULATE_FILE_HPP

#include "parse.hpp"
#include "spec.hpp"

#include <cerrno>        // for errno
#include <fstream>       // for std::ifstream
#include <sstream>       // for std::ostringstream
#include <string>        // for std::string
#include <system_error>  // for std::generic_category
#include <vector>        // for std::vector

namespace simulate {

/// \returns at least one spec; each has been checked
/// Errors: `spec_error` for a file that can't be read, and for the first mistake in it.
[[nodiscard]] inline std::vector<pipeline_spec> read_specs(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    // A directory opens, but can't be read.
    if (!in || (in.peek(), in.bad())) {
        const std::string why = std::generic_category().message(errno);
        throw spec_error(file, "", "", "can't be read: " + why);
    }
    text << in.rdbuf();
    return parse_specs(text.str(), file);
}

}  // namespace simulate

#endif
