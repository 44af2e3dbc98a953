// weir platform, internal: a pointer that owns its object, and is compiled faster than std::unique_ptr
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_OWNED_HPP
#define WEIR_PLATFORM_OWNED_HPP

#include <weir/platform/config.hpp>

#include <cstddef>      // for std::nullptr_t, std::size_t
#include <type_traits>  // for std::is_array_v, std::remove_extent_t
#include <utility>      // for std::exchange

namespace weir::detail {

// The only owner of an object made by `new T`, or of an array made by `new U[n]` if `T` is `U[]`; or null.
// Used by headers that many programs include. Each type of `std::unique_ptr` takes g++ 12 1.4 MB of memory,
// most of it for the `std::tuple` of pointer and deleter.
template <class T>
class owned {
    using element = std::remove_extent_t<T>;

  public:
    constexpr owned() noexcept = default;
    constexpr owned(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor): as std::unique_ptr
    explicit owned(element* made) noexcept : first_(made) {}
    owned(owned&& other) noexcept : first_(other.release()) {}
    // Destroys what this pointer has owned, after it has taken over what `other` owns.
    owned& operator=(owned&& other) noexcept {
        destroy(std::exchange(first_, other.release()));
        return *this;
    }
    ~owned() { destroy(first_); }

    element* get() const noexcept { return first_; }
    element& operator*() const noexcept { return *first_; }
    element* operator->() const noexcept { return first_; }
    element& operator[](std::size_t i) const noexcept { return first_[i]; }
    explicit operator bool() const noexcept { return first_ != nullptr; }
    bool operator==(std::nullptr_t) const noexcept { return first_ == nullptr; }

    // Becomes null. The caller deletes the object that is returned.
    element* release() noexcept { return std::exchange(first_, nullptr); }

  private:
    static void destroy(element* first) noexcept {
        if constexpr (std::is_array_v<T>) {
            delete[] first;
        } else {
            delete first;
        }
    }

    element* first_ = nullptr;
};

}  // namespace weir::detail

#endif
