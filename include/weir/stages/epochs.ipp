// weir stages, internal: bodies of the functions of stages/epochs.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_EPOCHS_IPP
#define WEIR_STAGES_EPOCHS_IPP

#include <weir/stages/epochs.hpp>

#include <weir/platform/config.hpp>

#include <mutex>      // for std::lock_guard
#include <stdexcept>  // for std::logic_error

namespace weir::detail {

WEIR_INLINE void progress_recorder::settle(origin& from, bool taken) noexcept {
    const std::lock_guard guard(lock_);
    try {
        // The result: how many more draws and batches are torn: taken in part.
        num_torn_ += from.settle(taken, [this](std::uint64_t position) { progress_.took(position); });
    } catch (...) {
        error_ = std::current_exception();
    }
}

WEIR_INLINE weir::checkpoint progress_recorder::checkpoint() const {
    const std::lock_guard guard(lock_);
    if (error_) std::rethrow_exception(error_);
    if (num_torn_ != 0) {
        throw std::logic_error(
            "weir: no checkpoint is exact now: of what was made of one draw, or of one batch, the consumer "
            "has taken some items and not others, and a resumed run would give the first ones again; take "
            "the others first, as at the end of an epoch. Where a pipe between aggregate and disaggregate "
            "makes element k of a batch of element k alone, .elementwise = true says so");
    }
    return progress_.checkpoint();
}

}  // namespace weir::detail

#endif
