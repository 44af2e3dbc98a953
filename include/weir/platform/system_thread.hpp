// weir platform, internal: the threads of the standard platform, for those who start some
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SYSTEM_THREAD_HPP
#define WEIR_PLATFORM_SYSTEM_THREAD_HPP

#include <weir/platform/platform.hpp>

#include <thread>  // for std::thread

namespace weir::detail {

class system_thread : public std::thread {
    using std::thread::thread;
};

inline unsigned standard_platform::concurrency() noexcept {
    const unsigned n = std::thread::hardware_concurrency();
    return n == 0 ? 1 : n;
}

}  // namespace weir::detail

#endif
