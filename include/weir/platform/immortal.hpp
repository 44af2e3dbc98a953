// weir platform, internal: an object that is there before the program begins and after it has ended
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_IMMORTAL_HPP
#define WEIR_PLATFORM_IMMORTAL_HPP

namespace weir::detail {

// Never destroyed, so that whatever is destroyed last may still use it.
template <class T>
class immortal {
  public:
    constexpr immortal() noexcept {}
    immortal(const immortal&) = delete;
    immortal& operator=(const immortal&) = delete;
    ~immortal() = default;

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
