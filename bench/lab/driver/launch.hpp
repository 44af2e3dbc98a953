// lab driver: turns a configuration into a command: arguments, environment, wrapper, and the required build
#ifndef LAB_DRIVER_LAUNCH_HPP
#define LAB_DRIVER_LAUNCH_HPP

#include "lab/design/factor_file.hpp"

#include <csignal>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lab {

struct launch {
    std::vector<std::string> command;  // {folder} is the build folder, {settings} the path of a file
    std::vector<std::pair<std::string, std::string>> environment;
    std::string settings;  // the content of the file {settings}; empty: there is none
    std::string
        build_flags;  // of all factors that are set by a build; equal for configurations that share a build
};

launch launch_of(const factor_file& file, const configuration& values);
// A description of how each factor reaches the program: the launch of the base, and of each treatment alone.
// Two files with equal descriptions measure the same.
std::string applications_text(const factor_file& file);

// Builds, each in its own folder. The name of a folder is a hash of the flags, the command, the compiler and
// the sources; an existing build is reused. The output of a build is in FOLDER.log.
class builds {
  public:
    // Ends a build after this many seconds, if that is not 0, and as soon as `stop` is not 0; the build has
    // then failed.
    builds(std::string folder, double limit_s, const volatile std::sig_atomic_t* stop)
        : folder_(std::move(folder)), limit_s_(limit_s), stop_(stop) {}

    struct built {
        std::string folder;
        std::string error;  // the reason for a failure
    };
    const built& build(const factor_file& file, const std::string& flags);

  private:
    std::string folder_;
    double limit_s_;
    const volatile std::sig_atomic_t* stop_;
    std::map<std::string, built> done_;
};

// The 64-bit FNV-1a hash (Fowler, Noll & Vo), as 16 hexadecimal digits.
std::string hash_of(const std::string& text);
// A hash of all files that the words of a command name, also along PATH: the program, and the script that it
// runs. Of files larger than 64 MiB, such as data, size and time of the last change are hashed. Empty if there
// are none.
std::string hash_of_command(const std::vector<std::string>& command);

}  // namespace lab

#endif
