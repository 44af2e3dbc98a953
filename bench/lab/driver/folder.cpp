// lab driver: command.txt and schedule.csv of a folder of runs
#include "lab/driver/folder.hpp"

#include "lab/data/input_error.hpp"
#include "lab/data/text.hpp"
#include "lab/driver/launch.hpp"

#include <weir/platform/output_file.hpp>

#include <filesystem>

namespace lab {

void keep_as(const std::string& folder, const factor_file& file, const plan& schedule, bool growing) {
    std::string command = "score\n  " + file.score + "\n";
    for (const std::string& path : file.also) command += "  " + path + "\n";
    command += applications_text(file) + "build\n";
    for (const std::string& word : file.build) command += "  " + word + "\n";
    const std::string command_path = folder + "/command.txt";
    if (!std::filesystem::exists(command_path)) {
        weir::detail::output_file::replace(command_path, command);
    } else if (text_in(command_path) != command) {
        throw input_error(command_path,
                          "this folder is of another command, score or build, or of factors that are "
                          "applied in another way; choose another --out");
    }
    const std::string path = folder + "/schedule.csv";
    const std::string text = plan_text(schedule);
    const std::string before = text_in(path);
    if (before.empty() || (growing && text.starts_with(before))) {
        weir::detail::output_file::replace(path, text);
    } else if (before != text && !(growing && before.starts_with(text))) {
        throw input_error(
            path,
            "this folder is of another schedule: another plan, seed, number of repetitions or of "
            "controls; give the same again, or choose another --out");
    }
}

}  // namespace lab
