// weir channel, internal: compile-time errors that explain the wrong use of a channel
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_REFUSALS_HPP
#define WEIR_CHANNEL_CHANNEL_REFUSALS_HPP

#include <weir/channel/get_result.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/stop_token.hpp>

#include <coroutine>    // for std::suspend_never
#include <span>         // for std::span
#include <type_traits>  // for std::is_void_v, std::is_copy_constructible_v

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
        return no_limit<Limit>();
    }
    template <class Limit>
        requires(!std::is_convertible_v<Limit, stop_token>)
    auto get(Limit&&) {
        return no_limit<Limit>();
    }

    // For an argument that is no span of items, or whose items are constant.
    template <class Range>
        requires(!std::is_convertible_v<Range, std::span<T>>)
    auto put_some(Range&&, stop_token = {}) {
        return no_items<Range>();
    }
    template <class Range>
        requires(!std::is_convertible_v<Range, std::span<T>>)
    auto get_some(Range&&, stop_token = {}) {
        return no_items<Range>();
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
    static auto no_limit() noexcept {
        static_assert(std::is_convertible_v<Limit, stop_token>,
                      "weir: a coroutine's put or get ends early by a stop_token, get(token), or after some "
                      "time, get_for(100ms), put_for(item, 100ms); for a thread, blocking_get(100ms)");
        return std::suspend_never();
    }
    template <class Range>
    static auto no_items() noexcept {
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
