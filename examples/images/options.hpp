// images: the settings, and their command-line options.
// The initial values are the defaults.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_IMAGES_OPTIONS_HPP
#define WEIR_EXAMPLES_IMAGES_OPTIONS_HPP

#include "../common/options.hpp"

#include <algorithm>  // for std::max
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <optional>   // for std::optional
#include <string>     // for std::string
#include <thread>     // for std::thread::hardware_concurrency

namespace images {

struct settings {
    std::string directory = "/usr/share/backgrounds";  // where Debian's packages have photographs
    std::int64_t batch = 8;
    std::int64_t side = 224;
    std::int64_t epochs = 16;
    std::int64_t threads = std::max(1U, std::thread::hardware_concurrency());
    std::int64_t readers = 4;
    std::int64_t train_ms = 0;
};

/// \returns the size of a batch of values (batch.hpp).
[[nodiscard]] inline std::size_t bytes_of_batch(const settings& s) {
    return static_cast<std::size_t>(s.batch * 3 * s.side * s.side) * sizeof(float);
}
/// \returns how many batches may be filled, wait, be copied and be in use: more than the queues and the consumer hold,
///          so that the decoders need not wait for a block.
[[nodiscard]] inline std::size_t blocks_of(const settings& s) {
    return 8 + static_cast<std::size_t>(s.threads / s.batch);
}

/// \returns the exit status if the program has to end now; nothing if it continues.
[[nodiscard]] inline std::optional<int> parse(settings& s, int argc, const char* const* argv) {
    examples::options options("images [OPTION...] [DIR]",
                              "Makes batches of the JPEG files in a directory, as for training a network.");
    options.argument("DIR", s.directory,
                     "where the photographs are, also further down (" + s.directory + ")");
    options.number("--batch", s.batch, 1, 4'096, "images in a batch");
    options.number("--size", s.side, 1, 4'096, "pixels on each side of an image");
    options.number("--epochs", s.epochs, 1, 1'000'000, "how often to go through the photographs");
    options.number("--threads", s.threads, 1, 1'000, "threads that decode");
    options.number("--readers", s.readers, 1, 1'000, "threads that read files");
    options.number("--train-ms", s.train_ms, 0, 3'600'000, "how long the foreground works on a batch");
    return options.parse(argc, argv);
}

}  // namespace images

#endif
