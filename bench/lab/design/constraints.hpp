// lab design: constraints between factors: parsed, and checked as a whole
#ifndef LAB_DESIGN_CONSTRAINTS_HPP
#define LAB_DESIGN_CONSTRAINTS_HPP

#include "lab/design/factor_file.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lab {

// Throws input_error at `line` of `file`: an unknown factor or level, no such form, a factor that conflicts with
// itself.
constraint parse_constraint(const std::string& text, const std::vector<factor>& factors,
                            const std::string& file, std::size_t line);

// The configurations that break no constraint, until `visit` answers false: factors in `order`, each at its `tried`
// values in turn. After each choice the values that nothing goes with any more are taken away (Mackworth,
// "Consistency in networks of relations", 1977), so that it seldom has to go back.
void visit_allowed(const factor_file& file, const std::vector<std::vector<double>>& tried,
                   const std::vector<std::size_t>& order,
                   const std::function<bool(const configuration&)>& visit);

// The first of these, if there is any.
std::optional<configuration> allowed_configuration(const factor_file& file,
                                                   const std::vector<std::vector<double>>& tried,
                                                   const std::vector<std::size_t>& order);

// Whether there is any, of all levels, and of numbers their ends, bases, and what constraints name.
bool allows_anything(const factor_file& file);

}  // namespace lab

#endif
