// weir mpi: how items become bytes that go from rank to rank
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_WIRE_HPP
#define WEIR_MPI_WIRE_HPP

#include <weir/platform/config.hpp>

#include <array>        // for std::array
#include <concepts>     // for std::convertible_to, std::same_as
#include <cstddef>      // for std::byte, std::size_t
#include <functional>   // for std::reference_wrapper
#include <optional>     // for std::optional
#include <span>         // for std::span, std::as_bytes
#include <string_view>  // for std::basic_string_view
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::is_trivially_copyable_v, std::is_pointer_v, ...
#include <utility>      // for std::declval, std::pair
#include <variant>      // for std::variant

namespace weir::mpi {

/// Specialise `wire` for each item type of a `channel` between ranks that is not sent unchanged. Items of the
/// following types are sent unchanged, without a copy:
/// - trivially copyable types with a default constructor;
/// - containers of trivially copyable elements that have `data`, `size` and `resize`, as `std::vector<float>`
///   and `std::string`.
///
/// An address means nothing on another rank: pointers, `std::string_view`, `std::span` and
/// `std::reference_wrapper` are refused, also as elements of vectors, arrays, pairs, tuples, optionals and
/// variants. Members of a trivially copyable class can't be checked: the class must not have pointers or
/// views, or needs a `wire`.
///
///     template <>
///     struct weir::mpi::wire<sample> {
///         static std::vector<std::byte> pack(const sample& s);          // or any type that is sent as it is
///         static sample unpack(std::vector<std::byte>&& bytes);
///     };
///
/// `put` calls `pack`, and `get` calls `unpack`, in the coroutine or thread that puts or gets. Exceptions of
/// `pack` and `unpack` leave `put` and `get`.
template <class T>
struct wire;

namespace detail {

// Whether a T is an address, or consists of such; members of classes can't be seen.
template <class T>
inline constexpr bool has_addresses = std::is_pointer_v<T> || std::is_member_pointer_v<T>;
template <class T, std::size_t N>
inline constexpr bool has_addresses<T[N]> = has_addresses<T>;
template <class T, std::size_t N>
inline constexpr bool has_addresses<std::array<T, N>> = has_addresses<T>;
template <class T, std::size_t N>
inline constexpr bool has_addresses<std::span<T, N>> = true;
template <class T>
inline constexpr bool has_addresses<std::reference_wrapper<T>> = true;
template <class C, class Traits>
inline constexpr bool has_addresses<std::basic_string_view<C, Traits>> = true;
template <class A, class B>
inline constexpr bool has_addresses<std::pair<A, B>> = has_addresses<A> || has_addresses<B>;
template <class... As>
inline constexpr bool has_addresses<std::tuple<As...>> = (false || ... || has_addresses<As>);
template <class T>
inline constexpr bool has_addresses<std::optional<T>> = has_addresses<T>;
template <class... As>
inline constexpr bool has_addresses<std::variant<As...>> = (false || ... || has_addresses<As>);

// A container of trivially copyable elements in one piece of memory.
template <class T>
concept sizable = requires(T& t, std::size_t n) {
    t.resize(n);
    { *t.data() } -> std::same_as<typename T::value_type&>;
    { t.size() } -> std::convertible_to<std::size_t>;
} && std::is_trivially_copyable_v<typename T::value_type>;

template <sizable T>
inline constexpr bool has_addresses<T> = has_addresses<typename T::value_type>;

// Whether an item of this type is sent unchanged; and, below, whether `wire` is specialised for it.
template <class T>
concept sent_as_it_is =
    !has_addresses<T> &&
    (sizable<T> || (std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>));
template <class T>
concept packed = requires(const T& item) { wire<T>::pack(item); };

// The type that is sent for a T.
template <class T>
struct sent_for {
    static_assert(
        !has_addresses<T>,
        "weir: this item is an address (a pointer, string_view, span or reference_wrapper) or consists "
        "of such, and an address means nothing on another rank: put the values, as std::string or "
        "std::vector, or specialise weir::mpi::wire<T>");
    static_assert(sent_as_it_is<T>,
                  "weir: a channel between ranks sends bytes, and doesn't know those of this item: "
                  "specialise weir::mpi::wire<T>, or put a trivially copyable type or a vector of such");
    using type = T;
};
template <packed T>
struct sent_for<T> {
    using type = decltype(wire<T>::pack(std::declval<const T&>()));
    static_assert(sent_as_it_is<type>,
                  "weir: wire<T>::pack has to give a trivially copyable type, or a vector of such, without "
                  "pointers and views");
};
template <class T>
using sent_t = typename sent_for<T>::type;

// The memory of the item, from which MPI sends, or into which MPI receives.
template <sent_as_it_is S>
std::span<std::byte> bytes_of(S& item) noexcept {
    if constexpr (sizable<S>) {
        return std::as_writable_bytes(std::span(item.data(), item.size()));
    } else {
        return std::as_writable_bytes(std::span(&item, 1));
    }
}

// Resizes a container to `bytes` bytes. Does nothing for an item whose size is that of its type. Errors:
// those of `resize`.
template <sent_as_it_is S>
void make_room(S& item, std::size_t bytes) {
    if constexpr (sizable<S>) item.resize(bytes / sizeof(typename S::value_type));
}

}  // namespace detail

}  // namespace weir::mpi

#endif
