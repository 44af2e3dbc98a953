// weir channel: how many bytes an item counts for, where that is bounded
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_ITEM_SIZE_HPP
#define WEIR_CHANNEL_ITEM_SIZE_HPP

#include <weir/platform/requirements.hpp>

#include <concepts>     // for std::convertible_to
#include <cstddef>      // for std::size_t
#include <iterator>     // for std::begin, std::iterator_traits, std::size
#include <memory>       // for std::unique_ptr, std::shared_ptr
#include <optional>     // for std::optional
#include <tuple>        // for std::tuple, std::apply
#include <type_traits>  // for std::is_trivially_copyable_v
#include <utility>      // for std::declval, std::pair

namespace weir {

namespace detail {

// Not by <ranges>, which takes longer to compile than all of a channel.
template <class T>
concept sized_container = requires(const T& t) {
    { std::size(t) } -> std::convertible_to<std::size_t>;
    *std::begin(t);
    std::end(t);
};

// Of what a container is one. What its iterator gives may stand for it only: of a std::vector<bool>.
template <class Iterator>
struct element_at {
    using type = std::remove_cvref_t<decltype(*std::declval<Iterator&>())>;
};
template <class Iterator>
    requires requires { typename std::iterator_traits<Iterator>::value_type; }
struct element_at<Iterator> {
    using type = std::remove_cv_t<typename std::iterator_traits<Iterator>::value_type>;
};

// That of what is owned can be asked for: it is no array of unknown size, nor known by name only.
template <class T>
concept has_size = std::is_object_v<T> && !std::is_array_v<T> && requires { sizeof(T); };

}  // namespace detail

/// How many bytes an item of type T counts for in a queue with a limit in bytes. Specialise it for a type
/// of your own that keeps its data elsewhere:
///
///     template <> struct weir::item_size<image> {
///         static std::size_t of(const image& i) noexcept { return i.rows() * i.stride(); }
///     };
///
/// By default: of a range, its elements'; of a pointer that owns an object, what it points to; of
/// optionals, pairs and tuples, what is in them; else `sizeof(T)`.
///
/// `of` is called under the queue's lock, when the item goes in and when it comes out, and has to say the
/// same both times: it must neither throw nor use the queue.
template <class T>
struct item_size {
    // Nobody has said otherwise.
    static constexpr bool by_default = true;

    /// \returns how many bytes.
    static std::size_t of(const T& item) noexcept {
        if constexpr (detail::sized_container<T>) {
            using element = typename detail::element_at<decltype(std::begin(item))>::type;
            if constexpr (std::is_same_v<element, T>) {
                return sizeof(T);  // a tree of such: it would have no end
            } else if constexpr (std::is_trivially_copyable_v<element> && !detail::sized_container<element> &&
                                 requires { item_size<element>::by_default; }) {
                return static_cast<std::size_t>(std::size(item)) * sizeof(element);
            } else {
                std::size_t sum = 0;
                for (const auto& each : item) sum += item_size<element>::of(each);
                return sum;
            }
        } else {
            return sizeof(T);
        }
    }
};

template <class T>
struct item_size<std::optional<T>> {
    static std::size_t of(const std::optional<T>& item) noexcept {
        return item ? item_size<T>::of(*item) : 0;
    }
};
template <detail::has_size T, class Deleter>
struct item_size<std::unique_ptr<T, Deleter>> {
    static std::size_t of(const std::unique_ptr<T, Deleter>& item) noexcept {
        return item ? item_size<std::remove_cv_t<T>>::of(*item) : 0;
    }
};
template <detail::has_size T>
struct item_size<std::shared_ptr<T>> {
    static std::size_t of(const std::shared_ptr<T>& item) noexcept {
        return item ? item_size<std::remove_cv_t<T>>::of(*item) : 0;
    }
};
template <class A, class B>
struct item_size<std::pair<A, B>> {
    static std::size_t of(const std::pair<A, B>& item) noexcept {
        return item_size<A>::of(item.first) + item_size<B>::of(item.second);
    }
};
template <class... T>
struct item_size<std::tuple<T...>> {
    static std::size_t of(const std::tuple<T...>& item) noexcept {
        return std::apply([](const T&... each) { return (item_size<T>::of(each) + ... + std::size_t(0)); },
                          item);
    }
};

}  // namespace weir

#endif
