// A folder for the files of a test, and what a file of it contains.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace files {

// A folder that is empty at first, and is deleted with this object. `name`: of this test alone.
struct folder {
    explicit folder(const std::string& name) : path(std::filesystem::temp_directory_path() / name) {
        std::filesystem::remove_all(path);
        std::filesystem::create_directories(path);
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() { std::filesystem::remove_all(path); }
    std::string operator/(const char* file) const { return (path / file).string(); }

    std::filesystem::path path;
};

inline std::string text_of(const std::string& path) {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
}

}  // namespace files
