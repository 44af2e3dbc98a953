// weir measure, internal: in which states a slot was last, for who asks for them one by one
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_STATE_JOURNAL_HPP
#define WEIR_MEASURE_STATE_JOURNAL_HPP

#include <weir/platform/requirements.hpp>

#include <array>    // for std::array
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t, std::uint64_t

namespace weir::detail {

// A slot is always in exactly one of these.
enum class slot_state : std::uint8_t { off, wait_get, runnable, run, await, wait_put, wait_turn, overhead };

inline constexpr std::size_t slot_states = 8;

// Written by whoever has the slot enter a state, read by its own chain, which runs then: never both at once.
class state_journal {
  public:
    struct entry {
        std::int64_t since;  // ns
        slot_state state;
    };

    void add(slot_state state, std::int64_t now) noexcept { entries_[count_++ % kept] = {now, state}; }

    std::uint64_t count() const noexcept { return count_; }
    // The first one that is still there.
    std::uint64_t first() const noexcept { return count_ < kept ? 0 : count_ - kept; }
    const entry& operator[](std::uint64_t i) const noexcept { return entries_[i % kept]; }

  private:
    static constexpr std::size_t kept = 32;
    std::uint64_t count_ = 0;
    std::array<entry, kept> entries_{};
};

}  // namespace weir::detail

#endif
