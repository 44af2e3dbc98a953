// images: where batches go with CUDA: to a GPU, where a stream of the foreground's takes them over.
// Without a GPU, or a driver, the same code makes copies on the host.
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

    /// \returns the loader with the stages that bring its batches here. Outlives its runs.
    template <class Loader>
    [[nodiscard]] auto behind(Loader loader) {
        return std::move(loader) |
               weir::cuda::to_device(context_, blocks_, {.depth = depth}, &batch::values) | weir::sink(3);
    }

    /// \returns what the foreground has got. Whatever is queued on its stream from now on, a network's kernels,
    ///          waits for the copy; and only behind that is the memory used again.
    [[nodiscard]] const batch& take(weir::cuda::device_batch<batch, float>& b) {
        b.data.hand_over(training_);
        return b.host;
    }

    [[nodiscard]] const char* name() const {
        return context_.on_host() ? "the host (no GPU was found)" : "a GPU";
    }

  private:
    static constexpr std::size_t depth = 2;  // one is packed while the other is copied

    static std::size_t bytes_of_batch(const settings& s) {
        return static_cast<std::size_t>(s.batch * 3 * s.side * s.side) * sizeof(float);
    }

    weir::cuda::context context_;
    weir::cuda::pinned_pool blocks_;
    weir::cuda::stream training_;
};

}  // namespace images

#endif
