#include <weir/platform/system_files.hpp>

#include "support/catch.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace d = weir::detail;

TEST_CASE("a full disk is an error") {
    const int full = d::open_output("/dev/full", false);
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
    CHECK(d::open_output(path.c_str(), false) == -1);
    CHECK(errno == ENXIO);
    std::filesystem::remove(path);
}

TEST_CASE("a file that is locked is nobody else's until it is unlocked") {
    const auto path = std::filesystem::temp_directory_path() / "weir lock test";
    const int one = d::open_output(path.c_str(), true);
    const int other = d::open_output(path.c_str(), false);
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

TEST_CASE("what is no terminal has the size of the usual one") {
    CHECK(d::size_of_terminal(-1).columns == 80);
    CHECK(d::size_of_terminal(-1).rows == 24);
    CHECK_FALSE(d::is_device("/no/such/file"));
}
