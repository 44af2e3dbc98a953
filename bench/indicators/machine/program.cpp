// indicators machine: asks ldd, readelf and the interpreter; a missing tool gives no information
#include "indicators/machine/program.hpp"

#include "indicators/machine/machine.hpp"
#include "indicators/record/bytes.hpp"
#include "lab/driver/process.hpp"

#include <weir/platform/system_info.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

extern char** environ;

namespace indicators {

namespace {

namespace files = std::filesystem;

// The output of a command on either stream; empty if it fails or takes too long.
std::string output_of(const std::vector<std::string>& command, const variables& set) {
    lab::process_options options;
    options.command = command;
    options.environment = set;
    options.limit_s = 10;
    options.most_output = 1024 * 1024;
    const lab::process_result result = lab::run_process(options);
    if (result.end != lab::process_end::exited || result.code != 0) return {};
    return result.out + result.err;
}

std::string first_line_of(const std::string& text) { return text.substr(0, text.find_first_of("\r\n")); }

// The file of a word of a command: by its path, or along PATH for a program.
std::string file_of(const std::string& word, bool along_path) {
    std::error_code error;
    const bool has_slash = word.find('/') != std::string::npos;
    if ((has_slash || !along_path) && files::is_regular_file(word, error)) return word;
    if (has_slash || !along_path) return {};
    std::istringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (files::is_regular_file(folder + "/" + word, error)) return folder + "/" + word;
    return {};
}

std::string beginning_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::string text(256, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}
bool is_elf(const std::string& path) {
    return beginning_of(path).starts_with(
        "\x7f"
        "ELF");
}

// Data files in the command may be large.
std::string hash_of_file(const std::string& path) {
    constexpr std::uintmax_t most_bytes = 1024 * 1024 * 1024;
    std::error_code error;
    return files::file_size(path, error) <= most_bytes && !error ? sha256_of_file(path) : std::string();
}

bool is_one_of(const std::string& path, std::initializer_list<const char*> names) {
    const std::string name = files::path(path).filename().string();
    return std::any_of(names.begin(), names.end(), [&](const char* one) { return name == one; });
}
// Programs that run the command after them, and are not measured themselves.
bool is_wrapper(const std::string& path) {
    return is_one_of(path,
                     {"env", "nice", "taskset", "timeout", "numactl", "chrt", "ionice", "stdbuf", "setarch",
                      "setsid", "nohup", "time", "sudo", "perf", "valgrind", "xvfb-run", "prlimit"});
}
// Whether the program runs the first file after it on the command line.
bool runs_scripts(const std::string& program) {
    const std::string name = files::path(program).filename().string();
    for (const char* interpreter :
         {"python", "pypy", "bash", "dash", "sh", "perl", "ruby", "node", "lua", "Rscript", "julia"})
        if (name.starts_with(interpreter)) return true;
    return false;
}

// The interpreter in the first line of a file: python3 for "/usr/bin/env python3 -u".
std::string interpreter_of(const std::string& path) {
    const std::string line = first_line_of(beginning_of(path));
    if (!line.starts_with("#!")) return {};
    std::istringstream words(line.substr(2));
    std::string word;
    while (words >> word)
        if (files::path(word).filename() != "env" && !word.starts_with('-') && word.find('=') == word.npos)
            return word;
    return {};
}

// "GCC: (Debian 12.2.0-14) 12.2.0" in .comment, which compilers write into what they make.
std::string compiler_of(const std::string& path) {
    std::set<std::string> all;
    std::istringstream lines(output_of({"readelf", "-p", ".comment", path}, {}));
    for (std::string line; std::getline(lines, line);)
        if (const std::size_t bracket = line.find("]  "); bracket != line.npos)
            all.insert(line.substr(bracket + 3));
    std::string text;
    for (const std::string& one : all) text += (text.empty() ? "" : "; ") + one;
    return text;
}

// "libstdc++.so.6 => /lib/x86_64-linux-gnu/libstdc++.so.6 (0x...)": the name of the file that this is a link to.
void add_libraries(json& stack, const std::string& path, const variables& set) {
    std::istringstream lines(output_of({"ldd", path}, set));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t arrow = line.find(" => /");
        if (arrow == line.npos) continue;
        const std::size_t begin = line.find_first_not_of(" \t");
        const std::string name = line.substr(begin, arrow - begin);
        const std::string file = line.substr(arrow + 4, line.find(" (", arrow) - arrow - 4);
        std::error_code error;
        const files::path real = files::canonical(file, error);
        if (!error && name != "libc.so.6") stack[name.substr(0, name.find(".so"))] = real.filename().string();
    }
}

struct parts {
    std::string program;
    std::string script;             // empty if the program is no script
    std::vector<std::string> data;  // hashes of the other files
    std::string arguments;          // the words after the program or its script
};

parts parts_of(const std::vector<std::string>& command, json& all_files) {
    parts found;
    for (const std::string& word : command) {
        const std::string path = file_of(word, found.program.empty());
        const bool is_wrapping = !path.empty() && found.program.empty() && is_wrapper(path);
        const std::string hash = path.empty() ? std::string() : hash_of_file(path);
        if (!path.empty())
            all_files.push_back({{"path", path}, {"sha256", hash.empty() ? json() : json(hash)}});
        const bool is_script =
            !path.empty() && (found.program.empty() ? !is_wrapping && !is_elf(path)
                                                    : found.script.empty() && runs_scripts(found.program));
        if (is_script) found.script = path;
        if (found.program.empty() && !path.empty() && !is_wrapping) {
            found.program = path;
        } else if (is_script) {
            found.arguments.clear();
        } else {
            if (!path.empty() && !is_wrapping) found.data.push_back(hash);
            found.arguments += (found.arguments.empty() ? "" : " ") + word;
        }
    }
    return found;
}

}  // namespace

