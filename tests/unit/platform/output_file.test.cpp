#include <weir/platform/output_file.hpp>

#include "support/catch.hpp"
#include "support/folder.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#if !defined(_WIN32)
#include <fcntl.h>
#include <unistd.h>
#endif

namespace {

namespace fs = std::filesystem;
using weir::detail::output_file;

void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

template <class F>
std::string error_of(F&& f) {
    try {
        f();
    } catch (const std::system_error& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("an output_file creates a missing file, and appends to an existing one") {
    const files::folder here("weir output_file test");
    const std::string path = here / "a.csv";
    {
        output_file f = output_file::append_to(path);
        CHECK(f.empty());
        CHECK(f.path() == path);
        f.write("one\n");
        f.write("");
        CHECK_FALSE(f.empty());
    }
    CHECK(files::text_of(path) == "one\n");
    output_file f = output_file::append_to(path);
    f.write("two\n");
    output_file moved = std::move(f);
    moved.write("three\n");
    CHECK(files::text_of(path) == "one\ntwo\nthree\n");
}

TEST_CASE("append_to removes an incomplete last line") {
    const files::folder here("weir output_file test");
    const std::string path = here / "a.csv";
    for (const auto& [before, after] : {std::pair<std::string, std::string>("one\ntwo\nthr", "one\ntwo\n"),
                                        {"one\ntwo\n", "one\ntwo\n"},
                                        {"o", ""},
                                        {"", ""},
                                        {"\n", "\n"}}) {
        put(path, before);
        output_file::append_to(path).write("more\n");
        CHECK(files::text_of(path) == after + "more\n");
    }
}

TEST_CASE("a file is replaced as a whole, and nothing else is left beside it") {
    const files::folder here("weir output_file test");
    const std::string path = here / "a.json";
    output_file::replace(path, "old and long");
    output_file::replace(path, "new");
    CHECK(files::text_of(path) == "new");
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& each : fs::directory_iterator(here.path)) ++files;
    CHECK(files == 1);
}

#if !defined(_WIN32)

TEST_CASE("a file that is replaced keeps its permissions") {
    const files::folder here("weir output_file test");
    const std::string path = here / "a.json";
    output_file::replace(path, "old");
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_write);
    output_file::replace(path, "new");
    CHECK(fs::status(path).permissions() ==
          (fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_write));
    CHECK(files::text_of(path) == "new");
}

TEST_CASE("of symbolic links, the file that they name is replaced, also if there is none yet") {
    const files::folder here("weir output_file test");
    fs::create_directory(here.path / "in");
    const std::string link = here / "link", file = here / "in/a.json";
    fs::create_symlink(here.path / "in/second", link);
    fs::create_symlink("a.json", here.path / "in/second");
    for (const char* const text : {"first", "second"}) {
        output_file::replace(link, text);
        CHECK(files::text_of(file) == text);
        CHECK(fs::is_symlink(link));
        CHECK(fs::is_symlink(here.path / "in/second"));
        CHECK_FALSE(fs::exists(file + ".new"));
    }
    fs::create_symlink("round", here.path / "round");
    output_file::replace(here / "round", "no link any more");
    CHECK(files::text_of(here / "round") == "no link any more");
}

TEST_CASE("in a program that has closed its standard input the first file has number 0, as good as any") {
    const files::folder here("weir output_file test");
    const std::string path = here / "a.csv";
    const int input = dup(0);
    close(0);
    std::string error = error_of([&] { output_file::append_to(path).write("one\n"); });
    const bool is_closed = fcntl(0, F_GETFD) == -1;
    close(0);
    if (input >= 0) {
        dup2(input, 0);
        close(input);
    }
    CHECK(error == "none");
    CHECK(is_closed);
    CHECK(files::text_of(path) == "one\n");
}
#endif

TEST_CASE("a name is UTF-8, whatever the system calls its files by") {
    const files::folder here("weir output_file test");
    const auto path = here.path / u8"Z\u00e4hlung \u65e5\u672c.csv";
    const std::u8string name = path.u8string();
    const std::string text(name.begin(), name.end());
    output_file::replace(text, "one\ntw");
    output_file::replace(text, "one\ntwo");
    output_file::append_to(text).write("three\n");
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    CHECK(all.str() == "one\nthree\n");
    CHECK(fs::exists(path));
}

TEST_CASE("the end of the last whole line is found, however long what comes behind is") {
    const files::folder here("weir output_file test");
    const std::string path = here / "a.csv";
    for (const std::size_t length : {0U, 1U, 510U, 511U, 512U, 513U, 1024U, 5000U}) {
        put(path, "one\n" + std::string(length, 'x'));
        output_file::append_to(path).write("two\n");
        CHECK(files::text_of(path) == "one\ntwo\n");
        put(path, std::string(length, 'x'));
        output_file::append_to(path).write("two\n");
        CHECK(files::text_of(path) == "two\n");
    }
}

TEST_CASE("a path that can't be written is an error that has it") {
    const files::folder here("weir output_file test");
    const std::string path = here / "no/such/folder/a.csv";
    CHECK(error_of([&] { static_cast<void>(output_file::append_to(path)); }).find(path + ": ") == 0);
    CHECK(error_of([&] { output_file::replace(path, "x"); }).find(path + ": ") == 0);
    CHECK(error_of([&] { static_cast<void>(output_file::append_to(here.path.string())); }) != "none");
}

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

TEST_CASE("an incomplete part or first line of a killed process is removed") {
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
