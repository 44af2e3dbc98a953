// weir platform, internal: a function for the whole process, which anybody may replace
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_PROCESS_FUNCTION_HPP
#define WEIR_PLATFORM_PROCESS_FUNCTION_HPP

#include <weir/platform/platform.hpp>

namespace weir::detail {

// `Function`: a pointer to one; null for none.
template <class Function>
class process_function {
  public:
    constexpr explicit process_function(Function first) noexcept : now_(first) {}
    process_function(const process_function&) = delete;
    process_function& operator=(const process_function&) = delete;

    // acquire; pairs with replace(): what was written before it was set is seen
    Function get() const noexcept { return now_.load(std::memory_order_acquire); }
    // Returns the one before. acq_rel; pairs with itself and with get()
    Function replace(Function by) noexcept { return now_.exchange(by, std::memory_order_acq_rel); }

  private:
    standard_platform::atomic<Function> now_;
};

}  // namespace weir::detail

#endif