variables relevant_variables() {
    static const std::set<std::string> names{"LD_PRELOAD",      "LD_LIBRARY_PATH",
                                             "LD_BIND_NOW",     "GLIBC_TUNABLES",
                                             "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                             "TBB_NUM_THREADS", "CUDA_VISIBLE_DEVICES",
                                             "PYTHONOPTIMIZE",  "PYTHONHASHSEED",
                                             "PYTHONMALLOC",    "LANG",
                                             "LC_ALL",          "TZ"};
    variables all;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string text = *variable;
        const std::size_t equals = std::min(text.find('='), text.size());
        const std::string name = text.substr(0, equals);
        bool counts = names.contains(name);
        for (const char* prefix : {"MALLOC_", "OMP_", "GOMP_", "KMP_"})
            counts = counts || name.starts_with(prefix);
        if (counts && !first_byte_that_is_no_text(text))
            all.emplace_back(name, text.substr(std::min(text.size(), equals + 1)));
    }
    return all;
}

program_facts facts_of(const std::vector<std::string>& command, const variables& set) {
    program_facts facts;
    const parts found = parts_of(command, facts.files);
    facts.script_sha256 = hash_of_file(found.script.empty() ? found.program : found.script);
    std::string interpreter = found.script.empty() ? "" : interpreter_of(found.script);
    if (interpreter.empty() && !found.script.empty() && found.script != found.program)
        interpreter = found.program;
    json& stack = facts.stack;
    if (const std::string system = weir::detail::name_of_system(); !system.empty()) stack["kernel"] = system;
    const json release = os_release_of_machine();
    if (release.is_object() && release.contains("id"))
        stack["os"] = release["id"].get<std::string>() + " " + release.value("version_id", "");
    if (!interpreter.empty()) {
        const std::string version = first_line_of(output_of({interpreter, "--version"}, set));
        if (!version.empty()) stack["interpreter"] = version;
    }
    const std::string binary = !found.script.empty() ? file_of(interpreter, true) : found.program;
    if (!binary.empty() && is_elf(binary)) {
        if (const std::string compiler = compiler_of(binary); !compiler.empty()) stack["compiler"] = compiler;
        add_libraries(stack, binary, set);
    }
    const std::string libc = first_line_of(output_of({"getconf", "GNU_LIBC_VERSION"}, {}));
    if (!libc.empty()) stack["libc"] = libc;
    if (!found.arguments.empty()) stack["arguments"] = found.arguments;
    if (!found.data.empty()) {
        std::string all;
        for (const std::string& hash : found.data) all += hash + "\n";
        stack["data"] = sha256_of(all);
    }
    for (const variables& some : {relevant_variables(), set})
        for (const auto& [name, value] : some) stack["env." + name] = value.empty() ? json() : json(value);
    return facts;
}

}  // namespace indicators
