// corpus: unpacks the format of gzip, and reports what is wrong with damaged data.
// Everything that depends on zlib is here.
// SPDX-License-Identifier: BSL-1.0
#include "files.hpp"

#include <zlib.h>  // for inflate

#include <algorithm>  // for std::min
#include <limits>     // for std::numeric_limits
#include <memory>     // for std::unique_ptr

namespace corpus {

namespace {

constexpr std::size_t chunk = std::size_t{1} << 18;

}  // namespace

std::string gunzip(const std::string& packed, std::size_t max_bytes) {
    z_stream stream{};
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::runtime_error("zlib does not start");
    const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);

    std::string text;
    std::size_t taken = 0;  // of `packed`
    int state = Z_OK;
    do {
        if (stream.avail_in == 0) {
            const std::size_t part =
                std::min(packed.size() - taken, std::size_t{std::numeric_limits<uInt>::max()});
            if (part == 0) throw std::runtime_error("the compressed data is cut off");
            // zlib only reads from it; the type is const only with ZLIB_CONST.
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data())) + taken;
            stream.avail_in = static_cast<uInt>(part);
            taken += part;
        }
        const std::size_t before = text.size();
        if (before > max_bytes) throw std::runtime_error("unpacked, it " + too_large(max_bytes));
        text.resize(before + chunk);
        stream.next_out = reinterpret_cast<Bytef*>(text.data()) + before;
        stream.avail_out = static_cast<uInt>(chunk);
        state = inflate(&stream, Z_NO_FLUSH);
        text.resize(before + chunk - stream.avail_out);
        if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) {
            throw std::runtime_error(std::string("the compressed data is corrupt: ") +
                                     (stream.msg != nullptr ? stream.msg : "zlib gives no reason"));
        }
        // Another member may follow. Anything else behind the last member is ignored, as by gzip.
        const std::size_t next = taken - stream.avail_in;
        if (state == Z_STREAM_END && packed.compare(next, 2, "\x1f\x8b") == 0) {
            state = inflateReset(&stream);
        }
    } while (state != Z_STREAM_END);
    return text;
}

}  // namespace corpus
