// corpus: finds files, reads them, unpacks .gz, and records problems by file name.
// walk.cpp, read.cpp and gunzip.cpp implement one function each.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_CORPUS_FILES_HPP
#define WEIR_EXAMPLES_CORPUS_FILES_HPP

#include <weir/task/generator.hpp>

#include <atomic>      // for std::atomic
#include <cstddef>     // for std::size_t
#include <cstdint>     // for std::uint64_t
#include <exception>   // for std::exception
#include <filesystem>  // for std::filesystem::path
#include <mutex>       // for std::mutex
#include <stdexcept>   // for std::runtime_error
#include <string>      // for std::string
#include <vector>      // for std::vector

namespace corpus {

/// A file that is no use: its name and the reason.
class file_error : public std::runtime_error {
  public:
    file_error(const std::string& path, const std::string& why) : std::runtime_error(path + ": " + why) {}
};

/// What was read of a file.
struct document {
    std::string path;
    std::string bytes;
};

/// What has happened to files so far.
///
/// Threads: any number at once.
class books {
  public:
    std::atomic<std::uint64_t> files{0};   // processed, with or without a problem
    std::atomic<std::uint64_t> bytes{0};   // read
    std::atomic<std::uint64_t> binary{0};  // files that were skipped because they are not text

    /// \param what begins with the file's name.
    void add_problem(std::string what);

    /// All problems so far, in the order of their names.
    [[nodiscard]] std::vector<std::string> problems() const;

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> problems_;
};

/// Yields the paths of all files below a directory, lazily; each directory's in the order of their
/// names. Links to files count as files; links to directories are not followed, so that a loop of
/// links ends. Where a directory can't be read, the walk goes on.
/// \param problems where to report; may be null
weir::generator<std::string> walk(std::filesystem::path directory, books* problems);

/// \returns how many a walk would yield: names only, so it is quick, and the live view has a total; or how
///          many were found until Ctrl-C
[[nodiscard]] std::uint64_t count_files(const std::string& directory);

/// \returns why a file is too large, for a message
[[nodiscard]] std::string too_large(std::size_t max_bytes);

/// \returns what the file holds
/// Errors: `file_error` if it can't be read, is no regular file, or holds more than `max_bytes`.
[[nodiscard]] std::string read_file(const std::string& path, std::size_t max_bytes);

/// \returns what a gzip file (of one or several members) holds, unpacked
/// Errors: `std::runtime_error` if it is corrupt, cut off, or unpacks to more than `max_bytes`.
[[nodiscard]] std::string gunzip(const std::string& packed, std::size_t max_bytes);

}  // namespace corpus

#endif
