// simulate: the program diff: options, reading, mistakes.
// It compares the documents of two files, the first with the first, and so on.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_COMPARING_PROGRAM_HPP
#define WEIR_EXAMPLES_SIMULATE_COMPARING_PROGRAM_HPP

#include "../common/options.hpp"
#include "../common/output.hpp"
#include "difference.hpp"
#include "difference_text.hpp"
#include "file.hpp"
#include "request.hpp"
#include "spec_error.hpp"

#include <weir/insight/diff.hpp>

#include <cstddef>    // for std::size_t
#include <exception>  // for std::exception
#include <iostream>   // for std::cout, std::cerr
#include <string>     // for std::string, std::to_string
#include <vector>     // for std::vector

namespace simulate {

/// \returns the exit status: 2 for wrong input, 1 if the output can't be written, else 0.
inline int comparing_program(int argc, const char* const* argv) {
    std::vector<std::string> files;
    bool json = false;
    examples::options options("diff [--json] FILE FILE",
                              "Compares the run of the first FILE with that of the second.");
    options.two_arguments("FILE", files,
                          "a run by weir::write_json, or specs (tests/programs/golden/README.md)");
    options.flag("--json", json, "one JSON object a pair, one a line, instead of text");
    if (const auto status = options.parse(argc, argv)) return *status;
    if (files.size() != 2) return options.wrong("needs two FILEs");
    try {
        const std::vector<request> before = parse_requests(text_of(files[0]), files[0]);
        const std::vector<request> after = parse_requests(text_of(files[1]), files[1]);
        if (before.size() != after.size()) {
            throw spec_error(files[1], "", "",
                             "has " + std::to_string(after.size()) + " documents, and " + files[0] + " has " +
                                 std::to_string(before.size()));
        }
        for (std::size_t i = 0; i < before.size(); ++i) {
            const weir::run_difference found = difference_between(before[i], after[i]);
            if (json) {
                std::cout << to_json(found).dump() << std::endl;
            } else {
                std::cout << before[i].title << ": " << found << std::endl;
            }
        }
        return examples::exit_status(0, "diff");
    } catch (const spec_error& e) {
        std::cerr << "diff: " << e.what() << '\n';
        return 2;
    } catch (const std::exception& e) {
        std::cerr << "diff: " << e.what() << '\n';
        return 1;
    }
}

}  // namespace simulate

#endif
