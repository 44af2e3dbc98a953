// indicators advice: makes a table of comparable runs from stored results
#ifndef INDICATORS_ADVICE_COMPARABLE_HPP
#define INDICATORS_ADVICE_COMPARABLE_HPP

#include "indicators/store/selection.hpp"
#include "lab/data/run_table.hpp"

#include <string>
#include <vector>

namespace indicators {

struct comparable_options {
    std::string cost = {};                  // a result, or overall_score; the model's own if empty
    bool is_rate = false;                   // more of `cost` is better
    std::vector<std::string> choices = {};  // parameters that count as choices, whatever their role
    std::vector<std::string> pooled = {};   // parameters and stack members whose differences are ignored
    bool pool_machines = false;
};

struct comparable_runs {
    lab::run_table table;          // factors: choices, and differences of the stacks
    std::vector<std::string> ids;  // one per run
    std::vector<std::string> machines;
    json fixed = json::object();  // parameters that are the same in all runs
    std::vector<std::string> notes;
};

// Throws lab::input_error with advice for: runs of several machines, or of several workloads; no such result.
comparable_runs comparable(const std::vector<found_result>& found, const model& of,
                           const comparable_options& how);

// Throws lab::input_error with the machines if there are several, and they are not to be pooled.
void only_one_machine(const std::vector<std::string>& machines, bool pool_machines);

}  // namespace indicators

#endif
