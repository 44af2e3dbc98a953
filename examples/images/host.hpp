// images: the destination of batches without CUDA: they stay in host memory.
// gpu.hpp has the same interface for machines with the CUDA toolkit.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_IMAGES_HOST_HPP
#define WEIR_EXAMPLES_IMAGES_HOST_HPP

#include "batch.hpp"
#include "options.hpp"

#include <weir/stages/sink.hpp>

#include <utility>  // for std::move

namespace images {

class host {
  public:
    explicit host(const settings&) {}

    /// \returns the loader with its last stage.
    template <class Loader>
    [[nodiscard]] auto behind(Loader loader) {
        return std::move(loader) | weir::sink(3);
    }

    /// \returns the batch.
    [[nodiscard]] const batch& take(const batch& b) { return b; }

    [[nodiscard]] static const char* name() { return "the host (built without the CUDA toolkit)"; }
};

}  // namespace images

#endif
