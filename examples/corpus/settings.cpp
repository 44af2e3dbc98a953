// corpus: reads the command line, and reports mistakes in it.
// Without a directory it uses one that contains text on most systems.
// SPDX-License-Identifier: BSL-1.0
#include "settings.hpp"
#include "../common/options.hpp"

#include <filesystem>    // for std::filesystem::is_directory
#include <system_error>  // for std::error_code

namespace corpus {

namespace {

std::string default_directory() {
    for (const char* candidate :
         {"/usr/share/doc", "/usr/share/man", "/usr/share/licenses", "/usr/include"}) {
        std::error_code ignored;
        if (std::filesystem::is_directory(candidate, ignored)) return candidate;
    }
    return ".";
}

}  // namespace

std::optional<int> parse(int argc, char** argv, settings& s) {
    s.directory = default_directory();
    examples::options options("corpus [OPTION...] [DIR]",
                              "Reads a directory tree of text files into batches of tokens.");
    options.argument("DIR", s.directory, "where the files are (" + s.directory + ")");
    options.number("--train-ms", s.train_ms, 0, 3'600'000, "how long the foreground works on a batch");
    options.number("--read-concurrency", s.read_concurrency, 1, 1'000, "reads at a time");
    options.number("--tokenize-concurrency", s.tokenize_concurrency, 1, 1'000, "tokenizers at a time");
    options.number("--workers", s.workers, 1, 1'000, "threads for all but the reading");
    options.number("--capacity", s.capacity, 1, 1'000'000, "places in the queue behind a stage");
    options.number("--sequence", s.sequence, 1, 1'000'000, "tokens in a row of a batch");
    options.number("--batch", s.batch, 1, 1'000'000, "rows of a batch");
    options.number("--max-mb", s.max_mb, 1, 100'000, "largest file, packed or not, in MB");
    if (const auto status = options.parse(argc, argv)) return status;
    std::error_code error;
    if (!std::filesystem::is_directory(s.directory, error)) {
        return options.wrong("'" + s.directory + "' is no directory" + (error ? ": " + error.message() : ""));
    }
    return std::nullopt;
}

}  // namespace corpus
