// indicators machine: the files of a command, and the tools that they were made with
#ifndef INDICATORS_MACHINE_PROGRAM_HPP
#define INDICATORS_MACHINE_PROGRAM_HPP

#include "indicators/contract/json_text.hpp"

#include <string>
#include <utility>
#include <vector>

namespace indicators {

struct program_facts {
    json files = json::array();  // {"path", "sha256"} of each file that the command names
    // Of the script that is run, or of the program if there is none; not of `env`, `nice`, `taskset` before it.
    std::string script_sha256;
    // "os", "kernel", "compiler" (of the program: what its ELF file says), "libc" and other libraries that it loads
    // by their files' names, "interpreter" (of a script), "arguments" (what follows the program), "data" (a hash of
    // the other files that the command names), "env.NAME" of variables. What isn't known isn't there.
    json stack = json::object();
};

using variables = std::vector<std::pair<std::string, std::string>>;

// `set`: variables of the program on top of the caller's. Takes some milliseconds, and longer for large files.
program_facts facts_of(const std::vector<std::string>& command, const variables& set);

// Of the caller's own variables those that are known to change how fast programs are. Others may be secrets.
variables relevant_variables();

}  // namespace indicators

#endif
