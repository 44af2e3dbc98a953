#include "work.hpp"

#include "examples/images/decode.hpp"
#include "examples/images/photo.hpp"

#include <turbojpeg.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <vector>

namespace {

// The middle square of a photograph whose sides have at least `side` pixels.
void copy_middle(const images::image& from, unsigned char* to) {
    const auto width = static_cast<std::size_t>(from.width);
    const std::size_t left = (width - loaders::side) / 2;
    const std::size_t top = static_cast<std::size_t>(from.height - loaders::side) / 2;
    constexpr std::size_t row = std::size_t{3} * loaders::side;
    for (std::size_t y = 0; y < loaders::side; ++y)
        std::memcpy(to + y * row, from.pixels.data() + 3 * ((top + y) * width + left), row);
}

}  // namespace

int loaders_decode(const char* path, unsigned char* to) noexcept {
    try {
        thread_local images::decoder mine;
        const images::image whole = mine.decode(images::read(path), loaders::side);
        if (whole.width < loaders::side || whole.height < loaders::side) return 2;
        copy_middle(whole, to);
        return 0;
    } catch (...) {
        return 1;
    }
}

int loaders_make_photo(const char* path, unsigned number) noexcept {
    try {
        constexpr int width = 500, height = 375;
        std::mt19937 random(number);
        std::vector<unsigned char> pixels;
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < 3 * width; ++x) {
                const double wave =
                    std::sin((x + 1) * 0.002 * (1 + number % 7)) * std::cos(y * 0.01 * (1 + number % 5));
                pixels.push_back(static_cast<unsigned char>(128 + 80 * wave + random() % 40));
            }
        }
        const std::unique_ptr<void, int (*)(tjhandle)> encoder(tjInitCompress(), tjDestroy);
        unsigned char* data = nullptr;
        unsigned long length = 0;
        const int status = tjCompress2(encoder.get(), pixels.data(), width, 0, height, TJPF_RGB, &data,
                                       &length, TJSAMP_420, 88, 0);
        const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner(data, tjFree);
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(length));
        return status;
    } catch (...) {
        return 1;
    }
}
