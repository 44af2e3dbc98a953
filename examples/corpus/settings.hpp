// corpus: the settings from the command line.
// The initial values are the defaults.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_CORPUS_SETTINGS_HPP
#define WEIR_EXAMPLES_CORPUS_SETTINGS_HPP

#include <algorithm>  // for std::max
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <optional>   // for std::optional
#include <string>     // for std::string
#include <thread>     // for std::thread::hardware_concurrency

namespace corpus {

/// The settings of the program.
struct settings {
    std::string directory;
    std::int64_t train_ms = 0;
    std::int64_t read_concurrency = 4;
    std::int64_t tokenize_concurrency = std::max(1U, std::thread::hardware_concurrency());
    std::int64_t workers = tokenize_concurrency;
    std::int64_t capacity = 2;
    std::int64_t sequence = 512;
    std::int64_t batch = 16;
    std::int64_t max_mb = 64;

    [[nodiscard]] std::size_t max_bytes() const { return static_cast<std::size_t>(max_mb) * 1'000'000; }
};

/// Reads the command line into `s`.
/// \returns the exit status if the program has to end now; nothing if it continues
[[nodiscard]] std::optional<int> parse(int argc, char** argv, settings& s);

}  // namespace corpus

#endif
