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

// Whether what is `chosen` of `values` breaks none of the constraints that `last` takes part in.
bool holds_so_far(const factor_file& file, const configuration& values, const std::vector<bool>& chosen,
                  std::size_t last);

// The first configuration that breaks no constraint: factors in `order`, each at the first of its `tried` values that
// those before it leave; it goes back where none is left (backtracking).
std::optional<configuration> allowed_configuration(const factor_file& file,
                                                   const std::vector<std::vector<double>>& tried,
                                                   const std::vector<std::size_t>& order);

// Whether there is any, of all levels, and of numbers their ends, bases, and what constraints name.
bool allows_anything(const factor_file& file);

}  // namespace lab

#endif
