// weir run, internal: the progress of a run, told of by any thread
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_PROGRESS_KEEPER_HPP
#define WEIR_RUN_PROGRESS_KEEPER_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/platform/platform.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/progress.hpp>

#include <cstdint>    // for std::uint64_t
#include <exception>  // for std::exception_ptr
#include <mutex>      // for std::lock_guard
#include <utility>    // for std::move

namespace weir::detail {

class progress_keeper final : public progress_listener {
  public:
    explicit progress_keeper(weir::checkpoint start) : progress_(std::move(start)) {}

    // What goes wrong (no memory) is told by whoever asks for the checkpoint, which would be wrong.
    void finished(std::uint64_t position) noexcept override {
        const std::lock_guard guard(lock_);
        try {
            progress_.took(position);
        } catch (...) {
            error_ = std::current_exception();
        }
    }

    const progress_keeper* keeper() const noexcept override { return this; }

    weir::checkpoint checkpoint() const {
        const std::lock_guard guard(lock_);
        if (error_) std::rethrow_exception(error_);
        return progress_.checkpoint();
    }

  private:
    mutable standard_platform::mutex lock_;
    progress progress_;
    std::exception_ptr error_;
};

}  // namespace weir::detail

#endif
