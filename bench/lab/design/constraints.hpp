// lab design: constraints between factors: parsed, and checked as a whole
#ifndef LAB_DESIGN_CONSTRAINTS_HPP
#define LAB_DESIGN_CONSTRAINTS_HPP

#include "lab/design/factor_file.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lab {

// Throws input_error at `line` of `file` for: an unknown factor or level, an unknown form, a factor that
// conflicts with itself.
constraint parse_constraint(const std::string& text, const std::vector<factor>& factors,
                            const std::string& file, std::size_t line);

// Visits the configurations that satisfy all constraints, until `visit` returns false: factors in `order`, each
// at its `tried` values in turn. After each choice, values that are no longer possible are removed (Mackworth,
// "Consistency in networks of relations", 1977), so that backtracking is rare.
void visit_allowed(const factor_file& file, const std::vector<std::vector<double>>& tried,
                   const std::vector<std::size_t>& order,
                   const std::function<bool(const configuration&)>& visit);

// The first of these configurations, if there is one.
std::optional<configuration> allowed_configuration(const factor_file& file,
                                                   const std::vector<std::vector<double>>& tried,
                                                   const std::vector<std::size_t>& order);

// Whether a configuration satisfies all constraints. It tries all levels, and for numbers their ends, bases,
// and values in constraints.
bool allows_anything(const factor_file& file);

}  // namespace lab

#endif
