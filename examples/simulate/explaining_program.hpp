// simulate: what the programs explain and what_if have in common: options, reading, mistakes.
// They differ in the text that they print.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_EXPLAINING_PROGRAM_HPP
#define WEIR_EXAMPLES_SIMULATE_EXPLAINING_PROGRAM_HPP

#include "../common/options.hpp"
#include "../common/output.hpp"
#include "explained.hpp"
#include "explanation_text.hpp"
#include "file.hpp"
#include "request.hpp"
#include "spec_error.hpp"

#include <exception>  // for std::exception
#include <iostream>   // for std::cout, std::cerr
#include <string>     // for std::string

namespace simulate {

/// Answers each document of a file.
/// \param show  prints an answer for people: show(request, explanation)
/// \returns the exit status: 2 for wrong input, 1 if the output can't be written, else 0.
template <class Show>
int explaining_program(int argc, const char* const* argv, const std::string& name, const std::string& what,
                       Show show) {
    std::string file;
    bool json = false;
    examples::options options(name + " [--json] FILE", what);
    options.argument("FILE", file, "specs (tests/programs/golden/README.md), or a run by weir::write_json");
    options.flag("--json", json, "one JSON object a document, one a line, instead of text");
    if (const auto status = options.parse(argc, argv)) return *status;
    if (file.empty()) return options.wrong("needs a FILE");
    try {
        for (const request& each : parse_requests(text_of(file), file)) {
            const explanation answer = explained(each);
            if (json) {
                std::cout << to_json(answer).dump() << std::endl;
            } else {
                show(each, answer);
            }
        }
        return examples::exit_status(0, name.c_str());
    } catch (const spec_error& e) {
        std::cerr << name << ": " << e.what() << '\n';
        return 2;
    } catch (const std::exception& e) {
        std::cerr << name << ": " << e.what() << '\n';
        return 1;
    }
}

}  // namespace simulate

#endif
