// indicators machine: the files of a command, and the tools that they were made with
#ifndef INDICATORS_MACHINE_PROGRAM_HPP
#define INDICATORS_MACHINE_PROGRAM_HPP

#include "indicators/contract/json_text.hpp"

#include <string>
#include <utility>
#include <vector>

namespace indicators {

struct program_facts {
    json files = json::array();  // {"path", "sha256"} of each file in the command
    // Hash of the script, or of the program if there is no script; not of `env`, `nice` or `taskset` before it.
    std::string script_sha256;
    // "os", "kernel", "compiler" (of the program, from its ELF file), "libc" and other libraries that it loads
    // by their files' names, "interpreter" (of a script), "arguments" (the words after the program), "data" (a
    // hash of the other files in the command), "env.NAME" for variables. Unknown members are left out.
    json stack = json::object();
};

using variables = std::vector<std::pair<std::string, std::string>>;

// `set` has variables of the program in addition to the caller's. Takes some milliseconds, and longer for large
// files.
program_facts facts_of(const std::vector<std::string>& command, const variables& set);

// The caller's variables that are known to change the speed of programs. Others may be secrets.
variables relevant_variables();

}  // namespace indicators

#endif
