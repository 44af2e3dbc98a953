#include <weir/platform/system_files.hpp>

#include "support/catch.hpp"
#include "support/pipe.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>

#if !defined(_WIN32)
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace d = weir::detail;

TEST_CASE("a pipe that nobody reads any more is an error, and no signal, now or later") {
    int ends[2];
    REQUIRE(pipes::open_pipe(ends));
    close(ends[0]);
    errno = 0;
    CHECK(d::write_output(ends[1], "x", 1) == -1);
    CHECK_FALSE(d::write_whole(ends[1], "x"));
#if defined(_WIN32)
    CHECK(errno == EINVAL);  // as its library says it
#else
    CHECK(errno == EPIPE);
    sigset_t pending;
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 0);
#endif
    close(ends[1]);
}

#if !defined(_WIN32)
TEST_CASE("a full disk is an error") {
    const int full = d::open_output("/dev/full");
    if (full < 0) return;  // no such device here
    CHECK(d::is_device("/dev/full"));
    errno = 0;
    CHECK(d::write_output(full, "x", 1) == -1);
    CHECK(errno == ENOSPC);
    d::close_output(full);
}

TEST_CASE("a pipe with a name that nobody reads is not waited for") {
    const auto path = std::filesystem::temp_directory_path() / "weir pipe test";
    std::filesystem::remove(path);
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    CHECK(d::open_output(path.c_str()) == -1);
    CHECK(errno == ENXIO);
    std::filesystem::remove(path);
}

TEST_CASE("a file that is locked is nobody else's until it is unlocked") {
    const auto path = std::filesystem::temp_directory_path() / "weir lock test";
    const int one = d::open_output(path.c_str());
    const int other = d::open_output(path.c_str());
    const auto is_free = [other] {
        const bool locked = flock(other, LOCK_EX | LOCK_NB) == 0;
        if (locked) d::unlock_output(other);
        return locked;
    };
    CHECK(is_free());
    d::lock_output(one);
    CHECK_FALSE(is_free());
    d::unlock_output(one);
    CHECK(is_free());
    d::close_output(one);
    d::close_output(other);
    std::filesystem::remove(path);
}

#else
TEST_CASE("a file that is locked can be read by others, and is locked by one at a time") {
    const std::string path = (std::filesystem::temp_directory_path() / "weir lock test").string();
    const int one = d::open_output(path.c_str());
    const int other = d::open_output(path.c_str());
    d::lock_output(one);
    CHECK(d::write_whole(one, "text"));
    char text[8] = {};
    CHECK(d::read_of_file(path.c_str(), 0, text, sizeof text) == 4);
    std::atomic<bool> locked{false};
    std::thread waits([other, &locked] {
        d::lock_output(other);
        locked = true;
        d::unlock_output(other);
    });
    CHECK_FALSE(locked);
    d::unlock_output(one);
    waits.join();
    CHECK(locked);
    d::close_output(one);
    d::close_output(other);
    std::filesystem::remove(path);
}

TEST_CASE("a device has no size, and is_device is false for a path that doesn't exist") {
    const int nul = d::open_output("NUL");
    CHECK(d::size_of_output(nul) < 0);
    CHECK_FALSE(d::is_terminal(nul));
    CHECK_FALSE(d::draws_on_terminal(nul, "xterm"));
    d::close_output(nul);
}
#endif

TEST_CASE("a write of 0 bytes is an error, and parts are written until all is") {
    const auto writes_nothing = [](int, const char*, std::size_t) noexcept { return std::int64_t{0}; };
    errno = 0;
    CHECK_FALSE(d::write_whole(1, "text", writes_nothing));
    CHECK(errno == EIO);
    CHECK(d::write_whole(1, "", writes_nothing));
    static std::string parts;
    const auto writes_2 = [](int, const char* from, std::size_t size) noexcept {
        const std::size_t n = size < 2 ? size : 2;
        parts.append(from, n).append("|");
        return static_cast<std::int64_t>(n);
    };
    parts.clear();
    CHECK(d::write_whole(1, "text!", writes_2));
    CHECK(parts == "te|xt|!|");
}

TEST_CASE("read_of_file reads a part of a file, up to its end, and fails for a missing file") {
    const std::string path = (std::filesystem::temp_directory_path() / "weir read test").string();
    const int file = d::open_output(path.c_str());
    CHECK(d::write_whole(file, "one\r\ntwo"));
    CHECK(d::size_of_output(file) == 8);
    char text[8] = {};
    CHECK(d::read_of_file(path.c_str(), 3, text, 3) == 3);
    CHECK(std::string(text) == "\r\nt");
    CHECK(d::read_of_file(path.c_str(), 6, text, 3) == 2);
    CHECK(d::read_of_file(path.c_str(), 8, text, 3) == 0);
    CHECK(d::cut_output(file, 4) == 0);
    CHECK(d::size_of_output(file) == 4);
    d::remove_output(file, path.c_str());
    CHECK(d::read_of_file(path.c_str(), 0, text, 3) < 0);
}

TEST_CASE("a file is locked at once, unless it is locked elsewhere") {
    const std::string path = (std::filesystem::temp_directory_path() / "weir try_lock test").string();
    const int one = d::open_output(path.c_str());
    const int other = d::open_output(path.c_str());
    CHECK(d::try_lock_output(one, path.c_str()));
    CHECK_FALSE(d::try_lock_output(other, path.c_str()));
    d::close_output(other);
    CHECK(d::rename_output(one, path.c_str(), (path + "ed").c_str()));
    const int renamed = d::open_output((path + "ed").c_str());
    CHECK(d::try_lock_output(renamed, (path + "ed").c_str()));
#if !defined(_WIN32)
    CHECK_FALSE(d::try_lock_output(renamed, path.c_str()));
#endif
    CHECK_FALSE(d::rename_output(renamed, (path + "ed").c_str(), "/no/such/folder/x"));
    CHECK_FALSE(std::filesystem::exists(path + "ed"));
}

TEST_CASE("a file that is no terminal has the default size") {
    CHECK(d::size_of_terminal(-1).columns == 80);
    CHECK(d::size_of_terminal(-1).rows == 24);
    CHECK_FALSE(d::is_device("/no/such/file"));
}
