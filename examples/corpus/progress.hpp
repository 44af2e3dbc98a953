// corpus: shows how far a job is: a bar on a terminal, one plain line every few seconds elsewhere.
// Nothing here knows the library.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_CORPUS_PROGRESS_HPP
#define WEIR_EXAMPLES_CORPUS_PROGRESS_HPP

#include <chrono>   // for std::chrono::steady_clock
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <string>   // for std::string

namespace corpus {

/// How far a job is.
struct work_done {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::uint64_t total_files = 0;  // 0: not known
    double seconds = 0;             // since the start
};

/// One line: files, data rate, and, where the total is known, the share that is done, with a bar
/// as wide as there is room for.
/// \param width of the line in characters; 0: no bar
[[nodiscard]] std::string progress_line(const work_done& done, std::size_t width);

/// Writes such lines to the standard error, as often as is good for whoever reads them.
class progress {
  public:
    using clock = std::chrono::steady_clock;

    explicit progress(std::uint64_t total_files);

    /// Cheap enough for every turn of a loop: it does something a few times a second at most.
    void show(std::uint64_t files, std::uint64_t bytes);

    /// Clears the bar, so that what is printed next stands alone.
    void finish();

    /// Since the start.
    [[nodiscard]] double seconds() const;

  private:
    clock::time_point start_;
    clock::time_point next_;
    std::uint64_t total_files_;
    bool terminal_;
    bool bar_is_shown_ = false;
};

}  // namespace corpus

#endif
