// weir platform, internal: an object that is there before the program begins and after it has ended
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_NO_DESTROY_HPP
#define WEIR_PLATFORM_NO_DESTROY_HPP

#include <weir/platform/requirements.hpp>

namespace weir::detail {

// Never destroyed, so that whatever is destroyed last may still use it.
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

}  // namespace weir::detail

#endif
