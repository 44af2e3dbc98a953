// weir measure, internal: which of a queue's items are followed
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_TRAIL_MARKS_HPP
#define WEIR_MEASURE_TRAIL_MARKS_HPP

#include <weir/platform/platform.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <memory>   // for std::make_unique

namespace weir::detail {

// Set under the lock of the queue, before the item can be got; taken away by who has got it, under none. So
// an item that isn't followed costs its getter one look, and its putter nothing.
class trail_marks {
  public:
    // `is_read`: a stage takes from it, and not the consumer.
    trail_marks(std::uint32_t queue, std::size_t capacity, bool is_read) : queue_(queue) {
        if (!is_read) return;
        std::size_t places = 1024;  // 16 KB: capacities change
        while (places < 2 * capacity && places < most_places) places *= 2;
        places_ = std::make_unique<place[]>(places);
        mask_ = places - 1;
    }

    std::uint32_t queue() const noexcept { return queue_; }

    // False: the place of another one, whose getter has not looked yet, would be taken; that is counted.
    bool set(std::uint64_t number, std::uint64_t tag) noexcept {
        if (places_ == nullptr) return false;
        place& p = places_[number & mask_];
        // acquire; pairs with take(): its tag was read
        if (p.number.load(std::memory_order_acquire) != 0) {
            lost_.fetch_add(1, std::memory_order_relaxed);
            return false;
        }
        p.tag = tag;
        p.number.store(number + 1, std::memory_order_release);  // pairs with take()
        return true;
    }

    // \returns the tag; 0: it isn't followed.
    std::uint64_t take(std::uint64_t number) noexcept {
        if (places_ == nullptr) return 0;
        place& p = places_[number & mask_];
        // acquire; pairs with set()
        if (p.number.load(std::memory_order_acquire) != number + 1) return 0;
        const std::uint64_t tag = p.tag;
        p.number.store(0, std::memory_order_release);  // pairs with set()
        return tag;
    }

    std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

  private:
    struct place {
        standard_platform::atomic<std::uint64_t> number{0};  // and 1; 0: it is free
        std::uint64_t tag = 0;
    };
    static constexpr std::size_t most_places = std::size_t{1} << 16U;

    const std::uint32_t queue_;
    std::size_t mask_ = 0;
    std::unique_ptr<place[]> places_;
    standard_platform::atomic<std::uint64_t> lost_{0};
};

}  // namespace weir::detail

#endif
