// weir channel: the result of a get that may end without an item, and the status of a channel operation
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_GET_RESULT_HPP
#define WEIR_CHANNEL_GET_RESULT_HPP

#include <weir/platform/config.hpp>

#include <concepts>   // for std::same_as
#include <cstddef>    // for std::size_t
#include <iterator>   // for std::size
#include <optional>   // for std::optional
#include <ostream>    // for std::ostream
#include <stdexcept>  // for std::logic_error
#include <string>     // for std::string
#include <utility>    // for std::move

namespace weir {

/// How a put or get ended.
enum class channel_status : unsigned char {
    success,    ///< the item was put, or got
    full,       ///< a `try_put` found no room
    empty,      ///< a `try_get` found no item
    closed,     ///< the channel is closed; for a get: and drained
    timed_out,  ///< the time limit came first; no item is lost
    stopped,    ///< a requested stop came first; no item is lost
};

/// \returns the enumerator's name.
[[nodiscard]] constexpr const char* to_string(channel_status s) noexcept {
    constexpr const char* names[] = {"success", "full", "empty", "closed", "timed_out", "stopped"};
    return static_cast<unsigned>(s) < std::size(names) ? names[static_cast<unsigned>(s)] : "?";
}

/// Writes what `to_string` returns.
inline std::ostream& operator<<(std::ostream& out, channel_status s) { return out << to_string(s); }

/// The result of a get that may end without an item: the item, or the reason why there is none.
template <class T>
class [[nodiscard]] get_result {
  public:
    /// A result with an item.
    explicit get_result(T&& item) : item_(std::move(item)), status_(channel_status::success) {}
    /// A result without an item.
    explicit get_result(std::same_as<channel_status> auto why) noexcept : status_(why) {}

    [[nodiscard]] channel_status status() const noexcept { return status_; }     ///< `success`, or why not
    [[nodiscard]] bool has_value() const noexcept { return item_.has_value(); }  ///< whether there is an item
    explicit operator bool() const noexcept { return item_.has_value(); }        ///< the same

    /// Precondition of `*` and `->`: there is an item.
    [[nodiscard]] T& operator*() & noexcept { return *item_; }
    [[nodiscard]] const T& operator*() const& noexcept { return *item_; }
    [[nodiscard]] T&& operator*() && noexcept { return *std::move(item_); }
    [[nodiscard]] T* operator->() noexcept { return &*item_; }
    [[nodiscard]] const T* operator->() const noexcept { return &*item_; }

    /// The item. Lifetime: that of this object.
    /// Errors: `std::logic_error` that names the status if there is no item.
    [[nodiscard]] T& value() & {
        check_item();
        return *item_;
    }
    [[nodiscard]] const T& value() const& {
        check_item();
        return *item_;
    }
    /// The same item, to be moved from.
    [[nodiscard]] T&& value() && { return std::move(value()); }

  private:
    void check_item() const {
        if (item_) return;
        throw std::logic_error(std::string("weir: no item was got: ") + to_string(status_));
    }

    std::optional<T> item_;
    channel_status status_;
};

/// The result of a get from a range of channels: the item or `closed`, and the number of the channel.
template <class T>
class [[nodiscard]] get_from : public get_result<T> {
  public:
    /// For `select`.
    get_from(std::size_t which, get_result<T>&& result) noexcept
        : get_result<T>(std::move(result)), which_(which) {}
    /// The number of the channel in the range, from 0.
    [[nodiscard]] std::size_t which() const noexcept { return which_; }

  private:
    std::size_t which_;
};

}  // namespace weir

#endif
