// weir channel, internal: the awaitables of put and get, of one item and of several
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_OPERATIONS_HPP
#define WEIR_CHANNEL_CHANNEL_OPERATIONS_HPP

#include <weir/channel/channel_awaiter.hpp>
#include <weir/channel/channel_end.hpp>
#include <weir/channel/item_storage.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/platform/config.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <memory>       // for std::addressof
#include <optional>     // for std::optional
#include <span>         // for std::span
#include <type_traits>  // for std::is_constructible_v, std::is_nothrow_move_assignable_v
#include <utility>      // for std::forward, std::move

namespace weir::detail {

// The awaitable of a put. The awaitable refers to an item that outlives the await. The item is moved from
// only if the put succeeds.
template <class Channel, class Stop = no_stop>
class [[nodiscard("co_await this, or nothing is put")]] put_operation
    : public channel_awaiter<typename Channel::policy_type, Stop, true> {
    using base = channel_awaiter<typename Channel::policy_type, Stop, true>;
    using T = typename Channel::value_type;

  public:
    explicit put_operation(Channel& channel, T& item, typename base::slot_type* measured = nullptr,
                           Stop stop = {}) noexcept
        : base(detail::base_of(channel), std::addressof(item), measured, std::move(stop)) {}
    // For a slot (a worker of a stage), which reuses the awaitable: `next` sets the item before each await.
    explicit put_operation(typename base::slot_type& measured) noexcept : base(measured) {}
    // NOLINTNEXTLINE(modernize-use-equals-default): a defaulted one would not be inlined
    WEIR_ALWAYS_INLINE ~put_operation() {}

    WEIR_ALWAYS_INLINE void next(T& item, Channel& channel) noexcept {
        this->restart(detail::base_of(channel), std::addressof(item));
    }

    WEIR_ALWAYS_INLINE bool await_ready() noexcept { return moves_at_once(); }
    WEIR_ALWAYS_INLINE bool await_resume() {
        this->resumed();
        return this->waiter_.outcome == outcome::done;
    }

  private:
    // True if the item has moved on the fast path. Not inlined: a coroutine would keep the address of this
    // thread's record when it continues on another thread.
    WEIR_NOINLINE bool moves_at_once() noexcept {
        if (this->must_suspend() || this->channel_->put_needs_both()) return false;
        return this->channel_->template put_at_once<T>(this->waiter_);
    }
};

// The puts of a slot. If the stage keeps the order of its input, each put has a number, and the items go in
// in the order of the numbers.
template <class Channel>
class numbered_put : public put_operation<Channel> {
    using base = put_operation<Channel>;
    using T = typename Channel::value_type;

  public:
    using base::base;

    // `item`: null if the stage has dropped item `number`.
    WEIR_ALWAYS_INLINE void next_in_order(T* item, Channel& channel, std::uint64_t number) noexcept {
        this->restart(detail::base_of(channel), item);
        this->waiter_.number = number;
        in_order_ = true;
    }
    WEIR_ALWAYS_INLINE bool await_ready() noexcept {
        return in_order_ ? moves_in_order() : base::await_ready();
    }

  private:
    WEIR_NOINLINE bool moves_in_order() noexcept {
        return !this->must_suspend(this->waiter_.number) &&
               this->channel_->template put_in_order_at_once<T>(this->waiter_);
    }

    bool in_order_ = false;  // either all puts of one object have numbers, or none has
};

// Whether a T can be made from Args, by a constructor or as an aggregate.
template <class T, class... Args>
concept makes =
    std::is_constructible_v<T, Args...> || requires(Args&&... args) { T{std::forward<Args>(args)...}; };

// Holds the item of an operation. A base class, so that the item exists before the operation that refers to
// it.
template <class T>
class held_item {
  protected:
    template <class... Args>
    explicit held_item(Args&&... args) : item_(make(std::forward<Args>(args)...)) {}
    T item_;

