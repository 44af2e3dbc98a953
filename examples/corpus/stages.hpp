// corpus: the functions of the two stages that may fail: reading and tokenizing.
// A problem with a file is recorded and stops nothing.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_CORPUS_STAGES_HPP
#define WEIR_EXAMPLES_CORPUS_STAGES_HPP

#include "batch.hpp"
#include "files.hpp"

#include <weir/task/generator.hpp>

#include <cstddef>  // for std::size_t
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace corpus {

/// Reads a list of files. A bad file must not fail the others of its list, so its problem is recorded in
/// `books`, and is no exception.
std::vector<document> read_all(const std::vector<std::string>& paths, std::size_t max_bytes, books& books);

/// Makes sequences of one document, and yields each when it is full. A document that can't be unpacked is an
/// exception: the pipeline counts it and calls `on_failure`.
weir::generator<sequence> tokenize(document doc, std::size_t length, std::size_t max_bytes, books* books);

}  // namespace corpus

#endif
