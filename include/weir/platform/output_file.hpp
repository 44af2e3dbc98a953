// weir platform, internal: a file that reports are written to, whole or not at all
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_OUTPUT_FILE_HPP
#define WEIR_PLATFORM_OUTPUT_FILE_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/system_files.hpp>

#include <cerrno>        // for errno
#include <cstddef>       // for std::size_t
#include <cstdint>       // for std::int64_t
#include <string>        // for std::string
#include <string_view>   // for std::string_view
#include <system_error>  // for std::system_error
#include <utility>       // for std::exchange

namespace weir::detail {

// Errors: `std::system_error`, whose text has the path and what the system says, as `run.csv: No space left
//         on device`. A pipe whose reader is gone is one, too, and no signal.
class output_file {
  public:
    // For more at its end.
    static output_file at_end_of(std::string path) {
        output_file file(std::move(path));
        file.open(file.path_, false);
        return file;
    }
    // The same. What a process that was killed left of a last line is cut off.
    static output_file append_to(std::string path) {
        output_file file = at_end_of(std::move(path));
        file.cut_to_whole_lines();
        return file;
    }
    // The file has this text and nothing else, at once: whoever reads it sees the old one or the new one.
    // What is no plain file, as a pipe or a terminal, is written to.
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
    // In bytes; negative: it is no plain file.
    std::int64_t size() const noexcept { return size_of_output(file_); }
    // It has so many bytes from now on, which are fewer.
    void cut(std::int64_t size) {
        if (cut_output(file_, size) != 0) fail();
    }

    // Against others that write to it, and lock it, too.
    void lock() noexcept { lock_output(file_); }
    void unlock() noexcept { unlock_output(file_); }

    // All of it, in one call of the system's where that takes it. If it fails, nothing of it is left there,
    // as far as what was written can be taken back.
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
        const std::int64_t size = size_of_output(file_);  // negative: no plain file
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

}  // namespace weir::detail

#endif
