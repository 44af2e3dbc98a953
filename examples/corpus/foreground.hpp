// corpus: the foreground, a training loop that counts tokens instead of training.
// It looks at Ctrl-C also while no batch comes.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_CORPUS_FOREGROUND_HPP
#define WEIR_EXAMPLES_CORPUS_FOREGROUND_HPP

#include "../common/interrupt.hpp"
#include "settings.hpp"

#include <weir/channel/get_result.hpp>

#include <chrono>   // for std::chrono::milliseconds
#include <cstdint>  // for std::uint64_t

namespace corpus {

/// What the foreground got.
struct totals {
    std::uint64_t batches = 0;
    std::uint64_t tokens = 0;
    std::uint64_t padding = 0;
};

/// Takes all there is, unless Ctrl-C ends it.
template <class Run>
totals consume(Run& run, const settings& s) {
    totals sum;
    while (!examples::interrupted()) {
        // Waits for a while only, so that Ctrl-C is looked at; a time-out loses nothing.
        const auto batch = run.get(std::chrono::milliseconds(100));
        if (batch.status() == weir::channel_status::closed) break;
        if (!batch) continue;
        ++sum.batches;
        sum.tokens += batch->real_tokens();
        sum.padding += batch->padded;
        examples::be_busy(std::chrono::milliseconds(s.train_ms));
    }
    return sum;
}

}  // namespace corpus

#endif
