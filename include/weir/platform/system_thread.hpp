// weir platform, internal: the thread class of the standard platform, apart because <thread> is heavy
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SYSTEM_THREAD_HPP
#define WEIR_PLATFORM_SYSTEM_THREAD_HPP

#include <weir/platform/numbers.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/system_info.hpp>

#include <thread>  // for std::thread

namespace weir::detail {

class system_thread : public std::thread {
    using std::thread::thread;
};

inline unsigned standard_platform::concurrency() noexcept {
    const unsigned n = available_processors();
    return n != 0 ? n : larger(std::thread::hardware_concurrency(), 1U);
}

}  // namespace weir::detail

#endif
