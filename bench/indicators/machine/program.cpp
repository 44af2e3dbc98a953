// indicators machine: asks ldd, readelf and the interpreter; who isn't there says nothing
#include "indicators/machine/program.hpp"

#include "indicators/machine/machine.hpp"
#include "indicators/record/bytes.hpp"
#include "lab/data/text.hpp"
#include "lab/driver/process.hpp"

#include <sys/utsname.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace indicators {

namespace {

namespace files = std::filesystem;

// What a command writes, on whichever of both; nothing if it fails, or takes long.
std::string output_of(const std::vector<std::string>& command, const std::string& folder) {
    lab::process_options options;
    options.command = command;
    options.stdout_file = folder + "/asked.out";
    options.stderr_file = folder + "/asked.err";
    options.limit_s = 10;
    options.most_output = 1024 * 1024;
    const lab::process_result result = lab::run_process(options);
    if (result.end != lab::process_end::exited || result.code != 0) return {};
    return lab::text_in(options.stdout_file) + lab::text_in(options.stderr_file);
}

std::string first_line_of(const std::string& text) { return text.substr(0, text.find_first_of("\r\n")); }

// The file that a word of a command is: by its path, or, of the first word, along PATH.
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

// Data may be named, too, and be large.
constexpr std::uintmax_t most_bytes_to_hash = 1024 * 1024 * 1024;

// Whether the first file behind it on a command line is what it runs.
bool runs_scripts(const std::string& program) {
    const std::string name = files::path(program).filename().string();
    for (const char* interpreter :
         {"python", "pypy", "bash", "dash", "sh", "perl", "ruby", "node", "lua", "Rscript", "julia"})
        if (name.starts_with(interpreter)) return true;
    return false;
}

// "/usr/bin/env python3 -u" of a file's first line: python3.
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
std::string compiler_of(const std::string& path, const std::string& folder) {
    std::set<std::string> all;
    std::istringstream lines(output_of({"readelf", "-p", ".comment", path}, folder));
    for (std::string line; std::getline(lines, line);)
        if (const std::size_t bracket = line.find("]  "); bracket != line.npos)
            all.insert(line.substr(bracket + 3));
    std::string text;
    for (const std::string& one : all) text += (text.empty() ? "" : "; ") + one;
    return text;
}

// "libstdc++.so.6 => /lib/x86_64-linux-gnu/libstdc++.so.6 (0x...)": the name of the file that this is a link to.
void add_libraries(json& stack, const std::string& path, const std::string& folder) {
    std::istringstream lines(output_of({"ldd", path}, folder));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t arrow = line.find(" => /");
        if (arrow == line.npos) continue;
        const std::string name =
            line.substr(line.find_first_not_of(" \t"), arrow - line.find_first_not_of(" \t"));
        const std::string file = line.substr(arrow + 4, line.find(" (", arrow) - arrow - 4);
        std::error_code error;
        const files::path real = files::canonical(file, error);
        if (!error && name != "libc.so.6") stack[name.substr(0, name.find(".so"))] = real.filename().string();
    }
}

}  // namespace

program_facts facts_of(const std::vector<std::string>& command, const std::string& folder) {
    program_facts facts;
    std::string program;
    std::string script;
    for (std::size_t i = 0; i < command.size(); ++i) {
        const std::string path = file_of(command[i], i == 0);
        if (path.empty()) continue;
        if (program.empty()) program = path;
        const bool is_script = path == program ? !is_elf(path) : script.empty() && runs_scripts(program);
        if (is_script) script = path;
        std::error_code error;
        const bool is_small = files::file_size(path, error) <= most_bytes_to_hash && !error;
        const std::string hash = is_small ? sha256_of_file(path) : std::string();
        facts.files.push_back({{"path", path}, {"sha256", hash.empty() ? json() : json(hash)}});
        if (path == script || (path == program && script.empty())) facts.script_sha256 = hash;
    }
    std::string interpreter = script.empty() ? "" : interpreter_of(script);
    if (interpreter.empty() && !script.empty() && script != program) interpreter = program;
    json& stack = facts.stack;
    utsname system{};
    if (::uname(&system) == 0) stack["kernel"] = std::string(system.sysname) + " " + system.release;
    const json release = os_release_of_machine();
    if (release.is_object() && release.contains("id"))
        stack["os"] = release["id"].get<std::string>() + " " + release.value("version_id", "");
    if (!interpreter.empty()) {
        const std::string version = first_line_of(output_of({interpreter, "--version"}, folder));
        if (!version.empty()) stack["interpreter"] = version;
    }
    const std::string binary = !script.empty() ? file_of(interpreter, true) : program;
    if (!binary.empty() && is_elf(binary)) {
        if (const std::string compiler = compiler_of(binary, folder); !compiler.empty())
            stack["compiler"] = compiler;
        add_libraries(stack, binary, folder);
    }
    const std::string libc = first_line_of(output_of({"getconf", "GNU_LIBC_VERSION"}, folder));
    if (!libc.empty()) stack["libc"] = libc;
    return facts;
}

}  // namespace indicators
