// tasks: how this program was built.
#ifndef BENCH_TASKS_BUILD_HPP
#define BENCH_TASKS_BUILD_HPP

#include <string>

namespace tasks {

struct build {
    std::string compiler;      // "g++12"
    std::string optimisation;  // "O3"
    std::string lto;           // "on"
    std::string march;         // "generic"
    std::string ndebug;        // "on"
    std::string linker;        // "default"
    std::string pgo;           // "off"
    std::string flags;         // all flags
};

const build& build_of_this();

}  // namespace tasks

#endif
