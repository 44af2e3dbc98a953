// indicators store: finds stored results
#ifndef INDICATORS_STORE_SELECTION_HPP
#define INDICATORS_STORE_SELECTION_HPP

#include "indicators/store/result_store.hpp"

#include <map>
#include <string>
#include <vector>

namespace indicators {

struct selection {
    std::string name;                // empty: all indicators, without their parameters and results
    std::vector<std::string> where;  // "matrix_size>=512", "device=cpu|gpu", "dtype!=float16"
    std::string machine;             // a part of "HOST: HARDWARE"
    std::vector<std::string> stack;  // "compiler=12.2": part of the value in the stack
    std::string since;               // a time, or a day, which means its begin
    std::string until;
    std::string version;  // the begin of the version
    bool all = false;     // includes failed and refused runs
};

struct found_result {
    std::string id;
    std::string status;
    std::string machine;  // "HOST: HARDWARE"
    std::map<std::string, std::string> stack;
    json columns;  // the columns of `query`: "@id", "@time", ..., parameters, results, "overall_score"
    json values;   // parameters, results and overall_score by their names
};

struct incomplete_batch {
    std::string id;
    std::int64_t size = 0;
    std::vector<std::int64_t> missing;  // places, at most a thousand
    std::int64_t num_missing = 0;
};

// In the order of storing. Throws lab::input_error for: no indicator of this name, no such field, a value that
// the field can't have, an invalid time.
std::vector<found_result> select_results(result_store& store, const registry& models, const selection& what);

std::vector<incomplete_batch> incomplete_batches(result_store& store);

}  // namespace indicators

#endif
