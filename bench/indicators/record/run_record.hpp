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

// More than that no batch has.
inline constexpr std::int64_t most_runs = 1'000'000;

// A run in a batch of `size`, the first at place 0.
struct batch_place {
    std::string id;
    std::int64_t place = 0;
    std::int64_t size = 1;
};

// What a document says of a run. Nothing but `id`, `whole` and `printed` has to be known.
struct run_record {
    std::string id;            // of a document of another runner: a hash of its content
    json whole;                // the document
    read_json printed;         // what the program printed
    std::string printed_path;  // where in the document that is
    std::optional<batch_place> batch;
    std::string end = "exited";  // or "signalled", "timed_out", "too_much_output", "stopped", "not_started"
    std::optional<std::int64_t> exit_code;
    std::string signal;
    std::string origin;   // where the program is from
    std::string version;  // of the program: SHA-256 of its script
    std::string started;  // UTC, as 2026-11-25T02:54:16.123456Z
    std::string ended;
    std::optional<double> duration_s;
    std::string host;
    std::string machine;                       // "2 x AMD EPYC, 24 GiB"; empty: unknown
    std::map<std::string, std::string> stack;  // "compiler": "g++ 12.2.0", "os": "debian 12"
    std::map<std::string, double> usage;       // "ru_utime": 0.5
    indicators::refusals wrong;                // what of the document isn't what it has to be

    [[nodiscard]] bool ended_well() const { return end == "exited" && exit_code.value_or(0) == 0; }
    // How it ended: "exit status 3", "SIGSEGV", "the time limit".
    [[nodiscard]] std::string end_text() const;
};

// A run as it is stored.
struct judged_run {
    run_record run;
    validation printed;
    // "accepted"; "failed": it didn't end well, whatever it printed; "refused": it did, and printed no indicator.
    std::string status;
    indicators::refusals reasons;
};

judged_run judge(run_record run, const registry& models, const validation_options& how);

}  // namespace indicators

#endif
