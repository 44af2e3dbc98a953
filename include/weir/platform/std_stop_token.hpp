// weir platform, internal: std::stop_token, or a placeholder for standard libraries that lack it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_STD_STOP_TOKEN_HPP
#define WEIR_PLATFORM_STD_STOP_TOKEN_HPP

#include <weir/platform/config.hpp>

#ifdef __cpp_lib_jthread
#include <stop_token>  // for std::stop_callback, std::stop_token
#endif

namespace weir::detail {

#ifdef __cpp_lib_jthread
using std_stop_token = std::stop_token;
template <class Callback>
using std_stop_callback = std::stop_callback<Callback>;
#else
// A placeholder type without objects.
class std_stop_token {
    std_stop_token() noexcept;

  public:
    static bool stop_possible() noexcept { return false; }
};
template <class Callback>
struct std_stop_callback {
    std_stop_callback(const std_stop_token&, const Callback&) noexcept {}
};
#endif

}  // namespace weir::detail

#endif
