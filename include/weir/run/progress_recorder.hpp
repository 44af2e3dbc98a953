// weir run, internal: records which draws of a sampler the consumers of a run have taken
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_PROGRESS_RECORDER_HPP
#define WEIR_RUN_PROGRESS_RECORDER_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/platform/platform.hpp>
#include <weir/sampling/checkpoint.hpp>

#include <cstddef>    // for std::ptrdiff_t
#include <exception>  // for std::exception_ptr
#include <utility>    // for std::move

namespace weir::detail {

// Makes the checkpoints of a run. Each item calls `settle` when a consumer takes it, or it is dropped. Any
// thread.
class progress_recorder final : public progress_listener {
  public:
    explicit progress_recorder(weir::checkpoint start) : progress_(std::move(start)) {}

    // All draws of an item at once, so that no checkpoint has half of a batch. If memory lacks, the next
    // checkpoint would be wrong, and throws.
    void settle(origin& from, bool taken) noexcept override;

    const progress_recorder* recorder() const noexcept override { return this; }

    weir::checkpoint checkpoint() const;

  private:
    mutable standard_platform::mutex lock_;
    progress progress_;
    std::ptrdiff_t num_torn_ = 0;  // origins of which only a part was taken: see `origin::settle`
    std::exception_ptr error_;
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/run/progress_recorder.ipp>
#endif

#endif
