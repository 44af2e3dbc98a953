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
    double inflation = 1;  // of its variance, as it isn't independent of the other factors (VIF)
};

struct plan_report {
    std::size_t runs = 0;
    std::size_t configurations = 0;
    std::vector<level_count> levels;
    double worst_pair =
        0;  // the largest difference of a pair of values' share from the product of both shares
    std::string worst_pair_names;  // "a=1, b=file"
    double d_efficiency = 0;       // of the model without pairs: 1 is orthogonal and balanced
    std::vector<term_quality> terms;
    std::vector<aliased_term> aliased;  // of factors; with pairs of pairs, too
    std::vector<std::string> never;     // values that no run has
};

plan_report report_of(const plan& what, bool pairs);

}  // namespace lab

#endif
