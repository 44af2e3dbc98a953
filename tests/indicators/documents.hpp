// Documents and models for the tests of the indicators.
#ifndef TESTS_INDICATORS_DOCUMENTS_HPP
#define TESTS_INDICATORS_DOCUMENTS_HPP

#include "indicators/record/read_record.hpp"

#include <string>

namespace indicator_tests {

using indicators::json;

// "PiSpeed": parameters `size` (a workload), `mode` (a choice) and `reps` (effort); results `ms` and `per_s`.
inline json speed_model() {
    return json::parse(R"({"name": "PiSpeed", "about": "For tests.", "parameters": {
        "size": {"type": "int", "at_least": 1},
        "mode": {"type": "text", "role": "choice"},
        "reps": {"type": "int", "role": "effort"}},
      "results": {"ms": {"type": "float", "unit": "ms", "above": 0}, "per_s": {"type": "float"}},
      "checks": [{"equal": ["ms * per_s", "1000"]}],
      "score": {"field": "ms", "better": "less"}})");
}
inline indicators::registry speed_models(const json& model = speed_model()) {
    indicators::registry all;
    all.add(model, "speed.json");
    return all;
}

inline json speed(double ms, const std::string& mode = "fast", int size = 10, int reps = 3) {
    return {{"name", "PiSpeed"},
            {"component", "weir"},
            {"@parameters", {{"size", size}, {"mode", mode}, {"reps", reps}}},
            {"@result", {{"ms", ms}, {"per_s", 1000 / ms}}}};
}

// As this runner writes it: the first run of a batch of one.
inline json result_of(const std::string& batch, const json& printed, const std::string& host = "one") {
    return {{"indicator_result", 1},
            {"id", batch + ".0"},
            {"batch", {{"id", batch}, {"place", 0}, {"size", 1}}},
            {"end", "exited"},
            {"exit_code", 0},
            {"signal", nullptr},
            {"stdout", printed},
            {"stderr", ""},
            {"usage", {{"ru_utime", 0.25}, {"ru_stime", 0.5}, {"ru_maxrss", 4096}, {"ru_nvcsw", 7}}},
            {"start_datetime", "2026-11-25T10:00:00.500000Z"},
            {"end_datetime", "2026-11-25T10:00:01.500000Z"},
            {"duration_s", 1.0},
            {"hostname", host},
            {"machine", {{"name", "2 x AMD EPYC, 24 GiB"}}},
            {"stack", {{"compiler", "GCC 12.2.0"}, {"os", "debian 12"}}},
            {"script_sha256", "abc"}};
}
inline json in_batch(json document, const std::string& batch, int place, int size) {
    document["id"] = batch + "." + std::to_string(place);
    document["batch"] = {{"id", batch}, {"place", place}, {"size", size}};
    return document;
}

inline indicators::judged_run judged(const json& document, const indicators::registry& models,
                                     bool lenient = false) {
    return indicators::judge(indicators::read_record(document.dump()), models, {lenient, false});
}

// As Amun wrote it: what it calls hwinfo is shorter here.
inline json amun_result(const json& printed) {
    return {{"datetime", "2020-08-05T14:49:50.644642"},
            {"exit_code", 0},
            {"hostname", "inspection-a-1129319366"},
            {"hwinfo",
             {{"cpu_info",
               {{"brand_raw", "Intel Xeon Processor (Skylake, IBRS)"},
                {"count", 64},
                {"family", 6},
                {"model", 85}}},
              {"platform", {{"release", "4.18.0-147.8.1.el8_1.x86_64"}}}}},
            {"os_release", {{"id", "rhel"}, {"version_id", "8.2"}}},
            {"runtime_environment",
             {{"cuda_version", nullptr}, {"hardware", {{"cpu_family", 6}}}, {"python_version", "3.6"}}},
            {"script_sha256", "dd8cdfc0"},
            {"stderr", "REPS set to 3\n"},
            {"stdout", printed},
            {"usage",
             {{"ru_utime", 142.657523},
              {"ru_stime", 16.107329},
              {"ru_maxrss", 827460},
              {"ru_ixrss", 0},
              {"ru_nvcsw", 130906}}}};
}

}  // namespace indicator_tests

#endif
