// indicators machine: reads /proc, /sys and /etc
#include "indicators/machine/machine.hpp"

#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>

namespace indicators {

namespace {

namespace files = std::filesystem;

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n\"");
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n\"") - first + 1);
}
json text_or_null(const std::string& text) { return text.empty() ? json() : json(text); }
json number_or_null(const std::string& text) {
    const auto number = lab::number_in(text);
    return number ? json(static_cast<std::int64_t>(*number)) : json();
}
json first_line_or_null(const std::string& path) {
    const std::string text = lab::text_in(path);
    return text_or_null(trimmed(text.substr(0, text.find('\n'))));
}

// "key : value" lines up to the first empty one.
std::map<std::string, std::string> first_processor(const std::string& text) {
    std::map<std::string, std::string> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && !line.empty();) {
        const std::size_t colon = line.find(':');
        if (colon != line.npos)
            all.try_emplace(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
    }
    return all;
}

std::int64_t count_of_processors(const std::string& text) {
    std::int64_t count = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) count += line.starts_with("processor");
    return count;
}

json allowed_cores(const std::string& root) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (!root.empty() || sched_getaffinity(0, sizeof set, &set) != 0) return nullptr;
    return CPU_COUNT(&set);
}

// "L1 Data": "32K".
json caches(const std::string& root) {
    json all = json::object();
    std::error_code none;
    std::vector<files::path> folders;
    for (const auto& entry : files::directory_iterator(root + "/sys/devices/system/cpu/cpu0/cache", none))
        if (entry.path().filename().string().starts_with("index")) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    for (const files::path& folder : folders) {
        const std::string level = trimmed(lab::text_in(folder / "level"));
        const std::string type = trimmed(lab::text_in(folder / "type"));
        if (!level.empty()) all["L" + level + " " + type] = trimmed(lab::text_in(folder / "size"));
    }
    return all.empty() ? json() : all;
}

// The word in brackets of "always [madvise] never".
json chosen_in(const std::string& path) {
    const std::string text = lab::text_in(path);
    const std::size_t from = text.find('[');
    const std::size_t to = text.find(']');
    return from == text.npos || to == text.npos ? json() : json(text.substr(from + 1, to - from - 1));
}

json accelerators(const std::string& root) {
    json all = json::array();
    std::error_code none;
    for (const auto& entry : files::directory_iterator(root + "/proc/driver/nvidia/gpus", none)) {
        std::istringstream lines(lab::text_in(entry.path() / "information"));
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with("Model:")) all.push_back(trimmed(line.substr(6)));
    }
    return all;
}

json memory_bytes(const std::string& root) {
    std::istringstream lines(lab::text_in(root + "/proc/meminfo"));
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("MemTotal:")) continue;
        std::istringstream words(line.substr(9));
        std::string kilobytes;
        words >> kilobytes;
        const auto number = lab::number_in(kilobytes);
        return number ? json(static_cast<std::int64_t>(*number) * 1024) : json();
    }
    return nullptr;
}

std::string name_of(const json& hardware) {
    std::string name;
    if (hardware["cores"].is_number()) name += hardware["cores"].dump() + " x ";
    name += hardware["processor"].is_string()      ? hardware["processor"].get<std::string>()
            : hardware["architecture"].is_string() ? hardware["architecture"].get<std::string>()
                                                   : "unknown processor";
    if (hardware["memory_bytes"].is_number())
        name += ", " + lab::short_text(hardware["memory_bytes"].get<double>() / (1024.0 * 1024 * 1024), 2) +
                " GiB";
    for (const json& accelerator : hardware["accelerators"]) name += ", " + accelerator.get<std::string>();
    return name;
}

}  // namespace

json hardware_of_machine(const std::string& root) {
    const std::string cpuinfo = lab::text_in(root + "/proc/cpuinfo");
    const auto first = first_processor(cpuinfo);
    const auto said = [&](const char* key) {
        const auto found = first.find(key);
        return found == first.end() ? std::string() : found->second;
    };
    utsname system{};
    const bool named = ::uname(&system) == 0;
    const std::int64_t count = count_of_processors(cpuinfo);
    // ARM's /proc/cpuinfo has the implementer and a number.
    std::string processor = said("model name");
    if (processor.empty() && !said("CPU part").empty())
        processor = "implementer " + said("CPU implementer") + " part " + said("CPU part");
    json all{{"name", nullptr},
             {"architecture", named ? json(system.machine) : json()},
             {"processor", text_or_null(processor)},
             {"family", number_or_null(said("cpu family"))},
             {"model", number_or_null(said("model"))},
             {"microcode", text_or_null(said("microcode"))},
             {"cores", count > 0 ? json(count) : json()},
             {"cores_allowed", allowed_cores(root)},
             {"caches", caches(root)},
             {"memory_bytes", memory_bytes(root)},
             {"hypervisor",
              cpuinfo.empty() ? json() : json(said("flags").find("hypervisor") != std::string::npos)},
             {"flags", text_or_null(said("flags").empty() ? said("Features") : said("flags"))},
             {"governor", first_line_or_null(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
             {"huge_pages", chosen_in(root + "/sys/kernel/mm/transparent_hugepage/enabled")},
             {"load", first_line_or_null(root + "/proc/loadavg")},
             {"accelerators", accelerators(root)}};
    all["name"] = name_of(all);
    return all;
}

json os_release_of_machine(const std::string& root) {
    std::istringstream lines(lab::text_in(root + "/etc/os-release"));
    json all = json::object();
    for (std::string line; std::getline(lines, line);) {
        const std::size_t equals = line.find('=');
        if (equals == line.npos || line.starts_with('#')) continue;
        all[lab::lower(line.substr(0, equals))] = trimmed(line.substr(equals + 1));
    }
    return all.empty() ? json() : all;
}

}  // namespace indicators
