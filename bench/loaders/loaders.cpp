// loaders: weir as a loader of photographs; loaders.py runs it beside loaders in Python.
// SPDX-License-Identifier: BSL-1.0
#include "work.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/batch_slots.hpp>
#include <weir/stages/block_pool.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using loaders::bytes_of_image;
using loaders::images_of_batch;
using pixels = std::vector<unsigned char>;

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double processor_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto of = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return of(used.ru_utime) + of(used.ru_stime);
}
// Megabytes that this process alone has in memory, and its part of those that it shares.
double memory() {
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string word; file >> word;) {
        if (word == "Pss:" && file >> word) return std::stod(word) / 1024;
    }
    return 0;
}

void decode(const std::string& path, unsigned char* to) {
    if (loaders_decode(path.c_str(), to) != 0) throw std::runtime_error("can't decode " + path);
}

// Takes batches as a foreground would, and prints the figures of all but the first ones.
template <class Run>
void drive(Run run, std::size_t batches) {
    constexpr std::size_t warm_up = 4;
    double begin = 0, worked = 0, waits = 0, asked = seconds();
    std::size_t taken = 0;
    unsigned long sum = 0;
    for (const auto& batch : run) {
        const double now = seconds();
        waits += now - asked;
        if (taken == warm_up) {
            begin = now;
            worked = processor_seconds();
            waits = 0;
        }
        for (std::size_t i = 0; i < batch.size(); i += 4096) sum += batch[i];
        if (++taken == batches + warm_up) break;
        asked = seconds();
    }
    const double spent = seconds() - begin;
    const double images = static_cast<double>((taken - warm_up - 1) * images_of_batch);
    std::printf("{\"rate\": %.1f, \"cpu_ms\": %.4f, \"memory\": %.0f, \"waits\": %.3f, \"sum\": %lu}\n",
                images / spent, 1000 * (processor_seconds() - worked) / images, memory(), waits / spent, sum);
    run.stop();
}

int usage() {
    std::fprintf(stderr,
                 "bench_loaders: bench/run loaders runs this program, beside loaders in Python\n"
                 "  batch_slots|packed DIR WORKERS BATCHES   loads the photographs of a folder\n"
                 "  photos DIR NUMBER                        makes photographs\n");
    return 77;  // left out
}

int run(const std::string& how, const std::string& folder, std::size_t workers, std::size_t batches) {
    std::vector<std::string> paths;
    for (const auto& each : std::filesystem::directory_iterator(folder))
        paths.push_back(each.path().string());
    std::sort(paths.begin(), paths.end());
    weir::thread_pool pool(static_cast<unsigned>(workers));
    const auto files = weir::source(weir::repeat([paths](std::uint64_t) { return paths; }, weir::endless));
    if (how == "batch_slots") {
        weir::block_pool blocks(images_of_batch * bytes_of_image, 6);
        const auto write = [](const std::string& path, std::span<unsigned char> place) {
            decode(path, place.data());
        };
        drive((files |
               weir::batch_slots<unsigned char>(blocks,
                                                {.places = images_of_batch, .elements = bytes_of_image},
                                                write, {.name = "decode", .concurrency = workers}) |
               weir::sink(3))
                  .start(pool),
              batches);
    } else {
        const auto make = [](const std::string& path) {
            pixels image(bytes_of_image);
            decode(path, image.data());
            return image;
        };
        const auto pack = [](const std::vector<pixels>& images) {
            pixels batch(images.size() * bytes_of_image);
            for (std::size_t i = 0; i < images.size(); ++i)
                std::memcpy(batch.data() + i * bytes_of_image, images[i].data(), bytes_of_image);
            return batch;
        };
        drive((files | weir::pipe(make, {.name = "decode", .concurrency = workers}) |
               weir::aggregate(images_of_batch) | weir::pipe(pack, {.name = "pack", .concurrency = 2}) |
               weir::sink(3))
                  .start(pool),
              batches);
    }
    return 0;
}

int make_photos(const std::string& folder, unsigned number) {
    for (unsigned i = 0; i < number; ++i) {
        if (loaders_make_photo((folder + "/" + std::to_string(10'000 + i) + ".jpg").c_str(), i) != 0)
            return 1;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    try {
        if (words.size() == 3 && words[0] == "photos")
            return make_photos(words[1], static_cast<unsigned>(std::stoul(words[2])));
        if (words.size() == 4 && (words[0] == "batch_slots" || words[0] == "packed"))
            return run(words[0], words[1], std::stoul(words[2]), std::stoul(words[3]));
        return usage();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "bench_loaders: %s\n", e.what());
        return 1;
    }
}
