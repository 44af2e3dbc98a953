// examples: the exit status of a program that prints its results.
// It is not 0 if they could not be written, for example because the disk is full.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_COMMON_OUTPUT_HPP
#define WEIR_EXAMPLES_COMMON_OUTPUT_HPP

#include <iostream>  // for std::cout, std::cerr

namespace examples {

/// \returns `status` if everything written to std::cout so far could be written; else prints that, and returns 1.
[[nodiscard]] inline int exit_status(int status, const char* program) {
    if (std::cout.flush()) return status;
    std::cerr << program << ": the output can't be written\n";
    return 1;
}

}  // namespace examples

#endif
