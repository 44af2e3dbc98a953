// weir channel, internal: memory for items, and the operations on an item whose type is erased
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_ITEM_STORAGE_HPP
#define WEIR_CHANNEL_ITEM_STORAGE_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/channel/item_size.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/platform.hpp>

#include <bit>          // for std::bit_ceil
#include <cstddef>      // for std::size_t, std::byte
#include <cstdint>      // for PTRDIFF_MAX, std::uint64_t
#include <limits>       // for std::numeric_limits
#include <memory>       // for std::addressof, std::destroy_at, std::construct_at
#include <new>          // for std::align_val_t, std::nothrow
#include <optional>     // for std::optional
#include <string>       // for std::to_string
#include <type_traits>  // for std::is_nothrow_destructible_v, std::is_nothrow_move_constructible_v
#include <utility>      // for std::exchange, std::move, std::swap

namespace weir::detail {

// Memory for one object; the owner of the memory keeps track of whether the object exists. For a get,
// `outcome::done` tells that the item was constructed here: by the get, or by a put that served the waiting
// get. Not a std::optional: that is written by two stores and read by one load, which waits 5 ns for the
// stores.
template <class T>
class uninitialised_slot {
  public:
    uninitialised_slot() noexcept {}
    uninitialised_slot(const uninitialised_slot&) = delete;
    uninitialised_slot& operator=(const uninitialised_slot&) = delete;
    ~uninitialised_slot() {}

    T* address() noexcept { return std::addressof(item_); }
    WEIR_ALWAYS_INLINE std::optional<T> take() noexcept {
        std::optional<T> item(std::move(item_));
        std::destroy_at(std::addressof(item_));
        return item;
    }
    void destroy() noexcept { std::destroy_at(std::addressof(item_)); }

