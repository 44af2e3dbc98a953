// indicators record: reads one document of any runner
#include "indicators/record/read_record.hpp"

#include "indicators/contract/field_value.hpp"
#include "indicators/record/bytes.hpp"
#include "lab/driver/process.hpp"

#include <cmath>
#include <set>

namespace indicators {

namespace {

const json* member(const json& of, std::string_view key) {
    if (!of.is_object()) return nullptr;
    const auto found = of.find(key);
    return found == of.end() || found->is_null() ? nullptr : &*found;
}
const json* member(const json* of, std::string_view key) {
    return of == nullptr ? nullptr : member(*of, key);
}

std::string text_of(const json* value) {
    if (value == nullptr || value->is_object() || value->is_array()) return {};
    return lab::plain_text(*value);
}

std::optional<std::int64_t> integer_of(const json* value) {
    return value != nullptr && value->is_number_integer() ? std::optional(value->get<std::int64_t>())
                                                          : std::nullopt;
}

// Amun's "2020-08-05T14:49:50.644642" is UTC without a suffix. Empty if it is no time.
std::string utc_time(const json* value) {
    std::string text = text_of(value);
    if (!is_datetime(text)) return {};
    if (text.size() >= 19 && text[10] == ' ') text[10] = 'T';
    const bool says_so =
        text.ends_with('Z') || text.find_first_of("+-", std::min<std::size_t>(text.size(), 19)) != text.npos;
    return text.empty() || says_so ? text : text + "Z";
}

// The values of "end" in documents of this runner.
bool is_end(const std::string& end) {
    static const std::set<std::string> all{"exited",          "signalled", "timed_out",
                                           "too_much_output", "stopped",   "not_started"};
    return all.contains(end);
}

class record_reader {
  public:
    // `beside` has the batch and the specification of the run.
    record_reader(const json& envelope, const json& beside, std::string path)
        : envelope_(envelope), beside_(beside), path_(std::move(path)),
          is_ours_(member(envelope, "indicator_result") != nullptr) {}

    run_record run() {
        read_printed();
        read_end();
        run_.started = utc_time(first_of({"start_datetime", "datetime"}));
        run_.ended = utc_time(member(envelope_, "end_datetime"));
        if (const json* duration = member(envelope_, "duration_s");
            duration != nullptr && duration->is_number())
            run_.duration_s = duration->get<double>();
        run_.host = text_of(member(envelope_, "hostname"));
        run_.version = text_of(member(envelope_, "script_sha256"));
        read_machine();
        read_stack();
        if (const json* usage = member(envelope_, "usage"); usage != nullptr && usage->is_object())
            for (const auto& [key, value] : usage->items())
                if (value.is_number() && std::abs(value.get<double>()) < most_usage)
                    run_.usage[key] = value.get<double>();
        read_specification(member(beside_, "specification"));
        read_batch();
        return std::move(run_);
    }

  private:
    void wrong(const char* key, const std::string& reason) {
        run_.wrong.push_back({member_path(path_, key), reason});
    }
    const json* first_of(std::initializer_list<const char*> keys) const {
        for (const char* key : keys)
            if (const json* found = member(envelope_, key)) return found;
        return nullptr;
    }

    void read_printed() {
        run_.printed_path = member_path(path_, "stdout");
        const json* printed = member(envelope_, "stdout");
        if (const json* bytes = member(envelope_, "stdout_base64")) {
            const std::string text = bytes_of_base64(text_of(bytes));
            if (text.empty()) wrong("stdout_base64", "is no base64");
            run_.printed = read_json_text(text);
        } else if (printed == nullptr || (printed->is_object() && printed->empty() && !is_ours_)) {
            run_.printed = read_json_text("");  // Amun makes {} of nothing
        } else if (printed->is_string()) {
            run_.printed = read_json_text(printed->get_ref<const std::string&>());
        } else {
            run_.printed.document = *printed;
            run_.printed.is_json = true;
        }
    }
    // A negative exit status is the number of a signal, as in Python.
    void read_end() {
        const json* code = member(envelope_, "exit_code");
        run_.exit_code = integer_of(code);
        run_.signal = text_of(member(envelope_, "signal"));
        if (const json* end = member(envelope_, "end")) run_.end = text_of(end);
        if (code != nullptr && !run_.exit_code)
            wrong("exit_code", "has to be a whole number, and is " + shown(code->dump()));
        if (code == nullptr && run_.signal.empty() && run_.end == "exited")
            wrong("exit_code", "is missing, so that nobody knows how the run ended");
        if (!is_end(run_.end)) wrong("end", "is " + shown(run_.end) + ", which is no way to end");
        if (run_.exit_code && (*run_.exit_code < -128 || *run_.exit_code > 255)) {
            wrong("exit_code", "is " + code->dump() + ", which no program ends with");
        } else if (run_.exit_code && *run_.exit_code < 0) {
            run_.signal = lab::signal_name(static_cast<int>(-*run_.exit_code));
            run_.exit_code.reset();
        }
        if (!run_.signal.empty() && run_.end == "exited") run_.end = "signalled";
    }

