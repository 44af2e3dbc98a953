#include <weir/platform/parts_file.hpp>

#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

namespace fs = std::filesystem;
using weir::detail::parts_file;

struct a_path {
    std::string path = (fs::temp_directory_path() / "weir parts_file test").string();
    a_path() { fs::remove(path); }
    a_path(const a_path&) = delete;
    ~a_path() { fs::remove(path); }
    std::string text() const {
        std::ostringstream all;
        all << std::ifstream(path, std::ios::binary).rdbuf();
        return all.str();
    }
    void put(const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }
};

parts_file open_parts(const a_path& at) { return {at.path, "head\n", ".\n"}; }

}  // namespace

TEST_CASE("what a killed process left of a part is cut off, and of a head, too") {
    const a_path here;
    for (const auto& [before, after] : {std::pair<std::string, std::string>("", "head\n"),
                                        {"he", "head\n"},
                                        {"head\n", "head\n"},
                                        {"head\na\n", "head\n"},
                                        {"head\na\nb.\n", "head\na\nb.\n"},
                                        {"head\na.\nb\n", "head\na.\n"},
                                        {"head\na.\nb.", "head\na.\n"}}) {
        CAPTURE(before);
        here.put(before);
        open_parts(here).write("c\nd.\n");
        CHECK(here.text() == after + "c\nd.\n");
    }
}

TEST_CASE("a file that begins otherwise is refused, and left as it is") {
    const a_path here;
    here.put("other\n");
    CHECK_THROWS_AS(open_parts(here), std::runtime_error);
    here.put("hx");
    CHECK_THROWS_AS(open_parts(here), std::runtime_error);
    CHECK(here.text() == "hx");
}

TEST_CASE("several may write to one file, and one that was killed meanwhile leaves no half of a part") {
    const a_path here;
    parts_file a = open_parts(here);
    parts_file b = open_parts(here);
    a.write("1.\n");
    b.write("2.\n");
    std::ofstream(here.path, std::ios::binary | std::ios::app) << "half";
    a.write("3.\n");
    CHECK(here.text() == "head\n1.\n2.\n3.\n");
}
