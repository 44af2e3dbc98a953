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

/// Reads a list of files. One bad file must not fail the others of its list, so it is no exception here,
/// but an entry in the books.
std::vector<document> read_all(const std::vector<std::string>& paths, std::size_t max_bytes, books& books);

/// Makes many sequences of one document, and hands each on when it is full. A packed one that can't be
/// unpacked is an exception: the pipeline counts it and tells `on_failure`.
weir::generator<sequence> tokenize(document doc, std::size_t length, std::size_t max_bytes, books* books);

}  // namespace corpus

#endif
