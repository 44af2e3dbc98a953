// images: decodes JPEG with libjpeg-turbo, which can scale a photograph down while it decodes.
// Nothing here depends on weir.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_IMAGES_DECODE_HPP
#define WEIR_EXAMPLES_IMAGES_DECODE_HPP

#include "photo.hpp"

#include <turbojpeg.h>  // for tjDecompress2

#include <algorithm>  // for std::min
#include <cstddef>    // for std::size_t
#include <memory>     // for std::unique_ptr
#include <stdexcept>  // for std::runtime_error
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace images {

/// Red, green and blue of each pixel, row by row.
struct image {
    int width = 0;
    int height = 0;
    std::vector<unsigned char> pixels;
};

/// Keeps its memory for the next photograph. Threads: one decoder per thread.
class decoder {
  public:
    decoder() : handle_(make_handle()) {}

    /// \returns the photograph, scaled down as far as the decoder can (in eighths) while both sides have at least
    ///          `side` pixels; unscaled if it is smaller than that.
    /// Errors: `std::runtime_error` if it can't be read, is no JPEG, or is damaged, even if only in part.
    [[nodiscard]] image decode(const photo& from, int side) {
        if (!from.problem.empty()) refuse(from, from.problem);
        if (from.bytes.empty()) refuse(from, "is empty");
        const auto length = static_cast<unsigned long>(from.bytes.size());
        image to;
        int ignored = 0;
        check(from, tjDecompressHeader3(handle_.get(), from.bytes.data(), length, &to.width, &to.height,
                                        &ignored, &ignored));
        const tjscalingfactor scale = smallest_scale(std::min(to.width, to.height), side);
        to.width = TJSCALED(to.width, scale);
        to.height = TJSCALED(to.height, scale);
        to.pixels.resize(std::size_t{3} * static_cast<std::size_t>(to.width) *
                         static_cast<std::size_t>(to.height));
        // A limit against files that are made to take minutes.
        check(from, tjDecompress2(handle_.get(), from.bytes.data(), length, to.pixels.data(), to.width, 0,
                                  to.height, TJPF_RGB, TJFLAG_LIMITSCANS));
        return to;
    }

  private:
    using handle = std::unique_ptr<void, int (*)(tjhandle)>;

    static handle make_handle() {
        handle made(tjInitDecompress(), tjDestroy);
        if (made == nullptr) {
            throw std::runtime_error(std::string("libjpeg-turbo does not start: ") + tjGetErrorStr2(nullptr));
        }
        return made;
    }

    static tjscalingfactor smallest_scale(int shorter, int side) {
        int count = 0;
        const tjscalingfactor* const scales = tjGetScalingFactors(&count);
        tjscalingfactor best{1, 1};
        for (int i = 0; i < count; ++i) {
            const bool is_smaller = scales[i].num * best.denom < best.num * scales[i].denom;
            if (is_smaller && TJSCALED(shorter, scales[i]) >= side) best = scales[i];
        }
        return best;
    }

    void check(const photo& from, int status) {
        if (status == 0) return;
        const std::string why = tjGetErrorStr2(handle_.get());
        handle_ = make_handle();  // tables of this photograph must not be used for the next one
        refuse(from, why);
    }
    [[noreturn]] static void refuse(const photo& from, const std::string& why) {
        throw std::runtime_error(from.path + ": " + why);
    }

    handle handle_;
};

}  // namespace images

#endif
