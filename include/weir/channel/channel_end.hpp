// weir channel, internal: one end of a channel: its lock, and how many items have passed it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_END_HPP
#define WEIR_CHANNEL_CHANNEL_END_HPP

#include <weir/platform/biased_lock.hpp>

#include <cstdint>  // for std::uint64_t

namespace weir::detail {

// Where items go in, or come out. On a line of its own: the thread that puts and the one that gets
// disturb each other only where one of them has to look how far the other one is.
template <class Platform, int Level>
struct alignas(64) channel_end {
    using lock_type = basic_biased_lock<Platform, Level>;
    lock_type lock;
    // How many items have passed, ever. Written under the lock, with release: the item is in its
    // place, or out of it; read by the other end with acquire.
    typename Platform::template atomic<std::uint64_t> count{0};
    std::uint64_t seen = 0;  // what this end knows of the other's count; it can only be more
};

}  // namespace weir::detail

#endif
