// weir platform, internal: global objects: one that is never destroyed, and a callback that can be replaced
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_GLOBALS_HPP
#define WEIR_PLATFORM_GLOBALS_HPP

#include <weir/platform/platform.hpp>
#include <weir/platform/requirements.hpp>

namespace weir::detail {

// Wraps an object that is never destroyed, so that destructors of other static objects may use it.
template <class T>
class no_destroy {
  public:
    constexpr no_destroy() noexcept {}
    no_destroy(const no_destroy&) = delete;
    no_destroy& operator=(const no_destroy&) = delete;
    ~no_destroy() = default;

    T& operator*() noexcept { return kept_.object; }
    T* operator->() noexcept { return &kept_.object; }

  private:
    union kept {
        constexpr kept() noexcept : object() {}
        constexpr ~kept() {}
        T object;
    };
    kept kept_;
};

// A process-wide callback that any thread may replace. `Function`: a function pointer type; null for none.
template <class Function>
class process_function {
  public:
    constexpr explicit process_function(Function first) noexcept : now_(first) {}
    process_function(const process_function&) = delete;
    process_function& operator=(const process_function&) = delete;

    // acquire; pairs with replace(): sees the writes before it
    Function get() const noexcept { return now_.load(std::memory_order_acquire); }
    // Returns the previous function. acq_rel; pairs with itself and with get()
    Function replace(Function by) noexcept { return now_.exchange(by, std::memory_order_acq_rel); }

  private:
    standard_platform::atomic<Function> now_;
};

}  // namespace weir::detail

#endif
