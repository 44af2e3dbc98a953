// lab analysis: the properties of a plan before anything is run
#ifndef LAB_ANALYSIS_PLAN_REPORT_HPP
#define LAB_ANALYSIS_PLAN_REPORT_HPP

#include "lab/analysis/fit.hpp"
#include "lab/design/plan.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace lab {

struct level_count {
    std::string factor;
    std::string value;
    std::size_t runs = 0;
};

struct term_quality {
    std::string name;
    double inflation = 1;  // variance inflation (VIF), because the factor is not independent of the others
};

struct plan_report {
    std::size_t runs = 0;
    std::size_t configurations = 0;
    std::vector<level_count> levels;
    double worst_pair =
        0;  // the largest difference between the share of a pair of values and the product of both shares
    std::string worst_pair_names;  // "a=1, b=file"
    double d_efficiency = 0;       // of the model without pairs: 1 is orthogonal and balanced
    std::vector<term_quality> terms;
    std::vector<aliased_term> aliased;  // aliased factors; with pairs, also aliased pairs
    std::vector<std::string> never;     // values that no run has
};

plan_report report_of(const plan& what, bool pairs);

}  // namespace lab

#endif
