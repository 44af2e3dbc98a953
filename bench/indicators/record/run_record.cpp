// indicators record: decides whether a run is accepted, failed or refused
#include "indicators/record/run_record.hpp"

#include <algorithm>

namespace indicators {

std::string run_record::end_text() const {
    if (end == "signalled") return signal.empty() ? "a signal" : signal;
    if (end == "timed_out") return "the time limit";
    if (end == "too_much_output") return "too much output";
    if (end == "stopped") return "a stop of the runner";
    if (end == "not_started") return "no start";
    return "exit status " + std::to_string(exit_code.value_or(0));
}

judged_run judge(run_record run, const registry& models, const validation_options& how) {
    judged_run result;
    result.reasons = run.wrong;
    for (const refusal& r : run.printed.refusals)
        result.reasons.push_back({run.printed_path + r.path.substr(1), r.reason});
    if (run.printed.is_json) {
        result.printed = validate(run.printed.document, models, how, run.printed_path);
        for (const refusal& r : result.printed.refusals) {
            const auto same = [&](const refusal& other) { return other.path == r.path; };
            if (std::none_of(result.reasons.begin(), result.reasons.end(), same)) result.reasons.push_back(r);
        }
    }
    // A program's information about its build is part of the stack, too.
    if (result.printed.document.of != nullptr) {
        for (const auto& [key, value] : run.printed.document.items()) {
            if (!key.ends_with("buildinfo") || !value.is_object()) continue;
            const std::string prefix = key.substr(0, key.size() - std::string("buildinfo").size());
            for (const auto& [name, what] : value.items())
                if (!what.is_object() && !what.is_array() && !what.is_null())
                    run.stack.try_emplace(prefix + name, lab::plain_text(what));
        }
    }
    if (result.printed.document.version) run.version = *result.printed.document.version;
    if (!run.ended_well()) {
        result.status = "failed";
        result.reasons.insert(result.reasons.begin(), {"$", "the run ended by " + run.end_text()});
    } else {
        result.status = result.reasons.empty() ? "accepted" : "refused";
    }
    result.run = std::move(run);
    return result;
}

}  // namespace indicators
