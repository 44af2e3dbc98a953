// weir platform, internal: files that reports are written to
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_OUTPUT_FILE_HPP
#define WEIR_PLATFORM_OUTPUT_FILE_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/system_files.hpp>

#include <cerrno>        // for errno
#include <cstddef>       // for std::size_t
#include <cstdint>       // for std::int64_t
#include <mutex>         // for std::lock_guard
#include <stdexcept>     // for std::runtime_error
#include <string>        // for std::string
#include <string_view>   // for std::string_view
#include <system_error>  // for std::system_error
#include <utility>       // for std::exchange, std::move

namespace weir::detail {

// A file that is written in one piece or not at all.
//
// Errors: `std::system_error` with the path and the system's message: `run.csv: No space left on device`. A
//         pipe without a reader is an error and raises no signal.
class output_file {
  public:
    // Opens the file for appending.
    static output_file at_end_of(std::string path) {
        output_file file(std::move(path));
        file.open(file.path_, false);
        return file;
    }
    // The same. Removes an incomplete last line, which a killed process may have left.
    static output_file append_to(std::string path) {
        output_file file = at_end_of(std::move(path));
        file.cut_to_whole_lines();
        return file;
    }
    // Replaces the whole file atomically: a reader sees the old or the new content. A pipe or a terminal is
    // written to.
    static void replace(const std::string& path, std::string_view text) {
        output_file file(path);
        if (is_device(path.c_str())) {
            file.open(path, false);
            return file.write(text);
        }
        const std::string other = path + ".new";
        file.open(other, true);
        try {
            file.write(text);
            file.close();
            if (rename_output(other.c_str(), path.c_str()) != 0) file.fail();
        } catch (...) {
            remove_output(other.c_str());
            throw;
        }
    }

    output_file(output_file&& other) noexcept
        : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
    output_file& operator=(output_file&&) = delete;
    ~output_file() { close(); }

    const std::string& path() const noexcept { return path_; }
    bool empty() const noexcept { return size() <= 0; }
    // In bytes; negative: not a regular file.
    std::int64_t size() const noexcept { return size_of_output(file_); }
    // Truncates the file to `size` bytes.
    void cut(std::int64_t size) {
        if (cut_output(file_, size) != 0) fail();
    }

    // An advisory lock against other writers.
    void lock() noexcept { lock_output(file_); }
    void unlock() noexcept { unlock_output(file_); }

    // Writes the text, in one system call if possible. If it fails, a regular file is truncated to its size
    // before.
    void write(std::string_view text) {
        const std::int64_t before = size_of_output(file_);
        if (write_whole(file_, text)) return;
        const int error = errno;
        if (before >= 0) static_cast<void>(cut_output(file_, before));
        errno = error;
        fail();
    }

    void close() noexcept {
        if (file_ >= 0) close_output(std::exchange(file_, -1));
    }

  private:
    explicit output_file(std::string path) : path_(std::move(path)) {}

    void open(const std::string& path, bool anew) {
        file_ = open_output(path.c_str(), anew);
        if (file_ < 0) fail();
    }
    [[noreturn]] void fail() const { throw std::system_error(errno, std::generic_category(), path_); }

    void cut_to_whole_lines() {
        const std::int64_t size = size_of_output(file_);  // negative: not a regular file
        std::int64_t whole = size;
        for (char part[512]; whole > 0;) {
            const std::int64_t from = larger<std::int64_t>(whole, sizeof part) - std::int64_t{sizeof part};
            const std::int64_t n =
                read_of_file(path_.c_str(), from, part, static_cast<std::size_t>(whole - from));
            if (n != whole - from) return;
            const std::size_t last = std::string_view(part, static_cast<std::size_t>(n)).rfind('\n');
            const bool found = last != std::string_view::npos;
            whole = from + (found ? static_cast<std::int64_t>(last) + 1 : 0);
            if (found) break;
        }
        if (whole < size) static_cast<void>(cut_output(file_, whole));
    }

    std::string path_;
    int file_ = -1;
};

// A file that several processes may append to. It begins with a line that describes its content, followed by
// parts, each written in one piece. If a process was killed while writing, the next writer removes the
// incomplete part.
//
// Errors: those of `output_file`; `std::runtime_error` if the file begins with another line; it is not
//         changed then.
class parts_file {
  public:
    // `head`: the first line. `end`: a text with which every part ends, and which it has nowhere else.
    parts_file(std::string path, std::string head, std::string end)
        : file_(output_file::at_end_of(std::move(path))), head_(std::move(head)), end_(std::move(end)) {
        const std::lock_guard guard(file_);
        prepare();
    }

    void write(std::string_view part) {
        const std::lock_guard guard(file_);
        if (file_.size() != size_) prepare();
        file_.write(part);
        size_ = file_.size();
    }

  private:
    // Called when another process has written to the file, and may have been killed while it did.
    void prepare() {
        const std::int64_t size = file_.size();
        if (size > 0 && !begins_with_head(size)) file_.cut(0);
        if (file_.empty()) {
            file_.write(head_);
        } else {
            cut_to_whole_parts(size);
        }
        size_ = file_.size();
    }

    // False: the file has only a beginning of the first line.
    bool begins_with_head(std::int64_t size) const {
        std::string first(head_.size(), '\0');
        const std::int64_t n = read_of_file(file_.path().c_str(), 0, first.data(), first.size());
        first.resize(static_cast<std::size_t>(larger<std::int64_t>(n, 0)));
        if (first == head_) return true;
        if (std::string_view(head_).starts_with(first) && static_cast<std::int64_t>(first.size()) == size)
            return false;
        throw std::runtime_error(file_.path() +
                                 ": its first line is another one than would be written here; it is left "
                                 "as it is: choose another path, or move it away");
    }

    void cut_to_whole_parts(std::int64_t size) {
        const auto floor = static_cast<std::int64_t>(head_.size());
        const auto length = static_cast<std::int64_t>(end_.size());
        std::int64_t end = size;
        for (std::string last(end_.size(), '\0'); end > floor; --end) {
            const std::int64_t n = read_of_file(file_.path().c_str(), end - length, last.data(), last.size());
            if (n != length) return;
            if (last == end_) break;
        }
        if (end != size) file_.cut(end);
    }

    output_file file_;
    const std::string head_;
    const std::string end_;
    std::int64_t size_ = 0;  // of the file after the last write by this object
};

}  // namespace weir::detail

#endif
