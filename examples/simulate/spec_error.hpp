// simulate: the exception for a file that can't be used.
// It names the file, the line and the field.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_SPEC_ERROR_HPP
#define WEIR_EXAMPLES_SIMULATE_SPEC_ERROR_HPP

#include <stdexcept>  // for std::runtime_error
#include <string>     // for std::string

namespace simulate {

/// A file that can't be used: its name, the place in it, the field, and the reason.
class spec_error : public std::runtime_error {
  public:
    /// \param where a line, an entry of a list, or nothing
    /// \param field as in `stages[1].concurrency`, or nothing
    spec_error(const std::string& file, const std::string& where, const std::string& field,
               const std::string& why)
        : std::runtime_error(file + ": " + (where.empty() ? "" : where + ": ") +
                             (field.empty() ? "" : field + ": ") + why) {}
};

}  // namespace simulate

#endif
