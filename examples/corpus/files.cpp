// corpus: finds files, reads them and unpacks .gz, and keeps the books of what went wrong, by name.
// What is specific to Unix and zlib is here.
// SPDX-License-Identifier: BSL-1.0
#include "files.hpp"

#include <fcntl.h>     // for open
#include <sys/stat.h>  // for fstat
#include <unistd.h>    // for read, close
#include <zlib.h>      // for inflate

#include <algorithm>     // for std::sort
#include <cerrno>        // for errno
#include <limits>        // for std::numeric_limits
#include <memory>        // for std::unique_ptr
#include <system_error>  // for std::generic_category
#include <utility>       // for std::move

namespace corpus {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t chunk = std::size_t{1} << 18;

std::string too_large(std::size_t max_bytes) {
    return "is larger than the limit of " + std::to_string(max_bytes / 1'000'000) + " MB (--max-mb)";
}

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

void books::add_problem(std::string what) {
    const std::lock_guard guard(mutex_);
    problems_.push_back(std::move(what));
}

std::vector<std::string> books::problems() const {
    std::vector<std::string> sorted;
    {
        const std::lock_guard guard(mutex_);
        sorted = problems_;
    }
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

weir::generator<std::string> walk(fs::path directory, books* problems) {
    const auto report = [problems](const fs::path& path, const std::error_code& why) {
        if (problems != nullptr) problems->add_problem(path.string() + ": " + why.message());
    };
    std::vector<fs::path> directories{std::move(directory)};
    while (!directories.empty()) {
        const fs::path here = std::move(directories.back());
        directories.pop_back();
        std::vector<fs::directory_entry> entries;
        std::error_code error;
        fs::directory_iterator it(here, error);
        while (!error && it != fs::directory_iterator()) {
            entries.push_back(*it);
            it.increment(error);
        }
        if (error) report(here, error);
        std::sort(entries.begin(), entries.end());

        std::vector<fs::path> below;
        for (const fs::directory_entry& entry : entries) {
            const bool link = entry.is_symlink(error);
            const fs::file_status status = entry.status(error);
            if (fs::is_directory(status)) {
                if (!link) below.push_back(entry.path());
            } else if (fs::is_regular_file(status)) {
                co_yield entry.path().string();
            } else if (error || !fs::exists(status)) {  // such as a link to nowhere or to itself
                report(entry.path(), error ? error : make_error_code(std::errc::no_such_file_or_directory));
            }
        }
        directories.insert(directories.end(), below.rbegin(), below.rend());
    }
}

std::string read_file(const std::string& path, std::size_t max_bytes) {
    const auto fail = [&path](int error) { throw file_error(path, std::generic_category().message(error)); };
    // Not blocking: in the time since the walk the file may have become a pipe that nobody writes to.
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.number() < 0) fail(errno);
    struct stat status{};
    if (::fstat(file.number(), &status) != 0) fail(errno);
    if (!S_ISREG(status.st_mode)) throw file_error(path, "is not a regular file");
    // The size is a hint, no more: files grow, shrink, and say 0 in /proc.
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

std::string gunzip(const std::string& packed, std::size_t max_bytes) {
    z_stream stream{};
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::runtime_error("zlib does not start");
    const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);

    std::string text;
    std::size_t taken = 0;  // of `packed`
    int state = Z_OK;
    do {
        if (stream.avail_in == 0) {
            const std::size_t part =
                std::min(packed.size() - taken, std::size_t{std::numeric_limits<uInt>::max()});
            if (part == 0) throw std::runtime_error("the compressed data is cut off");
            // zlib only reads it, but says so in its types only when asked (ZLIB_CONST).
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data())) + taken;
            stream.avail_in = static_cast<uInt>(part);
            taken += part;
        }
        const std::size_t before = text.size();
        if (before > max_bytes) throw std::runtime_error("unpacked, it " + too_large(max_bytes));
        text.resize(before + chunk);
        stream.next_out = reinterpret_cast<Bytef*>(text.data()) + before;
        stream.avail_out = static_cast<uInt>(chunk);
        state = inflate(&stream, Z_NO_FLUSH);
        text.resize(before + chunk - stream.avail_out);
        if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) {
            throw std::runtime_error(std::string("the compressed data is corrupt: ") +
                                     (stream.msg != nullptr ? stream.msg : "zlib gives no reason"));
        }
        // Another member may follow; anything else behind the last one is ignored, as gzip does.
        const std::size_t next = taken - stream.avail_in;
        if (state == Z_STREAM_END && packed.compare(next, 2, "\x1f\x8b") == 0) {
            state = inflateReset(&stream);
        }
    } while (state != Z_STREAM_END);
    return text;
}

}  // namespace corpus
