// indicators record: reads files and folders of documents
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
    constexpr std::size_t most_bytes = 1024 * 1024 * 1024;
    std::ifstream in(path, std::ios::binary);
    if (!in) throw lab::input_error(path, "can't be opened; is there a file of that name that you may read?");
    std::string text;
    std::vector<char> part(1 << 20);
    while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount() > 0) {
        text.append(part.data(), static_cast<std::size_t>(in.gcount()));
        if (text.size() > most_bytes) throw lab::input_error(path, "has more than 1 GiB");
    }
    return text;
}

// A folder of Amun: results/0/result, results/1/result, ..., and build/specification, which has the planned number.
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
    const std::string id = files::canonical(folder).filename().string();
    std::vector<found_record> all;
    for (const auto& [place, file] : places) {
        const std::string text = whole_file(file.string());
        const read_json read = read_json_text(text);
        if (!read.good()) {
            all.push_back({file.string(), read_record(text)});
            continue;
        }
        // The document together with its batch and specification, so that a store has everything.
        json whole{{"indicator_result", 1}, {"batch", {{"id", id}, {"place", place}, {"size", size}}}};
        if (!specification.is_null()) whole["specification"] = specification;
        whole["document"] = read.document;
        all.push_back({file.string(), read_record(text_of_json(whole))});
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
    return records_in(whole_file(path), path);
}

std::vector<found_record> records_in(const std::string& text, const std::string& name) {
    std::vector<found_record> all;
    std::istringstream lines(text);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.find_first_not_of(" \t\r") == line.npos) continue;
        run_record one = read_record(line);
        // One document per line, as `run` and `export` write them. (A program prints one document.)
        const bool is_ours = one.whole.is_object() && (one.whole.contains("indicator_result") ||
                                                       one.whole.contains("indicator_batch"));
        if (!is_ours && all.empty()) break;
        all.push_back({name + ":" + std::to_string(number), std::move(one)});
    }
    if (all.size() > 1) return all;
    all.clear();
    all.push_back({name, read_record(text)});
    return all;
}

}  // namespace indicators
