// weir run, internal: records which draws of a sampler the consumers of a run have taken
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_PROGRESS_RECORDER_HPP
#define WEIR_RUN_PROGRESS_RECORDER_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/platform/platform.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/progress.hpp>

#include <cstddef>    // for std::ptrdiff_t
#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::exception_ptr
#include <mutex>      // for std::lock_guard
#include <stdexcept>  // for std::logic_error
#include <utility>    // for std::move

namespace weir::detail {

// Makes the checkpoints of a run. Each item calls `settle` when a consumer takes it, or it is dropped. Any
// thread.
class progress_recorder final : public progress_listener {
  public:
    explicit progress_recorder(weir::checkpoint start) : progress_(std::move(start)) {}

    // All draws of an item at once, so that no checkpoint has half of a batch. If memory lacks, the next
    // checkpoint would be wrong, and throws.
    void settle(origin& from, bool taken) noexcept override {
        const std::lock_guard guard(lock_);
        try {
            num_torn_ += from.settle(taken, [this](std::uint64_t position) { progress_.took(position); });
        } catch (...) {
            error_ = std::current_exception();
        }
    }

    const progress_recorder* recorder() const noexcept override { return this; }

    weir::checkpoint checkpoint() const {
        const std::lock_guard guard(lock_);
        if (error_) std::rethrow_exception(error_);
        if (num_torn_ != 0) {
            throw std::logic_error(
                "weir: no checkpoint is exact now: of what was made of one draw, or of one batch, the "
                "consumer "
                "has taken some items and not others, and a resumed run would give the first ones again; "
                "take "
                "the others first, as at the end of an epoch. Where a pipe between aggregate and "
                "disaggregate "
                "makes element k of a batch of element k alone, .elementwise = true says so");
        }
        return progress_.checkpoint();
    }

  private:
    mutable standard_platform::mutex lock_;
    progress progress_;
    std::ptrdiff_t num_torn_ = 0;  // origins of which only a part was taken: see `origin::settle`
    std::exception_ptr error_;
};

}  // namespace weir::detail

#endif
