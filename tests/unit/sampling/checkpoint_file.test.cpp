#include <weir/sampling/checkpoint_file.hpp>

#include "support/catch.hpp"
#include "support/folder.hpp"

#include <weir/sampling/sampler.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#if !defined(_WIN32)
#include <sys/stat.h>
#endif

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using weir::checkpoint;

namespace {

// The checkpoint of a run that has taken some draws out of order.
checkpoint some(std::uint64_t seed) {
    weir::progress done(weir::sampler({.size = 100, .seed = seed}).start());
    for (const std::uint64_t position : {0U, 1U, 5U, 300U}) done.took(position);
    return done.checkpoint();
}

void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string refusal(const std::string& path) {
    try {
        static_cast<void>(weir::load_checkpoint(path));
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("a checkpoint that was saved is loaded, and a later one replaces it") {
    const files::folder here("weir checkpoint_file test");
    const std::string path = here / "a.weir";
    CHECK(!weir::load_checkpoint(path));
    weir::save_checkpoint(path, some(1));
    CHECK(weir::load_checkpoint(path) == some(1));
    weir::save_checkpoint(path, some(2));
    CHECK(weir::load_checkpoint(path) == some(2));
    CHECK_FALSE(std::filesystem::exists(path + ".new"));
    // More than is read at once.
    weir::progress done(weir::sampler({.size = 10'000}).start());
    for (std::uint64_t position = 1; position < 10'000; position += 2) done.took(position);
    weir::save_checkpoint(path, done.checkpoint());
    CHECK(weir::load_checkpoint(path) == done.checkpoint());
}

#if !defined(_WIN32)  // where a file that is being read can't be replaced
TEST_CASE("a checkpoint that is saved again while it is loaded is the old one or the new one") {
    const files::folder here("weir checkpoint_file test");
    const std::string path = here / "a.weir";
    const auto large = [](std::uint64_t first) {
        weir::progress done(weir::sampler({.size = 20'000}).start());
        for (std::uint64_t position = first; position < 20'000; position += 2) done.took(position);
        return done.checkpoint();
    };
    const checkpoint odd = large(1), some_odd = large(3'001);
    weir::save_checkpoint(path, odd);
    std::atomic<bool> over{false};
    std::thread saves([&] {
        for (int i = 0; !over; ++i) weir::save_checkpoint(path, i % 2 == 0 ? some_odd : odd);
    });
    int wrong = 0;
    for (int i = 0; i < 200; ++i) {
        try {
            const auto found = weir::load_checkpoint(path);
            wrong += found == odd || found == some_odd ? 0 : 1;
        } catch (const std::invalid_argument&) {
            ++wrong;
        }
    }
    over = true;
    saves.join();
    CHECK(wrong == 0);
}
#endif

TEST_CASE("a file that was cut short or changed is refused, with its path") {
    const files::folder here("weir checkpoint_file test");
    const std::string path = here / "a.weir";
    weir::save_checkpoint(path, some(1));
    const std::string whole = files::text_of(path);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        put(path, whole.substr(0, size));
        CHECK_THAT(refusal(path), StartsWith(path + ": weir: these bytes are no checkpoint"));
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 4);
        put(path, changed);
        CHECK(refusal(path) != "accepted");
    }
    put(path, whole + "x");
    CHECK(refusal(path) != "accepted");
}

TEST_CASE("a file that is no checkpoint is refused by its first bytes, however large the file is") {
    const files::folder here("weir checkpoint_file test");
    const std::string path = here / "a.weir";
    put(path, "data");
    std::filesystem::resize_file(path, std::uintmax_t{1} << 42);  // takes no room: the rest is a hole
    CHECK_THAT(refusal(path), ContainsSubstring("don't begin with \"weir\""));
}

TEST_CASE("what a crash while it was written has left hurts no later checkpoint") {
    const files::folder here("weir checkpoint_file test");
    const std::string path = here / "a.weir";
    weir::save_checkpoint(path, some(1));
    put(path + ".new", "half of a");
    CHECK(weir::load_checkpoint(path) == some(1));
    weir::save_checkpoint(path, some(2));
    CHECK(weir::load_checkpoint(path) == some(2));
}

TEST_CASE("a path that can't be written or read is an error with the path") {
    const files::folder here("weir checkpoint_file test");
    const std::string path = here / "none/a.weir";
    CHECK_THROWS_WITH(weir::save_checkpoint(path, some(1)), ContainsSubstring(path));
    CHECK(!weir::load_checkpoint(path));
    CHECK_THROWS_WITH(weir::save_checkpoint("", some(1)), ContainsSubstring("empty path"));
    CHECK_THROWS_WITH(weir::load_checkpoint(""), ContainsSubstring("empty path"));
    const std::string buffer = (here / "b.weir") + std::string(3, '\0');
    CHECK_THROWS_WITH(weir::save_checkpoint(buffer, some(1)), ContainsSubstring("zero byte"));
    CHECK_THROWS_WITH(weir::load_checkpoint(buffer), ContainsSubstring("zero byte"));
#if !defined(_WIN32)
    CHECK_THROWS_AS(weir::load_checkpoint(here.path.string()), std::system_error);
    const std::string pipe = here / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THROWS_WITH(weir::load_checkpoint(pipe), ContainsSubstring(pipe));  // does not wait for a writer
#endif
}
