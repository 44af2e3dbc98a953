// How a benchmark program was built: the member "weir_buildinfo" of the indicator that it prints.
#ifndef BENCH_COMMON_WEIR_BUILDINFO_HPP
#define BENCH_COMMON_WEIR_BUILDINFO_HPP

#include "indicators/emit/indicator.hpp"

#include <weir/platform/system_info.hpp>
#include <weir/version.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace bench {

// The 64-bit FNV-1a hash (Fowler, Noll & Vo) of this program's file, if the system shows it. Each build has
// another hash.
inline std::string hash_of_program() {
    std::ifstream in("/proc/self/exe", std::ios::binary);
    std::uint64_t hash = 0xcbf29ce484222325;
    std::vector<char> part(1 << 16);
    while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount() > 0) {
        for (std::streamsize i = 0; i < in.gcount(); ++i) {
            hash = (hash ^ static_cast<unsigned char>(part[static_cast<std::size_t>(i)])) * 0x100000001b3;
        }
    }
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

inline indicators::value weir_buildinfo() {
    const std::string version = std::to_string(WEIR_VERSION_MAJOR) + "." +
                                std::to_string(WEIR_VERSION_MINOR) + "." + std::to_string(WEIR_VERSION_PATCH);
    return indicators::value::object({{"version", version},
                                      {"program", hash_of_program()},
                                      {"compiler", weir::detail::name_of_compiler()},
                                      {"library", weir::detail::name_of_library()},
                                      {"optimised", indicators::value(weir::detail::is_optimised)},
                                      {"assertions", indicators::value(weir::detail::has_assertions)}});
}

}  // namespace bench

#endif
