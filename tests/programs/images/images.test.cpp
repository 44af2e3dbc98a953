#include "cuda/stand_in/control.hpp"
#include "examples/images/batch.hpp"
#include "examples/images/decode.hpp"
#include "examples/images/gpu.hpp"
#include "examples/images/host.hpp"
#include "examples/images/loader.hpp"
#include "examples/images/options.hpp"
#include "examples/images/photo.hpp"
#include "examples/images/report.hpp"

#include "support/catch.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/measure/stats.hpp>
#include <weir/report/table.hpp>
#include <weir/run/failure.hpp>

#include <turbojpeg.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace images;
namespace fs = std::filesystem;

namespace {

using colour = std::array<unsigned char, 3>;
constexpr colour orange = {200, 120, 40};
constexpr colour blue = {10, 60, 220};

bool near(double a, double b) { return std::abs(a - b) < 3.0 / 255; }

// A photograph of one colour.
std::string jpeg(int width, int height, colour c, int sampling = TJSAMP_420) {
    std::vector<unsigned char> pixels;
    for (int i = 0; i < width * height; ++i) pixels.insert(pixels.end(), c.begin(), c.end());
    const std::unique_ptr<void, int (*)(tjhandle)> encoder(tjInitCompress(), tjDestroy);
    unsigned char* data = nullptr;
    unsigned long length = 0;
    const int status = tjCompress2(encoder.get(), pixels.data(), width, 0, height, TJPF_RGB, &data, &length,
                                   sampling, 90, 0);
    const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner(data, tjFree);
    if (status != 0) throw std::runtime_error(tjGetErrorStr2(encoder.get()));
    return {data, data + length};
}

photo in_memory(const std::string& bytes) { return {"some.jpg", {bytes.begin(), bytes.end()}, {}}; }

// A directory of our own, which goes when this does.
class folder {
  public:
    folder() : path_(fs::temp_directory_path() / ("weir-images-" + std::to_string(std::random_device{}()))) {
        fs::create_directories(path_);
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    std::string add(const std::string& name, const std::string& bytes) const {
        fs::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << bytes;
        return (path_ / name).string();
    }
    std::string path(const std::string& name = {}) const { return (path_ / name).string(); }

  private:
    fs::path path_;
};

// The values of a square, as bytes: red, green and blue of each pixel.
std::vector<int> square_of(const image& from, int side) {
    const auto n = static_cast<std::size_t>(side);
    std::vector<float> planes(values_of(n));
    write_square(from, side, planes);
    std::vector<int> pixels;
    for (std::size_t i = 0; i < planes.size(); ++i)
        pixels.push_back(static_cast<int>(std::lround(255 * planes[i % 3 * n * n + i / 3])));
    return pixels;
}

std::string refusal(const photo& p) {
    try {
        static_cast<void>(decoder().decode(p, 8));
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "none";
}

std::string refusal_to_find(const std::string& directory) {
    try {
        static_cast<void>(find_photos(directory));
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "none";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a photograph of one colour is a batch of that colour") {
    const image decoded = decoder().decode(in_memory(jpeg(300, 200, orange)), 32);
    std::vector<float> values(values_of(32));
    write_square(decoded, 32, values);
    for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(near(values[i], orange[i / (32 * 32)] / 255.0));
}

TEST_CASE("a photograph without colours is grey in all three") {
    const image decoded = decoder().decode(in_memory(jpeg(64, 64, orange, TJSAMP_GRAY)), 8);
    const double grey = 0.299 * orange[0] + 0.587 * orange[1] + 0.114 * orange[2];
    for (const unsigned char value : decoded.pixels) REQUIRE(near(value / 255.0, grey / 255));
}

TEST_CASE("decoding gives the smallest size that is large enough and costs nothing") {
    const photo p = in_memory(jpeg(640, 480, blue));
    decoder d;
    const auto size = [&](int side) {
        const image decoded = d.decode(p, side);
        CHECK(decoded.pixels.size() == static_cast<std::size_t>(3 * decoded.width * decoded.height));
        return std::pair(decoded.width, decoded.height);
    };
    CHECK(size(60) == std::pair(80, 60));
    CHECK(size(61) == std::pair(160, 120));
    CHECK(size(480) == std::pair(640, 480));
    CHECK(size(1000) == std::pair(640, 480));
}

TEST_CASE("a square is the middle of a photograph") {
    // Red, green and blue side by side; and one above the other.
    image wide{9, 3, {}};
    image high{3, 9, {}};
    for (std::size_t i = 0; i < 27; ++i) {
        for (std::size_t c = 0; c < 3; ++c) {
            wide.pixels.push_back(i % 9 / 3 == c ? 255 : 0);
            high.pixels.push_back(i / 9 == c ? 255 : 0);
        }
    }
    for (const int side : {1, 2, 3, 7}) {
        std::vector<int> green;
        for (int i = 0; i < side * side; ++i) green.insert(green.end(), {0, 255, 0});
        CHECK(square_of(wide, side) == green);
        CHECK(square_of(high, side) == green);
    }
}

TEST_CASE("between pixels a colour lies in between") {
    image from{2, 2, {}};
    for (const int v : {0, 100, 40, 140})
        from.pixels.insert(from.pixels.end(), 3, static_cast<unsigned char>(v));
    const auto grey = [&](int side) {
        const std::vector<int> to = square_of(from, side);
        std::vector<int> values;
        for (std::size_t i = 0; i < to.size(); i += 3) values.push_back(to[i]);
        return values;
    };
    CHECK(grey(1) == std::vector{70});
    CHECK(grey(2) == std::vector{0, 100, 40, 140});
    CHECK(grey(4) == std::vector{0, 25, 75, 100, 10, 35, 85, 110, 30, 55, 105, 130, 40, 65, 115, 140});
}

TEST_CASE("an image is its red, its green, its blue") {
    const image from{2, 2, {255, 51, 0, 204, 102, 0, 153, 0, 0, 102, 51, 255}};
    std::vector<float> values(values_of(2));
    write_square(from, 2, values);
    for (float& v : values) v *= 5;
    CHECK(values == std::vector<float>{5, 4, 3, 2, 1, 2, 0, 1, 0, 0, 0, 5});
}

TEST_CASE("a decoder that met a damaged photograph decodes the next one as ever") {
    const std::string whole = jpeg(64, 64, blue);
    decoder d;
    for (std::size_t length = 0; length < whole.size(); length += 7) {
        CHECK_THROWS_AS(d.decode(in_memory(whole.substr(0, length)), 8), std::runtime_error);
        REQUIRE(d.decode(in_memory(whole), 64).pixels.size() == std::size_t{3} * 64 * 64);
    }
}

TEST_CASE("what is no photograph is refused by name") {
    const std::string whole = jpeg(64, 64, blue);
    CHECK(refusal(in_memory(whole)) == "none");
    CHECK(refusal(in_memory("hello")) == "some.jpg: Not a JPEG file: starts with 0x68 0x65");
    CHECK(refusal(in_memory("")) == "some.jpg: is empty");
    CHECK(contains(refusal(in_memory(whole.substr(0, whole.size() - 20))), "some.jpg: Premature end"));
    CHECK(contains(refusal(in_memory(whole.substr(0, 100))), "some.jpg: "));
    CHECK(contains(refusal(read("no/such.jpg")), "no/such.jpg: No such file"));
}

TEST_CASE("photographs are found further down, by what their names end in") {
    const folder dir;
    CHECK(contains(refusal_to_find(dir.path()), "holds no JPEG file"));
    CHECK(contains(refusal_to_find(dir.path("nowhere")), "nowhere' is no directory"));
    const std::string b = dir.add("b.jpeg", "B");
    const std::string a = dir.add("a/b/c.JPG", "A");
    CHECK(contains(refusal_to_find(b), "is no directory"));
    dir.add("a.png", "");
    fs::create_directories(dir.path("d.jpg"));
    CHECK(find_photos(dir.path()) == std::vector{a, b});
    CHECK(read(a).bytes == std::vector<unsigned char>{'A'});
    CHECK(read(a).problem.empty());
}

TEST_CASE("the loader gives each photograph in each epoch, and tells of the broken ones") {
    const folder dir;
    for (int i = 0; i < 10; ++i) dir.add(std::to_string(i) + ".jpg", jpeg(40, 30, i < 5 ? orange : blue));
    const std::string text = dir.add("text.jpg", "hello");
    std::vector<std::string> paths = find_photos(dir.path());
    paths.push_back(dir.path("gone.jpg"));

    settings s;
    s.batch = 8;
    s.side = 16;
    s.epochs = 3;
    weir::virtual_time time;
    std::vector<std::string> failures;
    learned network;
    std::vector<std::size_t> sizes;
    const auto note = [&](const weir::failure& f) {
        CHECK(f.stage == "decode");
        failures.push_back(f.message());
    };
    host here(s);
    auto run = here.behind(make_loader(paths, s, time, here.blocks())).start(time, {.on_failure = note});
    for (const auto& each : run) {
        sizes.push_back(here.take(each).size() / values_of(16));
        network.add(here.take(each), 16);
    }
    CHECK(sizes == std::vector<std::size_t>{8, 8, 8, 6});
    CHECK(network.images == 30);
    CHECK(network.batches == 4);
    for (std::size_t c = 0; c < 3; ++c) CHECK(near(network.sums[c] / 30, (orange[c] + blue[c]) / 510.0));
    REQUIRE(failures.size() == 6);
    int refused = 0;
    for (const std::string& f : failures) refused += contains(f, text + ": Not a JPEG") ? 1 : 0;
    CHECK(refused == 3);
}

TEST_CASE("batches come to a GPU whole, and to the host where there is none") {
    const folder dir;
    for (int i = 0; i < 10; ++i) dir.add(std::to_string(i) + ".jpg", jpeg(40, 30, i < 5 ? orange : blue));
    settings s;
    s.batch = 4;
    s.side = 8;
    s.epochs = 2;
    stand_in::reset();
    const bool is_there = GENERATE(true, false);
    if (!is_there) stand_in::no_device(cudaErrorNoDevice);
    {
        weir::thread_pool workers(1);
        gpu there(s);
        CHECK(there.name() == std::string(is_there ? "a GPU" : "the host (no GPU was found)"));
        auto run =
            there.behind(make_loader(find_photos(dir.path()), s, workers, there.blocks())).start(workers);
        learned network;
        for (auto& each : run) network.add(there.take(each), 8);
        CHECK(network.images == 20);
        CHECK(network.batches == 5);
        for (std::size_t c = 0; c < 3; ++c) CHECK(near(network.sums[c] / 20, (orange[c] + blue[c]) / 510.0));
        run.stop();
        std::ostringstream table;
        table << run.stats();
        CHECK(contains(table.str(), "to_device"));
        CHECK(contains(table.str(), "copies") == is_there);
    }
    stand_in::wait_until_idle();
    CHECK(stand_in::misuses().empty());
    CHECK(stand_in::leaks().empty());
    stand_in::reset();
}

TEST_CASE("the busiest is the bottleneck") {
    using std::chrono::milliseconds;
    weir::pipeline_stats stats;
    stats.elapsed = milliseconds(100);
    stats.channels.resize(1);
    stats.stages.resize(2);
    stats.stages[0].name = "read";
    stats.stages[0].per_slot.resize(1);
    stats.stages[0].per_slot[0].await = milliseconds(70);
    stats.stages[0].per_slot[0].wait_put = milliseconds(30);
    stats.stages[1].name = "decode";
    stats.stages[1].per_slot.resize(2);
    for (auto& slot : stats.stages[1].per_slot) {
        slot.run = milliseconds(60);
        slot.runnable = milliseconds(40);
    }
    stats.channels[0].get_blocked = milliseconds(20);
    CHECK(busiest(stats).name == "the foreground");
    CHECK(busiest(stats).busy == 0.8);
    stats.channels[0].get_blocked = milliseconds(40);
    CHECK(busiest(stats).name == "read");
    CHECK(busiest(stats).busy == 0.7);
}

TEST_CASE("the program reports what it made, and what was broken") {
    const folder dir;
    for (int i = 0; i < 5; ++i) dir.add("photos/" + std::to_string(i) + ".jpg", jpeg(100, 80, orange));
    const std::string broken = dir.add("photos/broken.jpg", jpeg(100, 80, orange).substr(0, 400));
    const auto call = [&](const std::string& arguments) {
        const std::string command =
            "\"" WEIR_IMAGES "\" " + arguments + " > \"" + dir.path("out") + "\" 2>&1";
        const int status = std::system(command.c_str());
        std::ostringstream text;
        text << std::ifstream(dir.path("out")).rdbuf();
        return std::pair(status == 0, text.str());
    };

    const auto [worked, said] = call("--epochs 4 --batch 6 --size 32 \"" + dir.path("photos") + "\"");
    INFO(said);
    CHECK(worked);
    CHECK(contains(said, "20 images in 4 batches"));
    CHECK(contains(said, "mean colour: 0.78"));
    CHECK(contains(said, "the bottleneck: "));
    CHECK(contains(said, "4 failed:"));
    CHECK(contains(said, "failed: " + broken + ": "));
    CHECK(contains(said, "3 more not shown"));

    dir.add("nothing/broken.jpg", "hello");
    CHECK_FALSE(call("\"" + dir.path("nothing") + "\"").first);
    const auto [found, why] = call("\"" + dir.path("nowhere") + "\"");
    CHECK_FALSE(found);
    CHECK(contains(why, "images: '" + dir.path("nowhere") + "' is no directory"));
}
