// weir platform, internal: memory for an object that is made later, and is compiled faster than std::optional
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_LATER_HPP
#define WEIR_PLATFORM_LATER_HPP

#include <weir/platform/config.hpp>

#include <memory>   // for std::addressof
#include <new>      // for placement new
#include <utility>  // for std::forward

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
    ~later() { reset(); }

    // Makes the object, after it has destroyed one that exists. No object exists if the constructor throws.
    template <class... Args>
    T& emplace(Args&&... args) {
        reset();
        T* const made = ::new (static_cast<void*>(std::addressof(object_))) T(std::forward<Args>(args)...);
        exists_ = true;
        return *made;
    }
    void reset() noexcept {
        if (!exists_) return;
        exists_ = false;
        object_.~T();
    }

    explicit operator bool() const noexcept { return exists_; }
    T& operator*() noexcept { return object_; }
    const T& operator*() const noexcept { return object_; }
    T* operator->() noexcept { return std::addressof(object_); }
    const T* operator->() const noexcept { return std::addressof(object_); }

  private:
    union {
        T object_;  // NOLINT(readability-identifier-naming): private, as the union is
    };
    bool exists_ = false;
};

}  // namespace weir::detail

#endif
