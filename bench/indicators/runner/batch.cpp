// indicators runner: makes a document from a process that has ended
#include "indicators/runner/batch.hpp"

#include "indicators/machine/machine.hpp"
#include "indicators/record/bytes.hpp"
#include "lab/data/text.hpp"
#include "lab/driver/process.hpp"

#include <weir/platform/system_info.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>

extern char** environ;

namespace indicators {

namespace {

using lab::process_end;

// "2026-11-25T02:54:16.123456Z".
std::string utc_text(double unix_seconds) {
    const auto whole = static_cast<std::time_t>(std::floor(unix_seconds));
    std::tm parts{};
    ::gmtime_r(&whole, &parts);
    char text[64];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    std::snprintf(text + size, sizeof text - size, ".%06dZ",
                  static_cast<int>((unix_seconds - static_cast<double>(whole)) * 1e6));
    return text;
}

std::string end_name(process_end end) {
    switch (end) {
        case process_end::exited:
            return "exited";
        case process_end::signalled:
            return "signalled";
        case process_end::timed_out:
            return "timed_out";
        case process_end::too_much_output:
            return "too_much_output";
        case process_end::stopped:
            return "stopped";
        case process_end::not_started:
            return "not_started";
    }
    return "";
}

// The fields of getrusage() that Linux counts; the other ones of 16 are 0.
json usage_of(const lab::process_result& run) {
    return {{"ru_utime", run.user_s},
            {"ru_stime", run.system_s},
            {"ru_maxrss", run.peak_kb},
            {"ru_minflt", run.minor_faults},
            {"ru_majflt", run.major_faults},
            {"ru_inblock", run.blocks_in},
            {"ru_oublock", run.blocks_out},
            {"ru_nvcsw", run.voluntary_switches},
            {"ru_nivcsw", run.involuntary_switches}};
}

// A text unchanged; other bytes as base64, under another key.
void put_output(json& document, const std::string& key, const std::string& bytes) {
    const bool is_text = !first_byte_that_is_no_text(bytes);
    document[key] = is_text ? json(bytes) : json();
    if (!is_text) document[key + "_base64"] = base64_of(bytes);
}

json environment_of(const batch_options& options) {
    std::size_t bytes = 0;  // of the environment; this alone affects the speed (Mytkowicz et al., 2009)
    for (char** variable = environ; *variable != nullptr; ++variable) bytes += std::strlen(*variable) + 1;
    json set = json::object();
    for (const auto& [name, value] : options.environment) set[name] = value;
    json inherited = json::object();
    for (const auto& [name, value] : relevant_variables()) inherited[name] = value;
    return {{"set", set}, {"inherited", inherited}, {"inherited_bytes", bytes}};
}

}  // namespace

batch::batch(batch_options options)
    : options_(std::move(options)), release_(os_release_of_machine()),
      facts_(facts_of(options_.command, options_.environment)) {
    const auto now =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    // A unique id that sorts by time.
    id_ = lab::filled(utc_text(now).substr(0, 19), ":", "") + "-" + random_digits(6);
}

json batch::run(std::int64_t place) {
    lab::process_options process;
    process.command = options_.command;
    process.environment = options_.environment;
    process.limit_s = options_.limit_s;
    process.most_output = options_.most_output;
    process.stop = options_.stop;
    const json hardware = hardware_of_machine();
    const lab::process_result run = lab::run_process(process);

    json document{{"indicator_result", 1},
                  {"id", id_ + "." + std::to_string(place)},
                  {"batch", {{"id", id_}, {"place", place}, {"size", options_.size}}},
                  {"command", options_.command},
                  {"environment", environment_of(options_)},
                  {"end", end_name(run.end)},
                  {"exit_code", run.end == process_end::exited ? json(run.code) : json()},
                  {"signal", run.end == process_end::signalled ? json(lab::signal_name(run.code)) : json()},
                  {"message", run.message.empty() ? json() : json(run.message)}};
    if (options_.lenient) document["lenient"] = true;
    // As a text if its levels plus the document's own would be too many.
    constexpr std::size_t levels_left = 90;
    if (read_json read = read_json_text(run.out, levels_left); read.good() && read.document.is_object()) {
        document["stdout"] = std::move(read.document);
    } else {
        put_output(document, "stdout", run.out);
    }
    put_output(document, "stderr", run.err);
    document["usage"] = usage_of(run);
    document["start_datetime"] = utc_text(run.started);
    document["end_datetime"] = utc_text(run.ended);
    document["duration_s"] = run.duration_s;
    document["hostname"] = weir::detail::name_of_host();
    document["machine"] = hardware;
    document["os_release"] = release_;
    document["stack"] = facts_.stack;
    document["files"] = facts_.files;
    document["script_sha256"] = facts_.script_sha256.empty() ? json() : json(facts_.script_sha256);
    return document;
}

}  // namespace indicators
