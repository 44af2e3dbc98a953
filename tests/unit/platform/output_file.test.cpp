#include <weir/platform/output_file.hpp>

#include "support/catch.hpp"
#include "support/folder.hpp"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/resource.h>
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

TEST_CASE("of several writers that replace one file at once, each replaces all of it") {
    const files::folder here("weir output_file test");
    const std::string path = here / "a.json";
    const auto is_whole = [](const std::string& text) {
        return text.size() == 100'000 && text.find_first_not_of(text[0]) == std::string::npos;
    };
    output_file::replace(path, std::string(100'000, 'z'));
    std::atomic<int> failed{0}, ended{0};
    std::vector<std::thread> writers;
    for (const char letter : {'a', 'b', 'c'}) {
        writers.emplace_back([&, letter] {
            for (int i = 0; i < 300; ++i) {
                if (error_of([&] { output_file::replace(path, std::string(100'000, letter)); }) != "none")
                    ++failed;
            }
            ++ended;
        });
    }
    int cut = 0;
    while (ended < 3) cut += is_whole(files::text_of(path)) ? 0 : 1;
    for (std::thread& each : writers) each.join();
    CHECK(failed == 0);
    CHECK(cut == 0);
    CHECK(is_whole(files::text_of(path)));
    CHECK(std::distance(fs::directory_iterator(here.path), fs::directory_iterator()) == 1);
}

TEST_CASE("a new content that another writer has open is left alone; one of a killed writer is used again") {
    const files::folder here("weir output_file test");
    const std::string path = here / "a.json";
    put(path + ".new", "of another");
    const int other = weir::detail::open_output((path + ".new").c_str());
    REQUIRE(other >= 0);
    weir::detail::lock_output(other);
    for (const char* const text : {"first", "second"}) {
        output_file::replace(path, text);
        CHECK(files::text_of(path) == text);
        CHECK(files::text_of(path + ".new") == "of another");
        CHECK_FALSE(fs::exists(path + ".new1"));
    }
    weir::detail::close_output(other);
    output_file::replace(path, "third");
    CHECK(files::text_of(path) == "third");
    CHECK_FALSE(fs::exists(path + ".new"));
}

TEST_CASE("a new content that can't be written is removed, and the old one stays") {
    const files::folder here("weir output_file test");
    const std::string file = here / "a.json";
    output_file::replace(file, "old");
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{10, before.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string error = error_of([&] { output_file::replace(file, std::string(1000, 'x')); });
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    CHECK(error.find(file + ": ") == 0);
    CHECK(files::text_of(file) == "old");
    CHECK_FALSE(fs::exists(file + ".new"));
}

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

TEST_CASE("the end of the last whole part is found, however long what comes behind is") {
    const a_path here;
    for (const std::string begin : {"head\n", "head\na.\n"}) {
        for (const std::size_t length : {0U, 1U, 2U, 65'532U, 65'533U, 65'534U, 65'535U, 65'536U, 65'537U,
                                         65'538U, 131'070U, 131'072U}) {
            CAPTURE(begin, length);
            here.put(begin + std::string(length, 'x'));
            open_parts(here).write("b.\n");
            CHECK(here.text() == begin + "b.\n");
        }
    }
    here.put("head\na.\n" + std::string(8'000'000, 'x'));  // a minute if the file is read byte by byte
    open_parts(here).write("b.\n");
    CHECK(here.text() == "head\na.\nb.\n");
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
