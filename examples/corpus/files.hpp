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

/// A file that can't be used, with the reason.
class file_error : public std::runtime_error {
  public:
    file_error(const std::string& path, const std::string& why) : std::runtime_error(path + ": " + why) {}
};

/// A file that was read.
struct document {
    std::string path;
    std::string bytes;
};

/// Counters and problems of all files so far.
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
/// links ends. A directory that can't be read is reported and skipped.
/// \param problems where to report; may be null
weir::generator<std::string> walk(std::filesystem::path directory, books* problems);

/// \returns the number of paths that a walk would yield, or that were found until Ctrl-C. It reads only names, so it
///          is quick; the live view uses it as the total
[[nodiscard]] std::uint64_t count_files(const std::string& directory);

/// \returns a message for a file that is too large
[[nodiscard]] std::string too_large(std::size_t max_bytes);

/// \returns the content of the file
/// Errors: `file_error` if it can't be read, is no regular file, or holds more than `max_bytes`.
[[nodiscard]] std::string read_file(const std::string& path, std::size_t max_bytes);

/// \returns the unpacked content of a gzip file (of one or several members)
/// Errors: `std::runtime_error` if it is corrupt, cut off, or unpacks to more than `max_bytes`.
[[nodiscard]] std::string gunzip(const std::string& packed, std::size_t max_bytes);

}  // namespace corpus

#endif
