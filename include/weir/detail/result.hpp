// weir floor 0: what a coroutine ended with: a value, or an exception
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_DETAIL_RESULT_HPP
#define WEIR_DETAIL_RESULT_HPP

#include <exception>    // for std::exception_ptr
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::forward
#include <variant>      // for std::variant

namespace weir::detail {

template <class T>
class result {
    // A reference is kept as a pointer.
    using stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>;

  public:
    template <class U>
    void set_value(U&& value) {
        if constexpr (std::is_reference_v<T>) {
            state_.template emplace<1>(&value);
        } else {
            state_.template emplace<1>(std::forward<U>(value));
        }
    }

    void set_exception(std::exception_ptr error) noexcept {
        state_.template emplace<2>(std::move(error));
    }

    bool has_exception() const noexcept { return state_.index() == 2; }
    std::exception_ptr exception() const noexcept { return std::get<2>(state_); }

    T take() {
        if (state_.index() == 2) std::rethrow_exception(std::get<2>(std::move(state_)));
        if constexpr (std::is_reference_v<T>) {
            return static_cast<T>(*std::get<1>(state_));
        } else {
            return std::get<1>(std::move(state_));
        }
    }

  private:
    std::variant<std::monostate, stored, std::exception_ptr> state_;
};

template <>
class result<void> {
  public:
    void set_value() noexcept {}
    void set_exception(std::exception_ptr error) noexcept { error_ = std::move(error); }
    bool has_exception() const noexcept { return error_ != nullptr; }
    std::exception_ptr exception() const noexcept { return error_; }
    void take() {
        if (error_) std::rethrow_exception(std::move(error_));
    }

  private:
    std::exception_ptr error_;
};

}  // namespace weir::detail

#endif
