// images: where batches go without CUDA: they stay where they are.
// gpu.hpp has the same for machines with the CUDA toolkit.
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

    /// \returns the loader with the stages that bring its batches here.
    template <class Loader>
    [[nodiscard]] auto behind(Loader loader) {
        return std::move(loader) | weir::sink(3);
    }

    /// \returns what the foreground has got.
    [[nodiscard]] const batch& take(const batch& b) { return b; }

    [[nodiscard]] static const char* name() { return "the host (built without the CUDA toolkit)"; }
};

}  // namespace images

#endif
