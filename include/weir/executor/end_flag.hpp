// weir executor, internal: tells what may be left when something is gone that it is
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_END_FLAG_HPP
#define WEIR_EXECUTOR_END_FLAG_HPP

#include <weir/platform/platform.hpp>

#include <cstdint>  // for std::uint32_t
#include <utility>  // for std::exchange, std::swap

namespace weir::detail {

// Shared by what ends and those who ask; the last one frees it. (A std::weak_ptr does as much; but <memory>
// would be compiled by whoever uses a task.)
class end_flag {
    struct cell {
        standard_platform::atomic<std::uint32_t> users{1};
        standard_platform::atomic<bool> ended{false};
    };
    cell* cell_ = nullptr;

    explicit end_flag(cell* one) noexcept : cell_(one) {}

  public:
    // Of something that never ends.
    end_flag() noexcept = default;
    // Errors: std::bad_alloc.
    static end_flag make() { return end_flag(new cell); }

    end_flag(const end_flag& other) noexcept : cell_(other.cell_) {
        // relaxed: who copies has one
        if (cell_ != nullptr) cell_->users.fetch_add(1, std::memory_order_relaxed);
    }
    end_flag(end_flag&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
    end_flag& operator=(end_flag other) noexcept {
        std::swap(cell_, other.cell_);
        return *this;
    }
    ~end_flag() {
        // acq_rel; pairs with itself: the last one frees it after all others have looked
        if (cell_ != nullptr && cell_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete cell_;
    }

    // relaxed, both: who uses something after its end has to come after that by other means
    void set() noexcept {
        if (cell_ != nullptr) cell_->ended.store(true, std::memory_order_relaxed);
    }
    bool is_set() const noexcept { return cell_ != nullptr && cell_->ended.load(std::memory_order_relaxed); }
};

}  // namespace weir::detail

#endif
