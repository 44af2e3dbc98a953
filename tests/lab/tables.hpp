// Tables of runs for the lab's tests.
#ifndef TESTS_LAB_TABLES_HPP
#define TESTS_LAB_TABLES_HPP

#include "lab/data/run_table.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace lab_tests {

// A full factorial of on/off factors a, b, c ..., each configuration once.
inline lab::run_table factorial(std::size_t factors,
                                const std::function<double(const lab::configuration&)>& cost) {
    lab::run_table table;
    table.name = "factorial.csv";
    table.cost_name = "cost";
    for (std::size_t f = 0; f < factors; ++f) {
        lab::factor& added = table.factors.emplace_back();
        added.name = std::string(1, static_cast<char>('a' + f));
    }
    for (std::size_t i = 0; i < std::size_t{1} << factors; ++i) {
        lab::measured_run run;
        for (std::size_t f = 0; f < factors; ++f) run.values.push_back(static_cast<double>(i >> f & 1));
        run.cost = cost(run.values);
        run.time = static_cast<double>(i);
        run.line = i + 2;
        table.runs.push_back(run);
    }
    return table;
}

// A number from 0 to 1 that depends on nothing but the values.
inline double scattered(const lab::configuration& values) {
    double number = 0.123;
    for (const double value : values) {
        number = number * 7.31 + value * 3.77 + 0.11;
        number -= static_cast<double>(static_cast<long>(number));
    }
    return number;
}

}  // namespace lab_tests

#endif
