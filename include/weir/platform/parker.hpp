// weir platform, internal: one thread waits until another says so
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_PARKER_HPP
#define WEIR_PLATFORM_PARKER_HPP

#include <weir/platform/platform.hpp>

#include <cstdint>  // for std::uint32_t

namespace weir::detail {

// A one-shot flag that its owner, one thread, can sleep on; others set it, or just wake the owner.
//
// | bit | meaning                                               |
// |-----|-------------------------------------------------------|
// | 1   | the owner sleeps, or is about to                      |
// | 2   | set, for good                                         |
// | 4   | poked: the next wait, or the one under way, returns   |
//
// `set` may wake a thread that destroys the flag at once: its last access is the read-modify-write,
// the wake-up after it uses the address only. `poke` needs the flag to be there: whoever calls it
// holds a lock under which the owner took the flag away before it left.
template <class Platform = standard_platform>
class basic_parker {
    typename Platform::template atomic<std::uint32_t> word_{0};
    static constexpr std::uint32_t asleep = 1, is_done = 2, poked = 4;

  public:
    basic_parker() noexcept = default;
    basic_parker(const basic_parker&) = delete;
    basic_parker& operator=(const basic_parker&) = delete;

    // acquire; pairs with the release in set(): what the setter wrote before is seen.
    bool is_set() const noexcept { return (word_.load(std::memory_order_acquire) & is_done) != 0; }

    void set() noexcept {
        // acq_rel; pairs with is_set() and wait(): who is woken sees what was written before
        if ((word_.fetch_or(is_done, std::memory_order_acq_rel) & asleep) != 0) {
            Platform::wake_all(word_);
        }
    }

    void poke() noexcept {
        // acq_rel; pairs with wait(), as in set()
        if ((word_.fetch_or(poked, std::memory_order_acq_rel) & asleep) != 0) {
            Platform::wake_all(word_);
        }
    }

    // Sleeps until set, poked, or for `timeout_ns` (negative: no limit); true if set.
    bool wait(std::int64_t timeout_ns = -1) noexcept {
        const std::int64_t start = timeout_ns < 0 ? 0 : Platform::now();
        for (int i = 0; i < Platform::looks_before_sleep && word_.load(std::memory_order_relaxed) == 0; ++i) {
            Platform::pause();
        }
        std::uint32_t seen = 0;
        // acq_rel; pairs with set() and poke(): they see that it sleeps, or this sees what they wrote
        if (word_.compare_exchange_strong(seen, asleep, std::memory_order_acq_rel)) {
            while (word_.load(std::memory_order_acquire) == asleep) {
                std::int64_t left = -1;
                if (timeout_ns >= 0) {
                    left = timeout_ns - (Platform::now() - start);
                    if (left <= 0) break;
                }
                Platform::wait(word_, asleep, left);
            }
        }
        // acquire; pairs with set() and poke(): sees what was written before them
        return (word_.fetch_and(is_done, std::memory_order_acq_rel) & is_done) != 0;
    }
};

using parker = basic_parker<>;

}  // namespace weir::detail

#endif
