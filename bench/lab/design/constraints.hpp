// lab design: what can't go together: read, and looked at as a whole
#ifndef LAB_DESIGN_CONSTRAINTS_HPP
#define LAB_DESIGN_CONSTRAINTS_HPP

#include "lab/design/factor_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lab {

// Throws input_error at `line` of `file`: an unknown factor or level, no such form, a factor that conflicts with itself.
constraint parse_constraint(const std::string& text, const std::vector<factor>& factors,
                            const std::string& file, std::size_t line);

// Values of a factor that a search looks at: all levels; of a number its ends, its base, and what constraints name.
std::vector<double> tried_values(const factor_file& file, std::size_t which);

// A configuration that breaks no constraint, if the tried values have one; `fixed` has the values that are given.
// Backtracking.
std::optional<configuration> allowed_configuration(const factor_file& file,
                                                   const std::vector<std::optional<double>>& fixed = {});

}  // namespace lab

#endif
