// indicators store: a condition on a value, as "matrix_size>=512"
#ifndef INDICATORS_STORE_CONDITION_HPP
#define INDICATORS_STORE_CONDITION_HPP

#include <string>
#include <vector>

namespace indicators {

struct condition {
    std::string text;
    std::string field;
    std::string relation;             // =, !=, <, <=, >, >=
    std::vector<std::string> values;  // several values only for = and !=: any of them

    // Numbers are compared as numbers; a text has no order.
    [[nodiscard]] bool holds_for(const std::string& value) const;
};

// Parses a condition. Throws lab::input_error if it is invalid.
condition condition_in(const std::string& text);

}  // namespace indicators

#endif
