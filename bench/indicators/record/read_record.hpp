// indicators record: reads documents of this runner and of others, and bare indicators
#ifndef INDICATORS_RECORD_READ_RECORD_HPP
#define INDICATORS_RECORD_READ_RECORD_HPP

#include "indicators/record/run_record.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace indicators {

// Reads one document. It may be
// - a document of this runner;
// - a document of Amun, the runner of Thoth: an object with `stdout`, possibly within `result`, or, in the
//   first generation, within `job_log` beside its `specification`;
// - a bare indicator, as a program prints it: nothing is known about its run;
// - one of the last two as `document` of an object with `batch` and `specification`, as they are stored.
run_record read_record(std::string_view text);

struct found_record {
    std::string file;  // for messages; with the line, if the file has one document per line
    run_record run;
};

// Reads a file with one document, or one per line; or a folder of Amun's, build/specification and
// results/*/result, as one batch. Throws lab::input_error if there is no such file, or it is empty.
std::vector<found_record> read_records(const std::string& path);
// The documents in a file of this name.
std::vector<found_record> records_in(const std::string& text, const std::string& name);

}  // namespace indicators

#endif
