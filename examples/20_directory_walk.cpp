// Shows a stage that adds items to itself: it reads a folder and adds the folders inside. It prints the size of
// each entry of a directory, as du does: 20_directory_walk [DIR]
#include <weir/executor/blocking_pool.hpp>
#include <weir/report/table.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/traverse.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <utility>

namespace fs = std::filesystem;

namespace {

struct folder {
    folder(fs::path at, std::string below) : path(std::move(at)), entry(std::move(below)) {}
    fs::path path;
    std::string entry;  // the entry of the walked directory that contains this folder
};

struct size {
    size(std::string of, std::uintmax_t n) : entry(std::move(of)), bytes(n) {}
    std::string entry;
    std::uintmax_t bytes;
};

// Adds the folders inside this one, and returns the size of its files. Links are not followed.
size measure(folder f, weir::feeder<folder>& more) {
    std::uintmax_t bytes = 0;
    for (const fs::directory_entry& each : fs::directory_iterator(f.path)) {
        const std::string entry = f.entry.empty() ? each.path().filename().string() : f.entry;
        if (each.is_symlink()) continue;
        if (each.is_directory()) {
            more.add(folder(each.path(), entry));
        } else if (each.is_regular_file()) {
            bytes += each.file_size();
        }
    }
    return {std::move(f.entry), bytes};
}

}  // namespace

int main(int argc, char** argv) {
    const fs::path root = argc > 1 ? argv[1] : ".";
    weir::blocking_pool pool(4);  // the file system blocks
    const auto walk = weir::source({folder(root, "")}) |
                      weir::traverse(measure, {.name = "walk", .concurrency = 4, .max_failures = 1000}) |
                      weir::sink();

    std::map<std::string, std::uintmax_t> bytes;
    std::size_t folders = 0;
    try {
        // A folder that can't be read, or no longer exists, is reported and skipped.
        auto run = walk.start(pool, {.on_failure = [](const weir::failure& f) {
                                  try {
                                      std::rethrow_exception(f.error);
                                  } catch (const std::exception& e) {
                                      std::cerr << e.what() << '\n';
                                  }
                              }});
        for (size& each : run) {
            bytes[each.entry] += each.bytes;
            ++folders;
        }
        for (const auto& [entry, n] : bytes) std::cout << n << '\t' << (entry.empty() ? "." : entry) << '\n';
        std::cout << folders << " folders\n\n" << run.stats();
    } catch (const weir::pipeline_failure& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
    return folders > 0 ? 0 : 1;
}
