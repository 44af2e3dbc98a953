// weir platform, internal: the files that reports are written to
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_OUTPUT_FILE_HPP
#define WEIR_PLATFORM_OUTPUT_FILE_HPP

#include <weir/platform/numbers.hpp>
#include <weir/platform/system_files.hpp>

#include <cerrno>        // for EBUSY, errno
#include <cstdint>       // for std::int64_t
#include <string>        // for std::string
#include <string_view>   // for std::string_view
#include <system_error>  // for std::system_error
#include <utility>       // for std::exchange, std::move

namespace weir::detail {

// An open file for texts. A write to a regular file writes the whole text, or nothing.
//
// Errors: `std::system_error` with the path and the system's message: `run.csv: No space left on device`. A
//         pipe without a reader is an error and raises no signal.
class output_file {
  public:
    // Opens the file for appending.
    static output_file at_end_of(std::string path);
    // Opens the file for appending, and removes an incomplete last line that a killed process has left.
    static output_file append_to(std::string path);
    // Replaces the whole file atomically: a reader sees the old or the new content. A pipe or terminal is not
    // replaced: the text is written to it. Except on Windows, symbolic links remain, and so do the
    // permissions of the file.
    static void replace(const std::string& path, std::string_view text) { replace(path, text, false); }
    // As `replace`; the new content also outlasts a crash of the system once this call has returned. Waits
    // for the storage.
    static void replace_durably(const std::string& path, std::string_view text) { replace(path, text, true); }

    output_file(output_file&& other) noexcept
        : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
    output_file& operator=(output_file&&) = delete;
    ~output_file() { close(); }

    const std::string& path() const noexcept { return path_; }
    bool empty() const noexcept { return size() <= 0; }
    // In bytes; negative: not a regular file.
    std::int64_t size() const noexcept { return size_of_output(file_); }
    // Truncates the file to `size` bytes.
    void cut(std::int64_t size);

    // An advisory lock against other writers.
    void lock() noexcept { lock_output(file_); }
    void unlock() noexcept { unlock_output(file_); }

    // Writes the text, in one system call if possible. On failure, a regular file is truncated to its size
    // before the call.
    void write(std::string_view text);

    void close() noexcept;

  private:
    explicit output_file(std::string path) : path_(std::move(path)) {}

    static void replace(const std::string& path, std::string_view text, bool durably);
    void open(const std::string& path);
    // Opens and locks the file that is to replace `target`. Returns its path: that of `target` with `.new`
    // behind; or, if another writer holds the lock of that file, with the first of `.new1` to `.new99` that
    // is free. A file that a killed process has left is not locked, and so is used again.
    std::string open_beside(const std::string& target);
    [[noreturn]] void fail() const { throw std::system_error(errno, std::generic_category(), path_); }

    void cut_to_whole_lines();

    std::string path_;
    int file_ = -1;
};

// A file that several processes may append to. It begins with a line that describes its content, followed by
// parts, each written in one piece. If a process was killed while writing, the next writer removes the
// incomplete part.
//
// Errors: those of `output_file`; `std::runtime_error` if the file begins with another line; the file is not
//         changed then.
class parts_file {
  public:
    // `head`: the first line, with its end. `end`: a text with which every part ends, and that occurs nowhere
    // else in a part.
    parts_file(std::string path, std::string head, std::string end);

    void write(std::string_view part);

  private:
    // Called when the file was opened, or when another process has written to it. Writes a missing first
    // line, and removes an incomplete part.
    void prepare();

    // True: the first line is `head_`. False: the file ends within this line. Errors: `std::runtime_error`
    // for another first line.
    bool begins_with_head(std::int64_t size) const;

    void cut_to_whole_parts(std::int64_t size);

    output_file file_;
    const std::string head_;
    const std::string end_;
    std::int64_t size_ = 0;  // of the file after the last write by this object
};

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/platform/output_file.ipp>
#endif

#endif
