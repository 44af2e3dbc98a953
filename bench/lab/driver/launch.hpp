// lab driver: a configuration as a command: arguments, environment, wrapper, and the build that it needs
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
    std::vector<std::string> command;  // {folder} is the build's
    std::vector<std::pair<std::string, std::string>> environment;
    std::string build_flags;  // of all factors that are set by a build; what two configurations have to share
};

launch launch_of(const factor_file& file, const configuration& values);

// Builds, each in a folder of its own whose name is a hash of the flags, the command, the compiler and the sources; one
// that is there is taken as it is. What the build wrote is beside it, FOLDER.log.
class builds {
  public:
    // A build is ended once `stop` isn't 0; it has then failed.
    builds(std::string folder, const volatile std::sig_atomic_t* stop)
        : folder_(std::move(folder)), stop_(stop) {}

    struct built {
        std::string folder;
        std::string error;  // why there is none
    };
    const built& build(const factor_file& file, const std::string& flags);

  private:
    std::string folder_;
    const volatile std::sig_atomic_t* stop_;
    std::map<std::string, built> done_;
};

// FNV-1a (Fowler, Noll & Vo) of 64 bits, as 16 hexadecimal digits.
std::string hash_of(const std::string& text);
// Of a program's file; empty if it can't be found along PATH or read.
std::string hash_of_program(const std::string& program);

}  // namespace lab

#endif
