// tasks: the output of the program: a performance indicator, as JSON or as a table.
#ifndef BENCH_TASKS_DOCUMENT_HPP
#define BENCH_TASKS_DOCUMENT_HPP

#include "settings.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tasks {

struct figure {
    std::string name;
    double value;
    bool is_count = false;
};

struct document {
    // Errors: std::logic_error if one is missing.
    explicit document(values effective);

    values parameters;
    std::vector<figure> results;
    std::vector<std::pair<std::string, std::string>> about;  // not factors: the machine, the build
    double overall_score = 0;

    std::string json() const;
    std::string table() const;
};

}  // namespace tasks

#endif