    void read_machine() {
        if (const json* machine = member(envelope_, "machine")) {
            run_.machine = text_of(member(machine, "name"));
            // Parts that may change from day to day.
            for (const char* key : {"cores_allowed", "governor", "huge_pages", "microcode"})
                add_stack(key, text_of(member(machine, key)));
            return;
        }
        const json* cpu = member(member(envelope_, "hwinfo"), "cpu_info");
        if (cpu == nullptr) cpu = member(member(envelope_, "hwinfo"), "cpu");
        std::string brand = text_of(member(cpu, "brand_raw"));
        if (brand.empty()) brand = text_of(member(cpu, "brand"));
        const std::string count = text_of(member(cpu, "count"));
        if (!brand.empty()) run_.machine = (count.empty() ? "" : count + " x ") + brand;
    }
    void read_stack() {
        if (const json* stack = member(envelope_, "stack"); stack != nullptr && stack->is_object())
            for (const auto& [key, value] : stack->items()) add_stack(key, text_of(&value));
        const json* runtime = member(envelope_, "runtime_environment");
        const json* release = member(envelope_, "os_release");
        const std::string name = text_of(member(release, "id"));
        if (!name.empty()) add_stack("os", name + " " + text_of(member(release, "version_id")));
        add_stack("python", text_of(member(runtime, "python_version")));
        add_stack("cuda", text_of(member(runtime, "cuda_version")));
        add_stack("kernel", text_of(member(member(member(envelope_, "hwinfo"), "platform"), "release")));
    }
    void add_stack(const std::string& key, const std::string& value) {
        if (!value.empty()) run_.stack.try_emplace(key, value);
    }
    void read_specification(const json* specification) {
        if (specification == nullptr) return;
        run_.origin = text_of(member(specification, "script"));
        const json* python = member(specification, "python");
        const json* packages = member(member(python, "requirements_locked"), "default");
        if (packages == nullptr || !packages->is_object()) return;
        for (const auto& [name, package] : packages->items()) {
            std::string version = text_of(member(package, "version"));
            if (version.starts_with("==")) version = version.substr(2);
            add_stack(name, version);
        }
    }
    void read_batch() {
        const json* batch = member(beside_, "batch");
        if (batch == nullptr) return;
        const auto place = integer_of(member(batch, "place"));
        const auto size = integer_of(member(batch, "size"));
        const std::string id = text_of(member(batch, "id"));
        if (id.empty() || !place || !size || *place < 0 || *place >= *size || *size > most_runs) {
            run_.wrong.push_back({"$.batch", "has to have an id, a size up to " + std::to_string(most_runs) +
                                                 ", and a place from 0 on that is less than that"});
            return;
        }
        run_.batch = batch_place{id, *place, *size};
    }

    static constexpr double most_usage = 9e15;
    const json& envelope_;
    const json& beside_;
    std::string path_;
    bool is_ours_;
    run_record run_;
};

}  // namespace

run_record read_record(std::string_view text) {
    read_json read = read_json_text(text);
    run_record run;
    run.printed_path = "$";
    if (!read.is_json) {
        run.printed = std::move(read);
        return run;
    }
    const json whole = std::move(read.document);
    const bool is_ours = member(whole, "indicator_result") != nullptr;
    const json* inside = is_ours ? member(whole, "document") : nullptr;
    const json& document = inside != nullptr ? *inside : whole;
    const std::string at = inside != nullptr ? "$.document" : "$";
    const auto is_envelope = [](const json* of) {
        return of != nullptr && of->is_object() && of->contains("stdout") && !of->contains("@result");
    };
    if (is_envelope(&document)) {
        run = record_reader(document, inside != nullptr ? whole : document, at).run();
    } else if (const json* log = member(document, "job_log"); is_envelope(log)) {
        run = record_reader(*log, document, at + ".job_log").run();
    } else if (const json* result = member(document, "result"); is_envelope(result)) {
        run = record_reader(*result, document, at + ".result").run();
    } else {
        run.printed.document = document;
        run.printed.is_json = true;
        run.printed_path = at;
    }
    refusals& of_text = run.printed_path == "$" ? run.printed.refusals : run.wrong;
    of_text.insert(of_text.end(), read.refusals.begin(), read.refusals.end());
    // Members are ordered by name, so that equal documents have equal hashes.
    run.id = sha256_of(nlohmann::json(document).dump());
    if (is_ours && inside == nullptr) {
        run.id = text_of(member(whole, "id"));
        const bool is_whole = whole["indicator_result"] == 1 && is_envelope(&whole) &&
                              member(whole, "end") != nullptr && run.batch &&
                              run.id == run.batch->id + "." + std::to_string(run.batch->place);
        if (!is_whole)
            run.wrong.push_back(
                {"$",
                 "is no result of this runner: it has 'indicator_result' 1, 'stdout', 'end', 'batch', and "
                 "as its id that of the batch, a point, and its place"});
    }
    run.whole = whole;
    return run;
}

}  // namespace indicators
