// weir channel, internal: where a channel keeps its items, and how they go in and come out
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_CHANNEL_STORE_HPP
#define WEIR_CHANNEL_CHANNEL_STORE_HPP

#include <weir/channel/channel_core.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/channel/item_size.hpp>
#include <weir/channel/waiter.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/ring.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <memory>       // for std::construct_at
#include <string>       // for std::string
#include <type_traits>  // for std::is_nothrow_move_constructible_v
#include <utility>      // for std::move

namespace weir::detail {

template <class T, class Policy>
class channel_store : public channel_core<Policy> {
    static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                  "weir: a channel's items are objects that move in and out: neither references nor "
                  "constants; put pointers instead");
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "weir: a channel's items must be movable without throwing, so that none is lost "
                  "between two places; put std::unique_ptr of this type instead");

  protected:
    using core = channel_core<Policy>;
    using waiter = typename core::waiter;
    using side = typename core::side;
    using wakes = wake_list<typename core::platform>;
    using core::capacity_;
    using core::closed_;
    using core::get_end_;
    using core::getters_;
    using core::put_end_;
    using core::putters_;

    channel_store(std::size_t capacity, executor* clock, std::string name)
        : core(capacity, clock, std::move(name)), ring_(capacity) {}
    ~channel_store() { destroy_items(); }

  public:
    // As in the core; and those behind it are let in, if what it waited to put was too large and theirs
    // isn't.
    void stop(waiter& w, side line) noexcept {
        core::stop(w, line);
        if (line == side::put) let_in();
    }
    bool forget(waiter& w, side line) noexcept {
        const bool waited = core::forget(w, line);
        if (waited && line == side::put) let_in();
        return waited;
    }

    const char* contradiction() const noexcept override {
        const std::size_t size = core::size();
        const waiter* const putter = putters_.front();
        if (size > ring_.places()) return "more items are in a channel than it has places";
        if (getters_.front() != nullptr && size != 0) {
            return "somebody waits to get from a channel that has an item";
        }
        if (putter != nullptr && size < capacity_ && fits(size, *static_cast<const T*>(putter->item))) {
            return "somebody waits to put into a channel that has room";
        }
        if (closed_ && ((putter != nullptr && !lets_in_) || getters_.front() != nullptr)) {
            return "somebody waits on a channel that is closed";
        }
        return nullptr;
    }

  protected:
    // Holds the whole channel; when that is let go of, it wakes whom it has let go on.
    class [[nodiscard]] change {
      public:
        explicit change(channel_store& c, bool ends_apart = false) noexcept : held_(c, ends_apart) {}
        wakes& woken() noexcept { return waker_.woken; }

      private:
        struct waker {
            wakes woken;
            waker() noexcept = default;
            waker(const waker&) = delete;
            waker& operator=(const waker&) = delete;
            ~waker() { core::wake_all(woken); }
        };
        waker waker_;
        const typename core::whole held_;
    };

    // ---- under no lock --------------------------------------------------------------------------

    bool put_alone(T& item) noexcept {
        const typename core::put_guard held(put_end_.lock);
        return put_here(item);
    }
    bool get_alone(T* into, std::uint64_t& number) noexcept {
        const typename core::get_guard held(get_end_.lock);
        return get_here(into, number);
    }

    // ---- under the lock of one end --------------------------------------------------------------

    // True if the item is in; what takes more than this end has to be done under both locks.
    bool put_here(T& item) noexcept {
        if (core::put_takes_whole()) return false;
        const std::uint64_t number = put_end_.count.load(std::memory_order_relaxed);
        if (number - put_end_.seen >= capacity_) {
            // acquire; pairs with pop(): the place is free
            put_end_.seen = get_end_.count.load(std::memory_order_acquire);
            if (number - put_end_.seen >= capacity_) return false;
        }
        push(item, number);
        return true;
    }

    // True if an item is out.
    bool get_here(T* into, std::uint64_t& number) noexcept {
        // Who takes the last one makes the channel empty.
        constexpr std::uint64_t least = Policy::statistics ? 2 : 1;
        if (core::get_takes_whole()) return false;
        number = get_end_.count.load(std::memory_order_relaxed);
        if (get_end_.seen - number < least) {
            // acquire; pairs with push(): the item is there
            get_end_.seen = put_end_.count.load(std::memory_order_acquire);
            if (get_end_.seen - number < least) return false;
        }
        pop(into, number);
        return true;
    }

    void push(T& item, std::uint64_t number) noexcept {
        if constexpr (is_epoch_item<T>) this->put_marks_ += item.is_mark() ? 1 : 0;
        ring_.put(number, std::move(item));
        // release; pairs with the acquire in get_here()
        put_end_.count.store(number + 1, std::memory_order_release);
    }
    void pop(T* into, std::uint64_t number) noexcept {
        ring_.take(number, into);
        if constexpr (is_epoch_item<T>) this->get_marks_ += into->is_mark() ? 1 : 0;
        // release; pairs with the acquire in put_here()
        get_end_.count.store(number + 1, std::memory_order_release);
    }

    // ---- under both -----------------------------------------------------------------------------

    outcome offer(T& item, slot* measured, wakes& woken) noexcept {
        if (closed_) return outcome::closed;
        const std::uint64_t number = put_end_.count.load(std::memory_order_relaxed);
        if (waiter* const getter = getters_.front()) {
            const bool mark = is_mark(item);
            core::take_out(*getter, side::get, outcome::done, core::reading(measured), !mark);
            if (mark) core::count_mark();
            std::construct_at(static_cast<T*>(getter->item), std::move(item));
            getter->number = number;
            put_end_.count.store(number + 1, std::memory_order_relaxed);
            get_end_.count.store(number + 1, std::memory_order_relaxed);
            get_end_.seen = number + 1;
            woken.push(*getter);
            return outcome::done;
        }
        const std::size_t before = core::size();
        if (before >= capacity_ || !fits(before, item)) return outcome::pending;
        if (!putters_.empty()) return outcome::pending;  // the first of them is larger, and goes first
        if (before == 0) core::now_empty(false, measured);
        add_bytes(item);
        push(item, number);
        return outcome::done;
    }

    outcome take(T* into, std::uint64_t& number, slot* measured, wakes& woken) noexcept {
        number = get_end_.count.load(std::memory_order_relaxed);
        get_end_.seen = put_end_.count.load(std::memory_order_relaxed);
        if (number == get_end_.seen) return closed_ ? outcome::closed : outcome::pending;
        pop(into, number);
        if (core::bytes_.counts()) woken.budget = core::bytes_.remove(size_of(*into));
        if (!putters_.empty()) admit_putters(measured, woken);
        if (core::size() == 0) core::now_empty(true, measured);
        return outcome::done;
    }

    // Whoever waits to put gets the places that are free.
    void admit_putters(slot* measured, wakes& woken) noexcept {
        while (core::size() < capacity_ && !putters_.empty()) {
            waiter* const putter = putters_.front();
            T& item = *static_cast<T*>(putter->item);
            if (!fits(core::size(), item)) break;
            core::take_out(*putter, side::put, outcome::done, core::reading(measured), !is_mark(item));
            add_bytes(item);
            push(item, put_end_.count.load(std::memory_order_relaxed));
            woken.push(*putter);
        }
    }

    void shut(wakes& woken) noexcept {
        closed_ = true;
        for (const side line : {side::put, side::get}) {
            auto& waiters = line == side::put ? putters_ : getters_;
            while (waiter* const w = waiters.front()) {
                core::take_out(*w, line, outcome::closed, core::reading(nullptr));
                woken.push(*w);
            }
        }
    }

    // The same for newcomers: who waits to put goes in when there is room. Nobody waits to get then.
    void shut_to_newcomers(wakes& woken) noexcept {
        if (putters_.empty()) return shut(woken);
        closed_ = true;
        lets_in_ = true;
    }

    static bool is_mark([[maybe_unused]] const T& item) noexcept {
        if constexpr (is_epoch_item<T>) {
            return item.is_mark();
        } else {
            return false;
        }
    }

    // Everything that is inside goes into `discarded`, to be destroyed after the lock. Returns the number
    // after its last item's.
    std::uint64_t discard(ring<T>& discarded, wakes& woken) noexcept {
        const std::uint64_t first = get_end_.count.load(std::memory_order_relaxed);
        const std::uint64_t last = put_end_.count.load(std::memory_order_relaxed);
        core::discard(last - first);
        get_end_.seen = last;
        get_end_.count.store(last, std::memory_order_relaxed);
        if (first != last) core::now_empty(true, nullptr);
        ring_.swap(discarded);
        woken.budget = core::bytes_.remove(core::bytes_.bytes);
        return last;
    }

    // `other` has room for `capacity`, and gets the old block.
    void grow(ring<T>& other, std::size_t capacity, wakes& woken) noexcept {
        core::set_room(capacity);
        if (capacity > ring_.places() && ring_.places() != 0) {  // none: it was cancelled
            const std::uint64_t end = put_end_.count.load(std::memory_order_relaxed);
            for (auto i = get_end_.count.load(std::memory_order_relaxed); i != end; ++i) {
                ring_.move(i, other);
            }
            ring_.swap(other);
        }
        admit_putters(nullptr, woken);
    }

    void limit_bytes(std::size_t bytes, wakes& woken) noexcept {
        const bool counted = core::bytes_.counts();
        core::bytes_.most = bytes;
        if (counted && !core::bytes_.counts()) core::bytes_.bytes = 0;
        if (!counted && core::bytes_.counts()) {
            const std::uint64_t end = put_end_.count.load(std::memory_order_relaxed);
            for (auto i = get_end_.count.load(std::memory_order_relaxed); i != end; ++i) {
                add_bytes(ring_[i]);
            }
        }
        admit_putters(nullptr, woken);
    }

    void let_in() noexcept {
        change now(*this);
        if (core::bytes_.most != 0) admit_putters(nullptr, now.woken());
    }

    bool fits(std::size_t before, const T& item) const noexcept {
        return core::bytes_.most == 0 || before == 0 || core::bytes_.has_room_for(size_of(item));
    }
    void add_bytes(const T& item) noexcept {
        if (core::bytes_.counts()) core::bytes_.add(size_of(item));
    }
    static std::size_t size_of(const T& item) noexcept {
        if constexpr (is_epoch_item<T>) {
            return item.is_mark() ? 0 : item_size<typename T::value_type>::of(item.value());
        } else {
            return item_size<T>::of(item);
        }
    }

    void destroy_items() noexcept {
        const std::uint64_t end = put_end_.count.load(std::memory_order_relaxed);
        for (auto i = get_end_.count.load(std::memory_order_relaxed); i != end; ++i) {
            ring_.destroy(i);
        }
    }

    ring<T> ring_;
    bool lets_in_ = false;  // closed to newcomers only; under both locks
};

}  // namespace weir::detail

#endif
