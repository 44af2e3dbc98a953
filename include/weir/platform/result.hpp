// weir platform, internal: the result of a coroutine: a value or an exception
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_RESULT_HPP
#define WEIR_PLATFORM_RESULT_HPP

#include <weir/platform/config.hpp>

#include <exception>    // for std::exception_ptr
#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::as_const, std::forward

namespace weir::detail {

// Returns `it`: moved, or copied if T can't be moved, or as the reference that it is.
template <class T>
T give(std::remove_reference_t<T>& it) {
    if constexpr (std::is_reference_v<T> || std::is_move_constructible_v<T>) {
        return static_cast<T&&>(it);
    } else {
        return std::as_const(it);
    }
}

// Not inlined, as it is rarely called.
[[noreturn]] WEIR_NOINLINE inline void rethrow_now(std::exception_ptr error) {
    std::rethrow_exception(std::move(error));
}

template <class T>
class result {
    // A reference is kept as a pointer.
    using stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>;
    static_assert(fits_a_frame<stored>());

  public:
    template <class U>
    void set_value(U&& value) {
        if constexpr (std::is_reference_v<T>) {
            T&& it = static_cast<T>(std::forward<U>(value));
            value_ = &it;
        } else {
            // Copies if T can't be constructed from U&&.
            using from = std::conditional_t<std::is_constructible_v<T, U&&>, U&&, const U&>;
            static_cast<void>(value_.emplace(static_cast<from>(value)));
        }
    }

    void set_exception(std::exception_ptr error) noexcept { error_ = std::move(error); }

    bool has_exception() const noexcept { return error_ != nullptr; }
    std::exception_ptr exception() const noexcept { return error_; }

    T take() {
        if (error_) detail::rethrow_now(std::move(error_));
        if constexpr (std::is_reference_v<T>) {
            return give<T>(**value_);
        } else {
            return give<T>(*value_);
        }
    }

  private:
    std::optional<stored> value_;
    std::exception_ptr error_;
};

template <>
class result<void> {
  public:
    void set_value() noexcept {}
    void set_exception(std::exception_ptr error) noexcept { error_ = std::move(error); }
    bool has_exception() const noexcept { return error_ != nullptr; }
    std::exception_ptr exception() const noexcept { return error_; }
    void take() {
        if (error_) detail::rethrow_now(std::move(error_));
    }

  private:
    std::exception_ptr error_;
};

}  // namespace weir::detail

#endif