  private:
    union {
        T item_;  // NOLINT(readability-identifier-naming): private, as the union is
    };
};

// Asserts that a channel can move and destroy an item. Not in the class of the channel: clang would leave out
// all members of the class behind an assertion that fails, and report each use of one.
template <class T>
struct never_throws {
    static constexpr bool checked = true;
    static_assert(std::is_nothrow_destructible_v<T>,
                  "weir: the destructor of a channel's items must not throw, because nobody could catch the "
                  "exception; declare the destructor without noexcept(false)");
    static_assert(std::is_nothrow_move_constructible_v<T> || !std::is_nothrow_destructible_v<T>,
                  "weir: a channel's items must be movable without throwing, so that none is lost "
                  "between two places; put std::unique_ptr of this type instead");
};

// The operations on an item, for the part of a channel that is compiled once for all item types, about half
// of its code. Code that runs for each item without waiting is a template of the item type instead: see
// `channel_items::put_here`.
struct item_type {
    void (*move)(void* from, void* to) noexcept;      // move-constructs `to`; `from` remains
    void (*relocate)(void* from, void* to) noexcept;  // the same, and destroys `from`
    void (*destroy)(void* item) noexcept;
    std::size_t size;
    std::size_t alignment;
    std::size_t (*bytes)(const void* item) noexcept;  // its size by `item_size`
    bool (*is_mark)(const void* item) noexcept;  // whether it is a mark, which ends an epoch; null: none is
};

template <class T>
struct item_functions {  // the functions of `item_type`, for the item type T
    static void move(void* from, void* to) noexcept {
        std::construct_at(static_cast<T*>(to), std::move(*static_cast<T*>(from)));
    }
    static void relocate(void* from, void* to) noexcept {
        move(from, to);
        destroy(from);
    }
    static void destroy(void* item) noexcept { std::destroy_at(static_cast<T*>(item)); }
    static std::size_t bytes(const void* item) noexcept {
        const T& typed = *static_cast<const T*>(item);
        if constexpr (is_epoch_item<T>) {
            return typed.is_mark() ? 0 : item_size<typename T::value_type>::of(typed.value());
        } else {
            return item_size<T>::of(typed);
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
    static_assert(fits_a_frame<T>());  // asserts that T is aligned to 64 bytes at most
    using functions = item_functions<T>;
    item_type type{functions::move, functions::relocate, functions::destroy,
                   sizeof(T),       alignof(T),          functions::bytes,
                   nullptr};
    if constexpr (is_epoch_item<T>) type.is_mark = functions::is_mark;
    return type;
}
template <class T>
inline constexpr item_type item_type_of = make_item_type<T>();

// A block of memory for items, which are numbered from 0 as they enter the channel: item `i` has the place
// `i` modulo `places()`. The owner of a ring keeps track of the places that hold items: a ring destroys no
// items. A ring allocates in its constructor only.
class ring {
  public:
    // Has places for at least `capacity` items.
    ring(const item_type& type, std::size_t capacity) : type_(&type), places_(places_for(capacity)) {
        if (places_ == 0) return;
        if (places_ <= memory_shortage::many_bytes / type.size) {  // may throw a plain std::bad_alloc
            const std::size_t bytes = places_ * type.size;
            block_ = has_default_alignment() ? ::operator new(bytes) : ::operator new(bytes, alignment());
            return;
        }
        block_ = allocate(places_);
        if (block_ == nullptr) throw_shortage();
    }
    // Has no places until it is swapped.
    explicit ring(const item_type& type) noexcept : type_(&type), places_(0) {}
    ring(const ring&) = delete;
    ring& operator=(const ring&) = delete;
    ~ring() { free(block_); }

    std::size_t places() const noexcept { return places_; }

    void* operator[](std::uint64_t i) noexcept {
        return static_cast<std::byte*>(block_) + place_of(i) * type_->size;
    }
    template <class T>
    T* at(std::uint64_t i) noexcept {
        return static_cast<T*>(block_) + place_of(i);
    }

    // The number of places that are contiguous in memory from the place of item `i` on; at most `n`.
    std::size_t contiguous(std::uint64_t i, std::size_t n) const noexcept {
        return smaller(n, places_ - place_of(i));
    }

    // Moves the item to uninitialised memory.
    void take(std::uint64_t i, void* into) noexcept { type_->relocate((*this)[i], into); }
    // Moves the item to the same number of another ring, which has more places.
    void move(std::uint64_t i, ring& into) noexcept { take(i, into[i]); }

    void destroy(std::uint64_t i) noexcept { type_->destroy((*this)[i]); }

    // Both rings have the same item type.
    void swap(ring& other) noexcept {
        std::swap(block_, other.block_);
        std::swap(places_, other.places_);
    }

  private:
    // The next power of two; above the largest one, the capacity: no memory has room for that many.
    static std::size_t places_for(std::size_t capacity) noexcept {
        constexpr std::size_t largest = (std::numeric_limits<std::size_t>::max)() / 2 + 1;
        return capacity == 0 || capacity > largest ? capacity : std::bit_ceil(capacity);
    }

    // Null: not enough memory.
    void* allocate(std::size_t places) const noexcept {
        if (places > static_cast<std::size_t>(PTRDIFF_MAX) / type_->size) return nullptr;
        const std::size_t bytes = places * type_->size;
        return has_default_alignment() ? ::operator new(bytes, std::nothrow)
                                       : ::operator new(bytes, alignment(), std::nothrow);
    }
    void free(void* block) const noexcept {
        if (has_default_alignment()) {
            ::operator delete(block);
        } else {
            ::operator delete(block, alignment());
        }
    }
    [[noreturn]] void throw_shortage() const {
        std::size_t possible = places_ / 2;
        for (void* block = nullptr; possible != 0; possible /= 2) {
            block = allocate(possible);
            free(block);
            if (block != nullptr) break;
        }
        throw memory_shortage("", places_,
                              "places of " + std::to_string(type_->size) + " bytes each in a queue",
                              possible);
    }

    bool has_default_alignment() const noexcept {
        return type_->alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
    }
    std::align_val_t alignment() const noexcept { return static_cast<std::align_val_t>(type_->alignment); }

    std::size_t place_of(std::uint64_t i) const noexcept { return number_as<std::size_t>(i) & (places_ - 1); }

    const item_type* type_;
    void* block_ = nullptr;
    std::size_t places_;
};

// A local variable of a destructor that may call itself recursively. Beyond a depth of `most`, the destructor
// defers the destruction of its members to the outermost call, which destroys them one after the other.
class nested_destruction {
  public:
    // The members of one object, whose destruction is deferred.
    class rest {
      public:
        rest() noexcept = default;
        rest(const rest&) = delete;
        rest& operator=(const rest&) = delete;
        virtual ~rest() = default;

      private:
        friend nested_destruction;
        rest* next_ = nullptr;
    };

    nested_destruction() noexcept : mine_(here()) { ++mine_.depth; }
    nested_destruction(const nested_destruction&) = delete;
    nested_destruction& operator=(const nested_destruction&) = delete;
    ~nested_destruction() {
        while (mine_.depth == 1 && mine_.first != nullptr) {
            rest* const deferred = mine_.first;
            mine_.first = deferred->next_;
            delete deferred;
        }
        --mine_.depth;
    }

    bool is_deep() const noexcept { return mine_.depth > most; }
    // The outermost call will destroy `deferred`.
    void put_off(rest* deferred) noexcept { deferred->next_ = std::exchange(mine_.first, deferred); }

  private:
    struct of_this_thread {
        unsigned depth = 0;
        rest* first = nullptr;
    };
    // Not inlined: a coroutine would keep the thread-local address when it continues on another thread.
    WEIR_NOINLINE static of_this_thread& here() noexcept {
        return standard_platform::of_thread<of_this_thread>();
    }

    static constexpr unsigned most = 100;
    of_this_thread& mine_;
};

// Destroys the items `first` to `last` - 1 of a ring that is about to be destroyed. Inside of a deep nesting
// of items that contain rings, the items are moved away and destroyed later, if there is memory for that.
inline void destroy_items(ring& from, const item_type& type, std::uint64_t first,
                          std::uint64_t last) noexcept {
    class rest final : public nested_destruction::rest {
      public:
        rest(ring& items, const item_type& of, std::uint64_t begin, std::uint64_t end)
            : items_(of), begin_(begin), end_(end) {
            items_.swap(items);
        }
        ~rest() override {
            for (; begin_ != end_; ++begin_) items_.destroy(begin_);
        }

      private:
        ring items_;
        std::uint64_t begin_;
        const std::uint64_t end_;
    };
    if (first == last) return;
    nested_destruction here;
    if (here.is_deep()) {
        rest* const deferred = new (std::nothrow) rest(from, type, first, last);
        if (deferred != nullptr) return here.put_off(deferred);
    }
    for (; first != last; ++first) from.destroy(first);
}

}  // namespace weir::detail

#endif
