// images: the destination of batches with CUDA: a GPU, where a stream of the consumer takes them over.
// Without a GPU or a driver the same code makes copies on the host.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_IMAGES_GPU_HPP
#define WEIR_EXAMPLES_IMAGES_GPU_HPP

#include "batch.hpp"
#include "options.hpp"

#include <weir/cuda/to_device.hpp>
#include <weir/stages/sink.hpp>

#include <cstddef>  // for std::size_t
#include <utility>  // for std::move

namespace images {

class gpu {
  public:
    explicit gpu(const settings& s)
        : context_({.or_host = true}), blocks_(context_, bytes_of_batch(s), depth + 1), training_(context_) {}

    /// \returns the loader with the stages that copy its batches to the GPU. Lifetime: this outlives the runs.
    template <class Loader>
    [[nodiscard]] auto behind(Loader loader) {
        return std::move(loader) |
               weir::cuda::to_device(context_, blocks_, {.depth = depth}, &batch::values) | weir::sink(3);
    }

    /// \returns the batch in host memory. Work that is queued on the consumer's stream from now on waits for the
    ///          copy on the device. The memory on the device is reused only behind this work.
    [[nodiscard]] const batch& take(weir::cuda::device_batch<batch, float>& b) {
        b.data.hand_over(training_);
        return b.host;
    }

    [[nodiscard]] const char* name() const {
        return context_.on_host() ? "the host (no GPU was found)" : "a GPU";
    }

  private:
    static constexpr std::size_t depth = 2;  // one batch is packed while another one is copied

    static std::size_t bytes_of_batch(const settings& s) {
        return static_cast<std::size_t>(s.batch * 3 * s.side * s.side) * sizeof(float);
    }

    weir::cuda::context context_;
    weir::cuda::pinned_pool blocks_;
    weir::cuda::stream training_;
};

}  // namespace images

#endif
