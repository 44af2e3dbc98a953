// weir platform, internal: tells whether an object was made in this process, or in its parent before a fork
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_PROCESS_HPP
#define WEIR_PLATFORM_PROCESS_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/registry.hpp>
#include <weir/platform/system.hpp>
#include <weir/platform/thread_record.hpp>

#include <atomic>   // for std::atomic
#include <cstdint>  // for std::uint32_t

namespace weir::detail {

// The number of forks between the program's first process and this one, counted by the child, so that asking
// costs one load. A lock that was held during a fork is held for ever in the child: so the check comes before
// each lock, not only before a thread sleeps.
inline constinit std::atomic<std::uint32_t> forks{0};

// Whether this is not the program's first process. One load.
inline bool was_forked() noexcept { return forks.load(std::memory_order_relaxed) != 0; }

// Resets, in the child, the global objects that a thread of the parent may have been changing. All other
// locks belong to objects whose owners check `process_of_origin`.
inline const bool forks_are_counted = at_fork_in_child([] {
    forks.store(forks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    standard_platform::mend_after_fork();
    basic_thread_record<standard_platform>::forget_others();
    the_registry->begin_anew();
});

// A member that tells whether its owner was made in this process. A fork copies memory, but only the thread
// that calls `fork`.
class process_of_origin {
    std::uint32_t forks_ = forks.load(std::memory_order_relaxed);

  public:
    bool is_here() const noexcept { return forks_ == forks.load(std::memory_order_relaxed); }
};

}  // namespace weir::detail

#endif
