// images: the pipeline: file names go in, batches come out.
// Copy and change this file; the others contain the functions of its stages.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_IMAGES_LOADER_HPP
#define WEIR_EXAMPLES_IMAGES_LOADER_HPP

#include "batch.hpp"
#include "decode.hpp"
#include "options.hpp"
#include "photo.hpp"

#include <weir/executor/executor.hpp>
#include <weir/run/failure.hpp>
#include <weir/stages/batch_slots.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>

#include <algorithm>  // for std::shuffle
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <random>     // for std::mt19937_64
#include <span>       // for std::span
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace images {

// Files per task: enough that the cost of a task does not matter, and few enough to spread over slots.
inline constexpr std::size_t files_per_read = 8;

/// \param readers  threads that read files, which blocks. Outlives the runs.
/// \param blocks   memory for batches: a weir::block_pool, or weir::cuda::pinned_pool. Outlives the runs.
/// \returns the stages that make batches. host.hpp and gpu.hpp add the last stages.
template <class Blocks>
[[nodiscard]] auto make_loader(const std::vector<std::string>& paths, const settings& s,
                               weir::executor& readers, Blocks& blocks) {
    const auto number_of_readers = static_cast<std::size_t>(s.readers);
    const auto threads = static_cast<std::size_t>(s.threads);
    const weir::batch_shape shape{.places = static_cast<std::size_t>(s.batch),
                                  .elements = values_of(static_cast<std::size_t>(s.side))};

    // Each epoch has another order; the orders are the same in every run.
    const auto shuffled = [paths](std::uint64_t epoch) {
        std::vector<std::string> order = paths;
        std::shuffle(order.begin(), order.end(), std::mt19937_64(epoch));
        return order;
    };
    // Each slot of the stage makes its own decoder, which writes into a place of a batch. An exception of a decoder
    // fails one file, and is tolerated: the next image gets the place.
    const auto own_decoder = [side = static_cast<int>(s.side)] {
        return [side, own = decoder()](const photo& p, std::span<float> to) mutable {
            write_square(own.decode(p, side), side, to);
        };
    };

    // clang-format off
    return weir::source(weir::repeat(shuffled, static_cast<std::uint64_t>(s.epochs)), {.name = "list"})
         | weir::aggregate(files_per_read, {.name = "group"})
         | weir::pipe(read_all, {.name = "read", .concurrency = number_of_readers, .executor = &readers})
         | weir::disaggregate({.name = "ungroup"})
         | weir::batch_slots<float>(blocks, shape, weir::per_slot(own_decoder),
                                    {.name = "decode", .concurrency = threads, .max_failures = weir::unlimited});
    // clang-format on
}

}  // namespace images

#endif
