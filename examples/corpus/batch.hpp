// corpus: turns token sequences into a padded matrix, the input of a model.
// Nothing here depends on weir.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_CORPUS_BATCH_HPP
#define WEIR_EXAMPLES_CORPUS_BATCH_HPP

#include "tokens.hpp"

#include <algorithm>  // for std::copy
#include <cstddef>    // for std::size_t
#include <vector>     // for std::vector

namespace corpus {

inline constexpr token padding = 0;  // fills a row behind a sequence's end

/// Tokens, at most one row of a batch.
using sequence = std::vector<token>;

/// A matrix of `rows` by `columns` tokens, row by row; short sequences are padded.
struct batch {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<token> tokens;
    std::size_t padded = 0;  // how many of them are padding

    [[nodiscard]] std::size_t real_tokens() const noexcept { return tokens.size() - padded; }
};

[[nodiscard]] inline batch collate(const std::vector<sequence>& sequences, std::size_t columns) {
    batch b;
    b.rows = sequences.size();
    b.columns = columns;
    b.tokens.assign(b.rows * columns, padding);
    auto row = b.tokens.begin();
    for (const sequence& s : sequences) {
        std::copy(s.begin(), s.end(), row);
        row += static_cast<std::ptrdiff_t>(columns);
        b.padded += columns - s.size();
    }
    return b;
}

}  // namespace corpus

#endif
