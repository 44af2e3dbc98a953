// indicators store: finds stored results
#ifndef INDICATORS_STORE_SELECTION_HPP
#define INDICATORS_STORE_SELECTION_HPP

#include "indicators/store/result_store.hpp"

#include <map>
#include <string>
#include <vector>

namespace indicators {

struct selection {
    std::string name;  // empty: of all indicators, and then without their parameters and results
    std::vector<std::string> where;  // "matrix_size>=512", "device=cpu|gpu", "dtype!=float16"
    std::string machine;             // a part of "HOST: HARDWARE"
    std::vector<std::string> stack;  // "compiler=12.2": a part of what the stack has under that name
    std::string since;               // a time, or a day, which is its begin
    std::string until;
    std::string version;  // the beginning of it
    bool all = false;     // those that failed or were refused, too
};

struct found_result {
    std::string id;
    std::string status;
    std::string machine;  // "HOST: HARDWARE"
    std::map<std::string, std::string> stack;
    json columns;  // what `query` shows: "@id", "@time", ..., parameters, results, "overall_score"
    json values;   // parameters, results and overall_score by their names
};

struct incomplete_batch {
    std::string id;
    std::int64_t size = 0;
    std::vector<std::int64_t> missing;  // places; a thousand of them at most
    std::int64_t num_missing = 0;
};

// In the order in which they were stored. Throws lab::input_error: no indicator of that name, no field of it, a value
// that it can't have, no time.
std::vector<found_result> select_results(result_store& store, const registry& models, const selection& what);

std::vector<incomplete_batch> incomplete_batches(result_store& store);

}  // namespace indicators

#endif
