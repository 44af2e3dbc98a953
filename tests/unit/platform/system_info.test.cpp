#include <weir/platform/system_info.hpp>

#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <string>

namespace d = weir::detail;

TEST_CASE("the text behind a label of the system's files is found, or nothing") {
    const auto path = (std::filesystem::temp_directory_path() / "weir system_info test").string();
    std::ofstream(path) << "processor\t: 0\nmodel name\t: A: B 3000\nflags\t\t:\nMemTotal:       16 kB\n";
    CHECK(d::line_of_system(path.c_str(), "model name") == "A: B 3000");
    CHECK(d::line_of_system(path.c_str(), "MemTotal") == "16 kB");
    CHECK(d::line_of_system(path.c_str(), "flags").empty());
    CHECK(d::line_of_system(path.c_str(), "bogomips").empty());
    std::filesystem::remove(path);
    CHECK(d::line_of_system(path.c_str(), "model name").empty());
}

TEST_CASE("the date is written as ISO 8601 has it") {
    const std::string now = d::utc_now();
    REQUIRE(now.size() == 20);
    CHECK(now[4] == '-');
    CHECK(now[10] == 'T');
    CHECK(now[19] == 'Z');
    CHECK(now > "2026");
}
