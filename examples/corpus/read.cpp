// corpus: reads a whole file, and reports why a file can't be read.
// Everything that depends on Unix is here.
// SPDX-License-Identifier: BSL-1.0
#include "files.hpp"

#include <fcntl.h>     // for open
#include <sys/stat.h>  // for fstat
#include <unistd.h>    // for read, close

#include <algorithm>     // for std::max
#include <cerrno>        // for errno
#include <system_error>  // for std::generic_category

namespace corpus {

namespace {

constexpr std::size_t chunk = std::size_t{1} << 18;

class descriptor {
  public:
    explicit descriptor(int number) noexcept : number_(number) {}
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    [[nodiscard]] int number() const noexcept { return number_; }

  private:
    int number_;
};

}  // namespace

std::string too_large(std::size_t max_bytes) {
    return "is larger than the limit of " + std::to_string(max_bytes / 1'000'000) + " MB (--max-mb)";
}

std::string read_file(const std::string& path, std::size_t max_bytes) {
    const auto fail = [&path](int error) { throw file_error(path, std::generic_category().message(error)); };
    // Non-blocking: since the walk the file may have become a pipe that nobody writes to.
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.number() < 0) fail(errno);
    struct stat status{};
    if (::fstat(file.number(), &status) != 0) fail(errno);
    if (!S_ISREG(status.st_mode)) throw file_error(path, "is not a regular file");
    // The size is only a hint: files grow and shrink, and files in /proc have size 0.
    const auto size = static_cast<std::size_t>(std::max<off_t>(0, status.st_size));
    if (size > max_bytes) throw file_error(path, too_large(max_bytes));
    std::string bytes;
    bytes.reserve(size + 1);
    for (;;) {
        const std::size_t before = bytes.size();
        if (before > max_bytes) throw file_error(path, too_large(max_bytes));
        bytes.resize(before < size ? size + 1 : before + chunk);
        const ssize_t got = ::read(file.number(), bytes.data() + before, bytes.size() - before);
        const int error = errno;
        bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(0, got)));
        if (got == 0) return bytes;
        if (got < 0 && error != EINTR) fail(error);
    }
}

}  // namespace corpus
