// lab driver: fills placeholders of commands, and identifies builds by hashes
#include "lab/driver/launch.hpp"

#include "lab/data/text.hpp"
#include "lab/driver/process.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

namespace lab {

namespace {

// The output of a command; empty if it fails.
std::string output_of(const std::vector<std::string>& command, const std::string& folder) {
    process_options options;
    options.command = command;
    options.stdout_file = folder + "/command.out";
    options.stderr_file = folder + "/command.err";
    options.limit_s = 60;
    const process_result result = run_process(options);
    const bool fine = result.end == process_end::exited && result.code == 0;
    const std::string text = fine ? text_in(options.stdout_file) : "";
    std::filesystem::remove(options.stdout_file);
    std::filesystem::remove(options.stderr_file);
    return text;
}

std::string text_for(const std::map<std::string, std::string>& by_level, const std::string& value) {
    if (const auto all = by_level.find(""); all != by_level.end()) return filled(all->second, "{}", value);
    const auto found = by_level.find(value);
    return found != by_level.end() ? found->second : "";
}

}  // namespace

launch launch_of(const factor_file& file, const configuration& values) {
    launch result;
    result.command = file.command;
    result.settings = file.settings;
    std::vector<std::string> wrapper;
    for (std::size_t f = 0; f < file.factors.size(); ++f) {
        const application& how = file.applications[f];
        const std::string text = file.factors[f].text_of(values[f]);
        if (how.argument.find("{}") != std::string::npos) {
            result.command.push_back(filled(how.argument, "{}", text));
        } else if (!how.argument.empty() && values[f] != file.factors[f].base_value()) {
            result.command.push_back(how.argument);
        }
        for (const auto& [variable, by_level] :
             how.environment)  // otherwise the driver's own value would be used
            result.environment.emplace_back(variable, text_for(by_level, text));
        if (!how.settings.empty())
            result.settings =
                filled(result.settings, "{" + file.factors[f].name + "}", text_for(how.settings, text));
        if (const auto found = how.build.find(text); found != how.build.end() && !found->second.empty())
            result.build_flags += (result.build_flags.empty() ? "" : " ") + found->second;
        if (const auto found = how.wrapper.find(text); found != how.wrapper.end())
            wrapper.insert(wrapper.end(), found->second.begin(), found->second.end());
    }
    result.command.insert(result.command.begin(), wrapper.begin(), wrapper.end());
    return result;
}

std::string applications_text(const factor_file& file) {
    std::string text;
    const auto add = [&](const std::string& name, const configuration& values) {
        const launch what = launch_of(file, values);
        text += name + "\n";
        for (const std::string& word : what.command) text += "  " + word + "\n";
        for (const auto& [variable, value] : what.environment) text += "  " + variable + "=" + value + "\n";
        text += "  built with '" + what.build_flags + "', settings '" + what.settings + "'\n";
    };
    add("base", file.base());
    for (std::size_t f = 0; f < file.factors.size(); ++f) {
        const factor& what = file.factors[f];
        std::vector<double> values{what.low, what.high};
        if (!what.is_number()) {
            values.resize(what.levels.size());
            std::iota(values.begin(), values.end(), 0.0);
        }
        for (const double value : values) {
            configuration with = file.base();
            with[f] = value;
            if (value != what.base_value()) add(what.treatment(value), with);
        }
    }
    return text;
}

const builds::built& builds::build(const factor_file& file, const std::string& flags) {
    const auto [found, is_new] = done_.try_emplace(flags);
    built& result = found->second;
    if (!is_new || file.build.empty()) return result;
    std::filesystem::create_directories(folder_);
    std::string named = flags + "\n";
    for (const std::string& word : file.build) named += word + "\n";
    const char* compiler = std::getenv("CXX");
    named += output_of({compiler != nullptr ? compiler : "c++", "--version"}, folder_);
    named += output_of({"git", "rev-parse", "HEAD"}, folder_);
    named += output_of({"git", "diff", "HEAD"}, folder_);
    result.folder = std::filesystem::absolute(folder_ + "/" + hash_of(named)).string();
    if (std::filesystem::exists(result.folder + "/built")) return result;
    process_options options;
    for (const std::string& word : file.build)
        options.command.push_back(filled(filled(word, "{flags}", flags), "{folder}", result.folder));
    options.stdout_file = result.folder + ".log";
    options.stderr_file = result.folder + ".errors.log";
    options.limit_s = limit_s_;
    options.stop = stop_;
    std::filesystem::create_directories(result.folder);
    const process_result done = run_process(options);
    if (done.end == process_end::exited && done.code == 0) {
        std::ofstream(result.folder + "/built") << flags << '\n';
    } else {
        result.error = done.end == process_end::not_started
                           ? done.message
                           : "the build with '" + flags + "' failed (" + status_of(done) + "); see " +
                                 options.stderr_file + " and " + options.stdout_file;
    }
    return result;
}

std::string hash_of(const std::string& text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(hash >> shift) & 15];
    return digits;
}

std::string hash_of_command(const std::vector<std::string>& command) {
    namespace files = std::filesystem;
    constexpr std::uintmax_t most_bytes = 64 * 1024 * 1024;
    std::string contents;
    const auto add = [&](const files::path& path) {
        std::error_code error;
        if (!files::is_regular_file(path, error)) return false;
        const std::uintmax_t size = files::file_size(path, error);
        contents += size <= most_bytes
                        ? text_in(path.string())
                        : path.string() + std::to_string(size) + " " +
                              std::to_string(files::last_write_time(path, error).time_since_epoch().count());
        return true;
    };
    for (const std::string& word : command) {
        if (add(word) || word.find('/') != std::string::npos) continue;
        std::istringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
        for (std::string folder; std::getline(folders, folder, ':');)
            if (add(folder + "/" + word)) break;
    }
    return contents.empty() ? "" : hash_of(contents);
}

}  // namespace lab
