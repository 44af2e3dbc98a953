// corpus: finds files, and records problems by file name.
// The walk is a generator: the first file is read before the last one is found.
// SPDX-License-Identifier: BSL-1.0
#include "../common/interrupt.hpp"
#include "files.hpp"

#include <algorithm>     // for std::sort
#include <system_error>  // for std::error_code
#include <utility>       // for std::move

namespace corpus {

namespace fs = std::filesystem;

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

std::uint64_t count_files(const std::string& directory) {
    std::uint64_t files = 0;
    for ([[maybe_unused]] const std::string& path : walk(directory, nullptr)) {
        if (examples::interrupted()) break;
        ++files;
    }
    return files;
}

}  // namespace corpus
