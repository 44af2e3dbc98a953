// images: the destination of batches with CUDA: a GPU, where a stream of the consumer takes them over.
// Without a GPU or a driver the same code makes copies on the host.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_IMAGES_GPU_HPP
#define WEIR_EXAMPLES_IMAGES_GPU_HPP

#include "batch.hpp"
#include "options.hpp"

#include <weir/cuda/to_device.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/sync_wait.hpp>

#include <cstddef>  // for std::size_t
#include <span>     // for std::span
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace images {

class gpu {
  public:
    explicit gpu(const settings& s)
        : context_({.or_host = true}), blocks_(context_, bytes_of_batch(s), blocks_of(s)),
          training_(context_) {}

    /// \returns the page-locked blocks, from which the GPU copies by itself.
    [[nodiscard]] weir::cuda::pinned_pool& blocks() { return blocks_; }

    /// \returns the loader with the stages that copy its batches to the GPU. Lifetime: this outlives the runs.
    template <class Loader>
    [[nodiscard]] auto behind(Loader loader) {
        return std::move(loader) | weir::cuda::to_device(context_, {.depth = depth}) | weir::sink(3);
    }

    /// Work that is queued on the consumer's stream from now on waits for the copy on the device. The memory on the
    /// device is reused only behind this work: here a copy back, in place of a network.
    /// \returns the values, until the next call.
    [[nodiscard]] std::span<const float> take(weir::cuda::device_buffer<float>& batch) {
        batch.hand_over(training_);
        seen_.resize(batch.size());
        const std::size_t bytes = batch.size() * sizeof(float);
        weir::sync_wait(weir::cuda::copy(training_, seen_.data(), batch.data(), bytes));
        return seen_;
    }

    [[nodiscard]] const char* name() const {
        return context_.on_host() ? "the host (no GPU was found)" : "a GPU";
    }

  private:
    static constexpr std::size_t depth = 2;  // copies under way

    weir::cuda::context context_;
    weir::cuda::pinned_pool blocks_;
    weir::cuda::stream training_;
    std::vector<float> seen_;
};

}  // namespace images

#endif
