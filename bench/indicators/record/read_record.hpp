// indicators record: reads documents of this runner and of others, and bare indicators
#ifndef INDICATORS_RECORD_READ_RECORD_HPP
#define INDICATORS_RECORD_READ_RECORD_HPP

#include "indicators/record/run_record.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace indicators {

// One document. It may be   - of this runner;   - of Amun, the runner of Thoth: an object with `stdout`, maybe
// within `result`, or, in the first generation, within     `job_log` beside its `specification`;   - an indicator
// alone, as a program prints it: of its run nothing is known;   - one of the last two as `document` of an object
// that has `batch` and `specification` beside it, as they are stored.
run_record read_record(std::string_view text);

struct found_record {
    std::string file;  // as messages show it: with the line, of a file with a document a line
    run_record run;
};

// Of a file: one document, or one a line; of a folder of Amun's: build/specification and results/*/result, as one
// batch. Throws lab::input_error if there is no such file, or nothing in it.
std::vector<found_record> read_records(const std::string& path);
// Of what a file of that name has.
std::vector<found_record> records_in(const std::string& text, const std::string& name);

}  // namespace indicators

#endif
