// corpus: the foreground, a training loop that counts tokens instead of training.
// The run ends at the end of the files, or by Ctrl-C.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_CORPUS_FOREGROUND_HPP
#define WEIR_EXAMPLES_CORPUS_FOREGROUND_HPP

#include "../common/interrupt.hpp"
#include "settings.hpp"

#include <chrono>   // for std::chrono::milliseconds
#include <cstdint>  // for std::uint64_t

namespace corpus {

/// The sums over all batches that the foreground got.
struct totals {
    std::uint64_t batches = 0;
    std::uint64_t tokens = 0;
    std::uint64_t padding = 0;
};

/// Takes all batches of the run. Ctrl-C stops the run.
template <class Run>
totals consume(Run& run, const settings& s) {
    totals sum;
    for (const auto& batch : run) {
        ++sum.batches;
        sum.tokens += batch.real_tokens();
        sum.padding += batch.padded;
        examples::be_busy(std::chrono::milliseconds(s.train_ms));
    }
    return sum;
}

}  // namespace corpus

#endif
