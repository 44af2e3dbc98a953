// weir channel: the size of an item in bytes, and the limits in bytes of a queue and of a run
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_ITEM_SIZE_HPP
#define WEIR_CHANNEL_ITEM_SIZE_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/platform.hpp>

#include <array>        // for std::array
#include <bit>          // for std::countr_zero
#include <concepts>     // for std::convertible_to
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <iterator>     // for std::begin, std::iterator_traits, std::size
#include <memory>       // for std::unique_ptr, std::shared_ptr
#include <optional>     // for std::optional
#include <tuple>        // for std::tuple, std::apply
#include <type_traits>  // for std::is_trivially_copyable_v
#include <utility>      // for std::declval, std::pair

namespace weir {

namespace detail {

// Not std::ranges::sized_range: <ranges> takes longer to compile than all of a channel.
template <class T>
concept sized_container = requires(const T& t) {
    { std::size(t) } -> std::convertible_to<std::size_t>;
    *std::begin(t);
    std::end(t);
};

// The element type of a container, by its iterator. `*it` alone may give a proxy, such as that of
// std::vector<bool>.
template <class Iterator>
struct element_at {
    using type = std::remove_cvref_t<decltype(*std::declval<Iterator&>())>;
};
template <class Iterator>
    requires requires { typename std::iterator_traits<Iterator>::value_type; }
struct element_at<Iterator> {
    using type = std::remove_cv_t<typename std::iterator_traits<Iterator>::value_type>;
};

// A complete object type: `item_size` of an owning pointer needs the size of its object.
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
/// By default: for a range with `std::size`, the sum over its elements; for a `unique_ptr` or `shared_ptr` to
/// one object, that of the object; for an optional, pair or tuple, the sum over its parts; else `sizeof(T)`.
/// A null pointer and an empty optional count 0. A range whose elements have the type of the range, such as a
/// tree, counts `sizeof(T)`.
///
/// `of` is called under the lock of the queue, also more than once, when the item goes in, waits to go in, or
/// comes out. It returns the same number each time, does not throw, and does not use the queue.
template <class T>
struct item_size {
    // Marks the primary template: the type has no specialisation.
    static constexpr bool by_default = true;

    /// \returns the bytes that `item` counts for.
    static std::size_t of(const T& item) noexcept {
        if constexpr (detail::sized_container<T>) {
            using element = typename detail::element_at<decltype(std::begin(item))>::type;
            if constexpr (std::is_same_v<element, T>) {
                return sizeof(T);  // its own element type, as a tree: the recursion would not end
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

namespace weir::detail {

// The limit in bytes of a whole run (a started pipeline), for the sum over all its queues. The queues add and
// remove under their own locks. A source (a first stage) calls `is_spent` before it makes an item. If it has
// to wait, it calls `is_spent` again under the lock of its wait queue. `wake_sources` takes that lock, too,
// so that no wake-up is lost.
class byte_budget {
  public:
    explicit byte_budget(std::size_t most) noexcept : most_(most) {}
    byte_budget(const byte_budget&) = delete;
    byte_budget& operator=(const byte_budget&) = delete;

    // Adds a source, and returns the set with this source only. Called before any bytes are added. A set of
    // sources is a bit mask; the 64th source and all after it have the same bit. A later stage may wait for
    // an item of one source while items of other sources have spent the budget. So each of several sources
    // may always fill a share of the budget, counted over the queues that its items come through.
    std::uint64_t add_source() noexcept {
        const std::size_t number = detail::smaller<std::size_t>(sources_++, 63);
        return std::uint64_t{1} << number;
    }

    bool is_spent() const noexcept { return bytes_.load(std::memory_order_seq_cst) >= most_; }
    // Whether all sources of the set have to wait. A source has to wait if the budget is spent and, with
    // several sources, its share is used up.
    bool is_spent(std::uint64_t sources) const noexcept {
        if (!is_spent()) return false;
        for (; sources_ > 1 && sources != 0; sources &= sources - 1) {
            if (first_bytes(sources).load(std::memory_order_seq_cst) < share()) return false;
        }
        return true;
    }

    // `sources`: the sources whose items come through the queue.
    void add(std::size_t bytes, std::uint64_t sources = 0) noexcept {
        bytes_.fetch_add(bytes, std::memory_order_seq_cst);
        for (; sources_ > 1 && sources != 0; sources &= sources - 1) {
            first_bytes(sources).fetch_add(bytes, std::memory_order_seq_cst);
        }
    }
    // Returns whether the removal has brought the budget, or a share, below its limit: sources may continue.
    bool remove(std::size_t bytes, std::uint64_t sources = 0) noexcept {
        bool room = comes_below(most_, bytes_.fetch_sub(bytes, std::memory_order_seq_cst), bytes);
        for (; sources_ > 1 && sources != 0; sources &= sources - 1) {
            room |=
                comes_below(share(), first_bytes(sources).fetch_sub(bytes, std::memory_order_seq_cst), bytes);
        }
        return room;
    }

    // Lets waiting sources continue. Called without the lock of a queue.
    virtual void wake_sources() noexcept = 0;

  protected:
    ~byte_budget() = default;

  private:
    using counter = standard_platform::atomic<std::size_t>;

    static bool comes_below(std::size_t limit, std::size_t before, std::size_t bytes) noexcept {
        return before >= limit && before - bytes < limit;
    }
    std::size_t share() const noexcept { return detail::larger<std::size_t>(most_ / sources_, 1); }
    // The bytes in all queues through which items of the first source of a set come.
    counter& first_bytes(std::uint64_t sources) noexcept {
        return source_bytes_[static_cast<std::size_t>(std::countr_zero(sources))];
    }
    const counter& first_bytes(std::uint64_t sources) const noexcept {
        return source_bytes_[static_cast<std::size_t>(std::countr_zero(sources))];
    }

    const std::size_t most_;                  // the limit
    counter bytes_{0};                        // in all queues
    std::size_t sources_ = 0;                 // the number of sources
    std::array<counter, 64> source_bytes_{};  // by source: see first_bytes()
};

// The bytes in one queue, if they are counted, and the limit.
struct byte_gauge {
    std::size_t most = 0;  // 0: no limit
    std::size_t bytes = 0;
    std::uint64_t all_bytes = 0;  // the bytes of all items that have come into the queue
    std::uint64_t num_items = 0;  // the number of these items; an item handed to a waiting get is not counted
    byte_budget* budget = nullptr;  // the limit in bytes of the run; null: none
    std::uint64_t sources = 0;      // the sources whose items come through this queue: a bit mask

    bool counts() const noexcept {  // whether bytes are counted
        const bool has_limit = most != 0;
        const bool is_shared = budget != nullptr;
        return has_limit | is_shared;  // one branch in the caller, not two
    }
    bool has_room_for(std::size_t size) const noexcept { return bytes < most && size <= most - bytes; }
    // An item has come into the queue; `is_mark`: no item, but the end of an epoch.
    void add(std::size_t size, bool is_mark = false) noexcept {
        bytes += size;
        all_bytes += size;
        num_items += is_mark ? 0U : 1U;
        if (budget != nullptr) budget->add(size, sources);
    }
    // Returns the budget if it has room again: `wake_sources` is then to be called after unlocking.
    byte_budget* remove(std::size_t size) noexcept {
        bytes -= size;
        return budget != nullptr && budget->remove(size, sources) ? budget : nullptr;
    }
};

}  // namespace weir::detail

#endif
