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
    std::vector<std::string> command;  // {folder} is the build's, {settings} the path of a file
    std::vector<std::pair<std::string, std::string>> environment;
    std::string settings;     // what is in the file that {settings} is; empty: there is none
    std::string build_flags;  // of all factors that are set by a build; what two configurations have to share
};

launch launch_of(const factor_file& file, const configuration& values);
// How each factor reaches the program, for a reader: the base's launch, and that of each treatment alone. Two files
// whose texts are equal measure the same.
std::string applications_text(const factor_file& file);

// Builds, each in a folder of its own whose name is a hash of the flags, the command, the compiler and the sources; one
// that is there is taken as it is. What the build wrote is beside it, FOLDER.log.
class builds {
  public:
    // A build is ended after so many seconds, if that isn't 0, and once `stop` isn't 0; it has then failed.
    builds(std::string folder, double limit_s, const volatile std::sig_atomic_t* stop)
        : folder_(std::move(folder)), limit_s_(limit_s), stop_(stop) {}

    struct built {
        std::string folder;
        std::string error;  // why there is none
    };
    const built& build(const factor_file& file, const std::string& flags);

  private:
    std::string folder_;
    double limit_s_;
    const volatile std::sig_atomic_t* stop_;
    std::map<std::string, built> done_;
};

// FNV-1a (Fowler, Noll & Vo) of 64 bits, as 16 hexadecimal digits.
std::string hash_of(const std::string& text);
// Of all files that the words of a command name, be it along PATH: the program, and the script that it runs; of
// what has more than 64 MiB, as data have, of its size and the time of its last change. Empty if there are none.
std::string hash_of_command(const std::vector<std::string>& command);

}  // namespace lab

#endif
