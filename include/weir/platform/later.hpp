// weir platform, internal: memory for an object that is made later, and is compiled faster than std::optional
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_LATER_HPP
#define WEIR_PLATFORM_LATER_HPP

#include <weir/platform/config.hpp>

#include <memory>       // for std::addressof, std::destroy_at
#include <new>          // for placement new
#include <type_traits>  // for std::remove_const_t
#include <utility>      // for std::exchange, std::forward

namespace weir::detail {

// An object that `emplace` makes and `reset` destroys; neither copied nor moved. Used by headers that many
// programs include. Each type of `std::optional` takes g++ 12 0.8 MB of memory, 30 times as much as this one:
// for the checks which copies, moves and conversions exist.
template <class T>
class later {
  public:
    later() noexcept {}
    later(const later&) = delete;
    later& operator=(const later&) = delete;
    WEIR_ALWAYS_INLINE ~later() { reset(); }

    // Makes the object, after it has destroyed one that exists. No object exists if the constructor throws.
    template <class... Args>
    WEIR_ALWAYS_INLINE T& emplace(Args&&... args) {
        reset();
        ::new (memory()) T(std::forward<Args>(args)...);
        exists_ = true;
        return value;
    }
    // The same, from the result of a call, which need not be movable.
    template <class Make>
    WEIR_ALWAYS_INLINE void construct(Make make) {
        reset();
        ::new (memory()) T(make());
        exists_ = true;
    }
    WEIR_ALWAYS_INLINE void reset() noexcept {
        if (std::exchange(exists_, false)) std::destroy_at(std::addressof(value));
    }

    explicit operator bool() const noexcept { return exists_; }
    T& operator*() noexcept { return value; }
    const T& operator*() const noexcept { return value; }
    T* operator->() noexcept { return std::addressof(value); }
    const T* operator->() const noexcept { return std::addressof(value); }

    union {
        T value;
    };

  private:
    void* memory() noexcept { return const_cast<std::remove_const_t<T>*>(std::addressof(value)); }

    bool exists_ = false;
};

}  // namespace weir::detail

#endif
