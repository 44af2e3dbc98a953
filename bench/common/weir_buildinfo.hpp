// How a benchmark program was built: the member "weir_buildinfo" of the indicator that it prints.
#ifndef BENCH_COMMON_WEIR_BUILDINFO_HPP
#define BENCH_COMMON_WEIR_BUILDINFO_HPP

#include "indicators/emit/indicator.hpp"

#include <weir/platform/system_info.hpp>
#include <weir/version.hpp>

#include <string>

namespace bench {

inline indicators::value weir_buildinfo() {
    const std::string version = std::to_string(WEIR_VERSION_MAJOR) + "." +
                                std::to_string(WEIR_VERSION_MINOR) + "." + std::to_string(WEIR_VERSION_PATCH);
    return indicators::value::object({{"version", version},
                                      {"compiler", weir::detail::name_of_compiler()},
                                      {"library", weir::detail::name_of_library()},
                                      {"optimised", indicators::value(weir::detail::is_optimised)},
                                      {"assertions", indicators::value(weir::detail::has_assertions)}});
}

}  // namespace bench

#endif
