// indicators machine: which files a command is, and with what they were made
#ifndef INDICATORS_MACHINE_PROGRAM_HPP
#define INDICATORS_MACHINE_PROGRAM_HPP

#include "indicators/contract/json_text.hpp"

#include <string>
#include <vector>

namespace indicators {

struct program_facts {
    json files = json::array();  // {"path", "sha256"} of each file that the command names
    std::string script_sha256;   // of the first script among them, or of the program if there is none
    // "os", "kernel", "compiler" (of the program: what its ELF file says), "libc" and other libraries that it loads by
    // their files' names, "interpreter" (of a script). What isn't known isn't there.
    json stack = json::object();
};

// `folder`: for what the programs that are asked print. Takes some milliseconds, and longer for large files.
program_facts facts_of(const std::vector<std::string>& command, const std::string& folder);

}  // namespace indicators

#endif
