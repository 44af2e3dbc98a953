// weir channel, internal: how many bytes lie in all queues of a run, and how many may
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_BYTE_BUDGET_HPP
#define WEIR_CHANNEL_BYTE_BUDGET_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/platform.hpp>

#include <array>    // for std::array
#include <bit>      // for std::countr_zero
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t

namespace weir::detail {

// Queues add and remove, under their own locks; the source asks before it makes another item. It sums
// sizes only: relaxed, as who waits asks again under the lock of the place where it waits, after
// `has_room` has taken that.
class byte_budget {
  public:
    explicit byte_budget(std::size_t most) noexcept : most_(most) {}
    byte_budget(const byte_budget&) = delete;
    byte_budget& operator=(const byte_budget&) = delete;

    // Of several sources one may be all that a stage behind them waits for, while what the others made
    // lies in front of that. So each has a share, of what lies in the queues behind it. Sources are sets of
    // bits; the 64th and those after it have one in common. Before anything is added.
    std::uint64_t add_source() noexcept {
        const std::size_t number = detail::smaller<std::size_t>(sources_++, 63);
        return std::uint64_t{1} << number;
    }

    bool is_spent() const noexcept { return bytes_.load(std::memory_order_seq_cst) >= most_; }
    // Whether these have to wait.
    bool is_spent(std::uint64_t sources) const noexcept {
        if (!is_spent()) return false;
        for (; sources_ > 1 && sources != 0; sources &= sources - 1) {
            if (behind(sources).load(std::memory_order_seq_cst) < share()) return false;
        }
        return true;
    }

    // `sources`: those that the bytes lie behind.
    void add(std::size_t bytes, std::uint64_t sources = 0) noexcept {
        bytes_.fetch_add(bytes, std::memory_order_seq_cst);
        for (; sources_ > 1 && sources != 0; sources &= sources - 1) {
            behind(sources).fetch_add(bytes, std::memory_order_seq_cst);
        }
    }
    // True if there is room from now on, for all or for one of them.
    bool remove(std::size_t bytes, std::uint64_t sources = 0) noexcept {
        bool room = comes_below(most_, bytes_.fetch_sub(bytes, std::memory_order_seq_cst), bytes);
        for (; sources_ > 1 && sources != 0; sources &= sources - 1) {
            room |= comes_below(share(), behind(sources).fetch_sub(bytes, std::memory_order_seq_cst), bytes);
        }
        return room;
    }

    // Lets the source go on. Not under a lock of a queue.
    virtual void has_room() noexcept = 0;

  protected:
    ~byte_budget() = default;

  private:
    using counter = standard_platform::atomic<std::size_t>;

    static bool comes_below(std::size_t limit, std::size_t before, std::size_t bytes) noexcept {
        return before >= limit && before - bytes < limit;
    }
    std::size_t share() const noexcept { return detail::larger<std::size_t>(most_ / sources_, 1); }
    // Of the first of them.
    counter& behind(std::uint64_t sources) noexcept {
        return behind_[static_cast<std::size_t>(std::countr_zero(sources))];
    }
    const counter& behind(std::uint64_t sources) const noexcept {
        return behind_[static_cast<std::size_t>(std::countr_zero(sources))];
    }

    const std::size_t most_;
    counter bytes_{0};
    std::size_t sources_ = 0;
    std::array<counter, 64> behind_{};
};

// The same of one queue: how many bytes are inside, if they are counted.
struct byte_gauge {
    std::size_t most = 0;  // 0: no limit
    std::size_t bytes = 0;
    byte_budget* budget = nullptr;  // of all queues of its run
    std::uint64_t sources = 0;      // of what may be inside

    bool counts() const noexcept {
        const bool has_limit = most != 0;
        const bool is_shared = budget != nullptr;
        return has_limit | is_shared;  // one branch for whoever asks, not two
    }
    bool has_room_for(std::size_t size) const noexcept { return bytes < most && size <= most - bytes; }
    void add(std::size_t size) noexcept {
        bytes += size;
        if (budget != nullptr) budget->add(size, sources);
    }
    // Returns the budget if it has room again: it is to be told after the lock.
    byte_budget* remove(std::size_t size) noexcept {
        bytes -= size;
        return budget != nullptr && budget->remove(size, sources) ? budget : nullptr;
    }
};

}  // namespace weir::detail

#endif
