// weir executor, internal: whether something is still there, for what may be left when it is gone
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_SIGN_OF_LIFE_HPP
#define WEIR_EXECUTOR_SIGN_OF_LIFE_HPP

#include <weir/platform/platform.hpp>

#include <cstdint>  // for std::uint32_t
#include <new>      // for std::nothrow

namespace weir::detail {

// Cells that are never freed, so that anybody may look at any time. One belongs to one thing at a time, and
// has another number for the next one. No locks: a child of a fork goes on with what the parent left.
class sign_of_life {
  public:
    constexpr sign_of_life() noexcept = default;
    sign_of_life(const sign_of_life&) = delete;
    sign_of_life& operator=(const sign_of_life&) = delete;

    // Null: more than are there were taken, and memory lacks for others.
    static inline sign_of_life* take() noexcept;

    // What had it is gone.
    void end() noexcept {
        // relaxed: who uses something after its end has to come after that by other means
        number_.fetch_add(1, std::memory_order_relaxed);
        taken_.store(false, std::memory_order_release);  // pairs with take()
    }

    // Of what has it now; for those who may look after its end. Of null: of something that never ends.
    class seen {
      public:
        seen() noexcept = default;
        explicit seen(const sign_of_life* of) noexcept
            : of_(of), number_(of == nullptr ? 0 : of->number_.load(std::memory_order_relaxed)) {}
        bool is_over() const noexcept {
            return of_ != nullptr && of_->number_.load(std::memory_order_relaxed) != number_;
        }

      private:
        const sign_of_life* of_ = nullptr;
        std::uint32_t number_ = 0;
    };

  private:
    struct row;

    standard_platform::atomic<bool> taken_{false};
    standard_platform::atomic<std::uint32_t> number_{0};
};

struct sign_of_life::row {
    sign_of_life cells[32];
    standard_platform::atomic<row*> after{nullptr};

    row* next() noexcept {
        row* other = after.load(std::memory_order_acquire);  // pairs with the exchange
        if (other != nullptr) return other;
        row* const made = new (std::nothrow) row;
        if (made == nullptr) return nullptr;
        // acq_rel; pairs with the load, and with itself
        if (after.compare_exchange_strong(other, made, std::memory_order_acq_rel)) return made;
        delete made;
        return other;
    }
};

inline sign_of_life* sign_of_life::take() noexcept {
    for (row* each = &standard_platform::of_process<row>(); each != nullptr; each = each->next()) {
        for (sign_of_life& one : each->cells) {
            // acquire; pairs with end(): the number is that of what has it from now on
            if (!one.taken_.exchange(true, std::memory_order_acquire)) return &one;
        }
    }
    return nullptr;
}

}  // namespace weir::detail

#endif