  private:
    // Uses braces for an array, and for an aggregate if the compiler can't construct it by parentheses.
    template <class... Args>
    static T make(Args&&... args) {
        if constexpr (std::is_constructible_v<T, Args...>) {
            return T(std::forward<Args>(args)...);
        } else {
            return T{std::forward<Args>(args)...};
        }
    }
};

// The awaitable of a put whose item is constructed in the awaitable.
template <class Channel, class Stop = no_stop>
class [[nodiscard("co_await this, or nothing is put")]] put_made_operation
    : held_item<typename Channel::value_type>,
      public put_operation<Channel, Stop> {
    using made = held_item<typename Channel::value_type>;

  public:
    template <class... Args>
    explicit put_made_operation(Channel& channel, Stop stop, Args&&... args)
        : made(std::forward<Args>(args)...),
          put_operation<Channel, Stop>(channel, this->item_, nullptr, std::move(stop)) {}
};

// The awaitable of a get.
template <class Channel, class Stop = no_stop>
class [[nodiscard("co_await this, or nothing is got")]] get_operation
    : public channel_awaiter<typename Channel::policy_type, Stop, false> {
    using base = channel_awaiter<typename Channel::policy_type, Stop, false>;
    using T = typename Channel::value_type;

  public:
    explicit get_operation(Channel& channel, typename base::slot_type* measured = nullptr,
                           Stop stop = {}) noexcept
        : base(detail::base_of(channel), nullptr, measured, std::move(stop)) {
        this->waiter_.item = place_.address();
    }
    explicit get_operation(typename base::slot_type& measured) noexcept : base(measured) {}
    // Destroys an item that was handed over to a coroutine that was destroyed before it resumed.
    WEIR_ALWAYS_INLINE ~get_operation() {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            if (this->waiter_.outcome == outcome::done) place_.destroy();
        }
    }

    WEIR_ALWAYS_INLINE bool await_ready() noexcept { return moves_at_once(); }
    WEIR_ALWAYS_INLINE std::optional<T> await_resume() {
        this->resumed();
        if (this->waiter_.outcome != outcome::done) return std::nullopt;
        this->waiter_.outcome = outcome::fetched;  // `place_` has no item to destroy from here on
        return place_.take();
    }

    // For the get of a slot that returned no item. True: the slot was recalled (its wait ended because it has
    // to put its batch, or to end: see `slot::recalled`), and the channel may have items later. False: the
    // channel is closed and drained.
    bool was_recalled() const noexcept { return this->waiter_.outcome == outcome::stopped; }

    // The item's number in the order of the gets, from 0; after an item was got.
    std::uint64_t number() const noexcept { return this->waiter_.number; }

  protected:
    // `ends_slice`: whether the operation may end a slice, so that the coroutine yields (channel_end.hpp).
    WEIR_NOINLINE bool moves_at_once(bool ends_slice = true) noexcept {
        if ((ends_slice && this->must_suspend()) || this->channel_->get_needs_both()) return false;
        return this->channel_->template get_at_once<T>(this->waiter_);
    }

    uninitialised_slot<T> place_;  // where the item arrives
};

// The awaitable of a put or get of several items. Moves as many items as possible without waiting. If no item
// could be moved, waits for the first item as a single put or get does. Then moves as many more as possible.
template <class Channel, class Stop, bool Puts>
class batch_operation : public channel_awaiter<typename Channel::policy_type, Stop, Puts> {
    using base = channel_awaiter<typename Channel::policy_type, Stop, Puts>;
    using T = typename Channel::value_type;
    static_assert(Puts || std::is_nothrow_move_assignable_v<T>,
                  "weir: get_some moves items into objects that are there, so they must be assignable by a "
                  "move that doesn't throw; get gives one item after the other");

  public:
    batch_operation(Channel& channel, std::span<T> items, Stop stop = {}) noexcept
        : base(detail::base_of(channel), items.data(), nullptr, std::move(stop)), items_(items) {
        if constexpr (!Puts) this->waiter_.item = place_.address();
    }
    batch_operation(const batch_operation&) = delete;
    batch_operation& operator=(const batch_operation&) = delete;
    // Destroys an item that was handed over to a coroutine that was destroyed before it resumed.
    ~batch_operation() {
        if (!Puts && this->waiter_.outcome == outcome::done) place_.destroy();
    }

    bool await_ready() noexcept {
        const std::uint64_t before = this->channel_->count_at(base::line_);
        moved_ = move_some(items_);
        return items_.empty() || (moved_ != 0 && moved_ <= operations_left_in_slice(Puts, before));
    }
    // If items have moved, the slice has ended: this call posts the coroutine. Else resumes as in the base.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
        return moved_ == 0 ? base::await_suspend(h) : base::yield_when_done(h);
    }
    std::size_t await_resume() {
        this->resumed();
        if (this->waiter_.outcome != outcome::done) return moved_;
        this->waiter_.outcome = outcome::fetched;
        if constexpr (!Puts) items_.front() = std::move(*place_.take());
        return 1 + move_some(items_.subspan(1));
    }

  private:
    std::size_t move_some(std::span<T> items) noexcept {
        if constexpr (Puts) {
            return this->channel_->put_some(items.data(), items.size());
        } else {
            return this->channel_->get_some(items.data(), items.size());
        }
    }

    const std::span<T> items_;     // to put; or to be assigned to
    std::size_t moved_ = 0;        // the number of items that have moved without a wait
    uninitialised_slot<T> place_;  // where the item that a get waits for arrives
};

}  // namespace weir::detail

#endif
