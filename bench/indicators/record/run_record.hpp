// indicators record: one run of an indicator: its output, and the runner's observations
#ifndef INDICATORS_RECORD_RUN_RECORD_HPP
#define INDICATORS_RECORD_RUN_RECORD_HPP

#include "indicators/contract/validation.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace indicators {

// The maximum size of a batch.
inline constexpr std::int64_t most_runs = 1'000'000;

// The place of a run in a batch of `size`, from 0.
struct batch_place {
    std::string id;
    std::int64_t place = 0;
    std::int64_t size = 1;
};

// The information of a document about a run. Only `id`, `whole` and `printed` are always known.
struct run_record {
    std::string id;            // for documents of other runners, a hash of the content
    json whole;                // the document
    read_json printed;         // the output of the program
    std::string printed_path;  // the path of the output in the document
    std::optional<batch_place> batch;
    std::string end = "exited";  // or "signalled", "timed_out", "too_much_output", "stopped", "not_started"
    std::optional<std::int64_t> exit_code;
    std::string signal;
    std::string origin;   // the origin of the program
    std::string version;  // of the program: SHA-256 of its script
    std::string started;  // UTC, as 2026-11-25T02:54:16.123456Z
    std::string ended;
    std::optional<double> duration_s;
    std::string host;
    std::string machine;                       // "2 x AMD EPYC, 24 GiB"; empty: unknown
    std::map<std::string, std::string> stack;  // "compiler": "g++ 12.2.0", "os": "debian 12"
    std::map<std::string, double> usage;       // "ru_utime": 0.5
    indicators::refusals wrong;                // invalid parts of the document

    [[nodiscard]] bool ended_well() const { return end == "exited" && exit_code.value_or(0) == 0; }
    // The end of the run: "exit status 3", "SIGSEGV", "the time limit".
    [[nodiscard]] std::string end_text() const;
};

// A stored run.
struct judged_run {
    run_record run;
    validation printed;
    // "accepted"; "failed": the run did not end well, whatever it printed; "refused": it ended well, but
    // printed no valid indicator.
    std::string status;
    indicators::refusals reasons;
};

judged_run judge(run_record run, const registry& models, const validation_options& how);

}  // namespace indicators

#endif
