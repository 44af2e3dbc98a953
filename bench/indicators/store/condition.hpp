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
    std::vector<std::string> values;  // more than one only of = and !=: any of them

    // Numbers are compared as numbers; a text has no order.
    [[nodiscard]] bool holds_for(const std::string& value) const;
};

// Throws lab::input_error if that is no condition.
condition condition_in(const std::string& text);

}  // namespace indicators

#endif
