// corpus: prints the results at the end, and the files that could not be used.
// The statistics of the pipeline print themselves.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_CORPUS_REPORT_HPP
#define WEIR_EXAMPLES_CORPUS_REPORT_HPP

#include "files.hpp"
#include "foreground.hpp"

#include <algorithm>  // for std::max
#include <cstdint>    // for std::uint64_t
#include <iomanip>    // for std::setprecision
#include <iostream>   // for std::cout
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace corpus {

inline void report(const totals& sum, const books& books, double seconds) {
    const std::vector<std::string> problems = books.problems();
    const double megabytes = static_cast<double>(books.bytes) / 1e6;
    const auto all = static_cast<double>(std::max<std::uint64_t>(1, sum.tokens + sum.padding));
    std::cout << std::fixed << std::setprecision(1) << '\n'
              << books.files << " files, " << megabytes << " MB in " << seconds << " s ("
              << megabytes / std::max(seconds, 1e-9) << " MB/s); " << books.binary << " left out as binary\n"
              << sum.batches << " batches, " << sum.tokens << " tokens, "
              << 100 * static_cast<double>(sum.padding) / all << " % padding\n"
              << problems.size() << " could not be read or unpacked" << (problems.empty() ? "\n" : ":\n");
    for (const std::string& problem : problems) std::cout << "  " << problem << '\n';
}

}  // namespace corpus

#endif
