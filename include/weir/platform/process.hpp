// weir platform, internal: whether this is the process in which something was made, or a fork of it
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

// How many forks lie between the program's first process and this one. Counted by the child, so that
// asking costs one load: what was locked when the process forked is locked for ever in the child, so
// the question has to come before each lock, and not only where a thread would sleep.
inline constinit std::atomic<std::uint32_t> forks{0};

// Whether this is a fork of the program's first process. One load.
inline bool was_forked() noexcept { return forks.load(std::memory_order_relaxed) != 0; }

// What all threads of a process share, and any of them may have been in the midst of: everything else that a
// thread can hold belongs to an object, whose owner asks whether it is of this process.
inline const bool forks_are_counted = at_fork_in_child([] {
    forks.store(forks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    standard_platform::mend_after_fork();
    basic_thread_record<standard_platform>::forget_others();
    the_registry->begin_anew();
});

// The process in which its owner was made. A fork copies the memory of a process, but of its threads only
// the one that forks.
class process_of_origin {
    std::uint32_t forks_ = forks.load(std::memory_order_relaxed);

  public:
    bool is_here() const noexcept { return forks_ == forks.load(std::memory_order_relaxed); }
};

}  // namespace weir::detail

#endif
