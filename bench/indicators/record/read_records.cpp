// indicators record: files and folders of documents
#include "indicators/record/read_record.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/text.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace indicators {

namespace {

namespace files = std::filesystem;

std::string whole_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw lab::input_error(path, "can't be opened; is there a file of that name that you may read?");
    std::ostringstream text;
    text << in.rdbuf();
    return std::move(text).str();
}

// Amun's: results/0/result, results/1/result, ... and build/specification, which says how many were to be.
std::vector<found_record> read_inspection(const files::path& folder) {
    std::vector<std::pair<std::int64_t, files::path>> places;
    for (const auto& entry : files::directory_iterator(folder / "results")) {
        const std::string name = entry.path().filename().string();
        const bool is_number =
            !name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == name.npos;
        if (is_number && files::exists(entry.path() / "result"))
            places.emplace_back(std::stoll(name), entry.path() / "result");
    }
    if (places.empty()) throw lab::input_error(folder.string(), "has no results/0/result in it");
    std::sort(places.begin(), places.end());
    std::int64_t size = places.back().first + 1;
    json specification;
    if (const files::path file = folder / "build" / "specification"; files::exists(file)) {
        read_json read = read_json_text(lab::text_in(file.string()));
        if (!read.good() || !read.document.is_object())
            throw lab::input_error(file.string(), "is no JSON object");
        const auto wanted = read.document.find("batch_size");
        if (wanted != read.document.end() && wanted->is_number_integer())
            size = std::max(size, wanted->get<std::int64_t>());
        specification = std::move(read.document);
    }
    const std::string id = files::absolute(folder).lexically_normal().filename().string();
    std::vector<found_record> all;
    for (const auto& [place, file] : places) {
        // As one document with what belongs to it, so that a store has all of it.
        read_json read = read_json_text(whole_file(file.string()));
        if (!read.good() || !read.document.is_object() || read.document.contains("@result")) {
            all.push_back({file.string(), read_record(whole_file(file.string()))});
            continue;
        }
        if (!specification.is_null() && !read.document.contains("specification"))
            read.document["specification"] = specification;
        read.document["batch"] = {{"id", id}, {"place", place}, {"size", size}};
        all.push_back({file.string(), read_record(read.document.dump())});
    }
    return all;
}

}  // namespace

std::vector<found_record> read_records(const std::string& path) {
    if (files::is_directory(path)) {
        const files::path folder = path.ends_with('/') ? files::path(path).parent_path() : files::path(path);
        if (!files::is_directory(folder / "results"))
            throw lab::input_error(path, "is a folder without results/; name files");
        return read_inspection(folder);
    }
    const std::string text = whole_file(path);
    std::vector<found_record> all;
    std::istringstream lines(text);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.find_first_not_of(" \t\r") == line.npos) continue;
        run_record one = read_record(line);
        // A document a line, as `run` and `export` write them, and only those: a program prints one document.
        const bool is_ours = one.whole.is_object() && one.whole.contains("indicator_result");
        if (!is_ours && all.empty()) break;
        all.push_back({path + ":" + std::to_string(number), std::move(one)});
    }
    if (all.size() > 1) return all;
    all.clear();
    all.push_back({path, read_record(text)});
    return all;
}

}  // namespace indicators
