// weir channel: the status of a channel operation, the result of a get, and the refusals of wrong use
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_GET_RESULT_HPP
#define WEIR_CHANNEL_GET_RESULT_HPP

#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/stop_token.hpp>

#include <concepts>     // for std::same_as
#include <coroutine>    // for std::suspend_never
#include <cstddef>      // for std::size_t
#include <iterator>     // for std::size
#include <optional>     // for std::optional, std::nullopt_t
#include <ostream>      // for std::ostream
#include <span>         // for std::span
#include <stdexcept>    // for std::logic_error
#include <string>       // for std::string
#include <type_traits>  // for std::is_void_v, std::is_copy_constructible_v
#include <utility>      // for std::move

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

/// \returns the enumerator's name; `?` for a number without an enumerator.
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
    /// A result without an item, unless T is `channel_status`: then `why` is the item.
    explicit get_result(std::same_as<channel_status> auto why) noexcept : status_(why) {}
    /// A result without an item, for any T.
    get_result(std::nullopt_t, channel_status why) noexcept : status_(why) {}

    [[nodiscard]] channel_status status() const noexcept { return status_; }     ///< `success`, or why not
    [[nodiscard]] bool has_value() const noexcept { return item_.has_value(); }  ///< whether there is an item
    explicit operator bool() const noexcept { return item_.has_value(); }        ///< the same

    /// Precondition of `*` and `->`: there is an item.
    [[nodiscard]] T& operator*() & noexcept { return *item_; }
    [[nodiscard]] const T& operator*() const& noexcept { return *item_; }
    [[nodiscard]] T&& operator*() && noexcept { return *std::move(item_); }
    [[nodiscard]] T* operator->() noexcept { return item_.operator->(); }
    [[nodiscard]] const T* operator->() const noexcept { return item_.operator->(); }

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
    /// The result of a get from channel number `which` of the range. Called by `select`.
    get_from(std::size_t which, get_result<T>&& result) noexcept
        : get_result<T>(std::move(result)), which_(which) {}
    /// The number of the channel in the range, from 0.
    [[nodiscard]] std::size_t which() const noexcept { return which_; }

  private:
    std::size_t which_;
};

}  // namespace weir

namespace weir::detail {

// Base of awaitables. Rejects at compile time their use as a bool or an optional, which only co_await
// returns.
class not_awaited {
  public:
    template <class Use = bool>
    // NOLINTNEXTLINE(google-explicit-constructor): bool in = c.put(1) is rejected, too
    operator bool() const noexcept {
        return refuse<Use>();
    }
    template <class Use = bool>
    bool operator*() const noexcept {
        return refuse<Use>();
    }
    template <class Use = bool>
    const bool* operator->() const noexcept {
        static_cast<void>(refuse<Use>());
        return nullptr;
    }

  private:
    template <class Use>
    static bool refuse() noexcept {
        static_assert(std::is_void_v<Use>,
                      "weir: this has not been awaited, so it is neither true nor false, nor an item: in a "
                      "coroutine while (auto x = co_await channel.get()), const bool taken = co_await "
                      "channel.put(x); in a plain function, which can't wait so, channel.blocking_get(), "
                      "blocking_put(x), or try_get() and try_put(x), which don't wait");
        return false;
    }
};

// Base of a channel: overloads for wrong arguments, which reject these at compile time with the reason.
// `Policy`: what the channel measures, and its platform, the type that supplies locks and atomics.
template <class T, class Policy>
class channel_refusals {
    using stop_token = basic_stop_token<typename Policy::platform>;

  public:
    // For an lvalue of an item type that can't be copied, and for an argument of another type.
    template <class Item>
        requires(std::is_same_v<Item, T> && !std::is_copy_constructible_v<T>)
    auto put(const Item&, stop_token = {}) {
        static_assert(std::is_copy_constructible_v<Item>,
                      "weir: put copies an lvalue or a constant, and this channel's items can't be copied; "
                      "move the item: co_await c.put(std::move(item))");
        return std::suspend_never();
    }
    template <class Item>
        requires(!std::is_convertible_v<Item, T> && !std::is_same_v<std::remove_cvref_t<Item>, T>)
    auto put(Item&&, stop_token = {}) {
        static_cast<void>(refuse<Item>());
        return std::suspend_never();
    }

    // For a second argument that is no stop token.
    template <class Item, class Limit>
        requires(!std::is_convertible_v<Limit, stop_token>)
    auto put(Item&&, Limit&&) {
        return refuse_limit<Limit>();
    }
    template <class Limit>
        requires(!std::is_convertible_v<Limit, stop_token>)
    auto get(Limit&&) {
        return refuse_limit<Limit>();
    }

    // For an argument that is no span of items, or whose items are constant.
    template <class Range>
        requires(!std::is_convertible_v<Range, std::span<T>>)
    auto put_some(Range&&, stop_token = {}) {
        return refuse_range<Range>();
    }
    template <class Range>
        requires(!std::is_convertible_v<Range, std::span<T>>)
    auto get_some(Range&&, stop_token = {}) {
        return refuse_range<Range>();
    }

    // For an item that would have to be copied, and for an argument of another type.
    template <class Item>
        requires(!std::is_convertible_v<Item, T &&>)
    channel_status try_put(Item&&) noexcept {
        return refuse<Item>();
    }
    template <class Item>
        requires(!std::is_convertible_v<Item, T &&>)
    channel_status blocking_put(Item&&, duration = (duration::max)()) noexcept {
        return refuse<Item>();
    }

    // For a plain range-for loop, which can't wait.
    template <class Item = T>
    not_an_iterator<T> begin() const {
        static_assert(std::is_void_v<Item>,
                      "weir: a plain loop can't wait for a channel; in a coroutine write "
                      "while (auto x = co_await channel.get()), in a thread "
                      "while (auto x = channel.blocking_get())");
        return {};
    }
    not_an_iterator<T> end() const { return {}; }

  private:
    template <class Limit>
    static auto refuse_limit() noexcept {
        static_assert(std::is_convertible_v<Limit, stop_token>,
                      "weir: a coroutine's put or get ends early by a stop_token, get(token), or after some "
                      "time, get_for(100ms), put_for(item, 100ms); for a thread, blocking_get(100ms)");
        return std::suspend_never();
    }
    template <class Range>
    static auto refuse_range() noexcept {
        static_assert(
            std::is_convertible_v<Range, std::span<T>>,
            "weir: put_some and get_some move the items of a std::span<T>, or of a vector or array of "
            "T that has a name and isn't constant; T is that of the channel");
        return std::suspend_never();
    }
    template <class Item>
    static constexpr channel_status refuse() noexcept {
        constexpr bool one_of_them = std::is_same_v<std::remove_cvref_t<Item>, T>;
        static_assert(one_of_them || std::is_convertible_v<Item, T>,
                      "weir: this channel takes no Item: it is neither a T nor implicitly convertible to T; "
                      "the types are those of channel<T> and Item in this message");
        static_assert(!one_of_them,
                      "weir: try_put and blocking_put take rvalues, from which they move if there is room: "
                      "c.try_put(std::move(item)), or a copy, c.try_put(T(item))");
        return channel_status::closed;
    }
};

}  // namespace weir::detail

#endif
