// images: the destination of batches without CUDA: they stay in host memory.
// gpu.hpp has the same interface for machines with the CUDA toolkit.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_IMAGES_HOST_HPP
#define WEIR_EXAMPLES_IMAGES_HOST_HPP

#include "batch.hpp"
#include "options.hpp"

#include <weir/stages/block_pool.hpp>
#include <weir/stages/sink.hpp>

#include <span>     // for std::span
#include <utility>  // for std::move

namespace images {

class host {
  public:
    explicit host(const settings& s) : blocks_(bytes_of_batch(s), blocks_of(s)) {}

    /// \returns the blocks of memory for batches.
    [[nodiscard]] weir::block_pool& blocks() { return blocks_; }

    /// \returns the loader with its last stage. Lifetime: this outlives the runs.
    template <class Loader>
    [[nodiscard]] auto behind(Loader loader) {
        return std::move(loader) | weir::sink(3);
    }

    /// \returns the values, as long as the batch.
    [[nodiscard]] std::span<const float> take(const weir::pooled_block<float>& batch) { return batch; }

    [[nodiscard]] static const char* name() { return "the host (built without the CUDA toolkit)"; }

  private:
    weir::block_pool blocks_;
};

}  // namespace images

#endif
