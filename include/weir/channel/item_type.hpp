// weir channel, internal: what code that is compiled once for all items has to know of their type
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_ITEM_TYPE_HPP
#define WEIR_CHANNEL_ITEM_TYPE_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/channel/item_size.hpp>
#include <weir/platform/config.hpp>

#include <cstddef>  // for std::size_t
#include <memory>   // for std::construct_at, std::destroy_at
#include <utility>  // for std::move

namespace weir::detail {

// Half of a channel's code would be the same for any item; it is compiled once, and calls these. What is
// done for each item without waiting knows the type: see `channel_items::put_here`.
struct item_type {
    std::size_t size;
    std::size_t alignment;
    void (*move)(void* from, void* to) noexcept;      // constructs; what is left of the other one stays
    void (*relocate)(void* from, void* to) noexcept;  // the same, and nothing is left
    void (*destroy)(void* item) noexcept;
    std::size_t (*bytes)(const void* item) noexcept;  // see `item_size`
    bool (*is_mark)(const void* item) noexcept;       // null: it never is
};

template <class T>
struct item_functions {
    static void move(void* from, void* to) noexcept {
        std::construct_at(static_cast<T*>(to), std::move(*static_cast<T*>(from)));
    }
    static void relocate(void* from, void* to) noexcept {
        move(from, to);
        destroy(from);
    }
    static void destroy(void* item) noexcept { std::destroy_at(static_cast<T*>(item)); }
    static std::size_t bytes(const void* item) noexcept {
        const T& it = *static_cast<const T*>(item);
        if constexpr (is_epoch_item<T>) {
            return it.is_mark() ? 0 : item_size<typename T::value_type>::of(it.value());
        } else {
            return item_size<T>::of(it);
        }
    }
    static bool is_mark(const void* item) noexcept
        requires is_epoch_item<T>
    {
        return static_cast<const T*>(item)->is_mark();
    }
};

template <class T>
constexpr item_type make_item_type() noexcept {
    static_assert(fits_a_frame<T>());
    using functions = item_functions<T>;
    item_type type{sizeof(T),          alignof(T),       functions::move, functions::relocate,
                   functions::destroy, functions::bytes, nullptr};
    if constexpr (is_epoch_item<T>) type.is_mark = functions::is_mark;
    return type;
}
template <class T>
inline constexpr item_type item_type_of = make_item_type<T>();

}  // namespace weir::detail

#endif
